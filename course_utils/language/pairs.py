"""English-Chinese sentence pairs: a small grammar that writes both languages at once, and knows what translates what.

A rule has an English and a Chinese side. ``{s} did1 not1 {v} {t}`` with ``{s} {t} 没1 {v}`` moves the time before the verb
and makes one character out of two words. A digit links a word with its characters, a slot is filled with the result of
another rule. What may fill it stands in ``pairs_lexicon``.
"""

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import NamedTuple

from course_utils.language import pairs_lexicon as lexicon

SPLITS = ("train", "held_out", "longer")
HELD_OUT_SHARE = 8  # one combination in eight is never trained on
SMALLEST_HELD_OUT = 3  # content words; what two words make of each other (好喝, 好吃) has to be learnt somewhere
MAX_WORDS = 12  # the longest English sentence of "train" and "held_out"
MAX_WORDS_LONGER = 22
# The lessons' sentences. They are trained on.
TAUGHT = (("why do we work", "为什么要工作"), ("hello world", "你好世界"), ("the sky is blue", "天空是蓝色的"))


@dataclass(frozen=True)
class Pair:
    """A sentence in both languages. Positions count from 0.

    ``english``: words in lower case, no punctuation. ``chinese``: characters, no punctuation. ``alignment``: for each
    character the positions of the words it translates; none for a character that only Chinese needs. ``combination``
    names the content words, and decides whether the sentence is held out.
    """

    english: tuple[str, ...]
    chinese: str
    alignment: tuple[tuple[int, ...], ...]
    kind: str
    combination: str

    @property
    def text(self) -> str:
        """The English words with spaces between them."""
        return " ".join(self.english)


def is_held_out(combination: str) -> bool:
    """Whether sentences of this combination are kept from training: the same answer everywhere, for all seeds."""
    if len(combination.split("+")) < SMALLEST_HELD_OUT:
        return False
    return zlib.crc32(combination.encode()) % HELD_OUT_SHARE == 0


def generate_pairs(n: int, seed: int | str = 0, split: str = "train") -> Iterator[Pair]:
    """``n`` pairs, one by one; the same for the same seed. Of a large language: some come twice.

    ``split`` is "train", "held_out" (three or more content words that never are all those of a sentence of
    "train", in any tense or kind of clause; each word and each kind of clause is in "train") or "longer" (more words than any sentence of "train").

    Raises:
        TypeError: ``n`` is not an int.
        ValueError: ``n`` is negative, or ``split`` none of the three.
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"n must be an int, got {type(n).__name__}")
    if n < 0:
        raise ValueError(f"n must be at least 0, got {n}")
    if split not in SPLITS:
        raise ValueError(f"split must be one of {list(SPLITS)}, got {split!r}")
    return _generate(n, seed, split)


def _generate(n: int, seed: int | str, split: str) -> Iterator[Pair]:
    random = Random(f"{split} {seed}")
    kinds = LONGER if split == "longer" else KINDS
    names, weights = list(kinds), [weight for weight, _ in kinds.values()]
    while n > 0:
        kind = random.choices(names, weights)[0]
        part = kinds[kind][1](random)
        combination = "+".join(sorted(set(part.content)))
        if split == "longer":
            wanted = MAX_WORDS < len(part.words) <= MAX_WORDS_LONGER
        else:
            wanted = len(part.words) <= MAX_WORDS and is_held_out(combination) == (split == "held_out")
        if wanted:
            yield Pair(part.words, part.characters, part.links, kind, combination)
            n -= 1


# Rules


class Part(NamedTuple):
    """A piece of a sentence in both languages. ``links``: for each character, the words it translates."""

    words: tuple[str, ...] = ()
    characters: str = ""
    links: tuple[tuple[int, ...], ...] = ()
    content: tuple[str, ...] = ()


NOTHING = Part()


@cache
def _compile(english: str, chinese: str) -> tuple[list, list]:
    """Both sides as lists of (slot, text, tag); a slot has no text, a text has no slot."""
    left, right = [], []
    for token in english.split():
        slot, word, tag = re.fullmatch(r"(?:\{(\w+)\}|([a-z']+)(\d?))", token).groups()
        left.append((slot, word, tag))
    for token in re.findall(r"\{\w+\}|[^\s{}\d:]+(?:\d|:[a-z])?", chinese):
        slot, text, tag = re.fullmatch(r"(?:\{(\w+)\}|([^\d:]+)(\d|:[a-z])?)", token).groups()
        right.append((slot, text, tag))
    return left, right


def build(english: str, chinese: str, content: tuple[str, ...] = (), **parts: Part) -> Part:
    """Applies a rule. ``没1`` translates the words with tag 1, ``了:v`` those of the slot v."""
    left, right = _compile(english, chinese)
    words: list[str] = []
    places: dict[str, list[int]] = {}
    for slot, word, tag in left:
        if slot is None:
            places.setdefault(tag, []).append(len(words))
            words.append(word)
        else:
            part = parts[slot]
            places[":" + slot] = list(range(len(words), len(words) + len(part.words)))
            words += part.words
            content += part.content
    characters, links = "", []
    for slot, text, tag in right:
        if slot is None:
            links += [tuple(places[tag]) if tag else ()] * len(text)
            characters += text
        elif part := parts[slot]:
            start = places[":" + slot][0] if part.words else 0
            links += [tuple(start + place for place in link) for link in part.links]
            characters += part.characters
    return Part(tuple(words), characters, tuple(links), content)


_EMPTY_WORDS = {"a", "the", "in", "at", "on", "by", "under", "to", "for", "up", "with", "of", "near"}


@cache
def _word(english: str, chinese: str) -> Part:
    """A fixed piece of the lexicon; its words are content, but for the small ones."""
    part = build(english, chinese)
    return part._replace(content=tuple(word for word in part.words if word not in _EMPTY_WORDS))


# Who


class _Subject(NamedTuple):
    part: Part
    person: str  # "i", "one" or "many": how the verb agrees
    pronoun: str  # what takes its place later
    names: frozenset[str]  # who is meant; nobody does something to himself


@cache
def _pronoun(name: str) -> _Subject:
    _, _, chinese, person = lexicon.PRONOUNS[name]
    who = {"we": {"i", "we", "you"}, "i": {"i", "we"}, "you": {"you", "we"}}.get(name, {name})
    return _Subject(_word(f"{name}1", f"{chinese}1"), person, name, frozenset(who))


_HE = {"father", "older brother", "younger brother", "grandfather", "husband", "son", "tom", "xiaoming"}


@cache
def _kin(kin: str, owner: str) -> _Subject:
    _, possessive, chinese, _ = lexicon.PRONOUNS[owner]
    english = " ".join(f"{word}2" for word in kin.split())
    part = build(f"{possessive}1 {english}", f"{chinese}1{lexicon.KIN[kin]}2", (kin,))
    return _Subject(part, "one", "he" if kin in _HE or kin == "friend" and owner != "she" else "she", frozenset({kin}))


@cache
def _name(name: str) -> _Subject:
    return _Subject(
        _word(f"{name}1", f"{lexicon.NAMES[name]}1"), "one", "he" if name in _HE else "she", frozenset({name})
    )


@cache
def _role(role: str) -> _Subject:
    chinese, person = lexicon.ROLES[role]
    part = build(f"the {role}1", f"{chinese}1", (role,))
    return _Subject(part, person, "they" if person == "many" else "he" if role == "doctor" else "she", frozenset({role}))


_OWNERS = ("i", "you", "he", "she")


def _somebodys_kin(random: Random) -> _Subject:
    while True:
        kin, owner = random.choice(list(lexicon.KIN)), random.choice(_OWNERS)
        if not (kin == "wife" and owner == "she" or kin == "husband" and owner == "he"):
            return _kin(kin, owner)


def _subject(random: Random, pronouns: float = 0.6) -> _Subject:
    chance = random.random()
    if chance < pronouns:
        return _pronoun(random.choice(list(lexicon.PRONOUNS)))
    kind = random.random()
    if kind < 0.2:
        return _name(random.choice(list(lexicon.NAMES)))
    if kind < 0.6:
        return _somebodys_kin(random)
    if kind < 0.85:
        return _role(random.choice(list(lexicon.ROLES)))
    return _two_people(random)


def _asked(random: Random, pronouns: float = 0.6) -> _Subject:
    """Whom one asks about: seldom oneself."""
    subject = _subject(random, pronouns)
    while subject.pronoun in ("i", "we") and random.random() < 0.8:
        subject = _subject(random, pronouns)
    return subject


def _two_people(random: Random) -> _Subject:
    if random.random() < 0.5:
        first, second = (_name(name) for name in random.sample(list(lexicon.NAMES), 2))
    else:
        owner = random.choice(_OWNERS)
        pair = random.choice([("mother", "father"), ("grandmother", "grandfather"), ("son", "daughter")])
        first, second = (_kin(kin, owner) for kin in pair)
    part = build("{a} and1 {b}", "{a} 和1 {b}", a=first.part, b=second.part)
    return _Subject(part, "many", "they", first.names | second.names)


def _object_pronoun(name: str) -> Part:
    form, _, chinese, _ = lexicon.PRONOUNS[name]
    return build(f"{form}1", f"{chinese}1", (name,))


def _somebody_else(random: Random, subject: _Subject, pronouns: float = 0.5) -> Part:
    """A person as an object, another one than the subject."""
    while True:
        kind = random.random()
        if kind < pronouns:
            name = random.choice(list(lexicon.PRONOUNS))
            if not subject.names & _pronoun(name).names:
                return _object_pronoun(name)
        else:
            if kind < pronouns + 0.35:
                other = _somebodys_kin(random)
            elif kind < pronouns + 0.42:
                other = _name(random.choice(list(lexicon.NAMES)))
            else:
                other = _role(random.choice(list(lexicon.ROLES)))
            if not subject.names & other.names:
                return other.part


# What


def _plural(noun: str) -> str:
    return lexicon.THINGS[noun][0] if noun in lexicon.THINGS else lexicon.PEOPLE[noun][0]


def _tagged(words: str, tag: int) -> str:
    return " ".join(f"{word}{tag}" for word in words.split())


@cache
def _adjective(name: str) -> Part:
    """Before a noun."""
    word = name.split("/")[0]
    chinese = f"{lexicon.COLOURS[name]}的" if name in lexicon.COLOURS else lexicon.ADJECTIVES[name][1]
    return build(f"{word}1", f"{chinese}1", (word,))


@cache
def _noun(name: str, plural: bool, adjective: str = "") -> Part:
    """A noun alone, or after its adjective; ``name`` is in the singular, or names a stuff."""
    if name in lexicon.STUFF:
        english, chinese = name, lexicon.STUFF[name][0]
    else:
        table = lexicon.THINGS if name in lexicon.THINGS else lexicon.PEOPLE
        english, chinese = table[name][0] if plural else name, table[name][1]
    before = _adjective(adjective) if adjective else NOTHING
    return build("{a} " + _tagged(english, 1), "{a}" + chinese + "1", (name,), a=before)


def _measure(noun: str) -> str:
    return lexicon.THINGS[noun][2] if noun in lexicon.THINGS else lexicon.PEOPLE[noun][2]


def _describe(random: Random, noun: str, share: float, bare: bool = False) -> str:
    """An adjective that suits the noun, or none; ``bare``: one that needs no 的."""
    if noun in lexicon.PEOPLE or random.random() >= share:
        return ""
    table = lexicon.STUFF[noun][2] if noun in lexicon.STUFF else lexicon.THINGS[noun][3]
    choices = [a for a in table.split() if not bare or a in lexicon.ADJECTIVES and "的" not in lexicon.ADJECTIVES[a][1]]
    return random.choice(choices) if choices else ""


def _a(noun: str, adjective: str = "") -> Part:
    thing = _noun(noun, False, adjective)
    article = "an" if thing.words[0][0] in "aeiou" else "a"
    return build(article + "1 {n}", f"一{_measure(noun)}1" + "{n}", n=thing)


def _counted(random: Random, noun: str, adjective: str = "", highest: int = 5) -> Part:
    """Two to ``highest`` of them, with the measure word; or many, or some, without."""
    things = _noun(noun, True, adjective)
    if random.random() < 0.25:
        word, chinese = random.choice([("many", "很多"), ("some", "一些")])
        return build(word + "1 {n}", chinese + "1{n}", n=things)
    word = random.choice(list(lexicon.NUMBERS)[1:highest])
    return build(word + "1 {n}", lexicon.NUMBERS[word] + _measure(noun) + "1{n}", (word,), n=things)


def _contained(random: Random, stuff: str) -> Part:
    """A cup of tea, two bowls of soup."""
    container = lexicon.STUFF[stuff][1]
    many, measure = lexicon.CONTAINERS[container]
    number = random.choice(["one", "one", "two", "three"])
    english = f"a1 {container}1 of1" if number == "one" else f"{number}1 {many}1 of1"
    content = (container,) if number == "one" else (container, number)
    return build(english + " {n}", lexicon.NUMBERS[number] + measure + "1{n}", content, n=_noun(stuff, False))


_POINTING = {"this": "这", "that": "那", "the": "那", "these": "这些", "those": "那些"}


def _pointed(noun: str, word: str, adjective: str = "") -> Part:
    if word in ("these", "those"):
        return build(word + "1 {n}", _POINTING[word] + "1{n}", n=_noun(noun, True, adjective))
    return build(word + "1 {n}", _POINTING[word] + _measure(noun) + "1{n}", n=_noun(noun, False, adjective))


_GENITIVES = {
    "friend's": ("my1 friend's2", "我1朋友的2"),
    "mother's": ("my1 mother's2", "我1妈妈的2"),
    "father's": ("my1 father's2", "我1爸爸的2"),
    "tom's": ("tom's1", "汤姆的1"),
    "anna's": ("anna's1", "安娜的1"),
    "teacher's": ("the teacher's1", "老师的1"),
}


def _owned(random: Random, noun: str, adjective: str = "", plural: bool = False, pronouns: float = 0.65) -> Part:
    """My book, my friend's book."""
    if random.random() < pronouns:
        name = random.choice(list(lexicon.PRONOUNS))
        _, possessive, chinese, _ = lexicon.PRONOUNS[name]
        owner = build(f"{possessive}1", f"{chinese}的1")
    else:
        name = random.choice(list(_GENITIVES))
        owner = build(*_GENITIVES[name], (name,))
    return build("{o} {n}", "{o}{n}", o=owner, n=_noun(noun, plural, adjective))


