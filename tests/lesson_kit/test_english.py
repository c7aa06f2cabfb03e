from collections import Counter
from itertools import islice

import pytest

from lesson_kit import examples
from lesson_kit.languages.english import RESERVED, generate, is_held_out, is_reserved
from lesson_kit.languages.english.classes import word_class
from lesson_kit.languages.english.lexicon import AMBIGUOUS, LISTS
from lesson_kit.languages.english.sentences import ALL_PRONOUNS, NAMES
from lesson_kit.languages.english.tokenizer import make_tokenizer, train_vocabulary


@pytest.fixture(scope="module")
def training():
    return list(generate(12_000))


@pytest.fixture(scope="module")
def held_out():
    return list(generate(3_000, split="held_out"))


@pytest.fixture(scope="module")
def tokenizer(training):
    return make_tokenizer(train_vocabulary(sentence.text for sentence in training))


def test_the_same_seed_gives_the_same_sentences():
    assert list(generate(50, seed=3)) == list(generate(50, seed=3)) != list(generate(50, seed=4))
    assert list(islice(generate(10**9, seed=3), 50)) == list(generate(50, seed=3)), "made one by one"


def test_many_words_and_many_sentences(training):
    assert len({word for sentence in training for word in sentence.words}) >= 500
    assert len({sentence.words for sentence in training}) > 0.95 * len(training)
    assert max(len(sentence.words) for sentence in training) <= 62, "64 positions hold every sentence"


def test_every_ambiguous_word_in_every_sense(training):
    assert len(AMBIGUOUS) >= 10
    counts = Counter(sense for sentence in training for sense in sentence.senses.values())
    for word, senses in AMBIGUOUS.items():
        assert min(counts[f"{word}/{sense}"] for sense in senses) > 50


def test_the_truth_points_at_the_right_words(training):
    for sentence in training:
        words, classes = sentence.words, sentence.classes
        assert len(words) == len(classes)
        for place, sense in sentence.senses.items():
            assert sense.split("/")[0] == words[place]
        for place, mentions in sentence.pronouns.items():
            assert words[place] in ALL_PRONOUNS and mentions and max(mentions) < place
            assert classes[mentions[0]] in ("noun", "name")
        for subject, verb, object_ in sentence.subject_verb_object:
            assert classes[verb] == "verb" and verb < object_ and (subject is None or subject < verb)
            assert classes[object_] in ("noun", "name", "pronoun")
        for determiner, noun in sentence.determiner_noun:
            assert determiner < noun and classes[noun] in ("noun", "name")
        for adjective, noun in sentence.adjective_noun:
            assert adjective < noun and classes[adjective] == "adjective"


def test_antecedents_agree_with_their_pronouns(training):
    they, he, she = ({"they", "them", "their"}, {"he", "him", "his"}, {"she", "her"})
    for sentence in training:
        for place, mentions in sentence.pronouns.items():
            first, pronoun = sentence.words[mentions[0]], sentence.words[place]
            if first in NAMES and sentence.words[mentions[0] + 1 : mentions[0] + 2] != ("and",):
                assert pronoun in he | she | they
            for mention in mentions[1:]:
                if sentence.words[mention] in he:
                    assert pronoun in he
                if sentence.words[mention] in she:
                    assert pronoun in she


def test_an_example_read_by_eye():
    sentence = next(s for s in generate(5_000) if "showed" in s.words and "friends" in s.words and s.words[0] == "the")
    words = sentence.words
    showed = words.index("showed")
    assert (showed - 1, showed, showed + 2) in sentence.subject_verb_object
    assert (showed + 1, showed + 2) in sentence.determiner_noun
    assert sentence.pronouns[showed + 1] == (showed - 1,)


def test_neighbours_often_give_nothing_away(training):
    """In a good share of the sentences the words beside ``bank`` are found beside both senses."""
    table = {}
    for sentence in generate(2_000, word="bank"):
        for place, sense in sentence.senses.items():
            around = sentence.words[place - 1], sentence.words[place + 1]
            table.setdefault(around, Counter())[sense] += 1
    shared = sum(senses.total() for senses in table.values() if len(senses) == 2)
    assert shared > 0.5 * sum(senses.total() for senses in table.values())


def test_held_out_combinations_are_never_trained_on(training, held_out):
    trained = {sentence.combination for sentence in training}
    assert not trained & {sentence.combination for sentence in held_out}
    assert not any(is_held_out(combination) for combination in trained)
    assert not {sentence.words for sentence in training} & {sentence.words for sentence in held_out}


def test_the_lessons_sentences_and_their_near_variants_are_never_trained_on(training, held_out):
    assert not any(is_reserved(sentence.words) for sentence in [*training, *held_out])
    assert not any({"john", "paul"} <= set(sentence.words) for sentence in training)
    for near in (
        "anna and emma wrote several songs when they were inspired .",
        "paul and john were tired .",
        "lucy was crying because she was blue .",
        "after stealing money from the bank vault , the bank robber ran away .",
    ):
        assert is_reserved(near.split())
    assert not is_reserved("the robber saw the bank because he was tired .".split())


def test_the_reserved_sentences_are_the_lessons(tokenizer):
    for ours, lessons in zip(
        RESERVED, (examples.BANK_SENTENCE, examples.SONGS_SENTENCE, examples.BLUE_SENTENCE), strict=True
    ):
        assert tokenizer.tokenize(lessons) == ours.split(), "each word is one piece"


def test_the_text_is_written_as_people_write(training):
    for sentence in training[:200]:
        assert sentence.text[0].isupper() and sentence.text.endswith(".") and " ." not in sentence.text


def test_every_word_has_a_class(training):
    assert word_class("bank", "bank/river") == "noun" and word_class("fire", "fire/dismiss") == "verb"
    assert (
        word_class("walked") == "verb" and word_class("anna") == "name" and word_class(LISTS["size"][0]) == "adjective"
    )


def test_each_word_of_the_language_is_one_piece(tokenizer, training):
    for sentence in training[:500]:
        assert tokenizer.tokenize(sentence.text) == list(sentence.words)
    assert len(tokenizer) <= 2000


@pytest.mark.parametrize(
    "text", ["Zyxw's quixotic e-mail: 3.14 & more?!", "".join(map(chr, range(32, 127))), "Ünïcödé naïve", "x" * 40]
)
def test_any_english_text_can_be_written(tokenizer, text):
    assert tokenizer.unk_token not in tokenizer.tokenize(text)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"n": 1, "split": "test"}, ValueError, r"split must be one of \['train', 'held_out'\], got 'test'"),
        ({"n": 1, "word": "river"}, ValueError, "word must be one of .*'bank'.*got 'river'"),
        ({"n": -1}, ValueError, "n must be at least 0, got -1"),
        ({"n": 1.5}, TypeError, "n must be an int, got float"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        generate(**arguments)


def test_a_vocabulary_too_small():
    with pytest.raises(ValueError, match="size must be at least .* got 50"):
        train_vocabulary(["a"], 50)
