import pytest
import torch
from browsing import browser, jupyter  # noqa: F401 (fixtures)
from hypothesis import settings

settings.register_profile("course", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("course")


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def minilm():
    from lesson_kit import load_bert

    return load_bert("all-MiniLM-L6-v2")


@pytest.fixture(scope="session")
def random_bert_base():
    """A BertModel of bert-base's size with random weights."""
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    return BertModel(BertConfig(), add_pooling_layer=False).eval()