def _definite(random: Random, noun: str, share: float = 0.2) -> Part:
    """This book, the red dress, those chairs, my new car."""
    if noun in lexicon.OWN and random.random() < 0.35:
        return _owned(random, noun, _describe(random, noun, share, bare=True))
    word = random.choice(["this", "that", "the", "the", "these", "those"])
    return _pointed(noun, word, _describe(random, noun, share))


def _one_or_more(random: Random, noun: str, share: float = 0.3) -> Part:
    adjective = _describe(random, noun, share)
    if noun in ("car", "house", "computer") or random.random() < 0.55:
        return _a(noun, adjective)
    return _counted(random, noun, adjective, 3 if noun in ("film", "story", "letter") else 5)


# Doing something


@dataclass(frozen=True)
class _Doing:
    """A verb phrase. ``chinese`` says with ``*`` where 了 goes in the past.

    ``finished``: 了 comes in every past sentence (买了一本书); without, only where no place is said (在公园踢足球).
    """

    verb: str
    english: str
    chinese: str
    finished: bool = False
    can: str = ""
    places: tuple[str, ...] = ()
    times: tuple[str, ...] = ("any",)
    parts: Mapping[str, Part] = field(default_factory=dict)
    content: tuple[str, ...] = ()

    def form(self, form: str, le: str = "") -> Part:
        """In English in a form, in Chinese without 了, with it where ``*`` stands ("in"), or at the end ("end")."""
        verb = self.verb if form == "base" else lexicon.VERBS[self.verb].split()[("third", "past", "ing").index(form)]
        chinese = self.chinese.replace("*", "了:v" if le == "in" else "") + ("了:v" if le == "end" else "")
        return build(self.english, chinese, v=Part((verb,), content=(self.verb, *self.content)), **self.parts)


def _fixed(row: tuple[str, str, str, str, str]) -> _Doing:
    english, chinese, can, places, times = row
    verb, *rest = english.split()
    content = tuple(word for token in rest if (word := token.rstrip("012")) not in _EMPTY_WORDS)
    verb = verb[:-1]
    english = " ".join(["{v}", *(token if token[-1] != "1" else token[:-1] for token in rest)])
    chinese = chinese.replace("1", ":v ")
    return _Doing(verb, english, chinese + "*", False, can, tuple(places.split()), tuple(times.split()), {}, content)


_ACTIVITIES = [_fixed(row) for row in lexicon.ACTIVITIES]
_MOVES = [_fixed(row) for row in lexicon.MOVES]
_BY_NAME = {row[0]: doing for row, doing in zip((*lexicon.ACTIVITIES, *lexicon.MOVES), _ACTIVITIES + _MOVES, strict=True)}


def _transitive(verb: str, thing: Part, places: str | None = None) -> _Doing:
    """``verb`` done to ``thing``."""
    chinese, _, _, usual = lexicon.DOINGS[verb]
    where = usual if places is None else places
    return _Doing(verb, "{v} {o}", chinese + ":v*{o}", True, "可以", tuple(where.split()), parts={"o": thing})


_VERB_WEIGHTS = {"eat": 3, "drink": 2.5, "buy": 5, "read": 1.5, "write": 1.5, "watch": 0.7, "sing": 0.7}
_MARKET = {"apple", "egg", "flower", "tea", "coffee", "milk", "rice", "bread", "meat", "fish"}


def _with_object(random: Random, indefinite: bool = True) -> _Doing:
    """A transitive verb and an object that suits it; ``indefinite``: a book, two books; else the book, my book, tea."""
    verb = random.choices(list(_VERB_WEIGHTS), list(_VERB_WEIGHTS.values()))[0]
    _, things, stuffs, _ = lexicon.DOINGS[verb]
    things, stuffs = things.split(), stuffs.split()
    if stuffs and (not things or random.random() < {"buy": 0.3, "eat": 0.7}[verb]):
        stuff = random.choice(stuffs)
        contained = lexicon.STUFF[stuff][1] and indefinite and random.random() < 0.5
        thing = _contained(random, stuff) if contained else _noun(stuff, False)
        return _transitive(verb, thing, "shop market" if verb == "buy" and stuff in _MARKET else None)
    noun = random.choice(things)
    places = "shop market here" if verb == "buy" and noun in _MARKET else "" if noun == "house" or noun == "car" else None
    if verb == "read" and noun == "letter":
        places = "home garden room"
    if indefinite:
        return _transitive(verb, _one_or_more(random, noun), places)
    if verb == "eat":
        return _transitive(verb, _pointed(noun, random.choice(["this", "that", "the", "these"])), places)
    if verb == "buy":
        word = random.choice(["this", "that", "the", "these", "those"])
        return _transitive(verb, _pointed(noun, word, _describe(random, noun, 0.2)), places)
    return _transitive(verb, _pointed(noun, random.choice(["this", "that", "the", "these"])), places)


def _consuming(random: Random) -> _Doing:
    """Eats rice, drinks tea, buys milk: in general."""
    verb = random.choice(["eat", "eat", "drink", "drink", "buy"])
    stuff = random.choice(lexicon.DOINGS[verb][2].split())
    return _transitive(verb, _noun(stuff, False), "shop market" if verb == "buy" and stuff in _MARKET else None)


def _going(random: Random, plain: bool = False) -> _Doing:
    """Goes to the park; by bus; to the market to buy fruit."""
    name = random.choice(list(lexicon.DESTINATIONS))
    to = _word(*lexicon.DESTINATIONS[name])
    chance = random.random()
    times = ("any", "long") if name in lexicon.CITIES else ("any",)
    if not plain and chance < 0.3:
        far = "far" if name in lexicon.CITIES else "near"
        vehicle = random.choice([v for v, (_, _, reach) in lexicon.VEHICLES.items() if reach == far])
        by = _word(*lexicon.VEHICLES[vehicle][:2])
        return _Doing("go", "{v} {d} {w}", "{w}去:v*{d}", True, "可以", (), times, {"d": to, "w": by})
    if not plain and chance < 0.5:
        purposes = [doing for doing in _ACTIVITIES if name in doing.places]
        if purposes:
            purpose = random.choice(purposes).form("base")
            parts = {"d": to, "q": purpose}
            return _Doing("go", "{v} {d} to {q}", "去:v{d}{q}*", False, "可以", (), times, parts)
    return _Doing("go", "{v} {d}", "去:v*{d}", True, "可以", (), times, {"d": to})


