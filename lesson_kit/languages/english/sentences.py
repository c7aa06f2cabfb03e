"""Sentences with their ground truth: which sense, which antecedent, which subject, verb and object."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from lesson_kit.languages.english import lexicon
from lesson_kit.languages.english.classes import word_class

PRONOUNS = {  # the kind of somebody -> subject, object, possessive
    "he": ("he", "him", "his"),
    "she": ("she", "her", "her"),
    "it": ("it", "it", "its"),
    "they": ("they", "them", "their"),
}
ALL_PRONOUNS = {form for forms in PRONOUNS.values() for form in forms}
NAMES = {*lexicon.HE_NAMES, *lexicon.SHE_NAMES}
CAPITALISED = NAMES | {*lexicon.LISTS["river"], *lexicon.LISTS["day"], "april", "march"}
JOINERS = [", and", ".", ".", ".", "because", "while", "when", ", but", ", so", ";"]
SPLITS = ("train", "held_out")
CARRIED = 0.8  # so often a word comes in a clause that gives nothing away
PAIRED = 0.4  # so often two of them stand together: what belongs together is learnt there first
HELD_OUT_SHARE = 8  # one combination in eight is never trained on

# The sentences of the lessons. No training sentence has six words in a row of one of them, up to names and pronouns.
RESERVED = (
    "after stealing money from the bank vault , the bank robber was seen fishing on the mississippi river bank .",
    "john and paul wrote several songs when they were inspired .",
    "tom was crying because he was blue .",
)
RESERVED_RUN = 6


@dataclass(frozen=True)
class Sentence:
    """Words in lower case, punctuation apart, and what is known about them. Positions count from 0.

    ``senses``: position -> "word/sense"; ``pronouns``: position -> the positions of all earlier mentions of the same
    person or thing, its noun or name first; ``subject_verb_object``: triples, the subject None where none is
    said; pairs for the rest. ``combination`` names what was combined, and decides whether the sentence is held out.
    """

    words: tuple[str, ...]
    senses: dict[int, str]
    pronouns: dict[int, tuple[int, ...]]
    subject_verb_object: tuple[tuple[int | None, int, int], ...]
    determiner_noun: tuple[tuple[int, int], ...]
    adjective_noun: tuple[tuple[int, int], ...]
    classes: tuple[str, ...]
    combination: str

    @property
    def text(self) -> str:
        """The sentence as it is written: capitals, and punctuation close to its word."""
        words, start = [], True
        for word in self.words:
            words.append(word.capitalize() if start or word in CAPITALISED else word)
            start = word == "."
        return re.sub(r" (?=[.,;])", "", " ".join(words))


@dataclass
class _Somebody:
    """A person, a group or a thing, its words, and where it was mentioned so far."""

    kind: str
    words: list[str]
    heads: tuple[int, ...]  # in ``words``
    mentions: list[int] = field(default_factory=list)


class _Draft:
    """A sentence under construction."""

    def __init__(self, random: Random):
        self.random, self.words = random, []
        self.senses, self.pronouns, self.inside = {}, {}, set()

    def add(self, clause: str, people: dict[str, _Somebody], ambiguous: str = "", sense: str = "") -> None:
        """Writes a clause: names and nouns at the first mention, pronouns from then on."""
        drawn: dict[str, str] = {}
        for token in clause.split():
            if token[0] != "{":
                self.words.append(token)
            elif token == "{w}":
                self.senses[len(self.words)] = f"{ambiguous}/{sense}"
                people["it"].mentions.append(len(self.words))
                self.words.append(ambiguous)
            elif (slot := token[1:-1]).partition(".")[0] in people:
                self._mention(people, *slot.partition(".")[::2])
            else:
                # The same list twice in a clause gives two different words.
                choices = [word for word in lexicon.LISTS[slot] if word != drawn.get(slot)]
                drawn[slot] = self.random.choice(choices)
                self.words.append(drawn[slot])

    def _mention(self, people: dict[str, _Somebody], who: str, form: str) -> None:
        somebody, here = people[who], len(self.words)
        if form == "was":
            self.words.append("were" if somebody.kind == "they" else "was")
        elif not somebody.mentions and somebody.words:
            self.words += somebody.words
            self.inside |= set(range(here, len(self.words)))
            somebody.mentions = [here + head for head in somebody.heads]
        else:
            self.pronouns[here] = tuple(somebody.mentions)
            self.words.append(PRONOUNS[somebody.kind][("", "obj", "pos").index(form)])
            somebody.mentions.append(here)

    def finish(self, combination: str) -> Sentence:
        self.words.append(".")
        classes = tuple(word_class(word, self.senses.get(position, "")) for position, word in enumerate(self.words))
        pronouns = {position: before for position, before in self.pronouns.items() if before}
        relations = _relations(self.words, classes, self.inside)
        return Sentence(tuple(self.words), self.senses, pronouns, *relations, classes, combination)


def _relations(words: list[str], classes: tuple[str, ...], inside: set[int]) -> tuple[tuple, tuple, tuple]:
    """Subject-verb-object, determiner-noun and adjective-noun: read off the word classes, clause by clause."""
    triples, determiners, adjectives = [], [], []
    subject, after_preposition, position = None, False, 0
    while position < len(words):
        kind = classes[position]
        if kind in ("punctuation", "conjunction") and position not in inside:
            if words[position] != "and" or _starts_clause(words, classes, position + 1):
                subject = None
            after_preposition = False
        elif kind == "preposition":
            after_preposition = True
        elif kind == "verb":
            after_preposition = False
            found = _noun_phrase(words, classes, position + 1)
            if found is not None:
                triples.append((subject, position, found[0]))
        elif (found := _noun_phrase(words, classes, position)) is not None:
            head, end = found
            for inner in range(position, head):
                if classes[inner] == "determiner" or words[inner] in ("his", "her", "their", "its"):
                    determiners.append((inner, head))
                elif classes[inner] == "adjective":
                    adjectives.append((inner, head))
            if subject is None and not after_preposition:
                subject = head
            position = end - 1
        position += 1
    return tuple(triples), tuple(determiners), tuple(adjectives)


def _noun_phrase(words: list[str], classes: tuple[str, ...], start: int) -> tuple[int, int] | None:
    """Head and end of the noun phrase that begins at ``start``, or None."""
    position = start
    while position < len(words) and (
        classes[position] in ("determiner", "adjective") or words[position] in ("his", "her", "their", "its")
    ):
        if words[position] == "her" and (
            position + 1 == len(words) or classes[position + 1] not in ("noun", "adjective")
        ):
            break  # "frightened her": a pronoun by itself
        position += 1
    if position == len(words) or classes[position] not in ("noun", "name", "pronoun"):
        return None
    head = position
    if words[head] in lexicon.LISTS["river"] and words[head + 1 : head + 2] == ["river"]:
        head += 1  # "the nile river"
    while classes[head] == "noun" and head + 1 < len(words) and classes[head + 1] == "noun":
        head += 1  # "the bank robber"
    return head, head + 1


def _starts_clause(words: list[str], classes: tuple[str, ...], start: int) -> bool:
    return _noun_phrase(words, classes, start) is not None


def _same_for_all_names(words: tuple[str, ...] | list[str]) -> list[str]:
    """Names, pronouns, "was" and "were" made alike, so that near variants of a sentence are seen as such."""
    return [
        "NAME" if word in NAMES else "PRONOUN" if word in ALL_PRONOUNS else "was" if word == "were" else word
        for word in words
    ]


def _runs(words: list[str] | tuple[str, ...]) -> set[tuple[str, ...]]:
    same = _same_for_all_names(words)
    return {tuple(same[i : i + RESERVED_RUN]) for i in range(len(same) - RESERVED_RUN + 1)}


_RESERVED_RUNS = set().union(*(_runs(sentence.split()) for sentence in RESERVED))


def is_reserved(words: tuple[str, ...] | list[str]) -> bool:
    """Whether these words come too near to a sentence of the lessons to be trained on.

    That is: six words in a row are the same, up to names and pronouns; or John and Paul are together; or the money bank
    and the Mississippi are in one sentence.
    """
    found = set(words)
    return (
        not _RESERVED_RUNS.isdisjoint(_runs(words))
        or {"john", "paul"} <= found
        or ({"mississippi", "bank"} <= found and bool({"vault", "robber", "stealing", "stole", "money"} & found))
    )


def is_held_out(combination: str) -> bool:
    """Whether a combination belongs to the held-out eighth. The same on every machine."""
    return zlib.crc32(combination.encode()) % HELD_OUT_SHARE == 0


def generate(n: int, seed: int = 0, split: str = "train", word: str | None = None) -> Iterator[Sentence]:
    """``n`` sentences, the same for the same seed.

    ``split`` is "train" or "held_out": combinations of clauses or of people that the other never has. With ``word``
    only sentences that hold this ambiguous word, each of its senses equally often.

    Raises:
        TypeError, ValueError: ``n`` is not a number of at least 0, or ``split`` or ``word`` is unknown.
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"n must be an int, got {type(n).__name__}")
    if n < 0:
        raise ValueError(f"n must be at least 0, got {n}")
    if split not in SPLITS:
        raise ValueError(f"split must be one of {list(SPLITS)}, got {split!r}")
    if word is not None and word not in lexicon.AMBIGUOUS:
        raise ValueError(f"word must be one of {sorted(lexicon.AMBIGUOUS)}, got {word!r}")
    return _generate(n, seed, split, word)


