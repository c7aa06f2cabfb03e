"""Known mistakes as a learner would write them, worded otherwise than in the checks: (exercise, slug, function)."""

import math

import torch
import torch.nn.functional as F


def _softmax_own_maximum(scores):
    e = torch.exp(scores - scores.max(0, keepdim=True).values)
    return e / e.sum(0, keepdim=True)


def _masked(number):
    return lambda scores, mask: torch.where(mask, scores, torch.full_like(scores, number)).softmax(-1)


def _hot_without_keepdim(scores, temperature):
    scores = scores / temperature
    powers = (scores - torch.max(scores, dim=-1, keepdim=True).values).exp()
    return powers / powers.sum(dim=-1)


def _online_less_the_mean(scores_blocks, value_blocks):
    level, total, output = scores_blocks[0].mean(1, keepdim=True), 0, 0
    for scores, value in zip(scores_blocks, value_blocks, strict=True):
        new = torch.maximum(level, scores.mean(1, keepdim=True))
        weights, fade = (scores - new).exp(), (level - new).exp()
        total, output, level = fade * total + weights.sum(1, keepdim=True), fade * output + weights @ value, new
    return output / total


def _loss_squeezed(logits, targets, smoothing, pad_id):
    log_p = F.log_softmax(logits, -1)
    nll = -torch.gather(log_p, -1, targets.unsqueeze(-1)).squeeze()
    return ((1 - smoothing) * nll - smoothing * log_p.mean(-1))[targets != pad_id].mean()


def _hot_without_the_mean(scores, temperature):
    powers = ((scores - scores.mean(dim=-1, keepdim=True)) / temperature).exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def _masked_without_keepdim(scores, mask):
    scores = torch.where(mask, scores, -1e9)
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return powers / powers.sum(dim=-1) * mask


def _renormalised(scores, mask):
    weights = scores.softmax(-1) * mask  # after softmax, but shared out again
    total = weights.sum(-1, keepdim=True)
    return weights / torch.where(total == 0, torch.ones_like(total), total)


def _renormalised_by_hand(scores, mask):
    e = torch.exp(scores - scores.amax(-1, keepdim=True)) * mask
    return e / e.sum(-1, keepdim=True)


def _cached_at_a_fixed_width(x_t, cache, w_q, w_k, w_v):
    key, value = x_t @ w_k, x_t @ w_v
    if cache is not None:
        key, value = torch.cat([cache[0], key], 1), torch.cat([cache[1], value], 1)
    return F.softmax(x_t @ w_q @ key.mT / 8, dim=-1) @ value, (key, value)


def _online_without_keepdim(scores_blocks, value_blocks):
    highest = total = output = 0
    for number, (scores, value) in enumerate(zip(scores_blocks, value_blocks, strict=True)):
        new = scores.amax(-1, keepdim=True) if number == 0 else torch.maximum(highest, scores.amax(-1, keepdim=True))
        e, fade = torch.exp(scores - new), 1 if number == 0 else torch.exp(highest - new)
        total, output, highest = total * fade + e.sum(-1), output * fade + e @ value, new
    return output / total


def _masked_by_index(scores, mask):
    filled = scores.clone()
    filled[~mask] = -1e9
    weights = torch.softmax(filled, dim=-1)
    weights = weights.clone()
    weights[~mask] = 0
    return weights


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


def _by_view(split=False, merged=False):
    def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
        batch, length, _ = x.shape
        parts = [x @ w for w in (w_q, w_k, w_v)]
        if split:
            q, k, v = (part.view(batch, n_heads, length, -1) for part in parts)
        else:
            q, k, v = (torch.stack(part.chunk(n_heads, -1), 1) for part in parts)
        context = F.scaled_dot_product_attention(q, k, v)
        context = context if merged else context.transpose(1, 2)
        return context.reshape(batch, length, -1) @ w_o

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


def _sines_only(length, d_model):
    column = torch.arange(d_model)
    return torch.sin(torch.arange(length)[:, None] / 10000 ** ((column - column % 2) / d_model))


def _std(x, gain, bias, eps):
    return gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias


def _without_brackets(x, gain, bias, eps):
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
    return gain * (x - mean * torch.rsqrt(variance + eps)) + bias


def _overwritten(x, sublayer, norm):
    x = sublayer(x)
    return norm(x + x)


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


def _mask_tokens_overwritten(ids, special, mask_id, vocab_size, generator):
    where = (torch.rand(ids.shape, generator=generator) < 0.15) & ~special
    inputs = ids.masked_fill(where & (torch.rand(ids.shape, generator=generator) < 0.8), mask_id)
    drawn = where & (torch.rand(ids.shape, generator=generator) < 0.1)
    inputs[drawn] = torch.randint(vocab_size, (int(drawn.sum()),), generator=generator)
    return inputs, ids.masked_fill(~where, -100)


def _mask_tokens_drawn_twice(ids, special, mask_id, vocab_size, generator):
    inputs, _ = _mask_tokens()(ids, special, mask_id, vocab_size, generator)
    asked = (torch.rand(ids.shape, generator=generator) < 0.15) & ~special
    return inputs, torch.where(asked, ids, -100)


def _mask_tokens_asks_the_masked(ids, special, mask_id, vocab_size, generator):
    inputs, labels = _mask_tokens()(ids, special, mask_id, vocab_size, generator)
    return inputs, labels.masked_fill(inputs != mask_id, -100)


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


