import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from course_utils import causal_mask, scaled_dot_product_attention, tiled_attention
from lesson_kit import examples

sizes = st.integers(1, 6)
blocks = st.one_of(st.integers(1, 7), st.tuples(st.integers(1, 7), st.integers(1, 7)), st.just(1000))
TOLERANCE = {torch.float32: 2e-6, torch.float64: 1e-14}


@st.composite
def mask_shapes(draw, *full):
    """Any shape that broadcasts to ``full``: axes of size 1 in some places, missing in front."""
    shape = [size if draw(st.booleans()) else 1 for size in full]
    return shape[draw(st.integers(0, len(full))) :]


def random_input(queries=5, keys=6, d_head=4, d_value=3, batch=(2, 3), dtype=torch.float64, grad=False):
    shapes = (*batch, queries, d_head), (*batch, keys, d_head), (*batch, keys, d_value)
    return [torch.randn(shape, dtype=dtype, requires_grad=grad) for shape in shapes]


@given(queries=sizes, keys=sizes, d_head=sizes, d_value=sizes, block=blocks, data=st.data())
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_equals_torch_and_the_course_with_any_block_and_mask(dtype, queries, keys, d_head, d_value, block, data):
    qkv = random_input(queries, keys, d_head, d_value, dtype=dtype)
    shape = data.draw(st.none() | mask_shapes(2, 3, queries, keys))
    mask = None if shape is None else torch.rand(shape) < 0.6
    output = tiled_attention(*qkv, mask, block)
    assert output.dtype == dtype
    torchs = F.scaled_dot_product_attention(*qkv, None if mask is None else mask.expand(2, 3, queries, keys))
    for expected in (torchs, scaled_dot_product_attention(*qkv, mask)[0]):
        assert_close(output, expected, atol=TOLERANCE[dtype], rtol=0)


@given(queries=sizes, keys=sizes, block=blocks, data=st.data())
def test_gradients_equal_those_of_the_course(queries, keys, block, data):
    qkv = random_input(queries, keys, grad=True)
    mask = torch.rand(data.draw(mask_shapes(2, 3, queries, keys))) < 0.6
    output, expected = tiled_attention(*qkv, mask, block), scaled_dot_product_attention(*qkv, mask)[0]
    above = torch.randn_like(output)
    ours, theirs = torch.autograd.grad(output, qkv, above), torch.autograd.grad(expected, qkv, above)
    assert_close(ours, theirs, atol=1e-13, rtol=0)


@pytest.mark.parametrize("block", [1, (2, 3), (3, 2), 100])
@pytest.mark.parametrize("mask", [None, causal_mask(5), torch.tensor([[True] * 5, [False] * 5] * 2 + [[True] * 5])])
def test_gradcheck(block, mask):
    qkv = random_input(5, 5, batch=(2,), grad=True)
    assert gradcheck(lambda *qkv: tiled_attention(*qkv, mask, block), qkv)


def test_there_is_no_second_derivative_and_it_says_so():
    qkv = random_input(grad=True)
    output = tiled_attention(*qkv)
    with pytest.raises(
        RuntimeError, match="^tiled_attention has no second derivative; scaled_dot_product_attention has"
    ):
        torch.autograd.grad(output.sum(), qkv, create_graph=True)


def test_only_what_asks_for_a_gradient_gets_one():
    query, key, value = random_input()
    value.requires_grad_()
    tiled_attention(query, key, value).sum().backward()
    assert query.grad is None and key.grad is None
    assert_close(value.grad.sum(), torch.tensor(2.0 * 3 * 5 * 3, dtype=torch.float64))  # each query gives away 1


def test_the_two_tokens_of_lesson_01_one_key_at_a_time():
    two = examples.two_tokens()
    qkv = two.x @ two.w_q, two.x @ two.w_k, two.x @ two.w_v
    assert_close(tiled_attention(*qkv, block=1), scaled_dot_product_attention(*qkv)[0], atol=1e-15, rtol=0)