def _towards(random: Random, subject: _Subject, general: bool = False) -> _Doing:
    """What is done to or for somebody else; ``general``: as a habit."""
    somebody = _somebody_else(random, subject)
    kind = random.choice(["call", "talk", "help", "wait"] if general else "call talk help wait give buy letter".split())
    if kind == "call":
        return _Doing("call", "{v} {x}", "给:v{x}打电话:v*", can="可以", parts={"x": somebody})
    if kind == "talk":
        return _Doing(
            "talk", "{v} with1 {x}", "跟1{x}聊天:v*", can="可以", places=("home", "park"), parts={"x": somebody}
        )
    if kind == "wait":
        return _Doing("wait", "{v} for {x}", "等:v{x}*", places=("station", "cinema", "park"), parts={"x": somebody})
    if kind == "help":
        names = "cook1/clean1 the room2/wash1 clothes2/do1 homework2/learn1 english2/learn1 chinese2".split("/")
        task = _BY_NAME[random.choice(names)].form("base")
        return _Doing("help", "{v} {x} {q}", "帮:v{x}{q}*", can="可以", parts={"x": somebody, "q": task})
    if kind == "letter":
        letter = _a("letter", _describe(random, "letter", 0.2))
        return _Doing("write", "{v} {o} to1 {x}", "给1{x}写:v*{o}", True, parts={"o": letter, "x": somebody})
    noun = random.choice("book phone umbrella bag photo flower apple dress shirt".split())
    if kind == "buy" and noun == "photo":
        noun = "chair"
    gift = _one_or_more(random, noun)
    if kind == "buy":
        return _Doing("buy", "{v} {o} for1 {x}", "给1{x}买:v*{o}", True, parts={"o": gift, "x": somebody})
    return _Doing("give", "{v} {x} {o}", "给:v*{x}{o}", True, parts={"o": gift, "x": somebody})


# Clauses


def _be(person: str, past: bool = False) -> str:
    return ({"i": "was", "one": "was", "many": "were"} if past else {"i": "am", "one": "is", "many": "are"})[person]


def _do(person: str) -> str:
    return "does" if person == "one" else "do"


def _time(name: str) -> Part:
    return _word(*lexicon.TIMES[name.replace("_", " ")][:2])


def _choose_time(random: Random, times: tuple[str, ...], group: int) -> str:
    """A name of ``TIMES``, or nothing; ``group``: 0 habits, 1 past, 2 future, 3 a habit that is denied."""
    choices = [name for kind in times for name in lexicon.TIME_CLASSES[kind][group].split()]
    return random.choice(choices) if choices else ""


# For each mode: the time group; then for a statement, its denial and a question: English before the verb (or before
# the subject), English after the subject, Chinese, form of the verb, 了. DO and BE agree with the subject.
_MODES = {
    "habit": (0, ("", "", "here"), ("DO8 not8", "不8", "base"), ("DO9", "", "", "base")),
    "past": (1, ("", "", "past"), ("did8 not8", "没8", "base"), ("did9", "", "", "base")),
    "future": (2, ("will1", "要1", "base"), ("will8 not8", "不8", "base"), ("will9", "", "要9", "base")),
    "want": (2, ("WANT1 to1", "想1", "base"), ("DO8 not8 want1 to1", "不8想1", "base"), ("DO9", "want1 to1", "想1", "base")),
    "need": (
        2,
        ("NEED1 to1", "需要1", "base"),
        ("DO8 not8 need1 to1", "不8需要1", "base"),
        ("DO9", "need1 to1", "需要1", "base"),
    ),
    "must": (2, ("must1", "必须1", "base"), None, ("must9", "", "必须9", "base")),
    "can": (2, ("can1", "CAN1", "base"), ("cannot1", "不1CANNOT1", "base"), ("can9", "", "CAN9", "base")),
    "now": (0, ("BE1", "正1在1", "ing"), ("BE1 not2", "没2在1", "ing"), ("BE9", "", "正9在9", "ing")),
}
# What a question puts in front, and its Chinese; "" asks for yes or no.
_ASKED = {
    "": ("", "{{s}}{{t}}{aux}{{p}}{{v}}吗9"),
    "why": ("why7", "{{s}}{{t}}为什么7{aux}{{p}}{{v}}"),
    "where": ("where7", "{{s}}{{t}}{aux}在7哪里7{{v}}"),
    "when": ("when7", "{{s}}什么时候7{aux}{{p}}{{v}}"),
    "what": ("what7", "{{s}}{{t}}{aux}{{p}}{{v}}什么7"),
    "how": ("how7", "{{s}}{{t}}{aux}怎么7{{v}}"),
}
_FRONT_TIMES = frozenset(name for name, (_, _, front) in lexicon.TIMES.items() if front)


def _clause(
    random: Random,
    subject: _Subject,
    doing: _Doing,
    mode: str,
    polarity: int = 0,
    place: str | None = None,
    time: str | None = None,
    adverb: str = "",
    ask: str = "",
    front: bool = False,
) -> Part:
    """One clause. ``polarity``: 0 says, 1 denies, 2 asks. ``ask``: the question word, for 2."""
    english, chinese, form = (_MODES[mode][1 + polarity] if polarity < 2 else _MODES[mode][3][:1] + _MODES[mode][3][2:])
    after = _MODES[mode][3][1] if polarity == 2 else ""
    skill = doing.can == "会"
    for name, value in (("CANNOT", "会" if skill else "能"), ("CAN", doing.can)):
        chinese = chinese.replace(name, value)
    person = subject.person
    agree = {"DO": _do(person), "BE": _be(person), "WANT": "want" if person != "one" else "wants"}
    agree["NEED"] = "need" if person != "one" else "needs"
    for name, value in agree.items():
        english = english.replace(name, value)
    if form == "here":
        form = "third" if person == "one" else "base"
    le = ""
    if mode == "past" and polarity == 2 and not ask:
        le = "end"
    elif mode == "past" and polarity != 1 and ask not in ("where", "why") and (doing.finished or not place):
        le = "in"
    if mode == "now" and place:
        chinese = chinese.replace("在1", "").replace("在9", "")
    where = _word(*lexicon.PLACES[place]) if place else NOTHING
    when = _clock(time) if time and "o'clock" in time else _time(time) if time else NOTHING
    extra = _word(f"{adverb}1", f"{lexicon.ADVERBS[adverb]}1") if adverb else NOTHING
    parts = {"s": subject.part, "v": doing.form(form, le), "p": where, "t": when, "a": extra}
    if polarity == 2:
        left = f"{_ASKED[ask][0]} {english} {{s}} {after} {{v}} {{p}} {{t}}"
        right = _ASKED[ask][1].format(aux=chinese)
        del parts["a"]
    elif front and time and time.replace("_", " ") in _FRONT_TIMES:
        left, right = f"{{t}} {{s}} {{a}} {english} {{v}} {{p}}", f"{{t}}{{s}}{{a}}{chinese}{{p}}{{v}}"
    else:
        left, right = f"{{s}} {{a}} {english} {{v}} {{p}} {{t}}", f"{{s}}{{t}}{{a}}{chinese}{{p}}{{v}}"
    return build(left, right, **parts)


def _clock(time: str) -> Part:
    """At seven o'clock, every day or tomorrow."""
    hour, _, day = time.partition(" o'clock ")
    part = build(f"at1 {hour}1 o'clock1", f"{lexicon.NUMBERS[hour]}点1", (hour,))
    if not day:
        return part
    return build("{c} {d}", "{d}{c}", c=part, d=_time(day))


def _activity(random: Random, mode: str, polarity: int = 0) -> _Doing:
    """An activity that suits the mode."""
    while True:
        doing = random.choice(_ACTIVITIES)
        if mode == "can" and not doing.can:
            continue
        if mode != "can" and doing.times == ("none",) and polarity != 2:
            continue
        if mode in ("past", "future", "want", "need", "must", "now") and doing.times in (("none",), ("habit",)):
            continue
        return doing


def _setting(random: Random, doing: _Doing, mode: str, polarity: int = 0) -> tuple[str | None, str | None]:
    """A place and a time that suit what is done; in a plain habit at least one of them."""
    skill = mode == "can" and doing.can == "会"
    place = random.choice(doing.places) if doing.places and not skill and random.random() < 0.4 else None
    if "placed" in doing.times and doing.places and not place:
        place = random.choice(doing.places)
    group = _MODES[mode][0]
    if polarity == 1 and mode == "habit":
        group = 3
    time = "" if skill or mode == "now" else _choose_time(random, doing.times, group)
    if mode == "now":
        time = "now" if random.random() < 0.3 else ""
    elif random.random() < (0.35 if polarity else 0.25) and mode not in ("future",):
        time = ""
    if mode == "past" and place and not doing.finished and not time:
        if polarity != 1:
            time = time or _choose_time(random, doing.times, 1)
    return place, time or None


def _any_doing(random: Random, subject: _Subject, mode: str, polarity: int = 0) -> _Doing:
    """What somebody does, will do, did not do: of all sorts."""
    kind = random.random()
    settled = polarity > 0 or mode == "habit"  # no "a book" there: it would be 书 or 一本书
    if mode == "can" and kind < 0.6:
        return _activity(random, mode, polarity)
    if kind < 0.4:
        return _activity(random, mode, polarity)
    if kind < 0.6:
        if mode == "habit":
            return _consuming(random)
        return _with_object(random, not settled and mode != "can")
    if kind < 0.78 and mode != "now":
        return _going(random, plain=polarity > 0)
    if kind < 0.86 and mode not in ("now", "can"):
        return random.choice([move for move in _MOVES if move.verb not in ("get", "cry")])
    if mode == "can" or settled and kind > 0.96:
        return _activity(random, mode, polarity)
    return _towards(random, subject, general=settled or mode in ("now", "need", "must"))


