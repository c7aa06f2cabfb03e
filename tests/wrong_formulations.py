"""Known mistakes as a learner would write them, worded otherwise than in the checks: (exercise, slug, function)."""

import math

import torch
import torch.nn.functional as F


def _softmax_own_maximum(scores):
    e = torch.exp(scores - scores.max(0, keepdim=True).values)
    return e / e.sum(0, keepdim=True)


def _masked(number):
    return lambda scores, mask: torch.where(mask, scores, torch.full_like(scores, number)).softmax(-1)


def _weighed(scores, mask):
    w = torch.where(mask, torch.exp(scores), 0)
    return w / w.sum(dim=-1, keepdim=True)


def _heads(
    scale=lambda x, q: math.sqrt(q.size(-1)),
    across=False,
    finish=lambda c, w_o: c @ w_o,
    softmax=lambda scores: F.softmax(scores, -1),
):
    def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
        batch, length, _ = x.shape
        q, k, v = (torch.matmul(x, w).view(batch, length, n_heads, -1) for w in (w_q, w_k, w_v))
        if not across:
            q, k, v = (part.transpose(1, 2) for part in (q, k, v))
        context = softmax(q @ k.transpose(-1, -2) / scale(x, q)) @ v
        context = context if across else context.transpose(1, 2)  # (batch, length, heads, d_head)
        return finish(context.reshape(batch, length, -1), w_o)

    return multi_head_attention


