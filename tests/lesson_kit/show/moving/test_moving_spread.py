"""Change a word: what the browser shows is what the course's Encoder computes, with and without its attention."""

import copy

import pytest
import torch
from driver import HOSTILE, expect_numbers, expect_text_only, expect_well_made, play  # noqa: F401 (fixture)

from lesson_kit import examples
from lesson_kit.show import moving
from lesson_kit.show.moving.pictures.spread import CHANGES

STEPS = 13  # states: the embeddings, and two sublayers in each of six layers


@pytest.fixture(scope="module")
def made(minilm):
    return moving.spread(pretrained=minilm)


@pytest.fixture(scope="module")
def encoders(minilm):
    """The course's Encoder as it is, and with attention's last map set to 0: in all layers, in all but the last."""
    found = {"all": minilm.bert.encoder}
    for name, cut in (("none", 6), ("last", 5)):
        found[name] = copy.deepcopy(minilm.bert.encoder)
        for layer in found[name].layers[:cut]:
            layer.attention.w_o.requires_grad_(False).weight.zero_()
            layer.attention.w_o.bias.zero_()
    return found


@torch.no_grad()
def states(minilm, encoder, sentence) -> list:
    """The encoder's own hidden states, and between them what comes out of each layer's first norm."""
    after_attention = []
    hooks = [
        layer.norm1.register_forward_hook(lambda *call: after_attention.append(call[-1])) for layer in encoder.layers
    ]
    ids = minilm.tokenizer(sentence, return_tensors="pt")["input_ids"]
    hidden = encoder(minilm.bert(ids).hidden_states[0]).hidden_states
    for hook in hooks:
        hook.remove()
    after_attention = after_attention[-len(encoder.layers) :]  # the embeddings' pass may have used the same layers
    return [hidden[0], *(state for pair in zip(after_attention, hidden[1:], strict=True) for state in pair)]


def expected(minilm, encoders, word, replacement, attention="all", step=STEPS - 1) -> dict:
    sentence = examples.SONGS_SENTENCE
    texts = (sentence, sentence.replace(word, replacement))
    before, after = (states(minilm, encoders[attention], text) for text in texts)
    grid = [((b - a).norm(dim=-1) / a.norm(dim=-1))[0].tolist() for a, b in zip(before, after, strict=True)][: step + 1]
    return {"grid": grid, "moved": grid[-1], "reached": sum(share > 1e-6 for share in grid[-1])}


def on(picture, steps=1, button="Next"):
    """Steps with the keyboard; at the end nothing happens."""
    picture.page.get_by_role("button", name=button, exact=True).focus()
    for _ in range(steps):
        picture.page.keyboard.press("Enter")


def test_every_step_of_the_first_change(play, made, minilm, encoders):  # noqa: F811
    picture = play(made)
    for step in range(STEPS):
        assert picture.control("step") == f"{step} of 12"
        expect_numbers(picture, expected(minilm, encoders, "songs", "poems", step=step))
        assert picture.numbers()["reached"] == (13 if step else 1), "one layer's attention reaches everybody"
        on(picture)
    assert picture.shown()["grid.0.0"] == "0" and picture.shown()["grid.1.0"] == "0.00", "nothing, and nearly nothing"
    on(picture, 3, "Back")
    expect_numbers(picture, expected(minilm, encoders, "songs", "poems", step=9))


def test_words_and_what_replaces_them(play, made, minilm, encoders):  # noqa: F811
    picture = play(made)
    on(picture, 12)
    for word, replacement in [
        ("Paul", "Einstein"), ("several", "no"), ("inspired", "tired"), ("songs", "lies"), ("several", "many"),
    ]:  # fmt: skip
        picture.choose("word", word)
        picture.choose(f"into{[*CHANGES].index(word)}", replacement)
        expect_numbers(picture, expected(minilm, encoders, word, replacement))
        assert f"{word} becomes {replacement}" in picture.said()
    assert picture.page.locator("fieldset:visible").count() == 3, "one choice of replacements at a time"
    picture.choose_by_key("word", 1)
    assert picture.state["word"] == 3 and picture.state["into3"] == 0, "it remembers what was chosen"
    picture.choose_by_key("into3", 1)
    expect_numbers(picture, expected(minilm, encoders, "inspired", "drunk"))


