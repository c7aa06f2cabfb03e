"""The checks of the exercises: right answers pass, wrong ones are named, and nothing is raised at the learner."""

import re
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch
from right_formulations import RIGHT
from wrong_formulations import WRONG

from lesson_kit import check
from lesson_kit.check.engine.differences import difference
from lesson_kit.check.engine.exercise import CheckResult, Exercise, exercise
from lesson_kit.check.engine.message import GO_ON

EXERCISES = check.EXERCISES
DIFFERENTIABLE = [name for name, each in EXERCISES.items() if each.gradients]
MISTAKES = [
    pytest.param(name, slug, way, id=f"{name}-{slug}-{number}")
    for name, each in EXERCISES.items()
    for slug, mistake in each.mistakes.items()
    for number, way in enumerate(mistake.ways)
]
RANDOM = [name for name, each in EXERCISES.items() if each.shares]
every_exercise = pytest.mark.parametrize("name", EXERCISES)
RETURNED = {name: each.reference(*each.inputs()[0]) for name, each in EXERCISES.items()}
TENSORS = [name for name, result in RETURNED.items() if type(result) not in (list, float)]
every_tensor = pytest.mark.parametrize("name", TENSORS)
every_random = pytest.mark.parametrize("name", RANDOM)
OTHERS = [name for name in TENSORS if name not in RANDOM]
every_differentiable = pytest.mark.parametrize("name", DIFFERENTIABLE)


def reference(name):
    return EXERCISES[name].reference


def tensors_of(value):
    """Itself, or all tensors in a list or tuple, in order; nothing for anything else."""
    if type(value) in (list, tuple):
        return [tensor for part in value for tensor in tensors_of(part)]
    return [value] if isinstance(value, torch.Tensor) else []


def on_each(change, value):
    """``change`` applied to a tensor, or to every tensor in a list or tuple."""
    if type(value) in (list, tuple):
        return type(value)(on_each(change, part) for part in value)
    return change(value) if isinstance(value, torch.Tensor) else value


def on_one(change, value, number=0):
    """``change`` applied to a tensor, or to number ``number`` of those in a list or tuple."""
    numbers = iter(range(len(tensors_of(value))))
    return on_each(lambda tensor: change(tensor) if next(numbers) == number else tensor, value)


def parts_of_results(names):
    """Each exercise with the number of each tensor in its result."""
    return [(name, number) for name in names for number in range(len(tensors_of(RETURNED[name])))]


def tensor_places(name):
    """The places of the inputs that are tensors, or hold some, with the number of each of them."""
    most = {}
    for args in EXERCISES[name].inputs():
        for place, arg in enumerate(args):
            most[place] = max(most.get(place, 0), len(tensors_of(arg)))
    return [(place, number) for place, count in most.items() for number in range(count)]


def verdict(name, candidate):
    """The result of the check, which must hang together whatever it says."""
    getattr(check, name).forget()
    result = getattr(check, name)(candidate)
    assert isinstance(result, CheckResult)
    assert result.passed is (result.mistake is None) is bool(result)
    assert result.function is (candidate if result.passed else reference(name))
    assert result.message.startswith(name) and result.message.endswith(GO_ON) is not result.passed
    return result


def test_the_exercises_are_those_of_the_lessons():
    signatures = """
        dot_product_scores(query, key)  softmax(scores)  attend(weights, value)
        scaled_dot_product_attention(query, key, value)  softmax_with_temperature(scores, temperature)
        causal_mask(length)  padding_mask(lengths, max_length)  masked_softmax(scores, mask)
        split_heads(x, n_heads)  merge_heads(x)  multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads)
        sinusoidal_positions(length, d_model)  add_positions(x, positions)
        layer_norm(x, gain, bias, eps)  feed_forward(x, w1, b1, w2, b2)
        post_norm(x, sublayer, norm)  pre_norm(x, sublayer, norm)
        encoder_layer(x, attention, feed_forward, norm1, norm2)
        bert_embeddings(ids, segments, word, position, segment, norm)
        cosine_similarity(a, b)
        head_entropy(weights)
        cross_attention(decoder_x, encoder_x, w_q, w_k, w_v)  shift_right(targets, bos_id)
        greedy_decode(step, bos_id, eos_id, max_length)  learning_rate(step, d_model, warmup)
        label_smoothed_loss(logits, targets, smoothing, pad_id)
        mask_tokens(ids, special, mask_id, vocab_size, generator)
        online_softmax_sum(scores_blocks, value_blocks)  cached_step(x_t, cache, w_q, w_k, w_v)"""
    declared = [f"{name}({', '.join(each.arguments)})" for name, each in EXERCISES.items()]
    wanted = [part.strip() for line in signatures.splitlines() for part in line.split("  ") if part.strip()]
    assert sorted(declared) == sorted(wanted)