def _two_terms(shares=lambda s, n: (1 - s, s), log=lambda x: F.log_softmax(x, -1)):
    """The target's log-probability and the mean of all, with a share each."""

    def label_smoothed_loss(logits, targets, smoothing, pad_id):
        for_target, for_all = shares(smoothing, logits.size(-1))
        log_p = log(logits)
        losses = -for_target * torch.gather(log_p, -1, targets.unsqueeze(-1)).squeeze(-1) - for_all * log_p.mean(-1)
        return losses[targets != pad_id].mean()

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


def _online_fades_last(scores_blocks, value_blocks):
    m, total, output = scores_blocks[0].max(1, keepdim=True).values, 0, 0
    for s, v in zip(scores_blocks, value_blocks, strict=True):
        higher = torch.maximum(s.max(1, keepdim=True).values, m)
        e = torch.exp(s - higher)
        output, total = output + e @ v, total + e.sum(1, keepdim=True)
        output, total = output * torch.exp(m - higher), total * torch.exp(m - higher)
        m = higher
    return output / total


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


def _cache_step_by_hand(scale=lambda q, k: k.size(-1) ** -0.5, softmax=lambda scores: F.softmax(scores, dim=-1)):
    def cached_step(x_t, cache, w_q, w_k, w_v):
        q, grown = x_t @ w_q, [x_t @ w_k, x_t @ w_v]
        if cache is not None:
            grown = [torch.hstack(pair) for pair in zip(cache, grown, strict=True)]
        weights = softmax(torch.einsum("bqd,bkd->bqk", q, grown[0]) * scale(q, grown[0]))
        return torch.bmm(weights, grown[1]), tuple(grown)

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
    (
        "softmax",
        "not-the-largest-taken-away",
        lambda s: (e := (s - s.mean(-1)[..., None]).exp()) / e.sum(-1)[..., None],
    ),
    ("softmax", "not-the-largest-taken-away", lambda s: F.normalize(torch.exp(s - s.min(-1, True)[0]), p=1, dim=-1)),
    ("softmax", "one-sum-over-everything", lambda s: (e := torch.exp(s - s.max())) / e.sum()),
    ("attend", "transposed-weights", lambda w, v: torch.einsum("kq,kd->qd", w, v)),
    ("attend", "mean-not-weighted-sum", lambda w, v: (w[:, :, None] * v).mean(1)),
    ("dot_product_scores", "query-transposed", lambda q, k: torch.matmul(q.mT, k)),
    ("dot_product_scores", "summed-over-the-wrong-axis", lambda q, k: torch.einsum("qd,kd->qd", q, k)),
    ("dot_product_scores", "elementwise-product", lambda q, k: torch.sum(q * k)),
    ("dot_product_scores", "elementwise-product", lambda q, k: torch.einsum("ij,ij->i", q, k)),
    ("dot_product_scores", "already-scaled", lambda q, k: q @ k.mT / math.sqrt(2)),
    ("softmax", "keepdim-forgotten", lambda s: (e := (s - s.max()).exp()) / torch.sum(e, -1)),
    ("softmax", "keepdim-forgotten", lambda s: (e := torch.exp(s - torch.max(s, dim=-1)[0])) / e.sum(-1, keepdim=True)),
    ("softmax_with_temperature", "keepdim-forgotten", _hot_without_keepdim),
    ("softmax_with_temperature", "not-the-largest-taken-away", _hot_without_the_mean),
    ("masked_softmax", "keepdim-forgotten", _masked_without_keepdim),
    ("masked_softmax", "renormalised", _renormalised),
    ("masked_softmax", "renormalised", _renormalised_by_hand),
    ("scaled_dot_product_attention", "fixed-width", lambda q, k, v: F.softmax(q @ k.mT / 8, -1) @ v),
    (
        "scaled_dot_product_attention",
        "fixed-width",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=1 / math.sqrt(2)),
    ),
    ("multi_head_attention", "fixed-width", _heads(scale=lambda x, q: math.sqrt(4))),
    ("multi_head_attention", "fixed-width", _heads(scale=lambda x, q: 8)),
    (
        "cross_attention",
        "fixed-width",
        lambda d, e, w_q, w_k, w_v: F.scaled_dot_product_attention(d @ w_q, e @ w_k, e @ w_v, scale=0.5),
    ),
    ("cached_step", "fixed-width", _cached_at_a_fixed_width),
    ("online_softmax_sum", "keepdim-forgotten", _online_without_keepdim),
    (
        "layer_norm",
        "keepdim-forgotten",
        lambda x, gain, bias, eps: (
            (x - x.mean(-1)) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps) * gain + bias
        ),
    ),
    ("dot_product_scores", "already-scaled", lambda q, k: torch.matmul(q, k.mT) / math.sqrt(k.size(1))),
    ("dot_product_scores", "mean-not-sum", lambda q, k: (q.unsqueeze(1) * k.unsqueeze(0)).mean(-1)),
    ("dot_product_scores", "cosines", lambda q, k: F.cosine_similarity(q[:, None], k[None], dim=-1)),
    (
        "dot_product_scores",
        "already-scaled and softmax-already",
        lambda q, k: F.softmax(q @ k.mT / len(q[0]) ** 0.5, -1),
    ),
    ("dot_product_scores", "key-not-transposed and softmax-already", lambda q, k: F.softmax(torch.mm(q, k), dim=1)),
    ("softmax", "wrong-axis", lambda s: F.softmax(s)),
    ("softmax", "wrong-axis and overflow", lambda s: torch.exp(s) / torch.exp(s).sum(dim=0)),
    ("softmax", "wrong-axis and no-exponential", lambda s: s / s.sum(0)),
    ("softmax", "one-maximum-for-everything", lambda s: F.normalize((s - s.max()).exp(), p=1, dim=-1, eps=0)),
    ("softmax", "smallest-score-wins", lambda s: F.softmin(s, dim=-1)),
    ("softmax", "positive-by-another-way", lambda s: s**2 / torch.sum(s**2, dim=-1, keepdim=True)),
    ("softmax", "each-score-alone", lambda s: 1 / (1 + torch.exp(-s))),
    ("softmax", "logarithms", lambda s: s - s.logsumexp(-1, keepdim=True)),
    ("softmax", "keepdim-forgotten", lambda s: (e := torch.exp(s - s.max(-1, keepdim=True)[0])) / torch.sum(e, dim=-1)),
    ("attend", "value-transposed", lambda w, v: torch.matmul(w, v.mT)),
    ("attend", "swapped-operands", lambda w, v: torch.mm(v, w)),
    ("attend", "largest-weight-only", lambda w, v: torch.stack([v[int(row.argmax())] for row in w])),
    ("attend", "softmax-again", lambda w, v: F.softmax(w, dim=1) @ v),
    ("attend", "softmax-at-the-end", lambda w, v: F.softmax(w @ v, dim=1)),
    ("attend", "divided-by-the-root", lambda w, v: torch.matmul(w, v) / math.sqrt(v.size(1))),
    ("attend", "transposed-weights and softmax-again", lambda w, v: F.softmax(w, dim=1).T @ v),
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
    (
        "scaled_dot_product_attention",
        "no-scale",
        lambda q, k, v: torch.einsum("...ij,...jd->...id", F.softmax(q @ k.mT, -1), v),
    ),
    (
        "scaled_dot_product_attention",
        "divided-by-d-k",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=1 / k.size(-1)),
    ),
    (
        "scaled_dot_product_attention",
        "divided-by-d-k",
        lambda q, k, v: F.softmax((q / math.sqrt(q.size(-1))) @ (k / math.sqrt(k.size(-1))).mT, -1) @ v,
    ),
    (
        "scaled_dot_product_attention",
        "scaled-by-value-width",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=v.size(-1) ** -0.5),
    ),
    (
        "scaled_dot_product_attention",
        "scaled-by-number-of-keys",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=1 / math.sqrt(k.size(-2))),
    ),
    (
        "scaled_dot_product_attention",
        "scaled-by-first-axis",
        lambda q, k, v: F.softmax(q @ k.mT / math.sqrt(q.size(0)), -1) @ v,
    ),
    ("scaled_dot_product_attention", "wrong-axis", lambda q, k, v: F.softmax(q @ k.mT / math.sqrt(q.size(-1))) @ v),
    (
        "scaled_dot_product_attention",
        "value-inside-softmax",
        lambda q, k, v: F.softmax(q @ k.mT @ v / math.sqrt(q.size(-1)), -1),
    ),
    (
        "scaled_dot_product_attention",
        "key-not-transposed",
        lambda q, k, v: F.softmax(torch.matmul(q, k) / math.sqrt(q.size(-1)), -1) @ v,
    ),
    (
        "scaled_dot_product_attention",
        "roles-swapped",
        lambda q, k, v: F.softmax(k @ q.mT / math.sqrt(q.size(-1)), -1) @ v,
    ),
    ("scaled_dot_product_attention", "no-softmax", lambda q, k, v: q / math.sqrt(q.size(-1)) @ k.mT @ v),
    (
        "scaled_dot_product_attention",
        "softmax-twice",
        lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1).softmax(-1) @ v,
    ),
    ("scaled_dot_product_attention", "mixes-the-keys", lambda q, k, v: F.scaled_dot_product_attention(q, k, k)),
    (
        "scaled_dot_product_attention",
        "returns-the-weights",
        lambda q, k, v: F.softmax(q @ k.mT * q.size(-1) ** -0.5, -1),
    ),
    (
        "scaled_dot_product_attention",
        "no-scale and wrong-axis",
        lambda q, k, v: F.softmax(torch.matmul(q, k.mT), -2) @ v,
    ),
    (
        "scaled_dot_product_attention",
        "no-scale and transpose-ignores-the-batch",
        lambda q, k, v: F.softmax(q @ k.T, -1) @ v,
    ),
    ("scaled_dot_product_attention", "no-scale and no-softmax", lambda q, k, v: torch.matmul(q, k.mT) @ v),
    ("softmax_with_temperature", "powers-not-shared-out", lambda s, t: torch.exp(s.log_softmax(-1) / t)),
    ("softmax_with_temperature", "temperature-ignored", lambda s, t: (s + t).softmax(-1)),
    (
        "softmax_with_temperature",
        "temperature-in-one-place",
        lambda s, t: torch.exp((x := s - s.amax(-1, keepdim=True)) / t) / x.exp().sum(-1)[..., None],
    ),
    ("softmax_with_temperature", "root-of-the-temperature", lambda s, t: (s / math.sqrt(t)).softmax(-1)),
    ("softmax_with_temperature", "wrong-axis", lambda s, t: F.softmax(s / t)),
    ("softmax_with_temperature", "overflow", lambda s, t: (e := (s / t).exp()) / e.sum(dim=-1)[..., None]),
    ("softmax_with_temperature", "multiplied and wrong-axis", lambda s, t: F.softmax(t * s, dim=0)),
    (
        "softmax_with_temperature",
        "multiplied and overflow",
        lambda s, t: (e := torch.exp(s * t)) / e.sum(-1, keepdim=True),
    ),
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
    ("causal_mask", "one-too-many", lambda n: torch.arange(n)[:, None] + 1 >= torch.arange(n)),
    ("causal_mask", "nothing-hidden", lambda n: torch.full((n, n), True)),
    ("causal_mask", "only-itself", lambda n: torch.arange(n)[:, None] == torch.arange(n)),
    ("causal_mask", "integers-instead-of-boolean", lambda n: torch.ones(n, n, dtype=torch.long).tril()),
    ("causal_mask", "inverted and float-instead-of-boolean", lambda n: torch.ones(n, n).triu(diagonal=1)),
    ("causal_mask", "diagonal-hidden and integers-instead-of-boolean", lambda n: torch.ones(n, n).tril(-1).long()),
    ("padding_mask", "off-by-one", lambda n, m: torch.arange(1, m + 1) < n.unsqueeze(1)),
    ("padding_mask", "max-length-ignored", lambda n, m: torch.arange(max(n.tolist())) < n.unsqueeze(1)),
    ("padding_mask", "padding-in-front", lambda n, m: (torch.arange(m) < n.unsqueeze(1)).flip(1)),
    ("padding_mask", "axes-exchanged", lambda n, m: torch.arange(m)[:, None] < n),
    ("padding_mask", "float-instead-of-boolean", lambda n, m: torch.where(torch.arange(m) < n[:, None], 1.0, 0.0)),
    (
        "padding_mask",
        "integers-instead-of-boolean",
        lambda n, m: torch.tensor([[int(i < k) for i in range(m)] for k in n]),
    ),
    ("padding_mask", "extra-axes", lambda n, m: torch.arange(m).expand(len(n), 1, m) < n[:, None, None]),
    ("padding_mask", "inverted and no-second-axis", lambda n, m: n <= torch.arange(m)),
    ("padding_mask", "inverted and off-by-one", lambda n, m: torch.arange(m) > n[:, None]),
    ("padding_mask", "inverted and float-instead-of-boolean", lambda n, m: 1.0 * (torch.arange(m) >= n[:, None])),
    ("masked_softmax", "minus-forgotten", _masked(1e9)),
    ("masked_softmax", "minus-forgotten", _masked(math.inf)),
    ("masked_softmax", "filled-with-zero", _masked(1e-9)),
    ("masked_softmax", "zero-times-infinity", lambda s, m: F.softmax(s + (1 - m.to(s)) * -math.inf, -1)),
    ("masked_softmax", "mask-added", lambda s, m: (s + m.to(s)).softmax(dim=-1)),
    ("masked_softmax", "mask-ignored", lambda s, m: F.softmax(s, dim=-1)),
    ("masked_softmax", "mask-does-not-broadcast", _masked_by_index),
    ("masked_softmax", "wrong-axis", lambda s, m: F.softmax(torch.where(m, s, torch.finfo(s.dtype).min), -2) * m),
    ("masked_softmax", "inverted and nan-on-an-empty-row", lambda s, m: s.masked_fill(m, -math.inf).softmax(-1)),
    ("masked_softmax", "inverted and empty-row-attends", lambda s, m: s.masked_fill(m, -1e9).softmax(-1)),
    ("masked_softmax", "inverted and mask-after-softmax", lambda s, m: F.softmax(s, -1) * ~m),
    (
        "masked_softmax",
        "nan-on-an-empty-row and wrong-axis",
        lambda s, m: torch.where(m, s, -math.inf).softmax(-2),
    ),
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
    ("split_heads", "not-transposed", lambda x, n: x.view(*x.shape[:2], n, -1)),
    ("split_heads", "heads-and-width-exchanged", lambda x, n: torch.stack(x.split(n, dim=-1), dim=1)),
    ("split_heads", "batch-and-heads-in-one", lambda x, n: torch.cat([torch.stack(s.chunk(n, -1)) for s in x])),
    ("split_heads", "batch-and-heads-in-one", lambda x, n: torch.cat(x.chunk(n, dim=-1))),
    ("split_heads", "every-head-gets-everything", lambda x, n: torch.stack([x] * n, dim=1)),
    (
        "split_heads",
        "view-without-transpose and batch-and-heads-in-one",
        lambda x, n: x.view(len(x) * n, -1, x.size(-1) // n),
    ),
    ("merge_heads", "heads-and-features-swapped", lambda x: torch.stack(x.unbind(1), -1).flatten(2)),
    ("merge_heads", "not-merged", lambda x: torch.stack(x.unbind(1), 2)),
    ("merge_heads", "heads-one-after-another", lambda x: torch.cat(x.unbind(1), dim=1)),
    ("merge_heads", "other-axes-exchanged", lambda x: x.mT.contiguous().view(len(x), x.size(2), -1)),
    ("multi_head_attention", "no-scale", _heads(scale=lambda x, q: 1)),
    ("multi_head_attention", "divided-by-d-head", _heads(scale=lambda x, q: q.size(-1))),
    ("multi_head_attention", "scaled-by-number-of-heads", _heads(scale=lambda x, q: math.sqrt(q.size(1)))),
    ("multi_head_attention", "d-head-from-d-model", _heads(scale=lambda x, q: math.sqrt(x.size(-1) // q.size(1)))),
    ("multi_head_attention", "key-not-used", lambda x, q, k, v, o, n: _heads()(x, q, q, v, o, n)),
    ("multi_head_attention", "roles-swapped", lambda x, q, k, v, o, n: _heads()(x, k, q, v, o, n)),
    (
        "multi_head_attention",
        "projections-not-used",
        lambda x, q, k, v, o, n: _heads()(x, *[torch.eye(x.size(-1)).to(x)] * 3, o, n),
    ),
    ("multi_head_attention", "split-by-view", _by_view(split=True)),
    ("multi_head_attention", "merged-by-view", _by_view(merged=True)),
    ("multi_head_attention", "split-by-view and merged-by-view", _by_view(split=True, merged=True)),
    ("multi_head_attention", "one-head-only", lambda x, q, k, v, o, n: _heads()(x, q, k, v, o, 1)),
    (
        "multi_head_attention",
        "no-output-projection and no-scale",
        _heads(scale=lambda x, q: 1, finish=lambda context, w_o: context),
    ),
    (
        "multi_head_attention",
        "no-output-projection and scaled-by-d-model",
        _heads(scale=lambda x, q: x.size(-1) ** 0.5, finish=lambda context, w_o: context),
    ),
    ("multi_head_attention", "no-scale and attends-across-heads", _heads(scale=lambda x, q: 1, across=True)),
    (
        "multi_head_attention",
        "no-scale and wrong-axis",
        _heads(scale=lambda x, q: 1, softmax=lambda scores: F.softmax(scores, dim=2)),
    ),
    ("sinusoidal_positions", "exponent-doubled", _positions(lambda i: 2 * i)),
    ("sinusoidal_positions", "sine-and-cosine-differ", _positions(cosine=lambda i: i + 1)),
    (
        "sinusoidal_positions",
        "exponent-doubled and sine-and-cosine-differ",
        _positions(lambda i: 2 * i, lambda i: 2 * (i + 1)),
    ),
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
    ("sinusoidal_positions", "exponent-halved", _positions(lambda i: i // 2)),
    ("sinusoidal_positions", "cosine-first", _positions(place=lambda i, d: (i + 1, i))),
    ("sinusoidal_positions", "degrees", _positions(radians=math.degrees)),
    ("sinusoidal_positions", "full-turns", _positions(radians=lambda angle: 2 * math.pi * angle)),
    ("sinusoidal_positions", "angle-not-scaled", _positions(lambda i: 0)),
    ("sinusoidal_positions", "another-base", _positions(lambda i: i * 4 / math.log(10000))),  # the other logarithm
    ("sinusoidal_positions", "no-cosine", _sines_only),
    ("sinusoidal_positions", "axes-exchanged", lambda length, d: _positions()(length, d).T),
    ("sinusoidal_positions", "exponent-doubled and starts-at-one", _positions(lambda i: 2 * i, start=1)),
    (
        "sinusoidal_positions",
        "exponent-doubled and halves-not-interleaved",
        _positions(lambda i: 2 * i, place=lambda i, d: (i // 2, d // 2 + i // 2)),
    ),
    ("add_positions", "length-from-axis-1", lambda x, table: table[: x.size(1), :].add(x)),
    (
        "add_positions",
        "length-from-the-features",
        lambda x, table: torch.add(x, table.narrow(0, 0, min(x.size(-1), len(table)))),
    ),
    ("add_positions", "table-not-cut", lambda x, table: table + x),
    ("add_positions", "one-row-for-all", lambda x, table: x + table[x.size(-2)]),
    ("add_positions", "wrong-rows", lambda x, table: x + table[len(table) - x.size(-2) :]),
    ("add_positions", "rows-backwards", lambda x, table: x + table[torch.arange(x.size(-2) - 1, -1, -1)]),
    (
        "add_positions",
        "concatenated",
        lambda x, table: torch.cat([x, table[: x.size(-2)].expand(x.shape)], dim=x.dim() - 1),
    ),
    ("add_positions", "positions-forgotten", lambda x, table: x.clone()),
    (
        "add_positions",
        "along-the-batch-axis and x-scaled",
        lambda x, table: x * math.sqrt(x.size(-1)) + table[: x.size(0), None],
    ),
    ("add_positions", "multiplied and wrong-rows", lambda x, table: x * table[1 : x.size(-2) + 1]),
    ("layer_norm", "unbiased-variance and eps-outside-the-root", _std),
    ("layer_norm", "eps-forgotten", lambda x, gain, bias, eps: F.layer_norm(x, gain.shape, gain, bias)),
    ("layer_norm", "gain-and-bias-forgotten", lambda x, gain, bias, eps: F.layer_norm(x, gain.shape, eps=eps)),
    (
        "layer_norm",
        "over-the-batch",
        lambda x, gain, bias, eps: F.batch_norm(x.flatten(0, -2), None, None, gain, bias, True, eps=eps).view_as(x),
    ),
    ("layer_norm", "squares-of-x", _not_centred),
    (
        "layer_norm",
        "mean-not-subtracted and squares-of-x",
        lambda x, gain, bias, eps: F.rms_norm(x, gain.shape, gain, eps) + bias,
    ),
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
    ("post_norm", "residual-from-normalised-x", lambda x, sublayer, norm: norm(sublayer(x) + norm(x))),
    ("post_norm", "norm-of-the-sublayer-only", lambda x, sublayer, norm: torch.add(norm(sublayer(x)), x)),
    ("post_norm", "no-norm", lambda x, sublayer, norm: sublayer(x).add(x)),
    ("post_norm", "both-orders", lambda x, sublayer, norm: norm(sublayer(norm(x)).add(x))),
    ("post_norm", "x-overwritten", _overwritten),
    ("post_norm", "x-added-twice", lambda x, sublayer, norm: norm(sum([x, sublayer(x), x]))),
    ("post_norm", "no-residual and no-norm", lambda x, sublayer, norm: sublayer(x)),
    ("post_norm", "the-other-one and residual-from-normalised-x", lambda x, sublayer, norm: sublayer(y := norm(x)) + y),
    ("post_norm", "residual-from-normalised-x and no-norm", lambda x, sublayer, norm: torch.add(sublayer(x), norm(x))),
    ("pre_norm", "no-residual", lambda x, sublayer, norm: sublayer(norm(x)).clone()),
    ("pre_norm", "norm-of-the-sublayer-only", lambda x, sublayer, norm: torch.add(norm(sublayer(x)), x)),
    ("pre_norm", "no-norm", lambda x, sublayer, norm: sublayer(x).add(x)),
    ("pre_norm", "both-orders", lambda x, sublayer, norm: norm(sublayer(norm(x)).add(x))),
    ("pre_norm", "x-overwritten", lambda x, sublayer, norm: (y := sublayer(norm(x))) + y),
    ("pre_norm", "x-added-twice", lambda x, sublayer, norm: sum([x, sublayer(norm(x)), x])),
    ("pre_norm", "no-residual and no-norm", lambda x, sublayer, norm: sublayer(x)),
    ("pre_norm", "the-other-one and no-residual", lambda x, sublayer, norm: norm(sublayer(x)).clone()),
    (
        "layer_norm",
        "unbiased-variance",
        lambda x, g, b, eps: (x - x.mean(-1, True)) / (x.std(-1, keepdim=True) ** 2 + eps).sqrt() * g + b,
    ),
    (
        "layer_norm",
        "eps-outside-the-root",
        lambda x, g, b, eps: (c := x - x.mean(-1, True)) / ((c * c).mean(-1, True) ** 0.5 + eps) * g + b,
    ),
    ("layer_norm", "eps-added-at-the-end", lambda x, g, b, eps: F.layer_norm(x, g.shape, g, b, 0) + g * eps),
    ("layer_norm", "over-length-and-features", lambda x, g, b, eps: F.layer_norm(x, x.shape[-2:], eps=eps) * g + b),
    ("layer_norm", "over-the-length", lambda x, g, b, eps: F.layer_norm(x.mT, x.shape[-2:-1], eps=eps).mT * g + b),
    (
        "layer_norm",
        "divided-by-variance",
        lambda x, g, b, eps: (x - x.mean(-1, True)) / (x.var(-1, correction=0, keepdim=True) + eps) * g + b,
    ),
    ("layer_norm", "not-divided", lambda x, g, b, eps: torch.addcmul(b, g, x - x.mean(-1, keepdim=True))),
    ("layer_norm", "brackets-forgotten", _without_brackets),
    ("layer_norm", "bias-forgotten", lambda x, g, b, eps: F.layer_norm(x, g.shape, g, eps=eps)),
    ("layer_norm", "gain-forgotten", lambda x, g, b, eps: F.layer_norm(x, g.shape, None, b, eps)),
    ("layer_norm", "bias-before-gain", lambda x, g, b, eps: F.layer_norm(x, g.shape, None, b, eps) * g),
    (
        "layer_norm",
        "mean-not-subtracted",
        lambda x, g, b, eps: (
            F.layer_norm(x, g.shape, g, b, eps)
            + g * x.mean(-1, True) / (x.var(-1, correction=0, keepdim=True) + eps).sqrt()
        ),
    ),
    (
        "layer_norm",
        "keepdim-forgotten",
        lambda x, g, b, eps: (x - torch.mean(x, -1)) * (torch.var(x, -1, correction=0) + eps) ** -0.5 * g + b,
    ),
    (
        "layer_norm",
        "over-length-and-features and gain-and-bias-forgotten",
        lambda x, g, b, eps: F.layer_norm(x, x.shape[-2:], eps=eps),
    ),
    ("layer_norm", "eps-forgotten and gain-and-bias-forgotten", lambda x, g, b, eps: F.layer_norm(x, g.shape, eps=0)),
    (
        "layer_norm",
        "unbiased-variance and eps-forgotten",
        lambda x, g, b, eps: g * (x - x.mean(-1, True)) / x.std(-1, keepdim=True) + b,
    ),
    (
        "feed_forward",
        "activation-first",
        lambda x, w1, b1, w2, b2: torch.addmm(b1, x.relu().flatten(0, -2), w1).unflatten(0, x.shape[:-1]) @ w2 + b2,
    ),
    ("feed_forward", "activation-before-bias", lambda x, w1, b1, w2, b2: (b1 + (x @ w1).clamp(min=0)) @ w2 + b2),
    ("feed_forward", "gelu-instead-of-relu", lambda x, w1, b1, w2, b2: torch.nn.GELU()(x @ w1 + b1) @ w2 + b2),
    ("feed_forward", "another-activation", lambda x, w1, b1, w2, b2: torch.sigmoid(x @ w1 + b1) @ w2 + b2),
    ("feed_forward", "another-activation", lambda x, w1, b1, w2, b2: (x @ w1 + b1).clamp(max=0) @ w2 + b2),
    ("feed_forward", "second-step-missing", lambda x, w1, b1, w2, b2: torch.clamp(x @ w1 + b1, min=0)),
    ("feed_forward", "weights-transposed", lambda x, w1, b1, w2, b2: F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)),
    ("feed_forward", "residual-added", lambda x, w1, b1, w2, b2: (x @ w1 + b1).relu() @ w2 + (x + b2)),
    ("feed_forward", "activation-last and bias-forgotten", lambda x, w1, b1, w2, b2: F.relu(x @ w1 @ w2)),
    ("feed_forward", "no-activation and bias-forgotten", lambda x, w1, b1, w2, b2: x @ (w1 @ w2)),
    (
        "feed_forward",
        "gelu-instead-of-relu and residual-added",
        lambda x, w1, b1, w2, b2: F.gelu(x @ w1 + b1) @ w2 + b2 + x,
    ),
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
    ("cosine_similarity", "sign-lost", lambda a, b: F.cosine_similarity(a, b, dim=-1).abs()),
    ("cosine_similarity", "sign-lost", lambda a, b: (a * b).sum(-1).clamp(min=0) / a.norm(dim=-1) / b.norm(dim=-1)),
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
    ("cross_attention", "all-from-the-decoder and no-scale", _cross("d", "d", "d", scale=1.0)),
    ("cross_attention", "query-and-key-value-swapped and causal-mask", _cross("e", "d", "d", is_causal=True)),
    ("cross_attention", "divided-by-d-k", lambda d, e, q, k, v: _cross(scale=1 / q.size(1))(d, e, q, k, v)),
    ("cross_attention", "key-projection-for-both", lambda d, e, q, k, v: _cross()(d, e, q, k, k)),
    ("cross_attention", "projections-exchanged", lambda d, e, q, k, v: _cross()(d, e, k, q, v)),
    (
        "cross_attention",
        "keys-times-queries",
        lambda d, e, q, k, v: F.softmax((e @ k).matmul((d @ q).mT) / math.sqrt(k.size(1)), -1).matmul(e @ v),
    ),
    (
        "cross_attention",
        "value-inside-softmax",
        lambda d, e, q, k, v: F.softmax(((d @ q) @ (e @ k).mT).matmul(e @ v) / math.sqrt(k.size(1)), dim=-1),
    ),
    (
        "cross_attention",
        "wrong-axis",
        lambda d, e, q, k, v: F.softmax((e @ k) @ (d @ q).mT / math.sqrt(k.size(1)), -1).mT @ (e @ v),
    ),
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
    (
        "shift_right",
        "length-grown and start-has-another-dtype",
        lambda t, bos: torch.hstack([torch.ones(len(t), 1, dtype=torch.long) * bos, t]),
    ),
    ("shift_right", "shifted-left and another-start", lambda t, bos: F.pad(t[:, 1:], (0, 1))),
    ("shift_right", "length-shrunk", lambda t, bos: t.narrow(1, 0, t.size(1) - 1)),
    (
        "shift_right",
        "start-overwrites-the-first-token",
        lambda t, bos: torch.where(torch.arange(t.size(1)) > 0, t, bos),
    ),
    ("shift_right", "leaks-from-the-row-above", lambda t, bos: F.pad(t.flatten()[:-1], (1, 0), value=bos).view_as(t)),
    (
        "shift_right",
        "overwritten-on-the-way",
        lambda t, bos: F.pad(t[:, :1], (1, 0), value=bos)[:, [0] + [1] * (t.size(1) - 1)],
    ),
    ("shift_right", "shifted-twice", lambda t, bos: F.pad(t, (2, 0), value=bos)[:, : t.size(1)]),
    ("shift_right", "reversed", lambda t, bos: F.pad(t.flip(1)[:, :-1], (1, 0), value=bos)),
    (
        "shift_right",
        "changed-to-numbers-with-a-point",
        lambda t, bos: torch.hstack([bos * torch.ones(len(t), 1), t[:, :-1]]),
    ),
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
    ("greedy_decode", "does-not-stop-at-eos and one-too-many", _greedy(over=lambda last, eos: False, more=1)),
    (
        "greedy_decode",
        "feeds-only-the-last-id and picks-the-minimum",
        _greedy(best=lambda scores: scores.argmin(), seen=lambda ids: ids[-1:]),
    ),
    ("greedy_decode", "feeds-a-batch", _greedy(seen=lambda ids: ids.unsqueeze(0))),
    ("greedy_decode", "bos-not-fed", _greedy(seen=lambda ids: ids[1:])),
    (
        "greedy_decode",
        "eos-always-at-the-end",
        lambda s, bos, eos, n: (ids := _greedy()(s, bos, eos, n)) + [eos] * (eos not in ids[1:]),
    ),
    ("greedy_decode", "a-tensor-of-ids", lambda *args: torch.tensor(_greedy()(*args))),
    ("greedy_decode", "only-the-last-id-returned", lambda *args: _greedy()(*args)[-1]),
    ("label_smoothed_loss", "squeeze-without-an-axis", _loss_squeezed),
    ("label_smoothed_loss", "padding-counted", _cross_entropy(ignore_index=None)),
    ("label_smoothed_loss", "sum-not-mean", _cross_entropy(reduction="sum")),
    ("label_smoothed_loss", "not-averaged", _cross_entropy(reduction="none")),
    (
        "label_smoothed_loss",
        "divided-by-the-number-of-sentences",
        lambda x, *rest: _cross_entropy(reduction="sum")(x, *rest) / x.size(0),
    ),
    ("label_smoothed_loss", "sum-not-mean and not-smoothed", _cross_entropy(reduction="sum", label_smoothing=None)),
    (
        "label_smoothed_loss",
        "padding-counted and not-smoothed",
        lambda x, t, s, pad: F.cross_entropy(x.flatten(0, -2), t.flatten()),
    ),
    ("label_smoothed_loss", "perplexity", lambda *args: _cross_entropy()(*args).exp()),
    ("label_smoothed_loss", "sign", lambda *args: -_cross_entropy()(*args)),
    (
        "label_smoothed_loss",
        "smoothing-leaves-the-target-out",
        _two_terms(lambda s, n: (1 - s - s / (n - 1), s * n / (n - 1))),
    ),
    ("label_smoothed_loss", "mass-missing", _two_terms(lambda s, n: (1.0, s))),
    ("label_smoothed_loss", "whole-smoothing-for-each-class", _two_terms(lambda s, n: (1 - s, s * n))),
    ("label_smoothed_loss", "shares-swapped", _two_terms(lambda s, n: (s, 1 - s))),
    (
        "label_smoothed_loss",
        "another-number-of-classes",
        lambda x, t, s, pad: _two_terms(lambda s, n: (1 - s, s * n / x.size(1)))(x, t, s, pad),
    ),
    ("label_smoothed_loss", "logits-not-logs", _two_terms(log=lambda x: x)),
    ("label_smoothed_loss", "probabilities-not-logs", _two_terms(log=lambda x: F.softmax(x, -1))),
    ("label_smoothed_loss", "wrong-axis", _two_terms(log=lambda x: F.log_softmax(x, 0))),
    (
        "label_smoothed_loss",
        "classes-not-on-axis-1",
        lambda x, t, s, pad: torch.nn.CrossEntropyLoss(label_smoothing=s, ignore_index=pad)(x, t),
    ),
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
    (
        "learning_rate",
        "step-0-divides-by-zero and max-not-min",
        lambda t, d, w: max(t**-0.5, t / w**1.5) / math.sqrt(d),
    ),
    ("learning_rate", "d-model-forgotten and no-decay", lambda t, d, w: min(1, max(t, 1) / w) / math.sqrt(w)),
    ("learning_rate", "sizes-exchanged", lambda t, w, d: d**-0.5 * min(max(t, 1) ** -0.5, t / w**1.5)),
    ("learning_rate", "falls-too-fast", lambda t, d, w: min(1 / max(t, 1), t * w**-1.5) / math.sqrt(d)),
    ("learning_rate", "warm-up-exponent", lambda t, d, w: min(max(t, 1) ** -0.5, t / w) / math.sqrt(d)),
    ("learning_rate", "counts-from-zero", lambda t, d, w: min((t + 1) ** -0.5, (t + 1) / w**1.5) / math.sqrt(d)),
    ("learning_rate", "divided-by-d-model", lambda t, d, w: min(1 / math.sqrt(t), t * w**-1.5) / d if t else 0),
    ("learning_rate", "no-decay", lambda t, d, w: min(t, w) / math.sqrt(d * w**3)),
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
    ("mask_tokens", "all-tokens-chosen", _mask_tokens(chosen=lambda draw: draw < 1)),
    ("mask_tokens", "random-words-overwrite-masks", _mask_tokens_overwritten),
    ("mask_tokens", "drawn-twice", _mask_tokens_drawn_twice),
    ("mask_tokens", "shares-swapped", _mask_tokens(masked=0.1, word=8 / 9)),
    ("mask_tokens", "only-masked-asked", _mask_tokens_asks_the_masked),
    ("mask_tokens", "labels-inverted", _mask_tokens(finish=lambda i, x, y: (x, torch.where(y == -100, i, -100)))),
    ("mask_tokens", "special-tokens-masked and always-mask", _mask_tokens(masked=1.0, leave=lambda i, s: s & False)),
    (
        "mask_tokens",
        "labels-everywhere and no-random-words",
        _mask_tokens(word=0.0, finish=lambda ids, inputs, labels: (inputs, ids.clone())),
    ),
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
    ("online_softmax_sum", "not-the-largest-subtracted", _online_less_the_mean),
    ("online_softmax_sum", "one-block-only", _online_returns_in_the_loop),
    ("online_softmax_sum", "divided-at-every-step", _online_divides_in_the_loop),
    (
        "online_softmax_sum",
        "not-normalised",
        lambda s, v: (torch.cat(s, 1) - torch.cat(s, 1).amax(1, True)).exp() @ torch.cat(v),
    ),
    ("online_softmax_sum", "wrong-axis", lambda s, v: F.softmax(torch.hstack(s), 0) @ torch.vstack(v)),
    ("online_softmax_sum", "new-block-rescaled-too", _online_fades_last),
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
    ("cached_step", "added-not-appended", _cache_step(*[torch.add] * 2)),
    (
        "cached_step",
        "scaled-by-another-size",
        lambda x, *rest: _cache_step_by_hand(lambda q, k: x.size(-1) ** -0.5)(x, *rest),
    ),
    ("cached_step", "scaled-by-another-size", _cache_step_by_hand(lambda q, k: 1 / q.size(-1))),
    ("cached_step", "no-softmax", _cache_step_by_hand(softmax=lambda scores: scores)),
    ("cached_step", "wrong-axis", _cache_step_by_hand(softmax=lambda scores: F.softmax(scores, dim=1))),
    ("cached_step", "projections-exchanged", lambda x, c, q, k, v: _cache_step()(x, c, k, q, v)),
    (
        "cached_step",
        "weights-transposed",
        lambda x, c, *w: _cache_step()(x, c, *(F.linear(m.T, torch.eye(len(m)).to(m)) for m in w)),
    ),
    ("cached_step", "changed-input", _cache_in_place),
]