@pytest.mark.parametrize("block", [1, 2, (3, 1), (1, 3), 100])
def test_a_query_that_may_attend_to_nothing_gets_zeros_and_a_zero_gradient(block):
    qkv = random_input(3, 3, batch=(1,), grad=True)
    mask = torch.tensor([[True, True, False], [False, False, False], [False, False, True]])
    output = tiled_attention(*qkv, mask, block)
    assert not output[0, 1].any() and output[0, [0, 2]].all()
    output.sum().backward()
    for x in qkv:
        assert torch.isfinite(x.grad).all()
    assert not qkv[0].grad[0, 1].any()


def test_a_mask_that_hides_everything_gives_zeros():
    qkv = random_input(grad=True)
    output = tiled_attention(*qkv, torch.zeros(6, dtype=torch.bool), block=4)
    output.sum().backward()
    assert not output.any() and not any(x.grad.any() for x in qkv)


@pytest.mark.parametrize("queries, keys, batch", [(0, 4, (2,)), (3, 0, (2,)), (0, 0, ()), (3, 4, (0, 2))])
def test_zero_lengths(queries, keys, batch):
    qkv = random_input(queries, keys, batch=batch, grad=True)
    output = tiled_attention(*qkv)
    assert output.shape == (*batch, queries, 3) and not output.any()
    output.sum().backward()
    assert [x.grad.shape for x in qkv] == [x.shape for x in qkv]


def test_huge_scores_do_not_overflow():
    query, value = torch.tensor([[1e4, 0.0], [-1e4, 0.0]]), torch.eye(2)
    for key in (torch.eye(2), torch.eye(2).flip(0)):  # the larger score comes first, and last
        assert_close(tiled_attention(query, key, value, block=1), key)