@every_exercise
def test_the_courses_own_function_does_not_pass_as_the_learners(name):
    """After ``softmax = check.softmax(softmax).function`` the name may hold the reference; it must not pass."""
    result = verdict(name, verdict(name, None).function)
    assert result.mistake == "not-attempted" and "took the place of yours" in result.message


@every_exercise
def test_has_a_docstring_and_its_own_name(name):
    assert len(getattr(check, name).__doc__) > 30
    assert getattr(check, name).name == name


@every_exercise
def test_reference_passes_and_the_message_says_what_was_proved(name):
    result = verdict(name, lambda *args: reference(name)(*args))
    assert result.passed
    assert f"{len(EXERCISES[name].cases())} inputs" in result.message
    assert ("gradients" in result.message) is (name in DIFFERENTIABLE)


@every_exercise
def test_has_at_least_three_other_formulations(name):
    assert len(RIGHT[name]) >= 3


@pytest.mark.parametrize(
    "name, candidate",
    [pytest.param(name, f, id=f"{name}-{i}") for name, functions in RIGHT.items() for i, f in enumerate(functions)],
)
def test_right_formulations_pass(name, candidate):
    result = verdict(name, candidate)
    assert result.passed, result.message


@pytest.mark.parametrize("name, slug, way", MISTAKES)
def test_known_mistake_is_named_with_its_hint(name, slug, way):
    result = verdict(name, way)
    assert result.mistake == slug
    assert EXERCISES[name].mistakes[slug].hints[0] in result.message


@pytest.mark.parametrize("name, slug, candidate", WRONG)
def test_known_mistake_in_other_words_is_named(name, slug, candidate):
    assert verdict(name, candidate).mistake == slug


def stub(*args):
    """What stands in the lesson."""
    ...


def returns_ellipsis(*args):
    return ...


def not_implemented(*args):
    raise NotImplementedError("exercise")


@every_exercise
@pytest.mark.parametrize("candidate", [stub, returns_ellipsis, not_implemented, lambda *args: None, None, ...])
def test_not_attempted(name, candidate):
    assert verdict(name, candidate).mistake == "not-attempted"


@every_exercise
def test_computes_but_returns_nothing(name):
    def candidate(*args):
        result = reference(name)(*args)  # noqa: F841

    assert verdict(name, candidate).mistake == "returns-nothing"


@every_exercise
def test_a_result_instead_of_the_function(name):
    each = EXERCISES[name]
    assert verdict(name, each.reference(*each.inputs()[0])).mistake == "not-a-function"


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


@every_exercise
@pytest.mark.parametrize(
    "error", [ValueError("by the learner"), SystemExit(3), GeneratorExit(), Unprintable()], ids=repr
)
def test_raised(name, error):
    def candidate(*args):
        raise error  # the learner's own line

    result = verdict(name, candidate)
    assert result.mistake == "raised"
    assert type(error).__name__ in result.message
    assert "raise error  # the learner's own line" in result.message


def test_raised_inside_a_library_still_shows_the_learners_line():
    def candidate(query, key):
        return torch.einsum("ij,jk->ikz", query, key)

    message = verdict("dot_product_scores", candidate).message
    assert "RuntimeError" in message and 'torch.einsum("ij,jk->ikz", query, key)' in message


def test_wrong_number_of_arguments_is_a_verdict():
    assert "TypeError" in verdict("softmax", lambda: 1).message


def test_endless_recursion_is_a_verdict():
    def candidate(scores):
        return candidate(scores)

    assert "RecursionError" in verdict("softmax", candidate).message


def test_the_learners_own_interrupt_goes_through():
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it

    def candidate(scores):
        signal.raise_signal(signal.SIGINT)  # what the Stop button does

    try:
        with pytest.raises(KeyboardInterrupt):
            check.softmax(candidate)
    finally:
        signal.signal(signal.SIGINT, handler)