def _generate(n: int, seed: int, split: str, word: str | None) -> Iterator[Sentence]:
    random = Random(f"{seed} {split} {word}")  # a text seeds the same on every machine
    made = 0
    while made < n:
        if word is not None:
            senses = list(lexicon.AMBIGUOUS[word])
            sentence = _sense_sentence(random, word, senses[made % len(senses)])
        else:
            kind = random.random()
            if kind < 0.72:
                chosen = random.choice(_WORDS_BY_WEIGHT)
                sentence = _sense_sentence(random, chosen, random.choice(list(lexicon.AMBIGUOUS[chosen])))
            elif kind < 0.92:
                sentence = _role_sentence(random)
            else:
                sentence = _person_sentence(random)
        if is_held_out(sentence.combination) == (split == "held_out") and not is_reserved(sentence.words):
            made += 1
            yield sentence


# The words of the lessons' experiments come up more often.
_WORDS_BY_WEIGHT = [word for word in lexicon.AMBIGUOUS for _ in range(4 if word in ("bank", "fire", "blue") else 1)]


def _person(random: Random, kind: str | None = None) -> _Somebody:
    kind = kind or random.choice(["he", "he", "she", "she", "they"])
    if kind == "they":
        if random.random() < 0.5:
            first, second = random.sample([*lexicon.HE_NAMES, *lexicon.SHE_NAMES], 2)
            return _Somebody(kind, [first, "and", second], (0, 2))
        return _Somebody(kind, ["the", random.choice(lexicon.THEY_NOUNS)], (1,))
    names, nouns = (lexicon.HE_NAMES, lexicon.HE_NOUNS) if kind == "he" else (lexicon.SHE_NAMES, lexicon.SHE_NOUNS)
    if random.random() < 0.5:
        return _Somebody(kind, [random.choice(names)], (0,))
    words = ["the", *random.choices([[], [random.choice(lexicon.LISTS["age"])]], [3, 1])[0], random.choice(nouns)]
    return _Somebody(kind, words, (len(words) - 1,))