def _says(random: Random, mode: str, polarity: int = 0, subject: _Subject | None = None) -> Part:
    """A clause in a mode, with all that is left open chosen."""
    subject = subject or (_asked if polarity == 2 else _subject)(random)
    doing = _any_doing(random, subject, mode, polarity)
    place, time = _setting(random, doing, mode, polarity)
    adverb = ""
    if mode == "habit" and polarity == 0 and subject.person == "many" and subject.pronoun != "you" and random.random() < 0.2:
        return _clause(random, subject, doing, mode, 0, place, None, "all")
    if mode == "habit" and polarity == 0:
        if not time or random.random() < 0.15:
            adverb = random.choice(["often", "always", "sometimes", "never", "also", "only"])
            if adverb == "only" and doing.verb not in ("eat", "drink", "speak", "buy"):
                adverb = "often"
        if adverb in ("often", "always", "sometimes", "never", "only"):
            time = None
    return _clause(random, subject, doing, mode, polarity, place, time, adverb, front=random.random() < 0.25)


def _statement(random: Random) -> Part:
    mode = random.choices(["habit", "past", "future", "now", "clock"], [4.5, 3.5, 1, 2, 1])[0]
    if mode == "clock":
        return _at_an_hour(random)
    if random.random() < 0.12:
        return _of_animals(random)
    if mode == "habit" and random.random() < 0.4:  # each verb in the third person, often enough
        doing, subject = _activity(random, mode), _subject(random, 0)
        while subject.person != "one":
            subject = _subject(random, 0.6)
        place, time = _setting(random, doing, mode)
        adverb = "" if time else random.choice(["often", "always", "sometimes", "never"])
        return _clause(random, subject, doing, mode, 0, place, time, adverb, front=random.random() < 0.25)
    return _says(random, mode)


def _at_an_hour(random: Random, subject: _Subject | None = None) -> Part:
    name, hours = random.choice(list(lexicon.CLOCK.items()))
    hour = random.choice(hours.split())
    mode = random.choice(["habit", "habit", "must", "future"])
    day = random.choice(["", "every_day"]) if mode == "habit" else "tomorrow"
    time = f"{hour} o'clock {day}" if day else f"{hour} o'clock "
    return _clause(random, subject or _subject(random), _BY_NAME[name], mode, 0, None, time)


_ANIMALS = {"cat": ("猫", "只"), "dog": ("狗", "只"), "bird": ("鸟", "只"), "horse": ("马", "匹")}
_ANIMAL_DOINGS = {
    "sleep": ("睡觉", "sofa bed under_table tree garden", "cat dog"),
    "run": ("跑", "park garden street", "dog horse cat"),
    "sing": ("唱歌", "garden tree", "bird"),
    "drink": ("喝水", "kitchen river garden", "cat dog horse"),
    "eat": ("吃东西", "kitchen garden", "cat dog"),
}


def _of_animals(random: Random) -> Part:
    """What an animal is doing, and where."""
    verb, (chinese, places, animals) = random.choice(list(_ANIMAL_DOINGS.items()))
    noun = random.choice(animals.split())
    place = random.choice([one for one in places.split() if noun != "horse" or one != "kitchen"])
    if random.random() < 0.5:
        part = _pointed(noun, random.choice(["the", "that", "this"]), _describe(random, noun, 0.3))
    else:
        part = _owned(random, noun) if noun in ("cat", "dog") else _pointed(noun, "the")
    who = _Subject(part, "one", "it", frozenset())
    rest = {"drink": (" water2", "喝:v水2"), "eat": ("", "吃:v东西")}.get(verb, ("", chinese + ":v"))
    content = ("water",) if verb == "drink" else ()
    doing = _Doing(verb, "{v}" + rest[0], rest[1], content=content)
    return _clause(random, who, doing, "now", 0, place)


def _negation(random: Random) -> Part:
    kind = random.random()
    if kind < 0.15:
        return _likes(random, 1)
    if kind < 0.25:
        return _has(random, 1)
    if kind < 0.3:
        return _knows(random, 1)
    if kind < 0.4:
        return _feels(random, 1)
    return _says(random, random.choices(["habit", "past", "future", "want", "now"], [3, 4, 1, 2, 1])[0], 1)


def _yes_no(random: Random) -> Part:
    kind = random.random()
    if kind < 0.12:
        return _likes(random, 2)
    if kind < 0.22:
        return _has(random, 2)
    if kind < 0.28:
        return _knows(random, 2)
    if kind < 0.36:
        return _feels(random, 2)
    modes = {"habit": 2, "past": 3, "future": 1, "want": 2, "can": 2, "must": 1, "need": 0.5, "now": 1.5}
    return _says(random, random.choices(list(modes), list(modes.values()))[0], 2)


def _modal(random: Random) -> Part:
    mode = random.choice(["want", "want", "can", "can", "must", "need"])
    polarity = 1 if mode == "can" and random.random() < 0.3 else 0
    return _says(random, mode, polarity)


def _why(random: Random) -> Part:
    """为什么. "Why do we work" asks in general, and leaves the subject out: 为什么要工作."""
    kind = random.random()
    if kind < 0.25:
        doing = _activity(random, "want") if random.random() < 0.7 else _consuming(random)
        return build("why1 do1 we2 {v}", "为什么1要2{v}", ("we",), v=doing.form("base"))
    subject = _asked(random)
    while subject.pronoun == "we":
        subject = _asked(random)
    if kind < 0.37:
        what, is_ = _liked(random), _do(subject.person)
        return build(f"why1 {is_}9 {{s}} like1 {{o}}", "{s}为什么1喜欢1{o}", ("like",), s=subject.part, o=what)
    if kind < 0.5:
        mood = random.choice(lexicon.MOODS)
        chinese = lexicon.ADJECTIVES[mood][0]
        english = f"why1 {_be(subject.person)} {{s}} so2 {mood}3"
        return build(english, f"{{s}}为什么1这么2{chinese}3", (mood,), s=subject.part)
    if kind < 0.6:
        doing = _BY_NAME["cry1"]
        return _clause(random, subject, doing, "past", 2, None, _maybe_past(random), ask="why")
    mode = random.choice(["habit", "not habit", "not past", "want", "must"])
    if not mode.startswith("not"):
        doing = _any_doing(random, subject, mode, 2)
        place = random.choice(doing.places) if doing.places and random.random() < 0.3 else None
        return _clause(random, subject, doing, mode, 2, place, None, ask="why")
    past = mode == "not past"
    doing = _any_doing(random, subject, "past" if past else "habit", 1)
    does, no = ("did", "没") if past else (_do(subject.person), "不")
    time = _maybe_past(random, doing) if past else ""
    parts = {"s": subject.part, "v": doing.form("base"), "t": _time(time) if time else NOTHING}
    return build(f"why1 {does} {{s}} not2 {{v}} {{t}}", f"{{s}}{{t}}为什么1{no}2{{v}}", **parts)


def _maybe_past(random: Random, doing: _Doing | None = None) -> str:
    return "" if random.random() < 0.4 else _choose_time(random, doing.times if doing else ("past",), 1)


def _what(random: Random) -> Part:
    kind = random.random()
    subject = _asked(random)
    if kind < 0.1:
        return build(f"what1 {_be(subject.person)}2 {{s}} doing3", "{s}正2在2做3什么1", ("do",), s=subject.part)
    if kind < 0.2:
        this, chinese = random.choice([("this", "这"), ("that", "那")])
        place = random.choice(list(lexicon.FOUND))
        if random.random() < 0.3:
            return build(f"what1 is2 {this}3", f"{chinese}3是2什么1")
        there = _where_there_is(place)
        return build("what1 is2 there2 {p}", "{p}有2什么1", p=there)
    if kind < 0.3:
        return build(f"what1 {_do(subject.person)} {{s}} like2", "{s}喜欢2什么1", ("like",), s=subject.part)
    verb = random.choice(["eat", "drink", "buy", "read", "write"])
    chinese, _, _, places = lexicon.DOINGS[verb]
    doing = _Doing(verb, "{v}", chinese + ":v*", True, "可以", tuple(places.split()))
    mode = random.choice(["habit", "past", "past", "want", "want", "need", "future"])
    time = _choose_time(random, doing.times, _MODES[mode][0]) if random.random() < 0.6 else ""
    place = random.choice(doing.places) if random.random() < 0.35 else None
    return _clause(random, subject, doing, mode, 2, place, time or None, ask="what")


def _where(random: Random) -> Part:
    kind = random.random()
    subject = _asked(random)
    if kind < 0.15:
        return build(f"where1 {_be(subject.person)}2 {{s}}", "{s}在2哪里1", s=subject.part)
    if kind < 0.3:
        thing = _owned(random, random.choice(lexicon.OWN))
        return build("where1 is2 {o}", "{o}在2哪里1", o=thing)
    if kind < 0.37:
        return build(f"where1 {_do(subject.person)} {{s}} live2", "{s}住2在1哪里1", ("live",), s=subject.part)
    if kind < 0.55:
        time = random.choice(lexicon.TIME_CLASSES["some"][1].split()) if random.random() < 0.7 else ""
        if random.random() < 0.6:
            when = _time(time) if time else NOTHING
            return build("where1 did2 {s} go3 {t}", "{s}{t}去3了2哪里1", ("go",), s=subject.part, t=when)
        do = _do(subject.person)
        return build(f"where1 {do} {{s}} want2 to2 go3", "{s}想2去3哪里1", ("want", "go"), s=subject.part)
    mode = random.choice(["habit", "habit", "past", "past", "want", "can"])
    eating = _Doing("eat", "{v}", "吃饭:v", places=("home",))
    doing = eating if random.random() < 0.2 else _activity(random, "want")
    if mode == "can":
        doing = random.choice([one for one in _ACTIVITIES if one.can == "可以"])
    while not doing.places:
        doing = _activity(random, "want")
    time = None
    if mode == "past":
        time = _choose_time(random, doing.times, 1)
    elif mode in ("habit", "want") and random.random() < 0.3:
        time = _choose_time(random, doing.times, _MODES[mode][0]) or None
        if time and mode == "habit" and time.startswith("every"):
            time = None
    return _clause(random, subject, doing, mode, 2, None, time, ask="where")