def test_an_interrupt_that_the_function_raises_is_a_verdict():
    def candidate(scores):
        raise KeyboardInterrupt

    result = verdict("softmax", candidate)
    assert result.mistake == "raised" and "raise KeyboardInterrupt" in result.message


@every_tensor
@pytest.mark.parametrize("change", [lambda t: (t, t), lambda t: t.tolist(), lambda t: t.numpy(), lambda t: "text"])
def test_wrong_type(name, change):
    result = verdict(name, lambda *args: on_one(change, reference(name)(*args)))
    assert result.mistake == "wrong-type"
    assert "torch.Tensor" in result.message


def test_an_iterator_is_not_exhausted():
    def numbers():
        raise AssertionError("somebody looked")
        yield

    assert verdict("softmax", lambda scores: numbers()).mistake == "wrong-type"


@every_tensor
def test_wrong_dtype(name):
    result = verdict(name, lambda *args: on_one(lambda t: t.to(torch.float16), reference(name)(*args)))
    assert result.mistake == "wrong-dtype"
    assert "torch.float16" in result.message


def test_wrong_dtype_says_how_to_get_the_right_one():
    def candidate(query, key):
        result = torch.zeros(len(query), len(key))
        result.copy_(query @ key.T)
        return result

    result = verdict("dot_product_scores", candidate)
    assert result.mistake == "wrong-dtype" and "dtype=query.dtype" in result.message
    assert "dtype=" not in verdict("causal_mask", lambda length: reference("causal_mask")(length).int()).message


@every_tensor
def test_wrong_device(name):
    result = verdict(name, lambda *args: on_one(lambda t: t.to("meta"), reference(name)(*args)))
    assert result.mistake == "wrong-device"


@pytest.mark.parametrize("name, number", parts_of_results(TENSORS))
def test_wrong_shape_gives_both_shapes(name, number):
    shape = tuple(tensors_of(RETURNED[name])[number].shape)
    result = verdict(name, lambda *args: on_one(lambda t: t[None], reference(name)(*args), number))
    assert result.mistake == "wrong-shape"
    assert str((1, *shape)) in result.message and str(shape) in result.message


@pytest.mark.parametrize("name, number", parts_of_results(OTHERS))
def test_wrong_value_gives_the_first_index(name, number):
    def last_one_wrong(tensor):
        tensor = tensor.clone(memory_format=torch.contiguous_format)
        last = tensor.view(-1)[-1:]
        last.copy_(last + 0.01 if last.is_floating_point() else ~last)
        return tensor

    index = tuple(size - 1 for size in tensors_of(RETURNED[name])[number].shape)
    result = verdict(name, lambda *args: on_one(last_one_wrong, reference(name)(*args), number))
    assert result.mistake == "wrong-value"
    assert f"index {index}: got" in result.message


def test_of_two_differences_the_first_is_told():
    def candidate(length):
        return ~reference("causal_mask")(length) if length == 2 else reference("causal_mask")(length)

    message = verdict("causal_mask", candidate).message
    assert "index (0, 0): got False, wanted True" in message and "Input 3 of 4: `length` 2" in message


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("name, number", parts_of_results([*DIFFERENTIABLE, "sinusoidal_positions"]))
def test_not_finite(name, number, bad):
    def first_one_bad(tensor):
        tensor = tensor.clone(memory_format=torch.contiguous_format)
        tensor.view(-1)[0] = bad
        return tensor

    result = verdict(name, lambda *args: on_one(first_one_bad, reference(name)(*args), number))
    assert result.mistake == "not-finite"


@pytest.mark.parametrize("name, place, number", [(name, *place) for name in EXERCISES for place in tensor_places(name)])
def test_changed_in_place_is_found_and_named(name, place, number):
    def candidate(*args):
        result = on_each(torch.clone, reference(name)(*args))
        for tensor in tensors_of(args[place])[number : number + 1]:
            tensor.copy_(torch.zeros_like(tensor) if tensor.any() else torch.ones_like(tensor))
        return result

    result = verdict(name, candidate)
    assert result.mistake == "changed-input"
    assert EXERCISES[name].arguments[place] in result.message


def test_expected_value_comes_from_the_checks_own_copy():
    def candidate(scores):
        scores.zero_()
        return scores.softmax(-1)  # right for what the input has become

    assert not verdict("softmax", candidate).passed