def _sense_sentence(random: Random, word: str, sense: str) -> Sentence:
    """A clause with the ambiguous word, and clauses elsewhere that depend on its sense."""
    part, topic, own, telling = lexicon.AMBIGUOUS[word][sense]
    people = {"p": _person(random), "it": _Somebody("it", [], ())}
    neutral = random.choice(lexicon.FRAMES[part])

    def of_topic() -> tuple[str, str]:
        return _carried_or(random, lexicon.TOPIC_WORDS[topic], lexicon.TOPICS[topic])

    def of_sense() -> tuple[str, str]:
        return _carried_or(random, lexicon.SENSE_WORDS[f"{word}/{sense}"], own)

    kind = random.random()
    if kind < 0.55:
        told = [of_topic(), of_sense()]
    elif kind < 0.65:
        told = [of_topic(), of_topic(), of_sense()]
    elif kind < 0.75:
        told = [of_sense(), of_sense()]
    elif kind < 0.78:
        told = [of_topic()]
    elif kind < 0.90:
        neutral = random.choice(telling)
        if part == "noun" and random.random() < 0.5:
            beside = random.choice(lexicon.SENSE_WORDS[f"{word}/{sense}"].split())
            pair = random.choice([f"the {{w}} and the {beside}", f"the {beside} and the {{w}}"])
            neutral = random.choice(lexicon.CARRIERS).replace("the {n}", pair).replace("was", "were")
        told = [of_sense()]
    else:
        return _two_senses(random, word, sense, people)
    clauses = [neutral, *(clause for clause, _ in told)]
    random.shuffle(clauses)
    if any("{it}" in clause for clause in clauses):  # the word before its pronoun
        clauses.sort(key=lambda clause: "{w}" not in clause)
    draft = _Draft(random)
    for number, clause in enumerate(clauses):
        if number:
            draft.words += random.choice(JOINERS).split()
        draft.add(clause, people, word, sense)
    named = [name for _, name in told] if len(told) > 1 else [neutral, told[0][1]]
    return draft.finish(f"{word}/{sense}: " + " + ".join(sorted(named)))