def _when(random: Random) -> Part:
    subject = _asked(random)
    kind = random.random()
    going = _going(random, plain=True) if random.random() < 0.4 else None
    if kind < 0.35:
        doing = going or _BY_NAME[random.choice(["go1 home2", "come1", "get1 up1", "go1 to1 work2", "eat1 dinner2"])]
        parts = {"s": subject.part, "v": doing.form("base")}
        return build("when1 did2 {s} {v}", "{s}什么时候1{v}的2", **parts)
    if kind < 0.6:
        doing = going or _any_doing(random, subject, "habit", 2)
        parts = {"s": subject.part, "v": doing.form("base")}
        return build("when1 will2 {s} {v}", "{s}什么时候1{v}", **parts)
    mode = random.choice(["habit", "want", "must", "can"])
    if mode == "habit":
        names = "get1 up1/eat1 breakfast2/eat1 lunch2/eat1 dinner2/go1 to1 work2/go1 home2/watch1 television2/run1/do1 homework2"
        doing = _BY_NAME[random.choice(names.split("/"))]
    elif mode == "can":
        doing = random.choice([one for one in (*_ACTIVITIES, *_MOVES) if one.can == "可以"])
    else:
        doing = going or _any_doing(random, subject, mode, 2)
    return _clause(random, subject, doing, mode, 2, None, None, ask="when")


_WHO = _Subject(build("who1", "谁1"), "one", "he", frozenset())


def _who(random: Random) -> Part:
    kind = random.random()
    if kind < 0.12:
        subject = _subject(random)
        return build(f"who1 {_be(subject.person)}2 {{s}}", "{s}是2谁1", s=subject.part)
    if kind < 0.2:
        noun = random.choice(lexicon.OWN)
        this, chinese = random.choice([("this", "这"), ("that", "那")])
        return build(f"whose1 {{n}} is2 {this}3", f"{chinese}3是2谁1的1{{n}}", n=_noun(noun, False))
    if kind < 0.3:
        return _likes(random, 0, _WHO)
    if kind < 0.4:
        return _has(random, 0, _WHO)
    mode = random.choice(["past", "past", "want", "can", "now", "must"])
    doing = _any_doing(random, _WHO, mode)
    place, time = _setting(random, doing, mode)
    if mode == "want" and random.random() < 0.5:
        time = None
    return _clause(random, _WHO, doing, mode, 0, place, time)


def _how(random: Random) -> Part:
    kind = random.random()
    if kind < 0.35:
        noun = random.choice(lexicon.GOODS)
        thing = _pointed(noun, random.choice(["this", "that", "these", "those"]), _describe(random, noun, 0.3))
        is_ = "are" if thing.words[0] in ("these", "those") else "is"
        return build(f"how1 much1 {is_} {{o}}", "{o}多少1钱1", o=thing)
    subject = _asked(random)
    if kind < 0.65:
        noun = random.choice("book car dress cat dog phone bicycle umbrella bag computer".split())
        parts = {"n": _noun(noun, True), "s": subject.part}
        english = f"how1 many1 {{n}} {_do(subject.person)} {{s}} have2"
        return build(english, f"{{s}}有2几1{_measure(noun)}1{{n}}", ("have",), **parts)
    if kind < 0.8:
        place = random.choice(list(lexicon.FOUND))
        noun = random.choice(lexicon.FOUND[place].split())
        parts = {"n": _noun(noun, True), "p": _where_there_is(place)}
        return build("how1 many1 {n} are2 there2 {p}", f"{{p}}有2几1{_measure(noun)}1{{n}}", **parts)
    mode = random.choice(["habit", "future", "want"])
    time = random.choice(["", "tomorrow", "next_week"]) if mode != "habit" else ""
    return _clause(random, subject, _going(random, plain=True), mode, 2, None, time or None, ask="how")


def _which(random: Random) -> Part:
    subject = _asked(random)
    verb, chinese, nouns = random.choice(
        [("like", "喜欢", "book film song car dress shirt house story photo cat dog flower"), ("buy", "买", " ".join(lexicon.GOODS)),
         ("read", "看", "book letter"), ("watch", "看", "film")]
    )  # fmt: skip
    noun = random.choice(nouns.split())
    which = build("which1 {n}", f"哪1{_measure(noun)}1{{n}}", n=_noun(noun, False))
    parts, do = {"w": which, "s": subject.part}, _do(subject.person)
    if verb == "like":
        return build(f"{{w}} {do} {{s}} like2", "{s}喜欢2{w}", ("like",), **parts)
    if random.random() < 0.5:
        return build(f"{{w}} {do} {{s}} want2 to2 {verb}3", f"{{s}}想2{chinese}3{{w}}", ("want", verb), **parts)
    time = _maybe_past(random, _Doing(verb, "", ""))
    return build(
        f"{{w}} did2 {{s}} {verb}3 {{t}}",
        f"{{s}}{{t}}{chinese}3了2{{w}}",
        (verb,),
        t=_time(time) if time else NOTHING,
        **parts,
    )


# States


def _liked(random: Random, relative: bool = False) -> Part:
    """What one likes: cats, tea, this book, to swim, tea and coffee."""
    kind = random.random()
    if relative:
        return _relative_thing(random)[0]
    if kind < 0.2:
        return _noun(random.choice(lexicon.LIKED), True)
    if kind < 0.5:
        stuff = random.choice([*lexicon.FOOD, *lexicon.DRINKS])
        if random.random() < 0.3:
            other = random.choice([one for one in (lexicon.FOOD if stuff in lexicon.FOOD else lexicon.DRINKS) if one != stuff])
            return build("{a} and1 {b}", "{a}和1{b}", a=_noun(stuff, False), b=_noun(other, False))
        return _noun(stuff, False)
    if kind < 0.75:
        activity = _activity(random, "want")
        place = _word(*lexicon.PLACES[random.choice(activity.places)]) if activity.places and random.random() < 0.4 else NOTHING
        return build("to {v} {p}", "{p}{v}", v=activity.form("base"), p=place)
    noun = random.choice("book story film song car house dress shirt bag photo flower cat dog bird horse".split())
    return _definite(random, noun, 0.3)


def _stative(polarity: int, subject: _Subject, verb: str, chinese: str, thing: Part, adverb: str = "", no: str = "不") -> Part:
    """A verb without tense: like, have, need, know."""
    do, third = _do(subject.person), lexicon.VERBS.get(verb, "has").split()[0]
    parts = {"s": subject.part, "o": thing}
    if polarity == 0:
        form = third if subject.person == "one" else verb
        parts["a"] = _word(f"{adverb}1", f"{lexicon.ADVERBS[adverb]}1") if adverb else NOTHING
        return build(f"{{s}} {{a}} {form}1 {{o}}", f"{{s}}{{a}}{chinese}1{{o}}", (verb,), **parts)
    if polarity == 1:
        return build(f"{{s}} {do}2 not2 {verb}1 {{o}}", f"{{s}}{no}2{chinese}1{{o}}", (verb,), **parts)
    return build(f"{do}2 {{s}} {verb}1 {{o}}", f"{{s}}{chinese}1{{o}}吗2", (verb,), **parts)


def _likes(random: Random, polarity: int = 0, subject: _Subject | None = None) -> Part:
    subject = subject or (_asked if polarity == 2 else _subject)(random)
    if random.random() < 0.2:
        return _stative(polarity, subject, "like", "喜欢", _somebody_else(random, subject))
    adverb = "also" if polarity == 0 and subject is not _WHO and random.random() < 0.15 else ""
    if polarity == 0 and subject.person == "many" and subject.pronoun != "you" and random.random() < 0.25:
        adverb = "all"
    return _stative(polarity, subject, "like", "喜欢", _liked(random), adverb)


def _knows(random: Random, polarity: int = 0) -> Part:
    subject = (_asked if polarity == 2 else _subject)(random)
    somebody = _somebody_else(random, subject)
    own = {"i": {"my"}, "we": {"my"}, "you": {"your"}, "he": {"his"}, "she": {"her"}}.get(subject.pronoun, set())
    while len(somebody.words) > 1 and somebody.words[0] in own:  # everybody knows his own mother
        somebody = _somebody_else(random, subject)
    return _stative(polarity, subject, "know", "认识", somebody)


def _has(random: Random, polarity: int = 0, subject: _Subject | None = None) -> Part:
    """有. No number where it is denied or asked: "a cat" is 猫 there."""
    subject = subject or (_asked if polarity == 2 else _subject)(random)
    if random.random() < 0.25:
        noun = random.choice(["friend", "older brother", "younger sister", "child"])
        many, chinese, _ = lexicon.PEOPLE[noun]
    else:
        noun = random.choice(lexicon.OWN)
        many, chinese, _, _ = lexicon.THINGS[noun]
    if polarity == 0:
        if noun == "friend" and random.random() < 0.4:
            return _stative(0, subject, "have", "有", build("many1 friends2", "很多1朋友2", ("friend",)))
        big = noun in ("car", "house")
        thing = _a(noun, _describe(random, noun, 0.3)) if big or random.random() < 0.5 else _counted(random, noun)
        if thing.words[0] == "some":
            thing = _a(noun)
        return _stative(0, subject, "have", "有", thing)
    article = "an" if noun[0] in "aeiou" else "a"
    thing = build(f"{article}1 {_tagged(noun, 1)}", f"{chinese}1", (noun,))
    return _stative(polarity, subject, "have", "有", thing, no="没")


def _needs(random: Random) -> Part:
    subject = _subject(random)
    if random.random() < 0.3:
        return _stative(0, subject, "need", "需要", _contained(random, random.choice(["tea", "coffee", "water", "milk", "shoes", "shoes"])))
    noun = random.choice("book bicycle phone computer umbrella bag chair car shirt".split())
    return _stative(0, subject, "need", "需要", _one_or_more(random, noun, 0.3))


def _state(random: Random) -> Part:
    """Likes, has, knows, needs, lives."""
    kind = random.random()
    if kind < 0.4:
        return _likes(random)
    if kind < 0.62:
        return _has(random)
    if kind < 0.74:
        return _needs(random)
    if kind < 0.84:
        return _knows(random)
    return _lives(random)


def _lives(random: Random) -> Part:
    subject, do = (subject := _subject(random)), _do(subject.person)
    kind = random.random()
    if kind < 0.5:
        place = build("{p}", "{p}", p=_word(*lexicon.PLACES[random.choice([*lexicon.CITIES, "here"])]))
    else:
        near = random.choice("park garden library hospital station cinema".split())
        chinese = lexicon.DESTINATIONS[near][1][:-1] if near in lexicon.DESTINATIONS else lexicon.UNIQUE[near][0]
        place = build(f"near1 the {near}2", f"在1{chinese}2附近1", (near,))
    parts = {"s": subject.part, "p": place}
    asked = random.random()
    if asked < 0.25:
        return build(f"{do}2 {{s}} live1 {{p}}", "{s}住1{p}吗2", ("live",), **parts)
    if asked < 0.4:
        return build(f"{{s}} {do}2 not2 live1 {{p}}", "{s}不2住1{p}", ("live",), **parts)
    form = "lives" if subject.person == "one" else "live"
    return build(f"{{s}} {form}1 {{p}}", "{s}住1{p}", ("live",), **parts)