@pytest.mark.parametrize("name", ["post_norm", "encoder_layer"])
def test_a_sublayer_that_returns_its_own_input_shows_an_in_place_sum(name):
    def candidate(x, sublayer, *rest):
        y = sublayer(x)
        y += x
        return rest[-1](y)

    assert verdict(name, candidate).mistake == "changed-input"


@pytest.mark.parametrize("name", ["post_norm", "pre_norm", "encoder_layer"])
def test_a_function_called_twice(name):
    def candidate(x, sublayer, *rest):
        sublayer(x)
        return reference(name)(x, sublayer, *rest)

    result = verdict(name, candidate)
    assert result.mistake == "called-twice"
    assert EXERCISES[name].arguments[1] in result.message


def float_places(name):
    floating = {
        place
        for args in EXERCISES[name].inputs()
        for place, arg in enumerate(args)
        if any(tensor.is_floating_point() for tensor in tensors_of(arg))
    }
    return [(place, number) for place, number in tensor_places(name) if place in floating]


@pytest.mark.parametrize(
    "name, place, number", [(name, *place) for name in DIFFERENTIABLE for place in float_places(name)]
)
def test_gradient_cut_is_found_for_each_input(name, place, number):
    def candidate(*args):
        mine = list(args)
        mine[place] = on_one(torch.Tensor.detach, mine[place], number)
        return reference(name)(*mine)

    result = verdict(name, candidate)
    assert result.mistake == "gradient-cut"
    assert EXERCISES[name].arguments[place] in result.message


@every_differentiable
def test_gradient_cut_everywhere(name):
    assert verdict(name, torch.no_grad()(reference(name))).mistake == "gradient-cut"
    assert verdict(name, lambda *args: on_each(torch.Tensor.detach, reference(name)(*args))).mistake == "gradient-cut"


@every_differentiable
def test_numpy_inside_is_a_cut_gradient(name):
    def candidate(*args):
        return on_each(lambda t: torch.from_numpy(t.numpy()), reference(name)(*args))  # raises with a gradient

    assert verdict(name, candidate).mistake == "gradient-cut"


def test_half_a_gradient_is_not_enough():
    def candidate(scores):
        e = torch.exp(scores - scores.amax(-1, keepdim=True))
        return e / e.sum(-1, keepdim=True).detach()

    assert verdict("softmax", candidate).mistake == "gradient-wrong"


def test_nan_in_the_gradient_only():
    def candidate(scores, mask):
        fill = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -torch.inf)
        return (scores + fill).softmax(-1).nan_to_num(0.0)

    assert verdict("masked_softmax", candidate).mistake == "gradient-not-finite"


@every_exercise
def test_nothing_but_the_verdict_is_shown(name, capsys):
    result = verdict(name, reference(name))
    assert capsys.readouterr().out == result.message + "\n"
    assert result._ipython_display_() is None
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@every_exercise
def test_works_where_gradients_are_switched_off(name):
    with torch.no_grad():
        assert verdict(name, lambda *args: reference(name)(*args)).passed
        assert not torch.is_grad_enabled()


def test_leaves_the_global_random_generator_alone():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    check.softmax(lambda scores: scores)
    check.encoder_layer(reference("encoder_layer"))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_result_that_refuses_everything():
    class Refuses:
        __slots__ = ()

        def __getattribute__(self, name):
            raise RuntimeError(name)

    assert verdict("softmax", lambda scores: Refuses()).mistake == "wrong-type"
    assert verdict("softmax", lambda scores: scores.softmax(-1).to_sparse()).mistake == "wrong-type"


def test_two_mistakes_with_the_same_numbers_are_both_named():
    @exercise(lambda: [(torch.tensor([1.0, 2.0]),)])
    def double(x):
        """Twice x."""
        return 2 * x

    double.mistake("squared", "Hint one.", lambda x: x * x)
    double.mistake("to-the-power-of-two", "Hint two.", lambda x: x**2)
    result = double(lambda x: x.pow(2))
    assert result.mistake == "squared or to-the-power-of-two"
    assert "Hint one." in result.message and "Hint two." in result.message


def test_a_mistake_that_only_raises_is_named_by_the_same_error():
    def candidate(x, positions):
        return torch.add(x, positions)  # the whole table

    assert verdict("add_positions", candidate).mistake == "table-not-cut"


