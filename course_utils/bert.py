"""Our encoder as BERT: BERT's embeddings in front, and BERT's weights inside.

Source: Devlin et al. 2019, "BERT: Pre-training of Deep Bidirectional Transformers", section 3.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_utils._expect import INTEGERS, expect_dtype, expect_number
from course_utils.embeddings import LearnedEmbeddings
from course_utils.encoder import Encoder, EncoderOutput
from course_utils.layers import ACTIVATIONS, LayerNorm
from course_utils.masks import for_all_queries

# Where each of our weights lives in a Hugging Face BertModel. {n} is the layer, counted from 0.
NAME_MAP = {
    # ours                                     Hugging Face's
    "embeddings.word.weight": "embeddings.word_embeddings.weight",
    "embeddings.position.weight": "embeddings.position_embeddings.weight",
    "embeddings.segment.weight": "embeddings.token_type_embeddings.weight",
    "embeddings_norm.gain": "embeddings.LayerNorm.weight",
    "embeddings_norm.bias": "embeddings.LayerNorm.bias",
    "encoder.layers.{n}.attention.w_q.weight": "encoder.layer.{n}.attention.self.query.weight",
    "encoder.layers.{n}.attention.w_q.bias": "encoder.layer.{n}.attention.self.query.bias",
    "encoder.layers.{n}.attention.w_k.weight": "encoder.layer.{n}.attention.self.key.weight",
    "encoder.layers.{n}.attention.w_k.bias": "encoder.layer.{n}.attention.self.key.bias",
    "encoder.layers.{n}.attention.w_v.weight": "encoder.layer.{n}.attention.self.value.weight",
    "encoder.layers.{n}.attention.w_v.bias": "encoder.layer.{n}.attention.self.value.bias",
    "encoder.layers.{n}.attention.w_o.weight": "encoder.layer.{n}.attention.output.dense.weight",
    "encoder.layers.{n}.attention.w_o.bias": "encoder.layer.{n}.attention.output.dense.bias",
    "encoder.layers.{n}.norm1.gain": "encoder.layer.{n}.attention.output.LayerNorm.weight",
    "encoder.layers.{n}.norm1.bias": "encoder.layer.{n}.attention.output.LayerNorm.bias",
    "encoder.layers.{n}.feed_forward.w_1.weight": "encoder.layer.{n}.intermediate.dense.weight",
    "encoder.layers.{n}.feed_forward.w_1.bias": "encoder.layer.{n}.intermediate.dense.bias",
    "encoder.layers.{n}.feed_forward.w_2.weight": "encoder.layer.{n}.output.dense.weight",
    "encoder.layers.{n}.feed_forward.w_2.bias": "encoder.layer.{n}.output.dense.bias",
    "encoder.layers.{n}.norm2.gain": "encoder.layer.{n}.output.LayerNorm.weight",
    "encoder.layers.{n}.norm2.bias": "encoder.layer.{n}.output.LayerNorm.bias",
    "pooler.weight": "pooler.dense.weight",
    "pooler.bias": "pooler.dense.bias",
}


@dataclass
class BertOutput(EncoderOutput):
    """An ``EncoderOutput`` whose ``hidden_states[0]`` is the embedding output.

    ``pooler_output``: (sentences, d_model), tanh of a linear map of the first token; None without a pooler.
    """

    pooler_output: Float[Tensor, "sentences d_model"] | None


class Bert(nn.Module):
    """The encoder with BERT's embeddings. The defaults are the sizes of bert-base-uncased.

    ``dropout`` acts where the paper's does, ``attention_dropout`` (by default the same) on the attention weights too.

    Raises:
        TypeError, ValueError: as for ``Encoder`` and ``LearnedEmbeddings``.
    """

    def __init__(
        self,
        *,
        vocab_size: int = 30522,
        n_layers: int = 12,
        d_model: int = 768,
        n_heads: int = 12,
        d_ff: int = 3072,
        max_length: int = 512,
        n_segments: int = 2,
        dropout: float = 0.1,
        attention_dropout: float | None = None,
        activation: str = "gelu",
        eps: float = 1e-12,
        with_pooler: bool = False,
    ):
        super().__init__()
        attention_dropout = dropout if attention_dropout is None else attention_dropout
        expect_number("attention_dropout", attention_dropout, below=1)
        self.embeddings = LearnedEmbeddings(
            vocab_size=vocab_size, d_model=d_model, max_length=max_length, n_segments=n_segments
        )
        self.embeddings_norm = LayerNorm(d_model, eps)
        self.encoder = Encoder(
            n_layers=n_layers,
            d_model=d_model,
            n_heads=n_heads,
            d_ff=d_ff,
            dropout=dropout,
            weight_dropout=attention_dropout,
            activation=activation,
            eps=eps,
        )
        self.dropout = nn.Dropout(dropout)
        self.pooler = nn.Linear(d_model, d_model) if with_pooler else None

    def forward(
        self,
        input_ids: Int[Tensor, "batch length"],
        token_type_ids: Int[Tensor, "batch length"] | None = None,
        attention_mask: Bool[Tensor, "batch length"] | Int[Tensor, "batch length"] | None = None,
        need_weights: bool = False,
    ) -> BertOutput:
        """Runs BERT. ``attention_mask`` marks real tokens (True or 1) against padding, as a tokenizer gives it.

        Raises:
            TypeError: ids are not integers, or ``attention_mask`` is neither boolean nor integer.
            ValueError: an id lies outside its table, the sequence is empty or longer than the position table,
                shapes differ, or ``attention_mask`` holds other numbers than 0 and 1.
        """
        x = self.embed(input_ids, token_type_ids)
        real = None if attention_mask is None else _boolean(attention_mask)
        mask = for_all_queries("attention_mask", real, x)
        out = self.encoder(x, need_weights=need_weights, attention_mask=mask)
        pooled = None if self.pooler is None else torch.tanh(self.pooler(out.last_hidden_state[:, 0]))
        return BertOutput(out.last_hidden_state, out.hidden_states, out.attention_weights, pooled)

    def embed(
        self, input_ids: Int[Tensor, "batch length"], token_type_ids: Int[Tensor, "batch length"] | None = None
    ) -> Float[Tensor, "batch length d_model"]:
        """What goes into the encoder."""
        return self.dropout(self.embeddings_norm(self.embeddings(input_ids, token_type_ids)))

    @classmethod
    def from_huggingface(cls, hf_model: nn.Module, copy: bool = True) -> "Bert":
        """A copy of a transformers ``BertModel``, weight by weight, in its dtype, device and mode, with its dropout.

        Any number of layers and heads, any sizes, with or without a pooler. With ``copy=False`` the two models
        hold the same weights in memory: half as much is needed, and what changes one changes the other.

        Raises:
            TypeError: ``hf_model`` is not a BertModel.
            ValueError: it is a BERT of a kind this encoder does not cover (a decoder, relative
                positions, another activation), or its weights don't fit ``NAME_MAP``.
        """
        config = _supported_config(hf_model)
        weights = hf_model.state_dict()
        names = {
            ours.format(n=n): theirs.format(n=n)
            for ours, theirs in NAME_MAP.items()
            for n in range(config.num_hidden_layers if "{n}" in ours else 1)
            if hf_model.pooler is not None or not ours.startswith("pooler")
        }
        if unknown := sorted(set(weights) - set(names.values())):
            raise ValueError(f"hf_model has weights that NAME_MAP does not know: {unknown[:5]}")
        if missing := sorted(set(names.values()) - set(weights)):
            raise ValueError(f"hf_model lacks weights that NAME_MAP expects: {missing[:5]}")

        with torch.device("meta"):  # no memory yet: the weights come from hf_model
            bert = cls(
                vocab_size=config.vocab_size,
                n_layers=config.num_hidden_layers,
                d_model=config.hidden_size,
                n_heads=config.num_attention_heads,
                d_ff=config.intermediate_size,
                max_length=config.max_position_embeddings,
                n_segments=config.type_vocab_size,
                dropout=config.hidden_dropout_prob,
                attention_dropout=config.attention_probs_dropout_prob,
                activation=config.hidden_act,
                eps=config.layer_norm_eps,
                with_pooler=hf_model.pooler is not None,
            )
        mine = {ours: weights[theirs].clone() if copy else weights[theirs] for ours, theirs in names.items()}
        bert.load_state_dict(mine, assign=True)
        return bert.train(hf_model.training)


def _supported_config(hf_model: nn.Module):
    config = getattr(hf_model, "config", None)
    if getattr(config, "model_type", None) != "bert" or not hasattr(hf_model, "pooler"):
        hint = "; pass its .bert" if hasattr(hf_model, "bert") else ""
        raise TypeError(f"hf_model must be a transformers BertModel, got {type(hf_model).__name__}{hint}")
    for name, covered in (("is_decoder", False), ("position_embedding_type", "absolute")):
        if (got := getattr(config, name, covered)) != covered:
            raise ValueError(f"hf_model has {name}={got!r}; expected {covered!r}")
    if config.hidden_act not in ACTIVATIONS:
        raise ValueError(f"hf_model has hidden_act={config.hidden_act!r}; expected one of {sorted(ACTIVATIONS)}")
    return config


def _boolean(attention_mask: Tensor) -> Tensor:
    expect_dtype("attention_mask", attention_mask, "a boolean or integer tensor", (torch.bool, *INTEGERS))
    if not ((attention_mask == 0) | (attention_mask == 1)).all():
        raise ValueError("attention_mask must hold only 0 (padding) and 1 (a token)")
    return attention_mask.bool()