def _copula(subject: Part, person: str, name: str, polarity: int, degree: str = "", time: Part = NOTHING, past: bool = False) -> Part:
    """很 stands where English says "is"; colours take 是 ... 的."""
    be, word = _be(person, past), name.split("/")[0]
    parts = {"s": subject, "t": time}
    if name in lexicon.COLOURS:
        chinese = f"{lexicon.COLOURS[name]}3的"
        english, right = (
            (f"{{s}} {be}1 {word}3 {{t}}", "{s}{t}是1" + chinese),
            (f"{{s}} {be}1 not2 {word}3 {{t}}", "{s}{t}不2是1" + chinese),
            (f"{be}1 {{s}} {word}3 {{t}}", "{s}{t}是1" + chinese + "吗1"),
        )[polarity]
        return build(english, right, (word,), **parts)
    chinese = lexicon.ADJECTIVES[name][0] + "3"
    if polarity == 0:
        before, after = {"": ("很1", ""), "very": ("非常2", ""), "too": ("太2", "了2")}[degree]
        middle = f"{degree}2" if degree else ""
        return build(f"{{s}} {be}1 {middle} {word}3 {{t}}", f"{{s}}{{t}}{before}{chinese}{after}", (word,), **parts)
    if polarity == 1:
        return build(f"{{s}} {be}1 not2 {word}3 {{t}}", f"{{s}}{{t}}不2{chinese}", (word,), **parts)
    return build(f"{be}1 {{s}} {word}3 {{t}}", f"{{s}}{{t}}{chinese}吗1", (word,), **parts)


def _feels(random: Random, polarity: int, subject: _Subject | None = None, timed: bool = True) -> Part:
    subject = subject or (_asked if polarity == 2 else _subject)(random)
    if random.random() < 0.75:
        mood = random.choice(lexicon.MOODS)
        kind = random.random() if timed else 1
        time, past = ("today", False) if kind < 0.25 else (random.choice(["yesterday", "last_night"]), True) if kind < 0.45 else ("", False)
    else:
        mood, time, past = random.choice(lexicon.TRAITS), "", False
    degree = random.choice(["", "", "", "very", "too"]) if polarity == 0 else ""
    if degree == "too" and mood in ("happy", "beautiful", "clever", "sad"):
        degree = "very"
    return _copula(subject.part, subject.person, mood, polarity, degree, _time(time) if time else NOTHING, past)


def _described(random: Random) -> tuple[Part, str, str]:
    """A thing, its person, and an adjective that suits it."""
    kind = random.random()
    if kind < 0.35:
        name = random.choice(list(lexicon.UNIQUE))
        chinese, adjectives = lexicon.UNIQUE[name]
        return build(f"the {name}1", f"{chinese}1", (name,)), "one", random.choice(adjectives.split())
    if kind < 0.45:
        stuff = random.choice(["tea", "coffee", "milk", "soup", "noodles", "dumplings", "bread", "fish", "fruit"])
        person = "many" if stuff in lexicon.PLURAL_STUFF else "one"
        name = random.choice(lexicon.STUFF[stuff][2].split())
        return build("the {n}", "{n}", n=_noun(stuff, False)), person, name
    if kind < 0.5:
        subject = random.choice(["chinese", "english"])
        chinese = {"chinese": "中文", "english": "英语"}[subject]
        name = random.choice(["difficult", "easy", "interesting"])
        return build(f"{subject}1", f"{chinese}1", (subject,)), "one", name
    noun = random.choice([noun for noun, row in lexicon.THINGS.items() if row[3]])
    name = random.choice(lexicon.THINGS[noun][3].split())
    if noun in lexicon.OWN and random.random() < 0.4:
        return _owned(random, noun), "one", name
    word = random.choice(["this", "that", "the", "these", "those"])
    return _pointed(noun, word), "many" if word in ("these", "those") else "one", name


_NOT_TOO = {"good", "beautiful", "interesting", "delicious", "clean", "new", "clever", "sweet"}


def _adjective_clause(random: Random) -> Part:
    polarity = random.choices([0, 1, 2], [4, 1, 1.5])[0]
    kind = random.random()
    if kind < 0.35:
        return _feels(random, polarity)
    if kind < 0.45:
        return _weather(random)
    thing, person, name = _described(random)
    degree = random.choice(["", "", "", "very", "too"]) if polarity == 0 and name not in lexicon.COLOURS else ""
    if degree == "too" and name.split("/")[0] in _NOT_TOO:
        degree = "very"
    return _copula(thing, person, name, polarity, degree)


def _weather(random: Random) -> Part:
    kind = random.random()
    if kind < 0.35:
        name = random.choice(["hot", "cold"])
        times = ["today", "yesterday", *2 * ["in_summer" if name == "hot" else "in_winter"]]
        time = random.choice(times)
        be = "was" if time == "yesterday" else "is"
        degree = random.choice(["", "", "very", "too"])
        before, after = {"": ("很2", ""), "very": ("非常2", ""), "too": ("太2", "了2")}[degree]
        word = f"{degree}2" if degree else ""
        is_ = be if degree else be + "2"
        chinese = lexicon.ADJECTIVES[name][0]
        return build(f"it {is_} {word} {name}3 {{t}}", f"{{t}}{before}{chinese}3{after}", (name,), t=_time(time))
    verb, chinese = random.choice([("rain", "下雨"), ("snow", "下雪")])
    third, past, ing = lexicon.VERBS[verb].split()
    if kind < 0.5:
        time = _time(random.choice(lexicon.TIME_CLASSES["some"][1].split()))
        return build(f"it {past}1 {{t}}", f"{{t}}{chinese}1了1", (verb,), t=time)
    if kind < 0.65:
        time = _time(random.choice(["tomorrow", "tonight", "today", "next_week"]))
        if random.random() < 0.5:
            return build(f"it will1 {verb}2 {{t}}", f"{{t}}会1{chinese}2", (verb,), t=time)
        return build(f"will1 it {verb}2 {{t}}", f"{{t}}会1{chinese}2吗1", (verb,), t=time)
    if kind < 0.75:
        time = _time(random.choice(["yesterday", "last_night", "today"]))
        return build(f"it did1 not1 {verb}2 {{t}}", f"{{t}}没1{chinese}2", (verb,), t=time)
    if kind < 0.85:
        place = _word(*lexicon.PLACES[random.choice(["beijing", "shanghai"])])
        city, characters = place.words[1], place.characters[1:]
        return build(f"it is1 {ing}2 in {city}3", f"{characters}3正1在1{chinese}2", (verb, city))
    name = random.choice(["good", "hot", "cold"])
    time = random.choice(["today", "yesterday"])
    parts = {"t": _time(time), "s": build("the weather1", "天气1", ("weather",))}
    be, chinese = ("was" if time == "yesterday" else "is"), lexicon.ADJECTIVES[name][0]
    if random.random() < 0.3:
        return build(f"{be} {{s}} {name}3 {{t}}", f"{{t}}{{s}}{chinese}3吗", (name,), **parts)
    return build(f"{{s}} {be}1 {name}3 {{t}}", f"{{t}}{{s}}很1{chinese}3", (name,), **parts)


def _identity(random: Random) -> Part:
    """是: she is a doctor, this is my friend's book."""
    polarity = random.choices([0, 1, 2], [3, 1, 1.5])[0]
    kind = random.random()
    if kind < 0.5:
        subject = _subject(random)
        while subject.part.words[-1] in ("teacher", "doctor", "children", "students"):
            subject = _subject(random)
        job = random.choice(list(lexicon.PROFESSIONS) if kind >= 0.08 else ["teacher", "doctor"])
        chinese, measure = lexicon.PROFESSIONS[job]
        if kind < 0.08:
            parts = {"s": subject.part}
            want = "wants" if subject.person == "one" else "want"
            if subject.person == "many" and subject.pronoun != "you":
                return build(f"{{s}} {want}1 to1 be2 {job}s3", f"{{s}}想1当2{chinese}3", ("want", job), **parts)
            return build(f"{{s}} {want}1 to1 be2 a3 {job}3", f"{{s}}想1当2{chinese}3", ("want", job), **parts)
        if subject.person == "many" and subject.pronoun != "you":
            what = build(f"{job}s1", f"{chinese}1", (job,))
        elif polarity == 0 and random.random() < 0.3:
            good, character = random.choice([("good", "好"), ("young", "年轻的")])
            what = build(f"a1 {good}2 {job}3", f"一{measure}1{character}2{chinese}3", (good, job))
        else:
            what = build(f"a1 {job}1", f"{chinese}1", (job,))
        return _is(subject.part, subject.person, what, polarity)
    this, chinese = random.choice([("this", "这"), ("that", "那"), ("these", "这些"), ("those", "那些")])
    plural = this in ("these", "those")
    pointer = build(f"{this}1", f"{chinese}1")
    noun = random.choice(lexicon.OWN)
    if kind < 0.62 and not plural:
        what = _somebodys_kin(random).part
    elif kind < 0.75 and not plural:
        what = _a(noun, _describe(random, noun, 0.5)) if polarity == 0 else _bare_a(noun)
    else:
        what = _owned(random, noun if noun != "house" or not plural else "book", plural=plural, pronouns=0.5)
    return _is(pointer, "many" if plural else "one", what, polarity)


def _bare_a(noun: str) -> Part:
    article = "an" if noun[0] in "aeiou" else "a"
    return build(f"{article}1 {noun}1", f"{lexicon.THINGS[noun][1]}1", (noun,))


def _is(subject: Part, person: str, what: Part, polarity: int) -> Part:
    be = _be(person)
    english, chinese = (
        (f"{{s}} {be}1 {{o}}", "{s}是1{o}"),
        (f"{{s}} {be}1 not2 {{o}}", "{s}不2是1{o}"),
        (f"{be}1 {{s}} {{o}}", "{s}是1{o}吗1"),
    )[polarity]
    return build(english, chinese, s=subject, o=what)


# Places