def test_without_attention_a_change_stays_in_its_lane(play, made, minilm, encoders):  # noqa: F811
    picture = play(made)
    for attention, text in [("none", "none"), ("last", "the last")]:
        picture.choose("attention", text)
        on(picture, 12, "Back")
        for step in range(STEPS):
            if step in {0, 1, 2, 10, 11, 12}:
                expect_numbers(picture, expected(minilm, encoders, "songs", "poems", attention, step))
            everybody = attention == "last" and step > 10
            assert picture.numbers()["reached"] == (13 if everybody else 1)
            shares = picture.numbers()["moved"]
            assert everybody or [i for i, share in enumerate(shares) if share != 0] == [6], "exactly 0, not nearly"
            if attention == "none" and step == 1:
                assert "Without attention no token learns of another" in picture.said()
            on(picture)


def test_transformers_gives_the_same(made, minilm):
    sentence = examples.SONGS_SENTENCE
    both = minilm.tokenizer([sentence, sentence.replace("several", "no")], return_tensors="pt")
    with torch.no_grad():
        hidden = minilm.hf_model(**both, output_hidden_states=True).hidden_states
    found = made.data["words"][2]["moved"][2]["all"][::2]
    for state, row in zip(hidden[1:], found[1:], strict=True):
        share = (state[1] - state[0]).norm(dim=-1) / state[0].norm(dim=-1)
        assert row == pytest.approx(share.tolist(), abs=1e-5)


def test_the_puzzles(play, made):  # noqa: F811
    picture = play(made)
    on(picture, 12)
    assert picture.solved() == [False] * 3
    first = {
        (word["word"], into): moved["all"][-1][0]
        for word in made.data["words"]
        for into, moved in zip(word["into"], word["moved"], strict=True)
    }
    for place, (word, into) in [(1, max(first, key=first.get)), (2, min(first, key=first.get))]:
        picture.choose("word", word)
        assert not picture.solved()[place]
        picture.choose(f"into{[*CHANGES].index(word)}", into)
        assert picture.solved()[place]
    on(picture, 12, "Back")
    assert not picture.solved()[0], "not where it starts"
    picture.choose("attention", "none")
    on(picture, 12)
    assert picture.solved() == [True] * 3
    picture.button("Reset")
    assert picture.solved() == [False] * 3 and picture.state["step"] == 0


def test_play_goes_to_the_end(play, made):  # noqa: F811
    picture = play(made)
    on(picture, 10)
    picture.button("Play")
    picture.page.get_by_text("12 of 12").wait_for()
    picture.page.get_by_role("button", name="Play").wait_for()


def test_it_is_well_made(play, made):  # noqa: F811
    expect_well_made(play, made)


def test_words_stay_text(play, minilm):  # noqa: F811
    sentence = "the <b>cat</b> & the dog"
    picture = play(moving.spread(sentence, {"cat": ["horse", "cow"]}, minilm))
    expect_text_only(picture, ["<", "&", "cat"])
    spoilt = moving.spread(sentence, {"cat": ["horse", "cow"]}, minilm).data
    spoilt["tokens"][: len(HOSTILE)] = HOSTILE
    spoilt["words"][0]["into"] = HOSTILE[:2]
    from lesson_kit.show.moving.page import Moving

    expect_text_only(play(Moving("spread", spoilt, None)), HOSTILE)


@pytest.mark.parametrize(
    "sentence, changes, error, message",
    [
        ("the cat", None, ValueError, "sentence and changes belong together"),
        (3, {"cat": ["dog"]}, TypeError, "sentence must be a str, got int"),
        ("the cat", ["dog"], TypeError, "changes must give a list of replacements"),
        ("the cat", {"cat": "dog"}, TypeError, "changes must give a list of replacements"),
        ("the cat", {}, ValueError, "changes must hold 1 to 4 words"),
        ("the cat", {"cat": []}, ValueError, "changes must hold 1 to 4 words"),
        ("the cat", {"dog": ["cat"]}, ValueError, "'dog' stands there 0 times"),
        ("the cat saw the dog", {"the": ["a"]}, ValueError, "'the' stands there 2 times"),
        ("the cat", {"cat": ["platypus"]}, ValueError, "'platypus' for 'cat' does not"),
        ("the cat", {"cat": ["cat"]}, ValueError, "'cat' for 'cat' does not"),
        ("the cat " + "is " * 20, {"cat": ["dog"]}, ValueError, "at most 16 tokens, got 24"),
    ],
)
def test_bad_input_is_named(sentence, changes, error, message, minilm):
    with pytest.raises(error, match=message):
        moving.spread(sentence, changes, minilm)