def _summed(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (torch.stack((x @ w).chunk(n_heads, -1), 1) for w in (w_q, w_k, w_v))
    return F.scaled_dot_product_attention(q, k, v).sum(dim=1) @ w_o


def _scaled_late(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (torch.stack((x @ w).chunk(n_heads, -1), 1) for w in (w_q, w_k, w_v))
    weights = (q @ k.mT).softmax(-1) / math.sqrt(q.size(-1))
    return (weights @ v).transpose(1, 2).flatten(2) @ w_o


def _linear(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (torch.stack(F.linear(x, w).chunk(n_heads, -1), 1) for w in (w_q, w_k, w_v))
    return F.linear(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2), w_o)


def _positions(sine=lambda i: i, cosine=None, start=0, radians=lambda a: a, place=lambda i, d: (i, i + 1)):
    def sinusoidal_positions(length, d_model):
        table = torch.zeros(length, d_model)
        for row in range(length):
            for i in range(0, d_model, 2):
                first, second = place(i, d_model)
                table[row, first] = math.sin(radians((row + start) / 10000 ** (sine(i) / d_model)))
                table[row, second] = math.cos(radians((row + start) / 10000 ** ((cosine or sine)(i) / d_model)))
        return table

    return sinusoidal_positions


def _fast(length, d_model):
    position = torch.arange(0, length, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (math.log(10000.0) / d_model))
    table = torch.zeros(length, d_model)
    table[:, 0::2], table[:, 1::2] = torch.sin(position * div_term), torch.cos(position * div_term)
    return table


def _std(x, gain, bias, eps):
    return gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias


def _returns_nothing(x, w1, b1, w2, b2):
    hidden = F.relu(x @ w1 + b1)
    hidden @ w2 + b2


def _not_centred(x, gain, bias, eps):
    mean, squares = (torch.stack([x, x * x]) @ torch.full((x.size(-1), 1), 1 / x.size(-1)).to(x)).unbind(0)
    return (x - mean) * (squares + eps) ** -0.5 * gain + bias


def _relu_each_time(x, w1, b1, w2, b2):
    for weight, shift in ((w1, b1), (w2, b2)):
        x = (x @ weight + shift).clamp(min=0)
    return x


def _one_norm(x, attention, feed_forward, norm1, norm2):
    for sublayer in (attention, feed_forward):
        x = norm1(sublayer(x) + x)
    return x


def _mask_tokens(
    chosen=lambda draw: draw < 0.15,
    masked=0.8,
    word=0.5,
    leave=lambda ids, special: special,
    finish=lambda ids, inputs, labels: (inputs, labels),
):
    def mask_tokens(ids, special, mask_id, vocab_size, generator):
        """``word``: the share of those not masked that get a random word."""
        labels, inputs = ids.clone(), ids.clone()
        draw = torch.rand(ids.shape, generator=generator)
        where = chosen(draw) & ~leave(ids, special)
        labels[~where] = -100
        mask = torch.bernoulli(torch.full(ids.shape, masked), generator=generator).bool() & where
        inputs[mask] = mask_id
        drawn = torch.bernoulli(torch.full(ids.shape, word), generator=generator).bool() & where & ~mask
        inputs[drawn] = torch.randint(vocab_size, ids.shape, generator=generator)[drawn]
        return finish(ids, inputs, labels)

    return mask_tokens


def _mask_tokens_in_place(ids, special, mask_id, vocab_size, generator):
    where = (torch.rand(ids.shape, generator=generator) < 0.15) & ~special
    labels = ids.masked_fill(~where, -100)
    ids[where] = mask_id
    return ids, labels


def _cross(query="d", key="e", value="e", **options):
    def cross_attention(decoder_x, encoder_x, w_q, w_k, w_v):
        x = {"d": decoder_x, "e": encoder_x}
        q, k, v = x[query].matmul(w_q), x[key].matmul(w_k), x[value].matmul(w_v)
        return F.scaled_dot_product_attention(q, k, v, **options)

    return cross_attention


def _cross_with_mask(decoder_x, encoder_x, w_q, w_k, w_v):
    """A decoder's mask where none belongs; it fits only if source and target have the same length."""
    q, k, v = decoder_x @ w_q, encoder_x @ w_k, encoder_x @ w_v
    n = decoder_x.shape[-2]
    hidden = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
    return F.softmax((q @ k.mT / math.sqrt(q.size(-1))).masked_fill(hidden, -math.inf), -1) @ v


def _cross_of_one_pair(decoder_x, encoder_x, w_q, w_k, w_v):
    return F.softmax(decoder_x @ w_q @ (encoder_x @ w_k).T / math.sqrt(w_q.size(1)), -1) @ (encoder_x @ w_v)


def _shift_in_place(targets, bos_id):
    targets[:, 1:] = targets[:, :-1].clone()
    targets[:, 0] = bos_id
    return targets


def _shift_first_row(targets, bos_id):
    shifted = targets.clone()
    shifted[0, 1:] = targets[0, :-1]
    shifted[0, 0] = bos_id
    return shifted


def _shift_with_zeros(targets, bos_id):
    shifted = torch.zeros_like(targets)
    shifted[:, 1:] = targets[:, :-1]
    return shifted


def _shift_left(targets, bos_id):
    shifted = torch.full_like(targets, bos_id)
    shifted[:, :-1] = targets[:, 1:]
    return shifted


def _greedy(best=lambda scores: scores.argmax(), seen=lambda ids: ids, over=lambda last, eos: last == eos, more=0):
    def greedy_decode(step, bos_id, eos_id, max_length):
        ids = torch.tensor([bos_id])
        for _ in range(max_length - 1 + more):
            ids = torch.cat([ids, best(step(seen(ids))).reshape(1)])
            if over(ids[-1].item(), eos_id):
                break
        return ids.tolist()

    return greedy_decode


def _greedy_stops_before_eos(step, bos_id, eos_id, max_length):
    ids = [bos_id]
    while len(ids) < max_length:
        best = step(ids).argmax().item()
        if best == eos_id:
            break
        ids.append(best)
    return ids


def _greedy_while(step, bos_id, eos_id, max_length):
    ids = [bos_id]
    while ids[-1] != eos_id:
        ids.append(step(ids).argmax().item())
    return ids


def _greedy_starts_empty(step, bos_id, eos_id, max_length):
    ids = []
    while len(ids) < max_length - 1 and eos_id not in ids:
        ids.append(step([bos_id, *ids]).argmax().item())
    return ids


def _cross_entropy(vocab=lambda n: n, **options):
    """torch's own, with some of its options as they should be."""

    def label_smoothed_loss(logits, targets, smoothing, pad_id):
        given = {"label_smoothing": smoothing, "ignore_index": pad_id}
        given = {name: value for name, value in given.items() if name not in options} | {
            name: value for name, value in options.items() if value is not None
        }
        return F.cross_entropy(logits.flatten(0, -2), targets.flatten(), **given)

    return label_smoothed_loss


def _kl_div(fill):
    """The smoothed targets of a famous tutorial: filled, scattered, the padding's column emptied; then averaged."""

    def label_smoothed_loss(logits, targets, smoothing, pad_id):
        real = targets != pad_id
        logits, targets = logits[real], targets[real]
        aim = torch.full_like(logits, fill(smoothing, logits.size(-1)))
        aim = aim.scatter(1, targets[:, None], 1 - smoothing)
        aim[:, pad_id] = 0
        return -(aim * logits.log_softmax(-1)).sum(-1).mean()

    return label_smoothed_loss


def _online(sum_moves=True, output_moves=True, start=-math.inf, climbs=True, factor=lambda old, new: old - new):
    """Row by row, in plain numbers for the maximum and the sum."""

    def online_softmax_sum(scores_blocks, value_blocks):
        rows = []
        for q in range(scores_blocks[0].size(0)):
            m, total, output = torch.tensor(start), torch.tensor(0.0), torch.zeros(value_blocks[0].size(1))
            for s, v in zip(scores_blocks, value_blocks, strict=True):
                new = torch.max(m, s[q].max()) if climbs else s[q].max()
                scale = torch.exp(factor(m, new))
                e = torch.exp(s[q] - new)
                total = (total * scale if sum_moves else total) + e.sum()
                output = (output * scale if output_moves else output) + e @ v.to(e)
                m = new
            rows.append(output / total)
        return torch.stack(rows).to(value_blocks[0])

    return online_softmax_sum


def _online_without_maximum(scores_blocks, value_blocks):
    exponentials = [scores.exp() for scores in scores_blocks]
    over = sum(e.sum(1, keepdim=True) for e in exponentials)
    return torch.cat(exponentials, 1) @ torch.cat(value_blocks) / over


def _online_maximum_of_all(scores_blocks, value_blocks):
    scores, value = torch.cat(scores_blocks, 1), torch.cat(value_blocks)
    e = torch.exp(scores - scores.max())
    return e @ value / e.sum(1, keepdim=True)


def _online_returns_in_the_loop(scores_blocks, value_blocks):
    for scores, value in zip(scores_blocks, value_blocks, strict=True):
        e = torch.exp(scores - scores.max(1, keepdim=True).values)
        return e @ value / e.sum(1, keepdim=True)


def _online_divides_in_the_loop(scores_blocks, value_blocks):
    m = torch.full((len(scores_blocks[0]), 1), -math.inf)
    total, output = 0, 0
    for s, v in zip(scores_blocks, value_blocks, strict=True):
        old, m = m, torch.maximum(m, s.amax(1, True))
        total = total * (old - m).exp() + (s - m).exp().sum(1, True)
        output = (output * (old - m).exp() + (s - m).exp() @ v) / total
    return output


def _cache_step(
    seen=lambda old, new: torch.cat([old, new], 1),
    kept=lambda old, new: torch.cat([old, new], 1),
    finish=lambda output, keys, values, q: (output, (keys, values)),
    **options,
):
    def cached_step(x_t, cache, w_q, w_k, w_v):
        q, k, v = x_t.matmul(w_q), x_t.matmul(w_k), x_t.matmul(w_v)
        if cache is None:
            return finish(F.scaled_dot_product_attention(q, k, v), k, v, q)
        output = F.scaled_dot_product_attention(q, seen(cache[0], k), seen(cache[1], v), **options)
        return finish(output, kept(cache[0], k), kept(cache[1], v), q)

    return cached_step


def _cache_never_none(x_t, cache, w_q, w_k, w_v):
    old_keys, old_values = cache
    keys, values = torch.cat([old_keys, x_t @ w_k], 1), torch.cat([old_values, x_t @ w_v], 1)
    return F.scaled_dot_product_attention(x_t @ w_q, keys, values), (keys, values)


def _cache_in_place(x_t, cache, w_q, w_k, w_v):
    if cache is None:
        return x_t @ w_v, (x_t @ w_k, x_t @ w_v)
    keys, values = cache
    keys[:, -1:] += x_t @ w_k
    values[:, -1:] += x_t @ w_v
    return F.scaled_dot_product_attention(x_t @ w_q, keys, values), (keys, values)


WRONG = [
    ("dot_product_scores", "key-not-transposed", torch.mm),
    ("dot_product_scores", "swapped-operands", lambda q, k: torch.einsum("qd,kd->kq", q, k)),
    ("dot_product_scores", "elementwise-product", torch.mul),
    ("dot_product_scores", "softmax-already", lambda q, k: F.softmax(torch.einsum("qd,kd->qk", q, k), dim=1)),
    ("softmax", "max-returns-two-things", lambda s: (s - torch.max(s, dim=-1, keepdim=True)).exp()),
    ("softmax", "wrong-axis", _softmax_own_maximum),
    ("softmax", "wrong-axis", lambda s: F.softmax(s, 1)),
    ("softmax", "overflow", lambda s: s.exp() / s.exp().sum(-1)[..., None]),
    ("softmax", "not-normalised", lambda s: math.e**s),
    ("softmax", "one-sum-over-everything", lambda s: (e := torch.exp(s - s.max())) / e.sum()),
    ("attend", "transposed-weights", lambda w, v: torch.einsum("kq,kd->qd", w, v)),
    ("attend", "mean-not-weighted-sum", lambda w, v: (w[:, :, None] * v).mean(1)),
    ("scaled_dot_product_attention", "no-scale", lambda *qkv: F.scaled_dot_product_attention(*qkv, scale=1.0)),
    (
        "scaled_dot_product_attention",
        "multiplied-by-root",
        lambda q, k, v: F.softmax(q @ k.mT * math.sqrt(q.size(-1)), -1) @ v,
    ),
    (
        "scaled_dot_product_attention",
        "scaled-after-softmax",
        lambda q, k, v: F.softmax(q @ k.mT, -1) @ v / math.sqrt(q.size(-1)),
    ),
    (
        "scaled_dot_product_attention",
        "transpose-ignores-the-batch",
        lambda q, k, v: F.softmax(torch.matmul(q, k.T) / math.sqrt(q.size(-1)), -1) @ v,
    ),
    ("softmax_with_temperature", "multiplied", lambda s, t: (s * t).softmax(-1)),
    ("softmax_with_temperature", "applied-after-softmax", lambda s, t: s.softmax(-1) / t),
    ("causal_mask", "inverted", lambda n: torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)),
    ("causal_mask", "diagonal-hidden", lambda n: torch.arange(n)[:, None] > torch.arange(n)),
    ("causal_mask", "upper-triangle", lambda n: torch.arange(n)[:, None] <= torch.arange(n)),
    ("causal_mask", "float-instead-of-boolean", lambda n: torch.triu(torch.full((n, n), -math.inf), 1)),
    ("padding_mask", "off-by-one", lambda n, m: torch.tensor([[i <= k for i in range(m)] for k in n.tolist()])),
    ("padding_mask", "inverted", lambda n, m: torch.tensor([[i >= k for i in range(m)] for k in n.tolist()])),
    ("padding_mask", "one-length-for-all", lambda n, m: torch.tensor([[i < n[0] for i in range(m)]] * len(n))),
    ("padding_mask", "no-second-axis", lambda n, m: n > torch.arange(m)),
    ("masked_softmax", "exp-times-mask", _weighed),
    ("masked_softmax", "exp-times-mask", lambda s, m: (w := torch.exp(s) * m) / (w.sum(-1, keepdim=True) + 1e-9)),
    ("masked_softmax", "exp-times-mask", lambda s, m: _weighed(s, m).nan_to_num(0)),
    ("masked_softmax", "inverted", lambda s, m: s.masked_fill(m, -math.inf).softmax(-1).nan_to_num(0)),
    ("masked_softmax", "mask-after-softmax", lambda s, m: F.softmax(s, -1).masked_fill(~m, 0)),
    ("masked_softmax", "filled-with-zero", lambda s, m: (s * m).softmax(-1)),
    ("masked_softmax", "small-negative-fill", _masked(-10.0)),
    ("masked_softmax", "small-negative-fill", _masked(-100.0)),
    ("masked_softmax", "small-negative-fill", lambda s, m: (s + (1 - m.to(s)) * -10).softmax(-1)),
    ("masked_softmax", "nan-on-an-empty-row", _masked(-math.inf)),
    ("masked_softmax", "empty-row-attends", _masked(-1e9)),
    ("split_heads", "view-without-transpose", lambda x, n: x.view(len(x), n, x.size(1), x.size(2) // n)),
    ("split_heads", "splits-the-sequence", lambda x, n: x.view(len(x), n, x.size(1) // n, x.size(2))),
    (
        "split_heads",
        "heads-and-features-swapped",
        lambda x, n: x.view(*x.shape[:2], x.size(2) // n, n).permute(0, 3, 1, 2),
    ),
    ("merge_heads", "view-without-transpose", lambda x: x.contiguous().view(len(x), x.size(2), -1)),
    ("merge_heads", "sum-over-heads", lambda x: sum(x.unbind(1))),
    ("merge_heads", "mean-over-heads", lambda x: torch.mean(x, dim=1)),
    ("multi_head_attention", "no-output-projection", _heads(finish=lambda context, w_o: context)),
    ("multi_head_attention", "scaled-by-d-model", _heads(scale=lambda x, q: math.sqrt(x.size(-1)))),
    ("multi_head_attention", "attends-across-heads", _heads(across=True)),
    ("multi_head_attention", "heads-summed", _summed),
    ("multi_head_attention", "wrong-axis", _heads(softmax=lambda scores: F.softmax(scores, -2))),
    ("multi_head_attention", "wrong-axis", _heads(softmax=lambda scores: F.softmax(scores, 1))),
    ("multi_head_attention", "no-softmax", _heads(softmax=lambda scores: scores)),
    ("multi_head_attention", "scaled-after-softmax", _scaled_late),
    ("multi_head_attention", "value-not-used", lambda x, q, k, v, o, n: _heads()(x, q, k, k, o, n)),
    ("multi_head_attention", "weights-transposed", _linear),
    ("sinusoidal_positions", "exponent-doubled", _positions(lambda i: 2 * i)),
    ("sinusoidal_positions", "sine-and-cosine-differ", _positions(cosine=lambda i: i + 1)),
    ("sinusoidal_positions", "sine-and-cosine-differ", _positions(lambda i: 2 * i, lambda i: 2 * (i + 1))),
    ("sinusoidal_positions", "starts-at-one", _positions(start=1)),
    ("sinusoidal_positions", "multiplied-by-the-power", _positions(lambda i: -i)),
    ("sinusoidal_positions", "multiplied-by-the-power", _fast),
    ("sinusoidal_positions", "exponent-not-divided", _positions(lambda i: 30 * i)),
    ("sinusoidal_positions", "another-base", _positions(lambda i: 0.75 * i)),
    ("sinusoidal_positions", "degrees", _positions(radians=math.radians)),
    (
        "sinusoidal_positions",
        "halves-not-interleaved",
        _positions(place=lambda i, d: (i // 2, d // 2 + i // 2)),
    ),
    ("add_positions", "along-the-batch-axis", lambda x, table: x + table[: x.size(0)].unsqueeze(1)),
    ("add_positions", "multiplied", lambda x, table: table[: x.size(-2)] * x),
    ("add_positions", "x-scaled", lambda x, table: math.sqrt(x.size(-1)) * x + table[: x.size(-2)]),
    ("layer_norm", "unbiased-and-eps-outside", _std),
    ("layer_norm", "eps-forgotten", lambda x, gain, bias, eps: F.layer_norm(x, gain.shape, gain, bias)),
    ("layer_norm", "gain-and-bias-forgotten", lambda x, gain, bias, eps: F.layer_norm(x, gain.shape, eps=eps)),
    (
        "layer_norm",
        "over-the-batch",
        lambda x, gain, bias, eps: F.batch_norm(x.flatten(0, -2), None, None, gain, bias, True, eps=eps).view_as(x),
    ),
    ("layer_norm", "squares-of-x", _not_centred),
    ("layer_norm", "squares-of-x", lambda x, gain, bias, eps: F.rms_norm(x, gain.shape, gain, eps) + bias),
    (
        "layer_norm",
        "variance-is-a-sum",
        lambda x, gain, bias, eps: F.layer_norm(x, gain.shape, gain / len(gain) ** 0.5, bias, eps / len(gain)),
    ),
    (
        "layer_norm",
        "gain-before-the-norm",
        lambda x, gain, bias, eps: F.layer_norm(gain * x, gain.shape, eps=eps) + bias,
    ),
    ("layer_norm", "gain-and-bias-exchanged", lambda x, gain, bias, eps: F.layer_norm(x, gain.shape, bias, gain, eps)),
    ("feed_forward", "activation-last", lambda x, w1, b1, w2, b2: torch.relu(F.linear(x, w1.T, b1) @ w2 + b2)),
    ("feed_forward", "activation-twice", _relu_each_time),
    ("feed_forward", "no-activation", lambda x, w1, b1, w2, b2: F.linear(x, w1.T, b1) @ w2 + b2),
    ("feed_forward", "bias-forgotten", lambda x, w1, b1, w2, b2: torch.clamp(x @ w1, min=0) @ w2 + b2),
    ("feed_forward", "returns-nothing", _returns_nothing),
    ("post_norm", "the-other-one", lambda x, sublayer, norm: sublayer(norm(x)).add(x)),
    ("post_norm", "no-residual", lambda x, sublayer, norm: norm(sublayer(x)).clone()),
    ("pre_norm", "the-other-one", lambda x, sublayer, norm: norm(sublayer(x).add(x))),
    ("pre_norm", "residual-from-normalised-x", lambda x, sublayer, norm: sublayer(y := norm(x)) + y),
    ("pre_norm", "norm-on-the-residual", lambda x, sublayer, norm: torch.add(sublayer(x), norm(x))),
    ("pre_norm", "sum-goes-through-the-sublayer", lambda x, sublayer, norm: sublayer(norm(x).add(x))),
    ("encoder_layer", "one-norm-used-twice", _one_norm),
    ("encoder_layer", "norms-swapped", lambda x, a, f, n1, n2: n1((x := n2(a(x).add(x))) + f(x))),
    ("encoder_layer", "pre-norm", lambda x, a, f, n1, n2: (y := a(n1(x)).add(x)) + f(n2(y))),
    ("encoder_layer", "one-norm-used-twice and pre-norm", lambda x, a, f, n1, n2: (y := a(n1(x)) + x) + f(n1(y))),
    ("encoder_layer", "second-residual-from-the-first-input", lambda x, a, f, n1, n2: n2(f(n1(a(x) + x)) + x)),
    ("encoder_layer", "second-residual-from-before-the-norm", lambda x, a, f, n1, n2: n2((y := a(x) + x) + f(n1(y)))),
    ("encoder_layer", "no-residual", lambda x, a, f, n1, n2: n2(f(n1(a(x))))),
    ("encoder_layer", "norm-of-the-sublayer-only", lambda x, a, f, n1, n2: (y := x.add(n1(a(x)))).add(n2(f(y)))),
    ("encoder_layer", "side-by-side", lambda x, a, f, n1, n2: n2(sum([x, f(x), a(x)]))),
    ("encoder_layer", "sublayers-swapped", lambda x, a, f, n1, n2: n2((y := n1(f(x) + x)) + a(y))),
    ("encoder_layer", "a-norm-is-missing", lambda x, a, f, n1, n2: n2((y := a(x) + x) + f(y))),
    (
        "bert_embeddings",
        "position-from-ids",
        lambda ids, s, w, p, g, norm: norm(F.embedding(ids, w) + F.embedding(ids, p) + F.embedding(s, g)),
    ),
    (
        "bert_embeddings",
        "positions-from-one",
        lambda ids, s, w, p, g, norm: norm(w[ids] + p[torch.arange(1, ids.shape[1] + 1)] + g[s]),
    ),
    ("bert_embeddings", "norm-forgotten", lambda ids, s, w, p, g, norm: g[s] + p[: ids.shape[1]] + w[ids]),
    ("bert_embeddings", "segment-forgotten", lambda ids, s, w, p, g, norm: norm(p[: ids.shape[1]] + w[ids])),
    ("bert_embeddings", "one-position-for-all", lambda ids, s, w, p, g, norm: norm(g[s] + p[ids.shape[1]] + w[ids])),
    ("bert_embeddings", "whole-position-table", lambda ids, s, w, p, g, norm: norm(F.embedding(ids, w) + p + g[s])),
    (
        "bert_embeddings",
        "batch-for-length",
        lambda ids, s, w, p, g, norm: norm(w[ids] + p[torch.arange(len(ids))] + g[s]),
    ),
    (
        "bert_embeddings",
        "word-scaled",
        lambda ids, s, w, p, g, norm: norm(g[s] + p[: ids.shape[1]] + math.sqrt(w.size(-1)) * w[ids]),
    ),
    ("bert_embeddings", "word-only", lambda ids, s, w, p, g, norm: norm(F.embedding(ids, w))),
    ("bert_embeddings", "added-after-the-norm", lambda ids, s, w, p, g, norm: p[: ids.shape[1]] + norm(g[s] + w[ids])),
    (
        "bert_embeddings",
        "position-along-the-batch",
        lambda ids, s, w, p, g, norm: norm(w[ids] + p[torch.arange(len(ids))].unsqueeze(1) + g[s]),
    ),
    (
        "bert_embeddings",
        "position-forgotten",
        lambda ids, s, w, p, g, norm: norm(
            F.embedding(s, g) + F.embedding(ids, w) + torch.arange(ids.size(1))[:, None]
        ),
    ),
    (
        "bert_embeddings",
        "norm-forgotten and positions-from-one",
        lambda ids, s, w, p, g, norm: w[ids] + p[torch.arange(ids.size(1)) + 1] + g[s],
    ),
    (
        "bert_embeddings",
        "concatenated",
        lambda ids, s, w, p, g, norm: norm(torch.cat([w[ids], p[: ids.size(1)].repeat(len(ids), 1, 1), g[s]], 2)),
    ),
    ("bert_embeddings", "multiplied", lambda ids, s, w, p, g, norm: norm(g[s] * w[ids] * p[: len(ids[0])])),
    ("bert_embeddings", "norm-twice", lambda ids, s, w, p, g, norm: norm(norm(g[s] + p[: len(ids[0])] + w[ids]))),
    (
        "bert_embeddings",
        "norm-of-each-part",
        lambda ids, s, w, p, g, norm: norm(g[s]) + norm(p)[: len(s[0])] + norm(w[ids]),
    ),
    ("bert_embeddings", "one-segment-for-all", lambda ids, s, w, p, g, norm: norm(g[0] + p[: len(ids[0])] + w[ids])),
    ("head_entropy", "nan-at-zero", lambda weights: torch.einsum("...k,...k->...", -weights, weights.log())),
    ("head_entropy", "nan-at-zero", lambda weights: (weights * (1 / weights).log()).sum(-1)),
    (
        "head_entropy",
        "small-number-in-the-log",
        lambda weights: -torch.einsum("...k,...k", weights, (1e-6 + weights).log()),
    ),
    ("head_entropy", "small-number-in-the-log", lambda weights: (weights * -weights.clamp_min(1e-3).log()).sum(-1)),
    ("head_entropy", "nan-at-zero and other-base", lambda weights: -(weights * torch.log2(weights)).sum(-1)),
    ("head_entropy", "nan-at-zero and sign", lambda weights: (torch.log(weights) * weights).sum(dim=-1)),
    (
        "head_entropy",
        "nan-replaced-too-late",
        lambda w: torch.where((h := -(w * w.log()).sum(-1)).isnan(), torch.zeros_like(h), h),
    ),
    ("head_entropy", "small-number-in-the-log", lambda weights: -(weights * torch.log1p(weights)).sum(-1)),
    ("head_entropy", "not-weighted", lambda weights: -torch.sum(torch.log(weights), dim=-1)),
    ("head_entropy", "distance-from-even", lambda w: (w.xlogy(w) - w.xlogy(torch.tensor(1 / w.size(-1)))).sum(-1)),
    ("head_entropy", "exponential-of-it", lambda weights: torch.exp(-torch.xlogy(weights, weights).sum(-1))),
    ("head_entropy", "not-summed", lambda weights: -weights * weights.clamp_min(1e-30).log()),
    ("head_entropy", "other-base", lambda weights: -(weights * weights.clamp(min=1e-30).log2()).sum(-1)),
    ("head_entropy", "wrong-axis", lambda weights: -torch.xlogy(weights, weights).sum(dim=-2)),
    ("head_entropy", "sign", lambda weights: torch.xlogy(weights, weights).sum(dim=-1)),
    ("head_entropy", "one-number-for-all", lambda weights: -torch.xlogy(weights, weights).sum(-1).mean()),
    ("head_entropy", "mean-not-sum", lambda weights: -torch.xlogy(weights, weights).mean(-1)),
    ("head_entropy", "softmax-again", lambda w: torch.distributions.Categorical(logits=w).entropy()),
    ("head_entropy", "axis-kept", lambda weights: -torch.xlogy(weights, weights).sum(-1, True)),
    ("cosine_similarity", "not-divided-by-norms", lambda a, b: torch.einsum("...d,...d->...", a, b)),
    ("cosine_similarity", "squared-norms", lambda a, b: (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1)) ** 2),
    ("cosine_similarity", "one-norm-only", lambda a, b: (F.normalize(a, dim=-1) * b).sum(-1)),
    ("cosine_similarity", "one-norm-only", lambda a, b: (a * F.normalize(b, dim=-1)).sum(-1)),
    ("cosine_similarity", "wrong-axis", lambda a, b: F.cosine_similarity(a, b, dim=0)),
    ("cosine_similarity", "norm-over-everything", lambda a, b: (a * b).sum(-1) / a.norm() / b.norm()),
    ("cosine_similarity", "divided-then-multiplied", lambda a, b: (a * b).sum(-1) / a.norm(dim=-1) * b.norm(dim=-1)),
    ("cosine_similarity", "default-axis", F.cosine_similarity),
    ("cosine_similarity", "mean-not-sum", lambda a, b: torch.mean(b * a, dim=-1) / b.norm(dim=-1) / a.norm(dim=-1)),
    ("cosine_similarity", "matrix-product", lambda a, b: torch.matmul(a, b) / a.norm(dim=-1) / b.norm(dim=-1)),
    ("cosine_similarity", "all-pairs", lambda a, b: a @ b.transpose(-1, -2) / (b.norm(dim=-1) * a.norm(dim=-1))),
    ("cosine_similarity", "angle", lambda a, b: torch.arccos(F.cosine_similarity(a, b, -1))),
    ("cosine_similarity", "another-norm", lambda a, b: (a * b).sum(-1) / a.norm(1, dim=-1) / b.norm(1, dim=-1)),
    ("cosine_similarity", "axis-kept", lambda a, b: F.cosine_similarity(a, b, -1)[..., None]),
    ("cosine_similarity", "norms-added", lambda a, b: (a * b).sum(-1) / torch.stack([a, b]).norm(dim=-1).sum(0)),
    ("cosine_similarity", "not-summed", lambda a, b: F.normalize(a, dim=-1) * F.normalize(b, dim=-1)),
    ("cosine_similarity", "not-divided-by-norms and distance", lambda a, b: 1 - torch.linalg.vecdot(b, a)),
    ("cosine_similarity", "one-norm-only and wrong-axis", lambda a, b: (F.normalize(a, dim=0) * b).sum(0)),
    ("cosine_similarity", "distance", lambda a, b: 1 - F.cosine_similarity(a, b, dim=-1)),
    ("cross_attention", "query-and-key-value-swapped", _cross("e", "d", "d")),
    ("cross_attention", "all-from-the-decoder", _cross("d", "d", "d")),
    ("cross_attention", "all-from-the-encoder", _cross("e", "e", "e")),
    ("cross_attention", "key-and-value-from-different-sides", _cross("d", "e", "d")),
    ("cross_attention", "key-and-value-from-different-sides", _cross("d", "d", "e")),
    ("cross_attention", "causal-mask", _cross(is_causal=True)),
    ("cross_attention", "causal-mask", _cross_with_mask),
    ("cross_attention", "no-scale", _cross(scale=1.0)),
    ("cross_attention", "transpose-ignores-the-batch", _cross_of_one_pair),
    (
        "cross_attention",
        "weights-transposed",
        lambda d, e, *w: F.scaled_dot_product_attention(*(F.linear(x, m) for x, m in zip((d, e, e), w, strict=True))),
    ),
    (
        "cross_attention",
        "attends-to-both",
        lambda d, e, q, k, v: F.scaled_dot_product_attention(
            d @ q, torch.cat([d @ k, e @ k], -2), torch.cat([d @ v, e @ v], -2)
        ),
    ),
    ("cross_attention", "residual-added", lambda d, e, *w: _cross()(d, e, *w) + d),
    ("cross_attention", "projection-forgotten", lambda d, e, *w: F.scaled_dot_product_attention(d, e, e)),
    ("shift_right", "shifted-left", _shift_left),
    ("shift_right", "shifted-left", lambda t, bos: F.pad(t[:, 1:], (0, 1), value=bos)),
    ("shift_right", "not-shifted", lambda t, bos: t),
    ("shift_right", "length-grown", lambda t, bos: F.pad(t, (1, 0), value=bos)),
    ("shift_right", "length-grown", lambda t, bos: torch.hstack([torch.ones(len(t), 1, dtype=torch.long) * bos, t])),
    ("shift_right", "wraps-around", lambda t, bos: torch.cat([t[:, -1:], t[:, :-1]], 1)),
    ("shift_right", "start-at-the-end", lambda t, bos: F.pad(t[:, :-1], (0, 1), value=bos)),
    ("shift_right", "only-the-first-row", _shift_first_row),
    ("shift_right", "another-start", _shift_with_zeros),
    ("shift_right", "along-the-batch", lambda t, bos: F.pad(t[:-1], (0, 0, 1, 0), value=bos)),
    ("shift_right", "start-has-another-dtype", lambda t, bos: torch.tensor([[bos, *r[:-1]] for r in t.tolist()])),
    ("shift_right", "changed-input", _shift_in_place),
    ("greedy_decode", "does-not-stop-at-eos", _greedy(over=lambda last, eos: False)),
    ("greedy_decode", "feeds-only-the-last-id", _greedy(seen=lambda ids: [ids[-1].item()])),
    ("greedy_decode", "feeds-only-the-last-id", _greedy(seen=lambda ids: ids[-1].item())),
    ("greedy_decode", "always-feeds-the-beginning", _greedy(seen=lambda ids: ids[0].reshape(1))),
    ("greedy_decode", "picks-the-minimum", _greedy(best=lambda scores: (-scores).softmax(-1).argmax())),
    ("greedy_decode", "picks-the-largest-size", _greedy(best=lambda scores: (scores**2).argmax())),
    ("greedy_decode", "one-too-many", _greedy(more=1)),
    ("greedy_decode", "one-too-few", _greedy(more=-1)),
    ("greedy_decode", "no-limit", _greedy_while),
    ("greedy_decode", "eos-left-out", _greedy_stops_before_eos),
    ("greedy_decode", "bos-left-out", _greedy_starts_empty),
    ("label_smoothed_loss", "padding-counted", _cross_entropy(ignore_index=None)),
    ("label_smoothed_loss", "sum-not-mean", _cross_entropy(reduction="sum")),
    ("label_smoothed_loss", "not-smoothed", _cross_entropy(label_smoothing=None)),
    ("label_smoothed_loss", "smoothing-leaves-the-padding-class-out", _kl_div(lambda s, n: s / (n - 2))),
    ("label_smoothed_loss", "smoothing-leaves-the-padding-class-out", _kl_div(lambda s, n: s / (n - 1))),
    (
        "label_smoothed_loss",
        "padding-in-the-mean",
        lambda x, t, s, pad: F.cross_entropy(
            x.flatten(0, -2), t.flatten(), label_smoothing=s, ignore_index=pad, reduction="none"
        ).mean(),
    ),
    (
        "label_smoothed_loss",
        "log-of-softmax",
        lambda x, t, s, pad: _cross_entropy()(torch.log(torch.exp(x) / torch.exp(x).sum(-1, keepdim=True)), t, s, pad),
    ),
    ("learning_rate", "max-not-min", lambda t, d, w: max(t**-0.5, t / w**1.5) / math.sqrt(d) if t > 0 else 0),
    ("learning_rate", "max-not-min", lambda t, d, w: max(t**-0.5, t / w**1.5) / math.sqrt(d)),
    ("learning_rate", "times-root-of-d-model", lambda t, d, w: math.sqrt(d) * min(max(t, 1) ** -0.5, t / w**1.5)),
    ("learning_rate", "step-0-divides-by-zero", lambda t, d, w: d**-0.5 * min(1 / math.sqrt(t), t / math.sqrt(w**3))),
    ("learning_rate", "no-warm-up", lambda t, d, w: 1 / math.sqrt(d * max(t, 1))),
    ("learning_rate", "d-model-in-one-branch", lambda t, d, w: min((d * max(t, 1)) ** -0.5, t / w**1.5)),
    ("mask_tokens", "always-mask", _mask_tokens(masked=1.0)),
    ("mask_tokens", "no-random-words", _mask_tokens(word=0.0)),
    ("mask_tokens", "ten-percent-of-the-rest", _mask_tokens(word=0.1)),
    ("mask_tokens", "none-stays", _mask_tokens(word=1.0)),
    ("mask_tokens", "special-tokens-masked", _mask_tokens(leave=lambda ids, special: special & False)),
    ("mask_tokens", "special-looked-up-by-id", _mask_tokens(leave=lambda ids, special: ids <= 4)),
    ("mask_tokens", "labels-everywhere", _mask_tokens(finish=lambda ids, inputs, labels: (inputs, ids.clone()))),
    ("mask_tokens", "input-and-label-swapped", _mask_tokens(finish=lambda ids, inputs, labels: (labels, inputs))),
    (
        "mask_tokens",
        "labels-from-the-masked-input",
        _mask_tokens(finish=lambda ids, inputs, labels: (inputs, inputs.masked_fill(labels == -100, -100))),
    ),
    (
        "mask_tokens",
        "another-number-for-not-asked",
        _mask_tokens(finish=lambda ids, inputs, labels: (inputs, labels.clamp(min=0))),
    ),
    ("mask_tokens", "other-way-round", _mask_tokens(chosen=lambda draw: draw > 0.15)),
    ("mask_tokens", "changed-input", _mask_tokens_in_place),
    (
        "online_softmax_sum",
        "no-rescaling-when-the-maximum-moves",
        _online(sum_moves=False, output_moves=False),
    ),
    ("online_softmax_sum", "running-sum-not-rescaled", _online(sum_moves=False)),
    ("online_softmax_sum", "weighted-values-not-rescaled", _online(output_moves=False)),
    ("online_softmax_sum", "rescaled-the-wrong-way", _online(factor=lambda old, new: new - old)),
    (
        "online_softmax_sum",
        "normalised-per-block",
        lambda s, v: torch.stack([F.softmax(a, 1) @ b for a, b in zip(s, v, strict=True)]).mean(0),
    ),
    (
        "online_softmax_sum",
        "normalised-per-block",
        lambda s, v: torch.cat([F.softmax(a, 1) for a in s], 1) @ torch.cat(v),
    ),
    (
        "online_softmax_sum",
        "own-maximum-in-each-block",
        _online(sum_moves=False, output_moves=False, climbs=False),
    ),
    ("online_softmax_sum", "maximum-may-fall", _online(climbs=False)),
    ("online_softmax_sum", "no-maximum-subtracted", _online_without_maximum),
    ("online_softmax_sum", "one-maximum-for-all-queries", _online_maximum_of_all),
    ("online_softmax_sum", "maximum-starts-at-zero", _online(start=0.0)),
    ("online_softmax_sum", "one-block-only", _online_returns_in_the_loop),
    ("online_softmax_sum", "divided-at-every-step", _online_divides_in_the_loop),
    ("cached_step", "cache-overwritten", _cache_step(kept=lambda old, new: new)),
    (
        "cached_step",
        "cache-overwritten and cache-not-read",
        _cache_step(seen=lambda old, new: new, kept=lambda old, new: new),
    ),
    ("cached_step", "cache-not-grown", _cache_step(kept=lambda old, new: old)),
    ("cached_step", "new-key-missing-from-its-own-step", _cache_step(seen=lambda old, new: old)),
    ("cached_step", "cache-not-read", _cache_step(seen=lambda old, new: new)),
    ("cached_step", "query-cached", _cache_step(finish=lambda output, keys, values, q: (output, (q, keys, values)))),
    ("cached_step", "none-not-handled", _cache_never_none),
    ("cached_step", "causal-mask", _cache_step(is_causal=True)),
    ("cached_step", "no-scale", _cache_step(scale=1.0)),
    ("cached_step", "cache-not-a-pair", _cache_step(finish=lambda output, keys, values, q: (output, keys, values))),
    ("cached_step", "cache-not-returned", _cache_step(finish=lambda output, *rest: output)),
    (
        "cached_step",
        "new-token-in-front",
        _cache_step(*[lambda old, new: torch.hstack([new, old])] * 2),
    ),
    ("cached_step", "joined-along-another-axis", _cache_step(*[lambda old, new: torch.vstack([old, new])] * 2)),
    (
        "cached_step",
        "keys-and-values-swapped",
        _cache_step(finish=lambda output, keys, values, q: (output, (values, keys))),
    ),
    (
        "cached_step",
        "time-axis-dropped",
        _cache_step(finish=lambda output, keys, values, q: (output[:, 0], (keys, values))),
    ),
    ("cached_step", "changed-input", _cache_in_place),
]
