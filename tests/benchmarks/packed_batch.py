"""A batch of unequal sentences, padded and packed: ``python tests/benchmarks/packed_batch.py [--rounds 6]``.

32 sentences with lengths spread evenly from 8 to 128, from ids to the last hidden state, float32, no gradients; random
weights of bert-base's sizes and of all-MiniLM-L6-v2's, the same on all sides. That the hidden states agree to 1e-5 is
checked first. Real tokens are about 0.53 of the padded ones: the encoder can't get below that, whatever it does.
"""

from collections.abc import Iterator

import measuring
import torch
from transformers import BertConfig, BertModel

from course_utils import Bert, activate_in_place, encode_packed, pack, padding_mask

SENTENCES, SHORTEST, LONGEST = 32, 8, 128
SIZES = {
    "bert-base": {},
    "MiniLM": {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536},
}


@torch.inference_mode()
def measure(rounds: int) -> Iterator[measuring.Row]:
    lengths = torch.linspace(SHORTEST, LONGEST, SENTENCES).round().long()[torch.randperm(SENTENCES)]
    real = padding_mask(lengths, LONGEST)
    ids = torch.randint(0, 30522, real.shape)
    for name, sizes in SIZES.items():
        hf_model = BertModel(BertConfig(**sizes), add_pooling_layer=False).eval()
        hf_model.set_attn_implementation("sdpa")
        ours = Bert.from_huggingface(hf_model, copy=False)
        activate_in_place(ours)
        candidates = {
            "packed": lambda ours=ours: encode_packed(ours.encoder, *pack(ours.embed(ids), real)).last_hidden_state,
            "transformers, padded, SDPA": lambda hf=hf_model: hf(ids, attention_mask=real.long()).last_hidden_state,
            "ours, padded": lambda ours=ours: ours(ids, attention_mask=real).last_hidden_state,
        }
        outputs = [candidate() for candidate in candidates.values()]
        for padded in outputs[1:]:
            torch.testing.assert_close(outputs[0], pack(padded, real)[0], atol=1e-5, rtol=0)
        times = measuring.in_turns(candidates, rounds if name == "bert-base" else 2 * rounds, warm_up=0)
        for other, aim in (("transformers, padded, SDPA", 0.6), ("ours, padded", None)):
            yield measuring.row(f"time, packed batch, {name}", other, times["packed"], times[other], aim)


if __name__ == "__main__":
    measuring.main(measure, __doc__, rounds=6)