def test_a_named_mistake_that_raised_shows_the_error_and_the_hint():
    def candidate(x, positions):
        return torch.add(x, positions)

    result = verdict("add_positions", candidate)
    assert result.mistake == "table-not-cut"
    assert "It raised RuntimeError" in result.message and "return torch.add(x, positions)" in result.message
    assert EXERCISES["add_positions"].mistakes["table-not-cut"].hints[0] in result.message


def test_a_tuple_is_compared_part_by_part():
    @exercise(lambda: [(torch.tensor([1.0, 2.0]),)], gradients=False)
    def both(x):
        """x and its double."""
        return x, 2 * x

    both.mistake("swapped", "The other way round.", lambda x: (2 * x, x))
    assert both(lambda x: (x.clone(), x + x)).passed
    assert both(lambda x: (x + x, x)).mistake == "swapped"
    wrong = both(lambda x: (x, x))
    assert wrong.mistake == "wrong-value" and "part 2" in wrong.message and "index (0,)" in wrong.message
    for other in (lambda x: x, lambda x: [x, 2 * x], lambda x: (x, 2 * x, x)):
        assert both(other).mistake == "wrong-type"
    assert "In part 2 of the result: The shape" in both(lambda x: (x, x[:1])).message


def test_a_tuple_in_a_tuple_is_compared_part_by_part():
    @exercise(lambda: [(torch.tensor([1.0, 2.0]),)])
    def three(x):
        """x, its double and its square."""
        return x, (2 * x, x * x)

    assert three(lambda x: (x.clone(), (x + x, x**2))).passed
    wrong = three(lambda x: (x, (2 * x, x)))
    assert wrong.mistake == "wrong-value" and "right. In part 2 of part 2 of the result: The first" in wrong.message
    assert "In part 1 of part 2 of the result: The shape" in three(lambda x: (x, (x[:1], x * x))).message
    for other in (lambda x: (x, 2 * x, x * x), lambda x: (x, [2 * x, x * x]), lambda x: (x, 2 * x), lambda x: x):
        assert three(other).mistake == "wrong-type"
    assert three(lambda x: (x, (2 * x, x * x.detach()))).mistake == "gradient-wrong"
    assert three(lambda x: (x.detach(), (2 * x.detach(), x.square().detach()))).mistake == "gradient-cut"


def test_tensors_in_a_list_and_in_a_tuple_among_the_inputs():
    @exercise(lambda: [([torch.ones(2), torch.ones(3)], None), ([torch.ones(2)], (torch.ones(1), torch.ones(2)))])
    def total(parts, more):
        """The sum of everything."""
        return sum(part.sum() for part in [*parts, *(more or ())])

    assert total(lambda parts, more: torch.cat([*parts, *(more or ())]).sum()).passed
    right = total.reference

    def changed(do):
        def candidate(parts, more):
            result = right(parts, more)
            do(parts, more or ())
            return result

        verdict = total(candidate)
        return verdict.mistake, re.search(r"its input `(.*?)`\.", verdict.message)[1]

    assert changed(lambda parts, more: parts[-1].zero_()) == ("changed-input", "parts")
    assert changed(lambda parts, more: parts.pop()) == ("changed-input", "parts")
    assert changed(lambda parts, more: parts.append(parts[0])) == ("changed-input", "parts")
    assert changed(lambda parts, more: parts.__setitem__(0, None)) == ("changed-input", "parts")
    assert changed(lambda parts, more: parts.__setitem__(0, parts[0].double())) == ("changed-input", "parts")
    assert changed(lambda parts, more: [part.zero_() for part in more[1:]]) == ("changed-input", "more")

    cut = total(lambda parts, more: right([*parts[:-1], parts[-1].detach()], more))
    assert cut.mistake == "gradient-cut" and "no gradient reaches `parts`" in cut.message
    cut = total(lambda parts, more: right(parts, more and (more[0], more[1].detach())))
    assert cut.mistake == "gradient-cut" and "no gradient reaches `more`" in cut.message
    wrong = total(lambda parts, more: right(parts, more) if more is None else right(parts, more) + 1)
    assert "Input 2 of 2: `parts` [(2,) float32], `more` ((1,) float32, (2,) float32)." in wrong.message


