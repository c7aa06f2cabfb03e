"""The decode stepper: at each step the browser shows what the translator computes, with a cache and in one pass."""

import json
import math
from types import SimpleNamespace

import pytest
import torch
from driver import HOSTILE, OVER_EACH_OTHER, expect_numbers, expect_text_only, expect_well_made, play  # noqa: F401

from lesson_kit import load_translator
from lesson_kit.data import data_path
from lesson_kit.languages.pairs.glosses import GLOSSES
from lesson_kit.languages.pairs.vocabulary import Vocabulary
from lesson_kit.show import moving
from lesson_kit.show.moving.pictures.decode import SENTENCES

LOWEST = """() => Math.max(...[...document.querySelectorAll('.stage text, .stage rect')].map(
    e => e.getBoundingClientRect().bottom)) - document.querySelector('.say').getBoundingClientRect().top"""
DIGITS = {"sees": 2, "looks": 2, "next": 3, "product": 3}


@pytest.fixture(scope="module")
def translator():
    return load_translator()


@pytest.fixture(scope="module")
def made():
    return moving.decode()


def expected(translator, text, step) -> dict:
    """One step: weights from the translator's own search, which has a cache; probabilities from one forward pass."""
    found = translator(text, need_weights=True)
    source = torch.tensor([translator.english.encode(found.source_tokens)])
    fed = torch.tensor([translator.chinese.encode(found.input_tokens)])
    with torch.no_grad():
        shares = translator.model(source, fed)[0].softmax(dim=-1)
    looks = found.cross_attention_weights[-1].mean(dim=0)
    said = shares[range(len(found.tokens)), translator.chinese.encode(found.tokens)]
    return {
        "sees": found.self_attention_weights[-1].mean(dim=0)[step, : step + 1].tolist(),
        "looks": looks[step].tolist(),
        "map": looks[: step + 1].tolist(),
        "next": shares[step].topk(5).values.tolist(),
        "product": said[: step + 1].prod().item(),
    }


def on(picture, steps=1):
    """Goes on with the keyboard; at the last step nothing happens."""
    picture.page.get_by_role("button", name="Next", exact=True).focus()
    for _ in range(steps):
        picture.page.keyboard.press("Enter")


def test_every_step_of_the_first_sentence(play, made, translator):  # noqa: F811
    picture = play(made)
    said = "为什么要工作"
    for step in range(7):
        assert picture.control("step") == f"{step + 1} of 7"
        expect_numbers(picture, expected(translator, "why do we work", step), DIGITS)
        shown = picture.shown()
        assert len([path for path in shown if path.startswith("sees")]) == step + 1, "no more than the mask lets it see"
        assert len([path for path in shown if path.startswith("looks")]) == 5
        hidden = picture.page.locator(".stage rect.hatch").count()
        assert hidden == 7 - step, "what is not yet written is hatched"
        text = picture.page.locator(".stage").text_content()
        assert said[: step + 1][-1] in text
        on(picture)
    assert picture.state["step"] == 6, "no step after the end symbol"
    assert picture.numbers()["product"] == pytest.approx(
        math.exp(translator("why do we work", need_weights=True).log_probability), abs=1e-5
    )
    assert "It says end, and the loop stops: 0.899" in picture.said()
    for step in (5, 4):
        picture.button("Back")
        expect_numbers(picture, expected(translator, "why do we work", step), DIGITS)