def _carried_or(random: Random, words: str, clauses: list[str]) -> tuple[str, str]:
    """A clause that says something, and its name: mostly one of ``words`` in a clause that says nothing without it."""
    if random.random() < CARRIED:
        first, second = random.sample(words.split(), 2)
        carrier = random.choice(lexicon.CARRIERS)
        if random.random() < PAIRED and "was" not in carrier:
            return carrier.replace("the {n}", f"the {first} and the {second}"), f"{first} {second}"
        return carrier.replace("{n}", first), first
    clause = random.choice(clauses)
    return clause, clause


def _two_senses(random: Random, word: str, first: str, people: dict[str, _Somebody]) -> Sentence:
    """The same word twice in one sentence, with different senses."""
    second = random.choice([sense for sense in lexicon.AMBIGUOUS[word] if sense != first])
    draft, named = _Draft(random), []
    for sense in (first, second):
        _, _, own, telling = lexicon.AMBIGUOUS[word][sense]
        clauses = [random.choice(telling)]
        if random.random() < 0.5:
            clauses.append(random.choice([clause for clause in own if "{it}" not in clause]))
        named += clauses
        for clause in clauses:
            if draft.words:
                draft.words += random.choice(JOINERS).split()
            draft.add(clause, people, word, sense)
    return draft.finish(f"{word}/{first}+{second}: " + " + ".join(named))


def _worker(random: Random) -> tuple[_Somebody, str, str]:
    """Somebody with a trade, or an animal or a machine, and what only they do."""
    if random.random() < 0.3:
        name = random.choice(list(lexicon.THINGS))
        return _Somebody("it", ["the", name], (1,)), name, _habit(random, *lexicon.THINGS[name])
    role = random.choice(list(lexicon.ROLES))
    plural, habits, things = lexicon.ROLES[role]
    habit = _habit(random, habits, things)
    kind = random.choice(["they", "they", "he", "she"])
    if kind == "they":
        return _Somebody(kind, ["the", plural], (1,)), role, habit
    if random.random() < 0.5:
        name = random.choice(lexicon.HE_NAMES if kind == "he" else lexicon.SHE_NAMES)
        return _Somebody(kind, [name, "the", role], (0, 2)), role, habit
    return _Somebody(kind, ["the", role], (1,)), role, habit


def _habit(random: Random, habits: list[str], things: str) -> str:
    if random.random() < CARRIED:
        return random.choice(lexicon.NEEDS).replace("{n}", random.choice(things.split()))
    return random.choice(habits)


def _role_sentence(random: Random) -> Sentence:
    """Two of them meet; a pronoun's number, gender or animacy says which one did what they do."""
    first, first_name, first_habit = _worker(random)
    second, second_name, second_habit = _worker(random)
    while (
        second.kind == first.kind
        or {first.kind, second.kind} == {"he", "she"}
        and (
            len(first.words) == 2 or len(second.words) == 2  # "the pilot" may be he or she
        )
    ):
        second, second_name, second_habit = _worker(random)
    draft = _Draft(random)
    people = {"a": first, "b": second}
    meeting = f"{{a}} {random.choice(lexicon.MEETINGS)} {{b}} {random.choice(lexicon.PLACES)}"
    draft.add(meeting, people)
    order = [("a", first_habit), ("b", second_habit)]
    random.shuffle(order)
    for who, habit in order[: random.choice([1, 1, 2])]:
        draft.words += random.choice(JOINERS).split()
        kind = random.random()
        if kind < 0.7:
            draft.add(f"{{{who}}} {habit}", people)
        elif kind < 0.85:
            draft.add(f"{{{who}}} {{{who}.was}} {random.choice(lexicon.STATES)} and {habit}", people)
        else:
            draft.add(f"everybody thanked {{{who}.obj}} and {{{who}}} {habit}", people)
    return draft.finish(f"{first_name} meets {second_name}")


def _person_sentence(random: Random) -> Sentence:
    """Plain statements about one or two people."""
    somebody = _person(random, random.choice(["he", "she", "they", "they"]))
    draft, people = _Draft(random), {"p": somebody}
    habit, state = random.choice(lexicon.PERSON_HABITS), random.choice(lexicon.STATES)
    clauses = [habit, "{p.was} " + state]
    if random.random() < 0.4:
        clauses.append(random.choice([habit for habit in lexicon.PERSON_HABITS if habit != clauses[0]]))
    random.shuffle(clauses)
    for number, clause in enumerate(clauses):
        if number:
            draft.words += random.choice(JOINERS).split()
        place = random.choice(lexicon.PLACES) if random.random() < 0.3 else ""
        draft.add(f"{{p}} {clause} {place}", people)
    return draft.finish(f"person: {habit} + {state}")