@pytest.mark.parametrize("wrong", [(1, 2), "text", [[1], [2]], [1.0, 2.0], [True, False], torch.ones(2, 2), 3])
def test_a_list_of_ids_is_wanted(wrong):
    @exercise(lambda: [(5,)], gradients=False)
    def count(n):
        """The numbers below n."""
        return list(range(n))

    assert count(lambda n: [torch.tensor(i) for i in range(n)]).passed
    assert count(lambda n: list(np.arange(n))).passed
    assert count(lambda n: wrong).mistake == "wrong-type"
    assert "[0, 1], wanted [0, 1, 2, 3, 4]" in count(lambda n: [0, 1]).message


@pytest.mark.parametrize("wrong", [None, (1.0,), "text", torch.ones(2), torch.tensor(1j), [0.5]])
def test_a_number_is_wanted(wrong):
    @exercise(lambda: [(5,), (8,)], gradients=False, right_too=lambda result, args: args[0] == 8 and result == 0)
    def tiny(n):
        """A number far smaller than any absolute tolerance."""
        return n * 1e-9

    for right in (lambda n: torch.tensor(n * 1e-9), lambda n: np.float64(n) / 1e9, lambda n: 5e-9 if n == 5 else 0):
        assert tiny(right).passed
    assert tiny(lambda n: n * 1.001e-9).mistake == "wrong-value"
    assert tiny(lambda n: float("nan")).mistake == "not-finite"
    assert tiny(lambda n: 0).mistake == "wrong-value"
    assert tiny(lambda n: wrong if n == 5 else 8e-9).mistake == "wrong-type"


def test_a_loop_that_never_ends_is_ended():
    def candidate(step, bos_id, eos_id, max_length):
        ids = [bos_id]
        while ids[-1] != eos_id:
            step(ids)  # and nothing is appended
        return ids

    result = verdict("greedy_decode", candidate)
    assert result.mistake == "raised" and "seems to have no end" in result.message


def test_at_step_0_a_rate_of_0_is_right_too():
    paper = reference("learning_rate")
    assert verdict("learning_rate", lambda step, *rest: paper(step, *rest) if step else 0).passed
    assert verdict("learning_rate", lambda step, *rest: paper(step, *rest) if step else 1.0).mistake == "wrong-value"


@every_random
def test_a_random_result_must_follow_its_seed(name):
    def with_generator(args, generator):
        return reference(name)(*(generator if isinstance(arg, torch.Generator) else arg for arg in args))

    result = verdict(name, lambda *args: with_generator(args, torch.default_generator))
    assert result.mistake == "not-repeatable"
    result = verdict(name, lambda *args: with_generator(args, torch.Generator().manual_seed(7)))
    assert result.mistake == "seed-ignored"


@every_random
def test_a_random_exercise_has_room_for_chance(name):
    """Other draws from the same distribution pass: the reference with thirty other seeds."""
    each = EXERCISES[name]
    for seed in range(30):

        def candidate(*args, seed=seed):
            for arg in args:
                if isinstance(arg, torch.Generator):
                    torch.rand(seed, generator=arg)
            return each.reference(*args)

        assert verdict(name, candidate).passed


def test_a_share_that_fits_no_known_mistake_is_told_in_words():
    def candidate(ids, special, mask_id, vocab_size, generator):
        chosen = (torch.rand(ids.shape, generator=generator) < 0.5) & ~special
        return ids.masked_fill(chosen, mask_id), ids.masked_fill(~chosen, -100)

    result = verdict("mask_tokens", candidate)
    assert result.mistake == "wrong-value"
    assert re.search(r"Ordinary tokens with a label: (49|50)\.\d%, wanted about 15%", result.message)


def test_a_right_answer_is_never_taken_for_a_mistake():
    each = Exercise(reference("softmax"), EXERCISES["softmax"].cases)
    each.mistake("the-same", "Not a mistake at all.", reference("softmax"))
    assert each(lambda scores: scores.softmax(-1)).passed
    assert each(lambda scores: 2 * scores.softmax(-1)).mistake == "wrong-value"


def test_no_heavy_imports():
    code = "import sys, lesson_kit.check; print([m for m in ('transformers', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_two_numbers_that_differ_are_printed_so_that_one_sees_it():
    wanted = torch.tensor([1.2537], dtype=torch.float64)
    for shift, seen in [(1e-2, "got 1.2637, wanted 1.2537"), (4e-6, "got 1.253704, wanted 1.2537.")]:
        assert seen in difference(wanted + shift, wanted)[1]