@cache
def _where_there_is(place: str) -> Part:
    """The place without 在: 桌子上有三本书."""
    english, chinese = lexicon.PLACES[place]
    chinese = chinese.removeprefix("在1")
    return _word(english, chinese if chinese.endswith("1") else chinese + "里1")


def _there_is(random: Random) -> Part:
    place = random.choice(list(lexicon.FOUND))
    noun = random.choice(lexicon.FOUND[place].split())
    there = _where_there_is(place)
    kind = random.random()
    many = _noun(noun, True)
    if kind < 0.3:
        thing = _a(noun, _describe(random, noun, 0.35))
        return build("there1 is1 {o} {p}", "{p}有1{o}", o=thing, p=there)
    if kind < 0.6:
        thing = _counted(random, noun, _describe(random, noun, 0.25), 10)
        return build("there1 are1 {o} {p}", "{p}有1{o}", o=thing, p=there)
    if kind < 0.75:
        return build("there1 are1 no2 {o} {p}", "{p}没2有1{o}", o=many, p=there)
    if kind < 0.88:
        return build("are1 there1 {o} {p}", "{p}有1{o}吗1", o=many, p=there)
    thing = build("a1 {o}" if noun[0] not in "aeiou" else "an1 {o}", "{o}", o=_noun(noun, False))
    return build("is1 there1 {o} {p}", "{p}有1{o}吗1", o=thing, p=there)


def _place(random: Random) -> Part:
    """My mother is in the kitchen; is my book on the table."""
    polarity = random.choices([0, 1, 2], [3, 1, 1.5])[0]
    if random.random() < 0.55:
        subject = _subject(random)
        part, person = subject.part, subject.person
        names = "home school kitchen garden park library station hospital office restaurant beijing classroom room here"
        place = random.choice(names.split())
    else:
        place = random.choice(list(lexicon.KEPT))
        noun = random.choice(lexicon.KEPT[place].split())
        part, person = _owned(random, noun) if random.random() < 0.7 else _pointed(noun, "the"), "one"
    where = _word(*lexicon.PLACES[place])
    be, parts = _be(person), {"s": part, "p": where}
    if polarity == 0 and random.random() < 0.2:
        return build(f"{{s}} {be} {{p}} now1", "{s}现在1{p}", ("now",), **parts)
    english, chinese = (
        (f"{{s}} {be} {{p}}", "{s}{p}"),
        (f"{{s}} {be} not2 {{p}}", "{s}不2{p}"),
        (f"{be}1 {{s}} {{p}}", "{s}{p}吗1"),
    )[polarity]
    return build(english, chinese, **parts)


# Larger structures


_IN_GENERAL = {
    "smaller": [("cats", "猫", "dogs", "狗"), ("dogs", "狗", "horses", "马"), ("birds", "鸟", "cats", "猫")],
    "bigger": [("dogs", "狗", "cats", "猫"), ("horses", "马", "dogs", "狗"), ("cats", "猫", "birds", "鸟")],
    "cheaper": [("bread", "面包", "meat", "肉"), ("tea", "茶", "coffee", "咖啡"), ("bicycles", "自行车", "cars", "车")],
    "more expensive": [("meat", "肉", "bread", "面包"), ("coffee", "咖啡", "tea", "茶"), ("cars", "车", "bicycles", "自行车")],
}  # fmt: skip


def _comparison(random: Random) -> Part:
    """比: this book is more expensive than that book."""
    kind = random.random()
    if kind < 0.2:
        er = random.choice(list(_IN_GENERAL))
        left, left_chinese, right, right_chinese = random.choice(_IN_GENERAL[er])
        a = build(f"{left}1", f"{left_chinese}1", (left,))
        b = build(f"{right}1", f"{right_chinese}1", (right,))
        person = "many" if left.endswith("s") else "one"
        name = er
    elif kind < 0.55:
        subject = _subject(random)
        name = random.choice(["taller", "younger", "busier"])
        if name == "younger":  # nobody is younger than his younger sister
            subject = _pronoun(random.choice(list(lexicon.PRONOUNS))) if random.random() < 0.6 else _name(random.choice(list(lexicon.NAMES)))
        a, person = subject.part, subject.person
        b = _somebody_else(random, subject, 1 if name == "younger" else 0.5)
    else:
        noun = random.choice([n for n, row in lexicon.THINGS.items() if any(_comparative(x) for x in row[3].split())])
        name = random.choice([er for x in lexicon.THINGS[noun][3].split() if (er := _comparative(x))])
        person = "one"
        if noun in lexicon.OWN and random.random() < 0.6:
            a, b = _owned(random, noun), _owned(random, noun)
            while a.words == b.words:
                b = _owned(random, noun)
        else:
            a, b = _pointed(noun, "this"), _pointed(noun, "that")
            if random.random() < 0.3:
                a, b = b, a
    chinese = next(row[0] for row in lexicon.ADJECTIVES.values() if row[2] == name)
    be, parts = _be(person), {"a": a, "b": b}
    er, content = _tagged(name, 3), tuple(name.split())
    if random.random() < 0.25:
        return build(f"{be}1 {{a}} {er} than2 {{b}}", f"{{a}}比2{{b}}{chinese}3吗1", content, **parts)
    return build(f"{{a}} {be} {er} than2 {{b}}", f"{{a}}比2{{b}}{chinese}3", content, **parts)


def _comparative(name: str) -> str:
    return lexicon.ADJECTIVES[name][2] if name in lexicon.ADJECTIVES else ""


_RELATIVES = {
    "buy": ("买", "book car bicycle phone computer dress shirt umbrella bag chair flower apple house"),
    "read": ("看", "book letter story"),
    "write": ("写", "letter story song book"),
    "watch": ("看", "film"),
    "see": ("看见", "bird cat dog horse car"),
    "cook": ("做", "noodles dumplings soup fish"),
}


def _relative_thing(random: Random, timed: float = 0.35, placed: float = 0.0) -> tuple[Part, str, bool]:
    """"The book that she bought" is 她买的书; also its noun, and whether it is plural."""
    verb, (chinese, nouns) = random.choice(list(_RELATIVES.items()))
    noun = random.choice(nouns.split())
    subject = _subject(random, 0.75)
    past = lexicon.VERBS[verb].split()[1]
    time = random.choice(["yesterday", "today", "last_week", "this_morning"]) if random.random() < timed else ""
    place = NOTHING
    if verb == "buy" and noun != "house" and random.random() < placed:
        place = _word(*lexicon.PLACES["market" if noun in _MARKET else "shop"])
    elif verb == "see" and random.random() < placed:
        place = _word(*lexicon.PLACES["park" if noun != "car" else "street"])
    stuff = noun in lexicon.STUFF
    plural = noun in lexicon.PLURAL_STUFF or not stuff and random.random() < 0.25
    parts = {"n": _noun(noun, plural), "s": subject.part, "t": _time(time) if time else NOTHING, "p": place}
    part = build(f"the {{n}} that2 {{s}} {past}1 {{p}} {{t}}", f"{{s}}{{t}}{{p}}{chinese}1的2{{n}}", (verb,), **parts)
    return part, noun, plural


def _relative(random: Random, timed: float = 0.35, placed: float = 0.0) -> Part:
    """Clauses with 的: 她昨天买的书很有意思."""
    kind = random.random()
    if kind < 0.25:
        return _person_who(random)
    thing, noun, plural = _relative_thing(random, timed, placed)
    person = "many" if plural else "one"
    table = lexicon.STUFF[noun][2] if noun in lexicon.STUFF else lexicon.THINGS[noun][3]
    if kind < 0.6 and table:
        name = random.choice(table.split())
        polarity = random.choices([0, 1, 2], [5, 1, 2])[0]
        degree = "very" if polarity == 0 and name not in lexicon.COLOURS and random.random() < 0.25 else ""
        return _copula(thing, person, name, polarity, degree)
    if kind < 0.85:
        return _stative(random.choices([0, 1, 2], [4, 1, 2])[0], _subject(random, 0.7), "like", "喜欢", thing)
    this, chinese = ("these", "这些") if plural else ("this", "这")
    return _is(build(f"{this}1", f"{chinese}1"), person, thing, random.choice([0, 0, 1, 2]))


def _person_who(random: Random) -> Part:
    """The girl who is singing in the park is my younger sister: 正在公园里唱歌的女孩是我妹妹."""
    who, chinese, kins = random.choice(
        [("girl", "女孩", "younger sister/older sister/daughter/friend"), ("boy", "男孩", "younger brother/son/friend"),
         ("student", "学生", "friend/older brother/younger sister"), ("man", "男人", "father/husband/older brother"),
         ("woman", "女人", "mother/wife/older sister")]
    )  # fmt: skip
    doing = random.choice([one for one in _ACTIVITIES if one.times not in (("none",), ("habit",))])
    place = random.choice(doing.places) if doing.places and random.random() < 0.4 else None
    if random.random() < 0.3:
        doing = random.choice([one for one in _ACTIVITIES if one.can == "会"])
        parts = {"v": doing.form("base")}
        part = build(f"the {who}3 who2 can1 {{v}}", f"会1{{v}}的2{chinese}3", (who,), **parts)
    else:
        parts = {"v": doing.form("ing"), "p": _word(*lexicon.PLACES[place]) if place else NOTHING}
        now = "正1" if place else "正1在1"
        part = build(f"the {who}3 who2 is1 {{v}} {{p}}", f"{now}{{p}}{{v}}的2{chinese}3", (who,), **parts)
    if random.random() < 0.65:
        kin = random.choice(kins.split("/"))
        owner = random.choice(_OWNERS if kin not in ("wife", "husband") else ("i",))
        return _is(part, "one", _kin(kin, owner).part, random.choice([0, 0, 2]))
    return _copula(part, "one", random.choice(["tall", "clever", "young", "beautiful"] if who in ("girl", "woman") else ["tall", "clever", "young"]), 0)


def _recipient(random: Random) -> Part:
    """给, 跟, 帮, 等: what is done to or for somebody."""
    subject = _subject(random)
    mode = random.choice(["past", "past", "past", "want", "future", "habit", "must"])
    doing = _towards(random, subject, mode == "habit")
    time = _choose_time(random, ("any",), _MODES[mode][0]) if random.random() < 0.7 or mode == "future" else ""
    adverb = "often" if mode == "habit" and not time else ""
    place = random.choice(doing.places) if doing.verb == "wait" and random.random() < 0.6 and time else None
    return _clause(random, subject, doing, mode, 0, place, time or None, adverb, front=random.random() < 0.2)