@pytest.mark.parametrize("sentence", [1, 2, 3])
def test_the_other_sentences(play, made, translator, sentence):  # noqa: F811
    text = SENTENCES[sentence][0]
    picture = play(made)
    on(picture)
    picture.choose("sentence", str(len(text.split())))
    assert picture.state == {"sentence": sentence, "step": 0, "marked": None}, "a new sentence begins at its first step"
    steps = len(translator(text, need_weights=True).tokens)
    for step in range(steps):
        if step in {0, 1, steps // 2, steps - 2, steps - 1}:
            expect_numbers(picture, expected(translator, text, step), DIGITS)
        on(picture)
    assert picture.control("step") == f"{steps} of {steps}"


def test_the_keyboard_alone(play, made, translator):  # noqa: F811
    picture = play(made)
    for presses, sentence in [(1, 1), (2, 3), (1, 0), (2, 2), (1, 3)]:
        picture.choose_by_key("sentence", presses)
        assert picture.state["sentence"] == sentence
        on(picture)
        picture.page.keyboard.press("Space")
        expect_numbers(picture, expected(translator, SENTENCES[sentence][0], 2), DIGITS)


def test_play_goes_to_the_end_and_stops(play, made):  # noqa: F811
    picture = play(made)
    on(picture, 4)
    picture.button("Play")
    picture.page.get_by_text("7 of 7").wait_for()
    picture.page.get_by_role("button", name="Play").wait_for()


def test_the_puzzles_are_answered_by_marking(play, made, translator):  # noqa: F811
    picture = play(made)
    on(picture, 6)
    assert picture.solved() == [False] * 3, "walking past is no answer"
    picture.button("Mark this step")
    assert "answers none of the questions" in picture.said()

    def mark(sentence, step):
        picture.choose("sentence", str(len(SENTENCES[sentence][0].split())))
        on(picture, step)
        picture.button("Mark this step")

    text = SENTENCES[1][0]
    found = translator(text, need_weights=True)
    looks = found.cross_attention_weights[-1].mean(dim=0)
    double = next(t for t in range(3) if looks[t].topk(2).values.min() > 0.3 and "姐" in found.tokens[t] and t == 2)
    mark(1, double)
    assert picture.solved() == [False, True, False]
    assert "looks at two words at once" in picture.said()

    text, wanted = SENTENCES[3]
    found = translator(text, need_weights=True)
    least = min(
        ((expected(translator, one, t)["next"][0], one, t) for one, _ in SENTENCES[2:] for t in range(12)),
    )
    assert least[1] == text
    mark(3, least[2])
    assert picture.solved() == [True, True, False]
    wrong = next(t for t, (is_, right) in enumerate(zip(found.tokens, wanted, strict=False)) if is_ != right)
    mark(3, 0)
    mark(0, 0)
    mark(3, wrong)
    assert picture.solved() == [True] * 3
    assert f"{wanted[wrong]} was wanted" in picture.said()
    picture.button("Reset")
    assert picture.solved() == [False] * 3 and picture.state["marked"] is None


def test_the_sentences_are_the_grammars_and_each_character_has_a_gloss(made, translator):
    measures = json.loads(data_path("translator/measures.json").read_text(encoding="utf-8"))
    errors = {error["english"]: error for error in measures["longer"]["errors"]}
    text, wanted = SENTENCES[-1]
    assert errors[text]["chinese"] == wanted and errors[text]["translated"] == translator(text)
    for text, wanted in SENTENCES[:-1]:
        assert translator(text) == wanted
    shown = {token for one in made.data["sentences"] for step in one["steps"] for token, _ in step["best"]}
    assert shown - {"[EOS]"} == made.data["glosses"].keys()
    assert GLOSSES.keys() <= set(translator.chinese.tokens)


def test_sentences_of_ones_own(play, translator):  # noqa: F811
    picture = play(moving.decode(["The sky is blue!"], translator))
    assert len(picture.solved()) == 2, "without a wanted translation nothing is called wrong"
    for step in range(7):
        expect_numbers(picture, expected(translator, "the sky is blue", step), DIGITS)
        on(picture)
    assert "色" in picture.page.locator(".stage").text_content(), "characters without a gloss too"


def test_it_is_well_made(play, made):  # noqa: F811
    expect_well_made(play, made)
    for width in (1000, 640, 360):
        picture = play(made, width=width)
        for sentence in ("8", "15"):
            picture.choose("sentence", sentence)
            on(picture, 14)
            assert picture.page.evaluate(OVER_EACH_OTHER) == [], f"{sentence} words at {width}"
            assert picture.page.evaluate(LOWEST) <= 0, f"{sentence} words at {width}: it reaches the sentence below"


def test_tokens_stay_text(play, translator):  # noqa: F811
    hostile = list(translator.chinese.tokens)
    for place, token in zip(translator.chinese.encode("为什么要"), HOSTILE, strict=True):
        hostile[place] = token
    spoilt = SimpleNamespace(
        model=translator.model, english=translator.english, words=translator.words, chinese=Vocabulary(hostile)
    )
    picture = play(moving.decode(["why do we work"], spoilt))
    on(picture, 3)
    expect_text_only(picture, HOSTILE)


@pytest.mark.parametrize(
    "sentences, error, message",
    [
        ("why do we work", TypeError, "sentences must be a list of English sentences, got the str"),
        ([("why do we work", "为", "?")], TypeError, "sentences must hold sentences, or pairs"),
        ([("why do we work", 3)], TypeError, "sentences must hold sentences, or pairs"),
        ([3], TypeError, "text must be a str"),
        (["why do we wrok"], ValueError, "'wrok', which the translator never met"),
        (["hello world"] * 5, ValueError, "sentences must be 1 to 4, got 5"),
        (["is " * 17], ValueError, "at most 16 words each, got 17"),
        (
            ["if it snows tonight her son and her daughter will read books at home"],
            ValueError,
            "must be translated by at most 17 tokens",
        ),
    ],
)
def test_bad_input_is_named(sentences, error, message, translator):
    with pytest.raises(error, match=message):
        moving.decode(sentences, translator)
