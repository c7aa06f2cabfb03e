"""The Transformer: encoder, decoder, and what turns ids into vectors and vectors into scores.

Source: Vaswani et al. 2017, "Attention Is All You Need", section 3 and figure 1.
"""

import math

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_utils._expect import expect_ids, expect_positive_int
from course_utils.decoder import Decoder, DecoderOutput
from course_utils.embeddings import sinusoidal_positions
from course_utils.encoder import Encoder, EncoderOutput
from course_utils.masks import for_all_queries


class Transformer(nn.Module):
    """From a source and the target so far to a score for each possible next token.

    ``target_vocab_size`` defaults to that of the source. ``tie_output`` uses the target's table also for the scores
    (section 3.4); the last map has no bias.

    Matrices are drawn as Glorot and Bengio 2010 propose (Xavier, uniform), biases are 0. Embeddings are drawn with
    standard deviation 1/sqrt(d_model): times sqrt(d_model) they have the size of the positions added to them, whatever
    the vocabulary's, and a tied output starts with scores of about 1.

    Raises:
        TypeError, ValueError: a size is not a positive int, ``d_model`` is odd or no multiple of ``n_heads``,
            ``dropout`` lies outside [0, 1), or the activation is unknown.
    """

    def __init__(
        self,
        *,
        source_vocab_size: int,
        target_vocab_size: int | None = None,
        n_layers: int = 6,
        d_model: int = 512,
        n_heads: int = 8,
        d_ff: int = 2048,
        max_length: int = 512,
        dropout: float = 0.1,
        activation: str = "relu",
        norm_first: bool = False,
        tie_output: bool = False,
    ):
        super().__init__()
        target_vocab_size = source_vocab_size if target_vocab_size is None else target_vocab_size
        expect_positive_int(source_vocab_size=source_vocab_size, target_vocab_size=target_vocab_size)
        # Not in the state dict: the table is a formula.
        self.register_buffer("positions", sinusoidal_positions(max_length, d_model), persistent=False)
        self.source_embedding = nn.Embedding(source_vocab_size, d_model)
        self.target_embedding = nn.Embedding(target_vocab_size, d_model)
        sizes = {"n_layers": n_layers, "d_model": d_model, "n_heads": n_heads, "d_ff": d_ff}
        self.encoder = Encoder(**sizes, dropout=dropout, activation=activation, norm_first=norm_first)
        self.decoder = Decoder(**sizes, dropout=dropout, activation=activation, norm_first=norm_first)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(d_model, target_vocab_size, bias=False)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=d_model**-0.5)
        if tie_output:
            self.output.weight = self.target_embedding.weight

    @property
    def max_length(self) -> int:
        """The longest source, and the longest target, there are positions for."""
        return self.positions.shape[0]

    def encode(
        self, source_ids: Int[Tensor, "batch source"], source_mask: Bool[Tensor, "batch source"] | None = None
    ) -> EncoderOutput:
        """Embeds the source and runs the encoder. ``source_mask`` is True for real tokens, False for padding.

        Raises:
            TypeError: ids are not integers, or the mask is not boolean.
            ValueError: an id lies outside the vocabulary, the source is empty or longer than ``max_length``, or the
                mask has another shape.
        """
        x = self.embed("source_ids", source_ids, self.source_embedding)
        return self.encoder(x, attention_mask=for_all_queries("source_mask", source_mask, x))

    def decode(
        self,
        target_ids: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch source d_model"],
        *,
        target_mask: Bool[Tensor, "batch target"] | None = None,
        source_mask: Bool[Tensor, "batch source"] | None = None,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch target target_vocab"], DecoderOutput]:
        """Returns ``(scores, decoder_output)``; the scores at position i are for the token at i + 1.

        ``memory`` is the encoder's last hidden state. The masks, and the errors raised, are those of ``Decoder``.

        Raises:
            TypeError, ValueError: also as for ``encode``, with ``target_ids``.
        """
        x = self.embed("target_ids", target_ids, self.target_embedding)
        out = self.decoder(x, memory, target_mask=target_mask, source_mask=source_mask, need_weights=need_weights)
        return self.output(out.last_hidden_state), out

    def forward(
        self,
        source_ids: Int[Tensor, "batch source"],
        target_ids: Int[Tensor, "batch target"],
        *,
        target_mask: Bool[Tensor, "batch target"] | None = None,
        source_mask: Bool[Tensor, "batch source"] | None = None,
    ) -> Float[Tensor, "batch target target_vocab"]:
        """Scores for the token after each target token: teacher forcing. Errors are those of ``encode`` and ``decode``.

        To learn from it, ``target_ids`` starts with the start symbol and lacks the last token: "shifted right".
        """
        memory = self.encode(source_ids, source_mask).last_hidden_state
        return self.decode(target_ids, memory, target_mask=target_mask, source_mask=source_mask)[0]

    def embed(
        self, name: str, ids: Int[Tensor, "batch length"], table: nn.Embedding, start: int = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """What goes into a stack: the rows of ``table``, times sqrt(d_model), and the positions from ``start`` on.

        ``name`` is what an error calls the ids.
        """
        expect_ids(name, ids, table.num_embeddings, self.max_length, start)
        x = table(ids) * math.sqrt(table.embedding_dim) + self.positions[start : start + ids.shape[1]]
        return self.dropout(x)