@pytest.mark.parametrize("block", [1, 2, 100])
def test_scores_far_below_zero_count_too(block):
    query, key, value = (
        torch.tensor([[1e4]]),
        torch.tensor([[-1.0], [-2.0], [-1.0]]),
        torch.tensor([[2.0], [7.0], [4.0]]),
    )
    assert_close(tiled_attention(query, key, value, block=block), torch.tensor([[3.0]]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(dtype):
    # 3000 keys: a running sum in half precision would lose most of them, one by one.
    query, key, value = random_input(8, 3000, 64, 64, batch=(1, 2), dtype=torch.float32)
    qkv = [x.to(dtype).requires_grad_() for x in (query, key / 100, value + 1)]
    exact = [x.detach().double().requires_grad_() for x in qkv]
    output, expected = tiled_attention(*qkv, block=16), F.scaled_dot_product_attention(*exact)
    output.sum().backward()
    expected.sum().backward()
    assert output.dtype == dtype
    rounding = torch.finfo(dtype).eps  # of the output alone
    assert_close(output.double(), expected, atol=0, rtol=rounding)
    for ours, theirs in zip(qkv, exact, strict=True):
        assert ours.grad.dtype == dtype
        assert_close(ours.grad.double(), theirs.grad, atol=0.01 * theirs.grad.abs().max().item(), rtol=2 * rounding)


def test_on_the_meta_device_it_gives_the_shape():
    output = tiled_attention(*(x.to("meta") for x in random_input()))
    assert output.shape == (2, 3, 5, 3) and output.is_meta


def test_autocast_does_not_round_inside():
    qkv = random_input(dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        output = tiled_attention(*qkv, block=2)
    assert_close(output, F.scaled_dot_product_attention(*qkv), atol=2e-6, rtol=0)


def test_views_that_are_not_contiguous():
    x = torch.randn(2, 5, 3, 12, dtype=torch.float64).transpose(1, 2)  # heads split off, as MultiHeadAttention does
    query, key, value = x.split(4, dim=-1)
    expected = F.scaled_dot_product_attention(query, key, value)
    assert_close(tiled_attention(query, key, value, block=2), expected, atol=1e-14, rtol=0)


def test_the_inputs_stay_as_they_are():
    qkv, mask = random_input(grad=True), torch.rand(5, 6) < 0.6
    before = [x.detach().clone() for x in (*qkv, mask)]
    tiled_attention(*qkv, mask, 2).sum().backward()
    assert all(torch.equal(x, y) for x, y in zip((*qkv, mask), before, strict=True))


def test_works_in_inference_mode():
    qkv = random_input()
    with torch.inference_mode():
        assert_close(tiled_attention(*qkv, block=2), F.scaled_dot_product_attention(*qkv), atol=1e-14, rtol=0)


class LargestTensor(TorchDispatchMode):
    """Watches every operation and remembers how many numbers its largest result holds."""

    def __init__(self):
        super().__init__()
        self.numbers, self.products = 0, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.numbers = max(self.numbers, result.untyped_storage().nbytes() // result.element_size())
        self.products += func in (torch.ops.aten.bmm.default, torch.ops.aten.mm.default)
        return result


@pytest.mark.parametrize("masked", [False, True])
def test_nothing_of_the_size_of_the_scores_is_ever_made(masked):
    n, d, block = 320, 4, 16
    qkv = random_input(n, n, d, d, batch=(2,), grad=True)
    mask = (torch.rand(2, 1, n) < 0.9) if masked else None  # a padding mask: linear, and never expanded
    with LargestTensor() as watch:
        tiled_attention(*qkv, mask, block).sum().backward()
    assert watch.numbers <= 2 * n * d
    with LargestTensor() as watch:
        scaled_dot_product_attention(*qkv, mask)
    assert watch.numbers >= 2 * n * n  # the watch sees them where they are


def test_tiles_that_nobody_may_attend_to_are_skipped():
    qkv, products = random_input(64, 64, batch=(1,)), {}
    for name, mask in (("none", None), ("causal", causal_mask(64))):
        with LargestTensor() as watch:
            tiled_attention(*qkv, mask, block=8)
        products[name] = watch.products
    assert products == {"none": 2 * 64, "causal": 2 * 36}  # 8 x 8 tiles; 8 + 7 + ... + 1 of them reach the diagonal


Q = torch.randn(2, 3, 4)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"block": 0}, ValueError, "block must be at least 1, got 0"),
        ({"block": -5}, ValueError, "block must be at least 1, got -5"),
        ({"block": (16, 0)}, ValueError, "block must be at least 1, got 0"),
        ({"block": (16, 16, 16)}, ValueError, r"block has 3 sizes; expected one int, or two: \(queries, keys\)"),
        ({"block": 2.0}, TypeError, "block must be an int, got float"),
        ({"block": True}, TypeError, "block must be an int, got bool"),
        ({"block": None}, TypeError, "block must be an int, got NoneType"),
        ({"query": Q.long()}, TypeError, "query must have a floating-point dtype, got torch.int64"),
        ({"query": Q[0, 0]}, ValueError, r"query has shape \(4,\)"),
        ({"query": Q[..., :0], "key": Q[..., :0]}, ValueError, "^query has 0 features per row; expected at least 1$"),
        ({"key": Q.double()}, TypeError, "key has dtype torch.float64, but query has torch.float32"),
        ({"key": Q[..., :3]}, ValueError, "key has 3 features per row, query has 4"),
        ({"key": Q.to("meta")}, ValueError, "key is on meta, but query is on cpu"),
        ({"value": Q[:, :2]}, ValueError, "value has 2 rows, key has 3"),
        ({"value": Q[:1]}, ValueError, r"batch axes \(2,\), \(2,\) and \(1,\)"),
        ({"mask": torch.ones(3, 3)}, TypeError, "mask must be a boolean tensor .True = may attend., got torch.float32"),
        ({"mask": torch.ones(3, 2).bool()}, ValueError, r"mask has shape \(3, 2\); expected one that broadcasts to"),
        ({"mask": torch.ones(5, 2, 3, 3).bool()}, ValueError, "mask has shape"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        tiled_attention(**{"query": Q, "key": Q, "value": Q} | arguments)


def test_a_mask_of_two_rows_is_cut_row_by_row():
    query, key, value = torch.randn(3, 2, 4, generator=torch.Generator().manual_seed(0)).unbind()
    mask = torch.tensor([[True, False], [False, True]])
    torch.testing.assert_close(tiled_attention(query, key, value, mask, block=1), value)