def _seeing(random: Random) -> Part:
    """看见: we saw two birds in the park yesterday."""
    subject = _subject(random)
    place = random.choice(list(lexicon.SEEN))
    noun = random.choice(lexicon.SEEN[place].split())
    polarity = random.choices([0, 1, 2], [3, 1, 1])[0]
    if random.random() < 0.35:
        thing, place = _somebody_else(random, subject), random.choice("station park library school".split())
    else:
        thing = _one_or_more(random, noun) if polarity == 0 else _definite_seen(random, noun)
    doing = _Doing("see", "{v} {o}", "看见:v*{o}", True, places=(place,), parts={"o": thing})
    where = place if random.random() < 0.7 else None
    time = _choose_time(random, ("any",), 1) if random.random() < 0.6 else None
    return _clause(random, subject, doing, "past", polarity, where, time, front=random.random() < 0.3)


def _definite_seen(random: Random, noun: str) -> Part:
    if noun in lexicon.PEOPLE:
        return _pointed_person(noun)
    return _owned(random, noun) if noun in lexicon.OWN and random.random() < 0.6 else _pointed(noun, "the")


def _pointed_person(noun: str) -> Part:
    _, chinese, measure = lexicon.PEOPLE[noun]
    return build(f"the1 {noun}2", f"那1{measure}1{chinese}2", (noun,))


_CAUSES = {
    "tired": ["work1", "run1", "dance1", "play1 football2", "play1 basketball2", "wash1 clothes2", "clean1 the room2", "swim1", "-rest1"],
    "hungry": ["-eat1 breakfast2", "-eat1 lunch2", "-eat1 dinner2", "play1 football2"],
    "thirsty": ["run1", "play1 basketball2", "dance1"],
    "busy": ["!work1", "!do1 homework2", "!learn1 english2", "!learn1 chinese2", "!clean1 the room2"],
    "sad": ["-come1", "-go1 home2"],
    "happy": ["*car", "*phone", "*bicycle", "*dress", "*computer", "*house"],
}  # fmt: skip


def _later(subject: _Subject) -> _Subject:
    """Who it was, as a pronoun."""
    return _pronoun(subject.pronoun)


def _because(random: Random, full: bool = False) -> Part:
    """因为 ... 所以: the cause comes first in Chinese."""
    subject = _subject(random, 0.75)
    again = _later(subject)
    mood = random.choice(list(_CAUSES))
    cause = random.choice(_CAUSES[mood])
    time = random.choice(["yesterday", "today", "last_night"]) if full or random.random() < 0.3 else None
    if cause[0] == "*":
        thing = _a(cause[1:], random.choice(["new", "beautiful"]) if cause[1:] in ("car", "dress", "house") else "new")
        reason = _clause(random, again, _transitive("buy", thing, ""), "past", 0, None, time)
    elif cause[0] == "!":
        reason = _clause(random, again, _BY_NAME[cause[1:]], "must", 0, None, "today" if full else None)
    elif cause[0] == "-":
        doing = _BY_NAME[cause[1:]]
        if mood == "sad":
            friend = _kin("friend", again.pronoun if again.pronoun in _OWNERS else "i")
            reason = _clause(random, friend, doing, "past", 1 if "come" in cause else 0, None, time)
        else:
            times = [name for name in lexicon.TIME_CLASSES[doing.times[0]][1].split() if name in ("yesterday", "today", "last_night")]
            reason = _clause(random, again, doing, "past", 1, None, random.choice(times) if time else None)
    else:
        reason = _clause(random, again, _BY_NAME[cause], "past", 0, None, time)
    chinese = lexicon.ADJECTIVES[mood][0]
    be = _be(subject.person)
    english = f"{{s}} {be}2 {mood}3 because1 {{r}}"
    return build(english, f"因为1{{r}}所以1{{s}}很2{chinese}3", (mood,), s=subject.part, r=reason)


def _but(random: Random, full: bool = False) -> Part:
    """但是: two clauses that differ."""
    first, second = _subject(random, 0.85), _subject(random, 0.85)
    while first.names & second.names:
        second = _subject(random, 0.85)
    kind = random.random()
    if kind < 0.35:
        group = random.choice([lexicon.FOOD, lexicon.DRINKS, lexicon.LIKED])
        one, other = (_noun(noun, noun in lexicon.THINGS) for noun in random.sample(group, 2))
        left, right = (_stative(0, who, "like", "喜欢", what) for who, what in ((first, one), (second, other)))
    elif kind < 0.6:
        doing = random.choice([one for one in _ACTIVITIES if one.can == "会"])
        left, right = _clause(random, first, doing, "can", 0), _clause(random, second, doing, "can", 1)
    elif kind < 0.8:
        rest = random.choice(["rest1", "go1 home2", "watch1 television2", "listen1 to1 music2", "take1 photos2"])
        duty = random.choice(["work1", "do1 homework2", "clean1 the room2", "wash1 clothes2", "learn1 english2"])
        time = random.choice(["tonight", "today"]) if full else None
        place = "home" if full and rest in ("rest1", "watch1 television2") else None
        left = _clause(random, first, _BY_NAME[rest], "want", 0, place, time)
        right = _clause(random, _later(first), _BY_NAME[duty], "must", 0, None, None)
    else:
        mood = random.choice(lexicon.MOODS)
        left = _copula(first.part, first.person, mood, 0)
        right = _copula(second.part, second.person, mood, 1)
    return build("{a} but1 {b}", "{a}但是1{b}", a=left, b=right)


def _if(random: Random, full: bool = False) -> Part:
    """如果 ... 就: if it rains tomorrow we will read books at home."""
    verb, chinese = random.choice([("rains", "下雨"), ("snows", "下雪")])
    time = _time(random.choice(["tomorrow", "today", "tonight"]))
    subject = _pronoun(random.choice(list(lexicon.PRONOUNS))) if not full else _subject(random, 0.3)
    indoors = [one for one in _ACTIVITIES if "home" in one.places and one.times[0] in ("any", "placed")]
    place = _word(*lexicon.PLACES["home"])
    parts = {"t": time, "s": subject.part, "v": random.choice(indoors).form("base"), "p": place}
    english = f"if1 it {verb}2 {{t}} {{s}} will3 {{v}} {{p}}"
    return build(english, f"如果1{{t}}{chinese}2{{s}}就3{{p}}{{v}}", (verb[:-1],), **parts)


def _joined(random: Random) -> Part:
    return random.choice([_because, _but, _but, _if])(random)


def _request(random: Random) -> Part:
    kind = random.random()
    if kind < 0.25:
        doing = random.choice([one for one in (*_ACTIVITIES, *_MOVES) if one.can == "可以"])
        place = _word(*lexicon.PLACES["here"]) if "here" in doing.places else NOTHING
        return build("please1 {v} {p}", "请1{p}{v}", v=doing.form("base"), p=place)
    if kind < 0.45:
        doing = random.choice([one for one in (*_ACTIVITIES, *_MOVES) if one.times not in (("none",), ("clock",))])
        places = [name for name in doing.places if name in ("classroom", "library", "station", "street", "train", "office", "here", "bed", "sofa")]
        where = _word(*lexicon.PLACES[random.choice(places)]) if places else NOTHING
        return build("do1 not1 {v} {p}", "不要1{p}{v}", v=doing.form("base"), p=where)
    if kind < 0.55:
        mood, chinese = random.choice([("angry", "生气"), ("nervous", "紧张"), ("sad", "难过")])
        return build(f"do1 not1 be {mood}2", f"不要1{chinese}2", (mood,))
    if kind < 0.8:
        doing = _going(random) if random.random() < 0.5 else random.choice([one for one in _ACTIVITIES if one.times[0] == "any"])
        place = NOTHING
        if doing.places and random.random() < 0.5:
            place = _word(*lexicon.PLACES[random.choice(doing.places)])
        return build("let1 us2 {v} {p}", "我们2{p}{v}吧1", v=doing.form("base"), p=place)
    you = _pronoun("you")
    if kind < 0.92:
        noun = random.choice("book phone umbrella bag photo apple egg chair".split())
        thing = _contained(random, random.choice(["tea", "coffee", "water", "soup", "rice"])) if random.random() < 0.5 else _one_or_more(random, noun, 0.2)
        return build("please1 give2 {x} {o}", "请1给2{x}{o}", ("give",), x=_somebody_else(random, you), o=thing)
    return build("please1 help2 {x}", "请1帮助2{x}", ("help",), x=_somebody_else(random, you))


_GREETINGS = (
    ("hello1", "你好1"),
    ("hello1 world2", "你好1世界2"),
    ("hello1 china2", "你好1中国2"),
    ("hello1 beijing2", "你好1北京2"),
    ("good1 morning2", "早上2好1"),
    ("good1 evening2", "晚上2好1"),
    ("good1 night2", "晚安1"),
    ("thank1 you1", "谢谢1"),
    ("goodbye1", "再见1"),
)  # fmt: skip


def _greeting(random: Random) -> Part:
    english, chinese = random.choice(_GREETINGS)
    if random.random() < 0.3:
        english, chinese = _GREETINGS[1]
    return _word(english, chinese)


KINDS: dict[str, tuple[float, Callable[[Random], Part]]] = {
    "statement": (14, _statement),
    "negation": (8, _negation),
    "yes/no question": (8, _yes_no),
    "modal": (7, _modal),
    "why": (6, _why),
    "what": (4, _what),
    "where": (5, _where),
    "when": (4, _when),
    "who": (4, _who),
    "how": (4, _how),
    "which": (3, _which),
    "state": (7, _state),
    "adjective": (7, _adjective_clause),
    "identity": (4, _identity),
    "there is": (5, _there_is),
    "place": (4, _place),
    "comparison": (4, _comparison),
    "relative clause": (6, _relative),
    "for somebody": (5, _recipient),
    "seeing": (3, _seeing),
    "joined": (5, _joined),
    "request": (4, _request),
    "greeting": (1, _greeting),
}
LONGER: dict[str, tuple[float, Callable[[Random], Part]]] = {
    "two clauses": (3, lambda random: random.choice([_because, _but, _if])(random, full=True)),
    "relative clause": (3, lambda random: _relative(random, timed=1.0, placed=1.0)),
    "for somebody": (2, _recipient),
    "statement": (2, _statement),
    "comparison": (0.3, _comparison),
}

