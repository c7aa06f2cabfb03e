"""For each exercise, right answers in other words: loops, einsum, the library, NumPy where allowed.

Every check must accept all of them. ``RIGHT[name]`` is a list of functions.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from einops import rearrange, repeat

from lesson_kit import check

RIGHT = {name: [] for name in check.EXERCISES}


def right(name):
    def remember(function):
        RIGHT[name].append(function)
        return function

    return remember


# Lesson 01


@right("dot_product_scores")
def _(query, key):
    return torch.einsum("qd,kd->qk", query, key)


@right("dot_product_scores")
def _(query, key):
    return torch.stack([torch.stack([(q * k).sum() for k in key]) for q in query])


@right("dot_product_scores")
def _(query, key):
    return (query[:, None, :] * key[None, :, :]).sum(-1)


@right("dot_product_scores")
def _(query, key):
    return F.linear(query, key)


@right("softmax")
def _(scores):
    return F.softmax(scores, dim=-1)


@right("softmax")
def _(scores):
    e = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)


@right("softmax")
def _(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


@right("softmax")
def _(scores):
    return scores.log_softmax(-1).exp()


@right("softmax")
def _(scores):
    shifted = scores - scores.detach().amax(-1, keepdim=True)  # a constant shift has no gradient: this is right
    return shifted.exp() / shifted.exp().sum(-1)[..., None]


@right("softmax")
def _(scores):
    rows = [row - row.max() for row in scores.reshape(-1, scores.shape[-1])]
    return torch.stack([row.exp() / row.exp().sum() for row in rows]).reshape(scores.shape)


@right("softmax")
def _(scores):
    differences = scores[..., None, :] - scores[..., :, None]  # each with each; exp of them may be too large
    return torch.exp(-torch.logsumexp(differences, dim=-1))


@right("attend")
def _(weights, value):
    return torch.einsum("qk,kd->qd", weights, value)


@right("attend")
def _(weights, value):
    return torch.stack([sum(w * v for w, v in zip(row, value, strict=True)) for row in weights])


@right("attend")
def _(weights, value):
    return (weights[:, :, None] * value).sum(dim=1)


@right("attend")
def _(weights, value):
    return (value.T @ weights.T).T


@right("dot_product_scores")
def _(query, key):
    result = torch.zeros(len(query), len(key), dtype=query.dtype)
    for i, q in enumerate(query):
        for j, k in enumerate(key):
            result[i, j] = torch.dot(q, k)
    return result


@right("dot_product_scores")
def _(query, key):
    return (key.double() @ query.double().T).T.to(query.dtype)


@right("dot_product_scores")
def _(query, key):
    total = torch.zeros(len(query), len(key), dtype=query.dtype)
    for feature in range(query.shape[1]):
        total += torch.outer(query[:, feature], key[:, feature])
    return total


@right("softmax")
def _(scores):
    e = scores.clone()
    e -= e.amax(-1, keepdim=True).detach()
    e = e.exp_()
    return e / e.sum(-1, keepdim=True)


@right("softmax")
def _(scores):
    wide = scores.double()
    e = (wide - wide.max(-1, keepdim=True)[0]).exp()
    return torch.einsum("...k,...->...k", e, 1 / e.sum(-1)).to(scores.dtype)


@right("softmax")
def softmax_number_by_number(scores):
    def row(numbers):
        largest = max(numbers, key=float)
        e = [torch.exp(number - largest) for number in numbers]
        return torch.stack([each / sum(e) for each in e])

    if scores.dim() == 1:
        return row(list(scores))
    return torch.stack([softmax_number_by_number(part) for part in scores])


@right("attend")
def _(weights, value):
    result = torch.zeros(len(weights), value.shape[1], dtype=value.dtype)
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            result[i] += weight * value[j]
    return result


@right("attend")
def _(weights, value):
    return sum(torch.outer(weights[:, k], value[k]) for k in range(len(value)))


@right("attend")
def _(weights, value):
    return torch.tensordot(weights.to(torch.float64), value.to(torch.float64), dims=1).to(value.dtype)


# Lesson 02


@right("scaled_dot_product_attention")
def _(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)


@right("scaled_dot_product_attention")
def _(query, key, value):
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.size(-1))
    return torch.einsum("...qk,...kd->...qd", scores.softmax(-1), value)


@right("scaled_dot_product_attention")
def _(query, key, value):
    query = query * key.shape[-1] ** -0.5  # scaled before the product
    return F.softmax(query @ key.mT, dim=-1) @ value


@right("scaled_dot_product_attention")
def _(query, key, value):
    d_k = torch.tensor(key.shape[-1], dtype=query.dtype)
    e = torch.exp(torch.matmul(query, key.transpose(-2, -1)) / torch.sqrt(d_k))
    return (e @ value) / e.sum(-1, keepdim=True)  # divided after the mixing


@right("scaled_dot_product_attention")
def attention_query_by_query(query, key, value):
    if query.dim() > 2:
        parts = zip(query, key, value, strict=True)
        return torch.stack([attention_query_by_query(*part) for part in parts])
    return torch.stack([((key @ q) / math.sqrt(len(q))).softmax(0) @ value for q in query])


@right("softmax_with_temperature")
def _(scores, temperature):
    return F.softmax(scores * (1 / temperature), dim=-1)


@right("softmax_with_temperature")
def _(scores, temperature):
    e = torch.exp((scores - scores.amax(-1, keepdim=True)) / temperature)
    return e / e.sum(-1, keepdim=True)


@right("softmax_with_temperature")
def _(scores, temperature):
    scaled = scores.div(temperature)
    return (scaled - scaled.logsumexp(-1, keepdim=True)).exp()


@right("softmax_with_temperature")
def _(scores, temperature):
    logs = scores.log_softmax(-1) / temperature  # the weights to the power 1/T, shared out again
    return logs.softmax(-1)


@right("scaled_dot_product_attention")
def _(query, key, value):
    scores = query @ key.transpose(-1, -2)
    scores /= key.size(-1) ** 0.5  # in place, but on a tensor of its own
    scores -= scores.detach().amax(-1, keepdim=True)
    weights = scores.exp()
    return weights.div(weights.sum(-1, keepdim=True)).matmul(value)


@right("scaled_dot_product_attention")
def _(query, key, value):
    wide_query, wide_key, wide_value = (x.double() for x in (query, key, value))
    scores = torch.einsum("...id,...jd->...ij", wide_query, wide_key) * wide_key.size(-1) ** -0.5
    return (scores.softmax(-1) @ wide_value).to(query.dtype)


@right("scaled_dot_product_attention")
def attention_number_by_number(query, key, value):
    if query.dim() > 2:
        parts = zip(query, key, value, strict=True)
        return torch.stack([attention_number_by_number(*part) for part in parts])
    rows = []
    for q in query:
        e = [torch.exp(sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q))) for k in key]
        rows.append(sum(each / sum(e) * v for each, v in zip(e, value, strict=True)))
    return torch.stack(rows)


@right("softmax_with_temperature")
def _(scores, temperature):
    def row(numbers):
        e = [torch.exp((number - max(numbers, key=float)) / temperature) for number in numbers]
        return torch.stack([each / sum(e) for each in e])

    flat = scores.reshape(-1, scores.shape[-1])
    return torch.stack([row(list(numbers)) for numbers in flat]).view(scores.shape)


@right("softmax_with_temperature")
def _(scores, temperature):
    own = scores.clone()
    own /= temperature
    own -= own.amax(-1, keepdim=True).detach()
    own = own.exp_()
    return torch.einsum("...k,...->...k", own, 1 / own.sum(-1))


@right("softmax_with_temperature")
def _(scores, temperature):
    return torch.softmax(scores.double() / temperature, -1).to(scores.dtype)


# Lesson 03


@right("causal_mask")
def _(length):
    return torch.tril(torch.ones(length, length)).bool()


@right("causal_mask")
def _(length):
    return torch.arange(length)[:, None] >= torch.arange(length)


@right("causal_mask")
def _(length):
    return torch.tensor([[key <= query for key in range(length)] for query in range(length)])


@right("causal_mask")
def _(length):
    return torch.from_numpy(np.tril(np.ones((length, length), dtype=bool)))


@right("causal_mask")
def _(length):
    return ~torch.ones(length, length, dtype=torch.bool).triu(1)


@right("padding_mask")
def _(lengths, max_length):
    return torch.arange(max_length).expand(len(lengths), -1) < lengths.unsqueeze(1)


@right("padding_mask")
def _(lengths, max_length):
    mask = torch.zeros(len(lengths), max_length, dtype=torch.bool)
    for row, length in enumerate(lengths):
        mask[row, :length] = True
    return mask


@right("padding_mask")
def _(lengths, max_length):
    return torch.tensor([[True] * n + [False] * (max_length - n) for n in lengths.tolist()])


@right("padding_mask")
def _(lengths, max_length):
    return torch.from_numpy(np.arange(max_length)[None, :] < lengths.numpy()[:, None])


@right("padding_mask")
def _(lengths, max_length):
    ends = F.one_hot(lengths, max_length + 1)[:, :max_length]
    return ends.cumsum(-1) == 0


@right("masked_softmax")
def _(scores, mask):
    weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
    return weights.nan_to_num(0.0)


@right("masked_softmax")
def _(scores, mask):
    return torch.softmax(scores.masked_fill(mask == 0, -1e9), dim=-1) * mask


@right("masked_softmax")
def _(scores, mask):
    filled = torch.where(mask, scores, torch.tensor(-torch.inf, dtype=scores.dtype))
    weights = filled.softmax(-1)
    return torch.where(mask.any(-1, keepdim=True), weights, torch.zeros_like(weights))


@right("masked_softmax")
def _(scores, mask):
    rows, masks = scores.reshape(-1, scores.shape[-1]), mask.expand_as(scores).reshape(-1, scores.shape[-1])
    result = torch.zeros_like(rows)
    for i, (row, visible) in enumerate(zip(rows, masks, strict=True)):
        if visible.any():
            result[i, visible] = row[visible].softmax(0)
    return result.view_as(scores)


@right("causal_mask")
def _(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        mask[query, : query + 1] = True
    return mask


@right("causal_mask")
def _(length):
    return torch.eye(length, dtype=torch.float64).cumsum(0) > 0


@right("padding_mask")
def _(lengths, max_length):
    return torch.stack([torch.arange(max_length) < length for length in lengths])


@right("padding_mask")
def _(lengths, max_length):
    left = torch.einsum("b,t->bt", lengths.double(), torch.ones(max_length, dtype=torch.float64))
    left -= torch.arange(max_length)
    return left.ge(1)


@right("masked_softmax")
def _(scores, mask):
    wide = scores.double().clone()
    wide[~mask.expand_as(scores)] = torch.finfo(torch.float64).min
    weights = wide.softmax(-1)
    weights = weights * mask
    return weights.to(scores.dtype)


@right("masked_softmax")
def _(scores, mask):
    seen = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    e = (seen - seen.amax(-1, keepdim=True)).exp().masked_fill(~mask, 0)
    total = torch.einsum("...k->...", e)
    return e / (total + (total == 0))[..., None]


# Lesson 04


@right("split_heads")
def _(x, n_heads):
    return rearrange(x, "b l (h d) -> b h l d", h=n_heads)


@right("split_heads")
def _(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@right("split_heads")
def _(x, n_heads):
    return x.unflatten(-1, (n_heads, x.size(-1) // n_heads)).permute(0, 2, 1, 3)


@right("split_heads")
def _(x, n_heads):
    width = x.shape[-1] // n_heads
    return torch.stack([x[..., h * width : (h + 1) * width] for h in range(n_heads)]).transpose(0, 1).contiguous()


@right("merge_heads")
def _(x):
    return rearrange(x, "b h l d -> b l (h d)")


@right("merge_heads")
def _(x):
    return torch.cat([x[:, head] for head in range(x.shape[1])], dim=-1)


@right("merge_heads")
def _(x):
    batch, heads, length, width = x.shape
    return x.transpose(1, 2).contiguous().view(batch, length, heads * width)


@right("merge_heads")
def _(x):
    return torch.cat(x.unbind(1), dim=2)


@right("multi_head_attention")
def heads_in_one_go(x, w_q, w_k, w_v, w_o, n_heads):
    query, key, value = (rearrange(x @ w, "b l (h d) -> b h l d", h=n_heads) for w in (w_q, w_k, w_v))
    return rearrange(F.scaled_dot_product_attention(query, key, value), "b h l d -> b l (h d)") @ w_o


@right("multi_head_attention")
def _(x, w_q, w_k, w_v, w_o, n_heads):
    heads = []
    for q, k, v in zip(w_q.chunk(n_heads, -1), w_k.chunk(n_heads, -1), w_v.chunk(n_heads, -1), strict=True):
        scores = (x @ q) @ (x @ k).transpose(1, 2) / math.sqrt(q.shape[1])
        heads.append(scores.softmax(-1) @ (x @ v))
    return torch.cat(heads, dim=-1) @ w_o


@right("multi_head_attention")
def _(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (torch.einsum("bld,dhe->bhle", x, w.unflatten(1, (n_heads, -1))) for w in (w_q, w_k, w_v))
    weights = torch.einsum("bhqe,bhke->bhqk", q / q.shape[-1] ** 0.5, k).softmax(-1)
    return torch.einsum("bhqk,bhke,heo->bqo", weights, v, w_o.unflatten(0, (n_heads, -1)))


@right("multi_head_attention")
def _(x, w_q, w_k, w_v, w_o, n_heads):
    # A sum after all: each head through its own rows of W_O.
    split = [w.chunk(n_heads, -1) for w in (w_q, w_k, w_v)]
    return sum(
        ((x @ q) @ (x @ k).mT / q.shape[1] ** 0.5).softmax(-1) @ (x @ v) @ o
        for q, k, v, o in zip(*split, w_o.chunk(n_heads, 0), strict=True)
    )


@right("split_heads")
def _(x, n_heads):
    batch, length, d_model = x.shape
    result = torch.empty(batch, n_heads, length, d_model // n_heads, dtype=x.dtype)
    for feature in range(d_model):
        head, place = divmod(feature, d_model // n_heads)
        result[:, head, :, place] = x[:, :, feature]
    return result


@right("split_heads")
def _(x, n_heads):
    d_head = x.shape[-1] // n_heads
    choice = torch.eye(x.shape[-1], dtype=torch.float64).view(x.shape[-1], n_heads, d_head)
    return torch.einsum("blf,fhd->bhld", x.double(), choice).to(x.dtype)


@right("split_heads")
def _(x, n_heads):
    return torch.stack([torch.stack(sentence.tensor_split(n_heads, dim=1)) for sentence in x])


@right("merge_heads")
def _(x):
    batch, heads, length, width = x.shape
    result = x.new_zeros(batch, length, heads * width)
    for head in range(heads):
        result[..., head * width : (head + 1) * width] += x[:, head]
    return result


@right("merge_heads")
def _(x):
    tokens = [[torch.cat(list(sentence[:, t])) for t in range(x.shape[2])] for sentence in x]
    return torch.stack([torch.stack(rows) for rows in tokens])


@right("merge_heads")
def _(x):
    _, heads, _, width = x.shape
    places = torch.eye(heads * width, dtype=torch.float64).view(heads, width, heads * width)
    return torch.einsum("bhld,hdf->blf", x.double(), places).to(x.dtype)


@right("multi_head_attention")
def _(x, w_q, w_k, w_v, w_o, n_heads):
    wide = [each.double() for each in (x, w_q, w_k, w_v, w_o)]
    return heads_in_one_go(*wide, n_heads).to(x.dtype)


@right("multi_head_attention")
def _(x, w_q, w_k, w_v, w_o, n_heads):
    sentences = []
    for sentence in x:
        query, key, value = sentence @ w_q, sentence @ w_k, sentence @ w_v
        merged = torch.zeros_like(value)
        for columns in torch.arange(value.shape[1]).chunk(n_heads):
            for t in range(len(sentence)):
                scores = key[:, columns] @ query[t, columns]
                scores /= len(columns) ** 0.5
                merged[t, columns] = scores.softmax(0) @ value[:, columns]
        sentences.append(merged @ w_o)
    return torch.stack(sentences)


# Lesson 05


@right("sinusoidal_positions")
def _(length, d_model):
    table = torch.zeros(length, d_model)
    position = torch.arange(length).unsqueeze(1)
    speed = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    table[:, 0::2] = torch.sin(position * speed)
    table[:, 1::2] = torch.cos(position * speed)
    return table


@right("sinusoidal_positions")
def _(length, d_model):
    def entry(t, column):
        angle = t / 10000 ** ((column - column % 2) / d_model)
        return math.cos(angle) if column % 2 else math.sin(angle)

    return torch.tensor([[entry(t, column) for column in range(d_model)] for t in range(length)])


@right("sinusoidal_positions")
def _(length, d_model):
    pair = np.arange(d_model) // 2
    angle = np.arange(length)[:, None] / np.power(10000, 2 * pair / d_model)
    return torch.from_numpy(np.where(np.arange(d_model) % 2 == 0, np.sin(angle), np.cos(angle)).astype(np.float32))


@right("sinusoidal_positions")
def _(length, d_model):
    angle = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(0, d_model, 2) / d_model))
    turns = torch.polar(torch.ones_like(angle), math.pi / 2 - angle)  # real part sine, imaginary part cosine
    return torch.view_as_real(turns).reshape(length, d_model)


@right("add_positions")
def _(x, positions):
    return torch.add(x, positions.narrow(0, 0, x.size(-2)))


@right("add_positions")
def _(x, positions):
    return torch.stack([x[..., t, :] + positions[t] for t in range(x.shape[-2])], dim=-2)


@right("add_positions")
def _(x, positions):
    return x + F.embedding(torch.arange(x.shape[-2]), positions).expand(x.shape)


@right("add_positions")
def _(x, positions):
    flat = x.flatten(0, -3) if x.dim() > 3 else x
    return (flat + positions[: x.shape[-2], :]).reshape(x.shape)


@right("sinusoidal_positions")
def _(length, d_model):
    rows = []
    for t in range(length):
        row = []
        for pair in range(d_model // 2):
            angle = t / math.pow(10000, 2 * pair / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(torch.tensor(row))
    return torch.stack(rows)


@right("sinusoidal_positions")
def _(length, d_model):
    speed = torch.logspace(0, -4, d_model // 2 + 1, dtype=torch.float64)[:-1]
    table = torch.einsum("t,c->tc", torch.arange(length).double(), speed.repeat_interleave(2))
    table[:, 1::2] += math.pi / 2  # a cosine is a sine a quarter turn ahead
    return table.sin_().float()


@right("add_positions")
def _(x, positions):
    total = x.clone()
    for t in range(x.shape[-2]):
        total[..., t, :] += positions[t]
    return total


@right("add_positions")
def _(x, positions):
    length = x.shape[-2]
    choice = torch.eye(length, len(positions), dtype=torch.float64)
    return (x.double() + torch.einsum("tp,pd->td", choice, positions.double())).to(x.dtype)


@right("add_positions")
def _(x, positions):
    rows = positions.split([x.shape[-2], len(positions) - x.shape[-2]])[0]
    return torch.stack([sentence + rows for sentence in x.reshape(-1, *x.shape[-2:])]).view(x.shape)


# Lesson 06


@right("layer_norm")
def _(x, gain, bias, eps):
    return F.layer_norm(x, gain.shape, gain, bias, eps)


@right("layer_norm")
def _(x, gain, bias, eps):
    centred = x - x.mean(-1, keepdim=True)
    return centred * torch.rsqrt((centred**2).mean(-1, keepdim=True) + eps) * gain + bias


@right("layer_norm")
def _(x, gain, bias, eps):
    n = x.shape[-1]
    mean = x.sum(-1, keepdim=True) / n
    variance = x.var(-1, keepdim=True) * (n - 1) / n
    return (x - mean) / (variance + eps) ** 0.5 * gain + bias


@right("layer_norm")
def _(x, gain, bias, eps):
    rows = [(r - r.mean()) / (r.pow(2).mean() - r.mean() ** 2 + eps).sqrt() for r in x.reshape(-1, x.shape[-1])]
    return torch.stack(rows).view(x.shape) * gain + bias


@right("layer_norm")
def _(x, gain, bias, eps):
    spread = torch.sqrt(x.std(-1, correction=0, keepdim=True) ** 2 + eps)
    return gain * ((x - x.mean(-1, keepdim=True)) / spread) + bias


@right("feed_forward")
def _(x, w1, b1, w2, b2):
    return F.linear(F.relu(F.linear(x, w1.T, b1)), w2.T, b2)


@right("feed_forward")
def _(x, w1, b1, w2, b2):
    hidden = torch.einsum("...d,df->...f", x, w1) + b1
    return torch.einsum("...f,fd->...d", hidden.clamp(min=0), w2) + b2


@right("feed_forward")
def _(x, w1, b1, w2, b2):
    hidden = x.matmul(w1).add(b1)
    return torch.where(hidden > 0, hidden, 0.0).matmul(w2).add(b2)


@right("feed_forward")
def _(x, w1, b1, w2, b2):
    hidden = torch.relu_(x @ w1 + b1)  # in place, but on a tensor of its own
    return sum(hidden[..., i, None] * w2[i] for i in range(len(w2))) + b2


@right("post_norm")
def _(x, sublayer, norm):
    total = sublayer(x) + x
    return norm(total)


@right("post_norm")
def _(x, sublayer, norm):
    total = x.clone()
    total += sublayer(x)
    return norm(total)


@right("post_norm")
def _(x, sublayer, norm):
    return norm(torch.stack([x, sublayer(x)]).sum(0))


@right("pre_norm")
def _(x, sublayer, norm):
    change = sublayer(norm(x))
    return change + x


@right("pre_norm")
def _(x, sublayer, norm):
    normed = norm(x)
    return torch.add(x, sublayer(normed))


@right("pre_norm")
def _(x, sublayer, norm):
    total = x.clone()
    total += sublayer(norm(x))
    return total


@right("layer_norm")
def _(x, gain, bias, eps):
    wide = x.double()
    wide = wide - torch.einsum("...d->...", wide)[..., None] / x.shape[-1]
    variance = torch.einsum("...d,...d->...", wide, wide)[..., None] / x.shape[-1]
    return (wide / (variance + eps).sqrt() * gain.double() + bias.double()).to(x.dtype)


@right("layer_norm")
def _(x, gain, bias, eps):
    def token(features):
        mean = sum(features) / len(features)
        variance = sum((feature - mean) ** 2 for feature in features) / len(features)
        return torch.stack([(feature - mean) / torch.sqrt(variance + eps) for feature in features]) * gain + bias

    return torch.stack([token(list(row)) for row in x.flatten(0, -2)]).reshape(x.shape)


@right("layer_norm")
def _(x, gain, bias, eps):
    own = x.clone()
    own -= x.mean(-1, keepdim=True)
    own /= torch.sqrt(x.var(-1, keepdim=True, correction=0) + eps)
    own *= gain
    own += bias
    return own


@right("feed_forward")
def _(x, w1, b1, w2, b2):
    def token(features):
        hidden = [
            sum(f * w for f, w in zip(features, column, strict=True)) + b for column, b in zip(w1.T, b1, strict=True)
        ]
        return sum(row * h for row, h in zip(w2, hidden, strict=True) if h > 0) + b2

    return torch.stack([token(row) for row in x.flatten(0, -2)]).reshape(x.shape)


@right("feed_forward")
def _(x, w1, b1, w2, b2):
    x, w1, b1, w2, b2, dtype = *(each.double() for each in (x, w1, b1, w2, b2)), x.dtype
    hidden = torch.maximum(x @ w1 + b1, torch.zeros_like(b1))
    return (hidden @ w2 + b2).to(dtype)


@right("post_norm")
def _(x, sublayer, norm):
    return norm(x.double().add(sublayer(x).double()).to(x.dtype))


@right("post_norm")
def _(x, sublayer, norm):
    return norm(torch.einsum("p...->...", torch.stack((sublayer(x), x))))


@right("post_norm")
def _(x, sublayer, norm):
    change = sublayer(x)
    return norm(torch.stack([a + b for a, b in zip(x, change, strict=True)]))


@right("pre_norm")
def _(x, sublayer, norm):
    return (x.double() + sublayer(norm(x)).double()).to(x.dtype)


@right("pre_norm")
def _(x, sublayer, norm):
    return torch.einsum("p...->...", torch.stack((x, sublayer(norm(x)))))


@right("pre_norm")
def _(x, sublayer, norm):
    change = sublayer(norm(x))
    return torch.stack([a + b for a, b in zip(x, change, strict=True)])


# Lesson 07


@right("encoder_layer")
def _(x, attention, feed_forward, norm1, norm2):
    middle = norm1(x + attention(x))
    return norm2(middle + feed_forward(middle))


@right("encoder_layer")
def _(x, attention, feed_forward, norm1, norm2):
    for sublayer, norm in ((attention, norm1), (feed_forward, norm2)):
        x = norm(torch.add(sublayer(x), x))
    return x


@right("encoder_layer")
def _(x, attention, feed_forward, norm1, norm2):
    post_norm = check.EXERCISES["post_norm"].reference
    return post_norm(post_norm(x, attention, norm1), feed_forward, norm2)


@right("encoder_layer")
def _(x, attention, feed_forward, norm1, norm2):
    total = x.clone()
    total += attention(x)
    x = norm1(total)
    return norm2(torch.stack([feed_forward(x), x]).sum(0))


@right("encoder_layer")
def _(x, attention, feed_forward, norm1, norm2):
    wide = x.double()
    gathered = norm1(wide + attention(wide))
    return norm2(gathered + feed_forward(gathered)).to(x.dtype)


# Lesson 08


@right("bert_embeddings")
def _(ids, segments, word, position, segment, norm):
    places = torch.arange(ids.shape[1]).expand_as(ids)
    return norm(F.embedding(ids, word) + F.embedding(places, position) + F.embedding(segments, segment))


@right("bert_embeddings")
def _(ids, segments, word, position, segment, norm):
    rows = []
    for row, parts in zip(ids, segments, strict=True):
        tokens = [word[i] + position[t] + segment[s] for t, (i, s) in enumerate(zip(row, parts, strict=True))]
        rows.append(norm(torch.stack(tokens)))
    return torch.stack(rows)


@right("bert_embeddings")
def _(ids, segments, word, position, segment, norm):
    words = F.one_hot(ids, len(word)).to(word.dtype) @ word
    parts = F.one_hot(segments, len(segment)).to(word.dtype) @ segment
    places = repeat(position[: ids.shape[1]], "l d -> b l d", b=len(ids))
    return norm(words + places + parts)


@right("bert_embeddings")
def _(ids, segments, word, position, segment, norm):
    first, second = segment
    chosen = torch.where(segments[..., None] == 0, first, second)
    return norm(torch.index_select(word, 0, ids.flatten()).unflatten(0, ids.shape) + chosen + position[: len(ids[0])])


@right("bert_embeddings")
def _(ids, segments, word, position, segment, norm):
    total = word[ids].double()  # a copy of its own, changed in place
    total += position[: ids.size(1)]
    total += segment[segments]
    return norm(total).to(word.dtype)


# Lesson 11


@right("head_entropy")
def _(weights):
    return -torch.special.xlogy(weights, weights).sum(-1)


@right("head_entropy")
def _(weights):
    logs = torch.where(weights > 0, weights, torch.ones_like(weights)).log()
    return -torch.einsum("...k,...k->...", weights, logs)


@right("head_entropy")
def _(weights):
    return (weights * -torch.log(weights.clamp(min=1e-30))).sum(dim=-1)


@right("head_entropy")
def _(weights):
    return torch.nan_to_num(-weights * weights.log(), nan=0.0).sum(-1)


@right("head_entropy")
def _(weights):
    rows = [sum(-w * torch.log(w) for w in row if w > 0) for row in weights.flatten(0, -2)]
    return torch.stack(rows).view(weights.shape[:-1])


@right("head_entropy")
def _(weights):
    return torch.distributions.Categorical(probs=weights).entropy()


@right("head_entropy")
def _(weights):
    logs = weights.double().clamp_min(1e-300).log_()  # float64 inside, in place on a copy
    return -(logs * weights).sum(-1).to(weights.dtype)


# Lesson 10


@right("cosine_similarity")
def _(a, b):
    return F.cosine_similarity(a, b, dim=-1)


@right("cosine_similarity")
def _(a, b):
    return (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1)


@right("cosine_similarity")
def _(a, b):
    dot = torch.einsum("...d,...d->...", a, b)
    return dot * torch.rsqrt(a.square().sum(-1)) * torch.rsqrt(b.square().sum(-1))


@right("cosine_similarity")
def _(a, b):
    return torch.linalg.vecdot(a, b) / torch.linalg.vector_norm(a, dim=-1) / torch.linalg.vector_norm(b, dim=-1)


@right("cosine_similarity")
def _(a, b):
    pairs = zip(a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1]), strict=True)
    return torch.stack([x @ y / ((x @ x) * (y @ y)).sqrt() for x, y in pairs]).reshape(a.shape[:-1])


@right("cosine_similarity")
def _(a, b):
    products = a.double() * b.double()
    squares = torch.stack([a, b]).double().square_()  # in place, on a copy
    return (products.sum(-1) / squares.sum(-1).prod(0).sqrt()).to(a.dtype)


@right("cosine_similarity")
def _(a, b):
    # From the triangle that a and b make: |a - b|^2 = |a|^2 + |b|^2 - 2 |a| |b| cos.
    a, b = a / a.norm(dim=-1)[..., None], b / b.norm(dim=-1)[..., None]
    return 1 - (a - b).square().sum(-1) / 2


# Lesson 13


@right("cross_attention")
def _(decoder_x, encoder_x, w_q, w_k, w_v):
    return F.scaled_dot_product_attention(decoder_x @ w_q, encoder_x @ w_k, encoder_x @ w_v)


@right("cross_attention")
def _(decoder_x, encoder_x, w_q, w_k, w_v):
    query, key, value = F.linear(decoder_x, w_q.T), F.linear(encoder_x, w_k.T), F.linear(encoder_x, w_v.T)
    weights = F.softmax(torch.einsum("...td,...sd->...ts", query, key) / math.sqrt(key.size(-1)), dim=-1)
    return torch.einsum("...ts,...sv->...tv", weights, value)


@right("cross_attention")
def _(decoder_x, encoder_x, w_q, w_k, w_v):
    return check.EXERCISES["scaled_dot_product_attention"].reference(decoder_x @ w_q, encoder_x @ w_k, encoder_x @ w_v)


@right("cross_attention")
def _(decoder_x, encoder_x, w_q, w_k, w_v):
    gathered = []
    for t in range(decoder_x.shape[-2]):  # one target token after the other
        query = decoder_x[..., t : t + 1, :] @ w_q / w_q.shape[1] ** 0.5
        weights = (query * (encoder_x @ w_k)).sum(-1).softmax(-1)
        gathered.append((weights.unsqueeze(-1) * encoder_x).sum(-2) @ w_v)  # mixing first, projecting then: the same
    return torch.stack(gathered, dim=-2)


@right("cross_attention")
def _(decoder_x, encoder_x, w_q, w_k, w_v):
    nothing_hidden = torch.ones(decoder_x.shape[-2], encoder_x.shape[-2], dtype=torch.bool)
    scores = (decoder_x @ (w_q @ w_k.mT) @ encoder_x.mT) * w_k.shape[-1] ** -0.5
    return scores.masked_fill(~nothing_hidden, -torch.inf).softmax(-1) @ encoder_x @ w_v


@right("cross_attention")
def _(decoder_x, encoder_x, w_q, w_k, w_v):
    query, key, value = decoder_x.double() @ w_q.double(), encoder_x.double() @ w_k.double(), encoder_x @ w_v
    weights = query @ key.mT / query.shape[-1] ** 0.5  # float64 inside, and in place on tensors of its own
    weights -= weights.detach().amax(-1, keepdim=True)
    weights = weights.exp()
    return ((weights @ value.double()) / weights.sum(-1, keepdim=True)).to(decoder_x.dtype)


@right("shift_right")
def _(targets, bos_id):
    shifted = targets.roll(1, dims=1)
    shifted[:, 0] = bos_id
    return shifted


@right("shift_right")
def _(targets, bos_id):
    shifted = torch.empty_like(targets)
    shifted[:, 0], shifted[:, 1:] = bos_id, targets[:, :-1]
    return shifted


@right("shift_right")
def _(targets, bos_id):
    return F.pad(targets[:, :-1], (1, 0), value=bos_id)


@right("shift_right")
def _(targets, bos_id):
    return torch.tensor([[bos_id, *row[:-1]] for row in targets.tolist()], dtype=targets.dtype)


@right("shift_right")
def _(targets, bos_id):
    flat = targets.flatten().roll(1).view(targets.shape)  # what comes from the row above is overwritten
    return torch.where(torch.arange(targets.shape[1]) == 0, torch.tensor(bos_id, dtype=targets.dtype), flat)


@right("shift_right")
def _(targets, bos_id):
    shifted = targets.clone()
    for t in reversed(range(1, targets.shape[1])):
        shifted[:, t] = shifted[:, t - 1]
    shifted[:, 0].fill_(bos_id)
    return shifted


@right("shift_right")
def _(targets, bos_id):
    return torch.from_numpy(np.insert(targets.numpy(), 0, bos_id, axis=1)[:, :-1])


# Lesson 14


@right("greedy_decode")
def _(step, bos_id, eos_id, max_length):
    ids = [bos_id]
    while ids[-1] != eos_id and len(ids) < max_length:
        scores = step(ids)
        ids = ids + [int(scores.argmax())]
    return ids


@right("greedy_decode")
def _(step, bos_id, eos_id, max_length):
    ids = [bos_id]
    for _ in range(max_length - 1):  # to the end, and cut off afterwards
        ids.append(torch.topk(step(ids).softmax(-1), 1).indices[0].item())
    return ids[: ids.index(eos_id, 1) + 1] if eos_id in ids[1:] else ids


@right("greedy_decode")
def _(step, bos_id, eos_id, max_length):
    ids = torch.tensor([bos_id])
    while len(ids) < max_length:
        ids = torch.cat((ids, step(ids).argmax(keepdim=True)))
        if ids[-1] == eos_id:
            break
    return ids.tolist()


@right("greedy_decode")
def _(step, bos_id, eos_id, max_length):
    def more(ids):
        if len(ids) >= max_length:
            return ids
        scores = step(ids).tolist()
        best = max(range(len(scores)), key=scores.__getitem__)
        return [*ids, best] if best == eos_id else more([*ids, best])

    return more([bos_id])


@right("greedy_decode")
def _(step, bos_id, eos_id, max_length):
    ids = np.full(max_length, bos_id)
    for t in range(1, max_length):
        ids[t] = np.argmax(step(ids[:t]).double().numpy())
        if ids[t] == eos_id:
            return list(ids[: t + 1])
    return list(ids)


@right("label_smoothed_loss")
def _(logits, targets, smoothing, pad_id):
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten(), label_smoothing=smoothing, ignore_index=pad_id)


@right("label_smoothed_loss")
def _(logits, targets, smoothing, pad_id):
    log_p = logits.log_softmax(-1)
    nll = -log_p.gather(-1, targets[..., None]).squeeze(-1)
    return ((1 - smoothing) * nll - smoothing * log_p.mean(-1))[targets != pad_id].mean()


@right("label_smoothed_loss")
def _(logits, targets, smoothing, pad_id):
    real = targets != pad_id
    logits, targets = logits[real], targets[real]
    aim = torch.full_like(logits, smoothing / logits.shape[-1])
    aim[torch.arange(len(targets)), targets] += 1 - smoothing
    return F.cross_entropy(logits, aim)


@right("label_smoothed_loss")
def _(logits, targets, smoothing, pad_id):
    total, count = 0, 0
    for row, target in zip(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), strict=True):
        if target != pad_id:
            log_p = row - row.logsumexp(-1)
            total = total - (1 - smoothing) * log_p[target] - smoothing * log_p.mean()
            count += 1
    return total / count


@right("label_smoothed_loss")
def _(logits, targets, smoothing, pad_id):
    log_p = logits.double() - torch.logsumexp(logits.double(), dim=-1, keepdim=True)  # float64 inside
    aim = torch.full(log_p.shape, smoothing / log_p.shape[-1], dtype=torch.float64)
    aim.scatter_add_(-1, targets[..., None], torch.full((*targets.shape, 1), 1 - smoothing, dtype=torch.float64))
    aim[targets == pad_id] = 0  # in place, on a tensor of its own
    return (-torch.einsum("...v,...v->", aim, log_p) / aim.sum()).to(logits.dtype)


@right("learning_rate")
def _(step, d_model, warmup):
    if step == 0:
        return 0.0
    return min(1 / math.sqrt(step), step / (warmup * math.sqrt(warmup))) / math.sqrt(d_model)


@right("learning_rate")
def _(step, d_model, warmup):
    step = step or 1
    if step < warmup:
        return step / math.sqrt(d_model * warmup**3)
    return 1 / math.sqrt(d_model * step)


@right("learning_rate")
def _(step, d_model, warmup):
    step = torch.tensor(float(step)).clamp(min=1)
    return (d_model * torch.maximum(step, warmup**3 / step.square())).rsqrt()


@right("learning_rate")
def _(step, d_model, warmup):
    with np.errstate(divide="ignore"):
        return np.float64(d_model) ** -0.5 * np.minimum(np.float64(step) ** -0.5, step * warmup**-1.5)


# Lesson 09


@right("mask_tokens")
def _(ids, special, mask_id, vocab_size, generator):
    inputs, labels = ids.clone(), torch.full_like(ids, -100)
    draw = torch.rand(ids.shape, generator=generator).masked_fill(special, 1.0)  # one draw for all decisions
    labels[draw < 0.15] = ids[draw < 0.15]
    inputs[draw < 0.12] = mask_id
    other = (draw >= 0.12) & (draw < 0.135)
    inputs[other] = torch.randint(vocab_size, (int(other.sum()),), generator=generator)
    return inputs, labels


@right("mask_tokens")
def _(ids, special, mask_id, vocab_size, generator):
    labels = ids.clone()
    chosen = torch.bernoulli(torch.full(ids.shape, 0.15).masked_fill(special, 0.0), generator=generator).bool()
    labels[~chosen] = -100
    replaced = torch.bernoulli(torch.full(ids.shape, 0.8), generator=generator).bool() & chosen
    random = torch.bernoulli(torch.full(ids.shape, 0.5), generator=generator).bool() & chosen & ~replaced
    words = torch.randint(5, vocab_size, ids.shape, generator=generator)  # never a special token
    return torch.where(random, words, ids.masked_fill(replaced, mask_id)), labels


@right("mask_tokens")
def _(ids, special, mask_id, vocab_size, generator):
    inputs, labels = ids.clone(), ids.new_full(ids.shape, -100)
    for row, (tokens, leave) in enumerate(zip(ids, special, strict=True)):
        places = (~leave).nonzero().flatten()
        order = places[torch.randperm(len(places), generator=generator)]
        chosen = order[: round(0.15 * len(order))]  # as many in each row, as in the paper's own code
        labels[row, chosen] = tokens[chosen]
        masked, drawn = round(0.8 * len(chosen)), round(0.9 * len(chosen))
        inputs[row, chosen[:masked]] = mask_id
        inputs[row, chosen[masked:drawn]] = torch.randint(vocab_size, (drawn - masked,), generator=generator)
    return inputs, labels


@right("mask_tokens")
def _(ids, special, mask_id, vocab_size, generator):
    n = torch.Generator().manual_seed(torch.randint(2**31, (1,), generator=generator).item())
    dice = np.random.default_rng(n.initial_seed())
    inputs, labels = ids.numpy().copy(), np.full(ids.shape, -100)
    chosen = ~special.numpy() & (dice.random(ids.shape) < 0.15)
    labels[chosen] = inputs[chosen]
    kind = dice.choice(["mask", "word", "same"], size=ids.shape, p=[0.8, 0.1, 0.1])
    inputs[chosen & (kind == "mask")] = mask_id
    other = chosen & (kind == "word")
    inputs[other] = dice.integers(vocab_size, size=other.sum())
    return torch.from_numpy(inputs), torch.from_numpy(labels)


# Lesson 18


@right("online_softmax_sum")
def _(scores_blocks, value_blocks):
    return torch.cat(scores_blocks, dim=-1).softmax(-1) @ torch.cat(value_blocks)  # all at once: the same numbers


@right("online_softmax_sum")
def _(scores_blocks, value_blocks):
    queries, d_v = scores_blocks[0].shape[0], value_blocks[0].shape[1]
    highest = scores_blocks[0].new_full((queries,), -torch.inf)
    total, output = scores_blocks[0].new_zeros(queries), scores_blocks[0].new_zeros(queries, d_v)
    for scores, value in zip(scores_blocks, value_blocks, strict=True):
        new = torch.maximum(highest, scores.max(dim=1).values)
        old_part = torch.exp(highest - new)
        e = torch.exp(scores - new[:, None])
        total = total * old_part + e.sum(1)
        output = output * old_part[:, None] + e @ value
        highest = new
    return output / total[:, None]


@right("online_softmax_sum")
def _(scores_blocks, value_blocks):
    log_total = output = None  # the output is normalised all the time, and blended with each block's own
    for scores, value in zip(scores_blocks, value_blocks, strict=True):
        log_block, block = scores.logsumexp(-1, keepdim=True), scores.softmax(-1) @ value
        if output is None:
            log_total, output = log_block, block
        else:
            share = torch.sigmoid(log_block - log_total)
            output = output + share * (block - output)
            log_total = torch.logaddexp(log_total, log_block)
    return output


@right("online_softmax_sum")
def _(scores_blocks, value_blocks):
    highest = torch.stack([scores.amax(-1) for scores in scores_blocks]).amax(0).detach()  # two passes
    exponentials = [torch.exp(scores - highest[:, None]) for scores in scores_blocks]
    total = sum(e.sum(-1, keepdim=True) for e in exponentials)
    return sum(e / total @ value for e, value in zip(exponentials, value_blocks, strict=True))


@right("online_softmax_sum")
def _(scores_blocks, value_blocks):
    rows = []
    for q in range(len(scores_blocks[0])):
        m, total, output = -math.inf, 0.0, 0.0  # one query and one key at a time, in float64
        for scores, value in zip(scores_blocks, value_blocks, strict=True):
            for score, v in zip(scores[q].double(), value.double(), strict=True):
                new = max(m, score.item())
                fade, weight = math.exp(m - new), torch.exp(score - new)
                m, total, output = new, total * fade + weight, output * fade + weight * v
        rows.append(output / total)
    return torch.stack(rows).to(value_blocks[0].dtype)


@right("online_softmax_sum")
def _(scores_blocks, value_blocks):
    def blocks(i):
        highest = scores_blocks[i].amax(-1, keepdim=True)
        e = (scores_blocks[i] - highest).exp()
        return highest, torch.hstack([e @ value_blocks[i], e.sum(-1, keepdim=True)])

    def merged(one, other):  # the sum rides along as one more column, in place on a tensor of its own
        highest = torch.maximum(one[0], other[0])
        both = one[1] * (one[0] - highest).exp()
        both += other[1] * (other[0] - highest).exp()
        return highest, both

    parts = [blocks(i) for i in reversed(range(len(scores_blocks)))]  # from the last block to the first
    while len(parts) > 1:
        parts = [merged(*parts[:2]), *parts[2:]]
    return parts[0][1][:, :-1] / parts[0][1][:, -1:]


@right("cached_step")
def _(x_t, cache, w_q, w_k, w_v):
    keys, values = x_t @ w_k, x_t @ w_v
    if cache is not None:
        keys, values = torch.cat([cache[0], keys], dim=1), torch.cat([cache[1], values], dim=1)
    return F.scaled_dot_product_attention(x_t @ w_q, keys, values), (keys, values)


@right("cached_step")
def _(x_t, cache, w_q, w_k, w_v):
    batch, _, width = x_t.shape[0], x_t.shape[1], w_k.shape[1]
    keys, values = cache or (x_t.new_zeros(batch, 0, width), x_t.new_zeros(batch, 0, width))  # time 0
    keys = torch.hstack([keys, torch.einsum("btm,md->btd", x_t, w_k)])
    values = torch.hstack([values, torch.einsum("btm,md->btd", x_t, w_v)])
    scores = torch.einsum("bqd,bkd->bqk", x_t @ w_q, keys) / math.sqrt(width)
    return torch.einsum("bqk,bkd->bqd", F.softmax(scores, dim=-1), values), (keys, values)


@right("cached_step")
def _(x_t, cache, w_q, w_k, w_v):
    time = 0 if cache is None else cache[0].shape[1]
    grown = []
    for i, w in enumerate((w_k, w_v)):
        room = x_t.new_empty(len(x_t), time + 1, w.shape[1])  # made for all, then filled
        if time:
            room[:, :-1] = cache[i]
        room[:, -1:] = x_t @ w
        grown.append(room)
    keys, values = grown
    return ((x_t @ w_q) @ keys.mT * w_q.shape[1] ** -0.5).softmax(-1) @ values, tuple(grown)


@right("cached_step")
def _(x_t, cache, w_q, w_k, w_v):
    outputs, all_keys, all_values = [], [], []
    for i, x in enumerate(x_t[:, 0]):  # sentence by sentence, key by key
        keys = [*(cache[0][i] if cache else ()), x @ w_k]
        values = [*(cache[1][i] if cache else ()), x @ w_v]
        weights = torch.stack([(x @ w_q).dot(key) / len(key) ** 0.5 for key in keys]).softmax(0)
        outputs.append(sum(weight * value for weight, value in zip(weights, values, strict=True)))
        all_keys.append(torch.stack(keys))
        all_values.append(torch.stack(values))
    return torch.stack(outputs)[:, None], (torch.stack(all_keys), torch.stack(all_values))


@right("cached_step")
def _(x_t, cache, w_q, w_k, w_v):
    q, k, v = (x_t @ torch.cat([w_q, w_k, w_v], dim=1)).chunk(3, dim=-1)
    keys, values = (k, v) if cache is None else map(torch.column_stack, zip(cache, (k, v), strict=True))
    scores = (q.double() * keys.double()).sum(-1) / keys.shape[-1] ** 0.5  # in float64
    e = (scores - scores.amax(-1, keepdim=True)).exp()[..., None]
    output = (e * values).sum(1, keepdim=True) / e.sum(1, keepdim=True)
    return output.to(x_t.dtype), (keys, values)


@right("cached_step")
def _(x_t, cache, w_q, w_k, w_v):
    key, value, query = x_t @ w_k, x_t @ w_v, x_t @ w_q / w_q.shape[-1] ** 0.5
    if cache is None:
        parts = [((query * key).sum(-1, keepdim=True), value)]
        kept = key, value
    else:
        parts = [(query @ cache[0].mT, cache[1]), ((query * key).sum(-1, keepdim=True), value)]  # nothing is joined
        kept = torch.cat([cache[0], key], 1), torch.cat([cache[1], value], 1)
    total = torch.stack([scores.logsumexp(-1) for scores, _ in parts]).logsumexp(0)[..., None]
    return sum(torch.exp(scores - total) @ values for scores, values in parts), kept
