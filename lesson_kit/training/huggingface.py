"""Our masked language model as transformers' own class, which can be saved and loaded like any other."""

from transformers import BertConfig, BertForMaskedLM

from course_utils.bert import NAME_MAP
from course_utils.masked_lm import HEAD_MAP, MaskedLanguageModel


def to_huggingface(model: MaskedLanguageModel, pad_id: int = 0) -> BertForMaskedLM:
    """A copy as transformers' own class: same hidden states, same scores, ready for ``save_pretrained``."""
    bert = model.bert
    layer = bert.encoder.layers[0]
    config = BertConfig(
        vocab_size=bert.embeddings.word.num_embeddings,
        hidden_size=bert.embeddings.word.embedding_dim,
        num_hidden_layers=len(bert.encoder.layers),
        num_attention_heads=layer.attention.n_heads,
        intermediate_size=layer.feed_forward.w_1.out_features,
        max_position_embeddings=bert.embeddings.position.num_embeddings,
        type_vocab_size=bert.embeddings.segment.num_embeddings,
        hidden_act=layer.feed_forward.activation,
        hidden_dropout_prob=bert.dropout.p,
        attention_probs_dropout_prob=layer.attention.weight_dropout,
        layer_norm_eps=bert.embeddings_norm.eps,
        pad_token_id=pad_id,
        tie_word_embeddings=True,
    )
    weights = {theirs: model.state_dict()[ours] for ours, theirs in HEAD_MAP.items()}
    for ours, theirs in NAME_MAP.items():
        for n in range(config.num_hidden_layers if "{n}" in ours else 1):
            if not ours.startswith("pooler"):
                weights[f"bert.{theirs.format(n=n)}"] = bert.state_dict()[ours.format(n=n)]
    hf_model = BertForMaskedLM(config).to(dtype=model.bias.dtype)
    report = hf_model.load_state_dict(weights, strict=False)
    tied = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    if report.unexpected_keys or set(report.missing_keys) - tied:
        raise ValueError(f"BertForMaskedLM expects other weights: {report}")
    hf_model.tie_weights()
    return hf_model.eval()
