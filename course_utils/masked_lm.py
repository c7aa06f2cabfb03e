"""Masked-language modelling: our BERT, the head that guesses words, and the masking.

Source: Devlin et al. 2019, section 3.1, task 1, and appendix A.1.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_utils._expect import expect_dtype, expect_shape
from course_utils.bert import Bert
from course_utils.layers import ACTIVATIONS, LayerNorm

NOT_ASKED = -100  # the label of a token that need not be guessed: F.cross_entropy leaves it out

# Where the head's weights live in a Hugging Face BertForMaskedLM; the rest is NAME_MAP below "bert.".
HEAD_MAP = {
    "dense.weight": "cls.predictions.transform.dense.weight",
    "dense.bias": "cls.predictions.transform.dense.bias",
    "norm.gain": "cls.predictions.transform.LayerNorm.weight",
    "norm.bias": "cls.predictions.transform.LayerNorm.bias",
    "bias": "cls.predictions.bias",
}


def mask_tokens(
    ids: Int[Tensor, "batch length"],
    special: Bool[Tensor, "batch length"],
    *,
    mask_id: int,
    vocab_size: int,
    generator: torch.Generator | None = None,
    share: float = 0.15,
) -> tuple[Int[Tensor, "batch length"], Int[Tensor, "batch length"]]:
    """Chooses ``share`` of the tokens; of these 80% become [MASK], 10% a random word, 10% stay. ``ids`` is not changed.

    ``special`` marks what is never touched. Returns ``(inputs, labels)``; labels are ``NOT_ASKED`` at all other tokens.
    ``generator`` is one of the CPU, wherever ``ids`` are: the same seed masks the same tokens on every device.

    Raises:
        TypeError: ``special`` is not boolean.
        ValueError: ``special`` has another shape than ``ids``, or ``share`` lies outside (0, 1].
    """
    if not 0 < share <= 1:
        raise ValueError(f"share must lie in (0, 1], got {share}")
    expect_dtype("special", special, "a boolean tensor", (torch.bool,))
    expect_shape("special", special, special.shape == ids.shape, f"that of ids, {tuple(ids.shape)}")
    chosen = ~special & (torch.rand(ids.shape, generator=generator).to(ids.device) < share)
    what = torch.rand(ids.shape, generator=generator).to(ids.device)
    inputs = torch.where(chosen & (what < 0.8), mask_id, ids)
    random_words = torch.randint(0, vocab_size, ids.shape, generator=generator, dtype=ids.dtype)
    inputs = torch.where(chosen & (what >= 0.9), random_words.to(ids.device), inputs)
    return inputs, torch.where(chosen, ids, NOT_ASKED)


class MaskedLanguageModel(nn.Module):
    """``Bert``, and for each token a score for each word: a dense layer, the encoder's activation, a norm, and the
    word vectors again.

    ``bert`` keeps its weights. ``draw_weights`` makes the whole a model to be trained from nothing.
    """

    def __init__(self, bert: Bert):
        super().__init__()
        self.bert = bert
        vocab_size, d_model = bert.embeddings.word.weight.shape
        self.dense = nn.Linear(d_model, d_model)
        self.norm = LayerNorm(d_model, bert.embeddings_norm.eps)
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def scores(self, hidden: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab_size"]:
        """The head alone: hidden states in, a score for each word out."""
        activation = ACTIVATIONS[self.bert.encoder.layers[0].feed_forward.activation]
        transformed = self.norm(activation(self.dense(hidden)))
        return F.linear(transformed, self.bert.embeddings.word.weight, self.bias)

    def forward(
        self, input_ids: Int[Tensor, "batch length"], attention_mask: Tensor | None = None
    ) -> Float[Tensor, "batch length vocab_size"]:
        """A score for each word at each token. Masks and errors are those of ``Bert``."""
        return self.scores(self.bert(input_ids, attention_mask=attention_mask).last_hidden_state)

    def loss(
        self, input_ids: Int[Tensor, "batch length"], attention_mask: Tensor | None, labels: Int[Tensor, "batch length"]
    ) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
        """``(loss, accuracy)``: the mean cross-entropy of the asked tokens, in nats, and the share guessed right.

        Both are 0 if nothing is asked. Only asked tokens go through the head, which saves most of its work.

        Raises:
            TypeError, ValueError: as for ``Bert``; ``labels`` are not integers, or not of the shape of ``input_ids``.
        """
        hidden = self.bert(input_ids, attention_mask=attention_mask).last_hidden_state
        expect_dtype("labels", labels, "an int64 tensor", (torch.int64,))
        expect_shape("labels", labels, labels.shape == input_ids.shape, f"that of input_ids, {tuple(input_ids.shape)}")
        asked = labels != NOT_ASKED
        scores, wanted, n = self.scores(hidden[asked]), labels[asked], asked.sum().clamp(min=1)
        return F.cross_entropy(scores, wanted, reduction="sum") / n, (scores.argmax(-1) == wanted).sum() / n

    @classmethod
    def from_huggingface(cls, hf_model: nn.Module) -> "MaskedLanguageModel":
        """A copy of a transformers ``BertForMaskedLM``, weight by weight, in its dtype, device and mode.

        Raises:
            TypeError: ``hf_model`` is not a BertForMaskedLM.
            ValueError: as for ``Bert.from_huggingface``.
        """
        weights = getattr(hf_model, "state_dict", dict)()
        if not hasattr(hf_model, "bert") or not set(HEAD_MAP.values()) <= set(weights):
            raise TypeError(f"hf_model must be a transformers BertForMaskedLM, got {type(hf_model).__name__}")
        model = cls(Bert.from_huggingface(hf_model.bert)).to(weights[HEAD_MAP["bias"]])
        model.load_state_dict({ours: weights[theirs] for ours, theirs in HEAD_MAP.items()}, strict=False)
        return model.train(hf_model.training)


def draw_weights(model: MaskedLanguageModel) -> MaskedLanguageModel:
    """Draws all weights anew as BERT's are, and returns the model: normal, standard deviation 0.02.

    Biases become 0 and the norms' gains 1.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear | LayerNorm):
            nn.init.zeros_(module.bias)
        if isinstance(module, LayerNorm):
            nn.init.ones_(module.gain)
    nn.init.zeros_(model.bias)
    return model
