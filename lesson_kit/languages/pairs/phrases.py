"""Who, what, and what is done: the phrases the clauses are made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import NamedTuple

from lesson_kit.languages.pairs import lexicon
from lesson_kit.languages.pairs.rules import EMPTY_WORDS, NOTHING, Part, build, fixed_part

# Who


class Subject(NamedTuple):
    part: Part
    person: str  # "i", "one" or "many": how the verb agrees
    pronoun: str  # what takes its place later
    names: frozenset[str]  # who is meant; nobody does something to himself


@cache
def pronoun_subject(name: str) -> Subject:
    _, _, chinese, person = lexicon.PRONOUNS[name]
    who = {"we": {"i", "we", "you"}, "i": {"i", "we"}, "you": {"you", "we"}}.get(name, {name})
    return Subject(fixed_part(f"{name}1", f"{chinese}1"), person, name, frozenset(who))


WHO = Subject(build("who1", "谁1"), "one", "he", frozenset())
MASCULINE = {"father", "older brother", "younger brother", "grandfather", "husband", "son", "tom", "xiaoming"}


@cache
def kin_subject(kin: str, owner: str) -> Subject:
    _, possessive, chinese, _ = lexicon.PRONOUNS[owner]
    english = " ".join(f"{word}2" for word in kin.split())
    part = build(f"{possessive}1 {english}", f"{chinese}1{lexicon.KIN[kin]}2", (kin,))
    return Subject(
        part, "one", "he" if kin in MASCULINE or kin == "friend" and owner != "she" else "she", frozenset({kin})
    )


@cache
def name_subject(name: str) -> Subject:
    return Subject(
        fixed_part(f"{name}1", f"{lexicon.NAMES[name]}1"),
        "one",
        "he" if name in MASCULINE else "she",
        frozenset({name}),
    )


@cache
def role_subject(role: str) -> Subject:
    chinese, person = lexicon.ROLES[role]
    part = build(f"the {role}1", f"{chinese}1", (role,))
    return Subject(part, person, "they" if person == "many" else "he" if role == "doctor" else "she", frozenset({role}))


OWNERS = ("i", "you", "he", "she")


def somebodys_kin(random: Random) -> Subject:
    while True:
        kin, owner = random.choice(list(lexicon.KIN)), random.choice(OWNERS)
        if not (kin == "wife" and owner == "she" or kin == "husband" and owner == "he"):
            return kin_subject(kin, owner)


def a_subject(random: Random, pronouns: float = 0.6) -> Subject:
    chance = random.random()
    if chance < pronouns:
        return pronoun_subject(random.choice(list(lexicon.PRONOUNS)))
    kind = random.random()
    if kind < 0.2:
        return name_subject(random.choice(list(lexicon.NAMES)))
    if kind < 0.6:
        return somebodys_kin(random)
    if kind < 0.85:
        return role_subject(random.choice(list(lexicon.ROLES)))
    return two_people(random)


def asked_subject(random: Random, pronouns: float = 0.6) -> Subject:
    """Whom one asks about: seldom oneself."""
    subject = a_subject(random, pronouns)
    while subject.pronoun in ("i", "we") and random.random() < 0.95:
        subject = a_subject(random, pronouns)
    return subject


def two_people(random: Random) -> Subject:
    if random.random() < 0.5:
        first, second = (name_subject(name) for name in random.sample(list(lexicon.NAMES), 2))
    else:
        owner = random.choice(OWNERS)
        pair = random.choice([("mother", "father"), ("grandmother", "grandfather"), ("son", "daughter")])
        first, second = (kin_subject(kin, owner) for kin in pair)
    part = build("{a} and1 {b}", "{a} 和1 {b}", a=first.part, b=second.part)
    return Subject(part, "many", "they", first.names | second.names)


def object_pronoun(name: str) -> Part:
    form, _, chinese, _ = lexicon.PRONOUNS[name]
    return build(f"{form}1", f"{chinese}1", (name,))


def somebody_else(random: Random, subject: Subject, pronouns: float = 0.5) -> Part:
    """A person as an object, another one than the subject."""
    while True:
        kind = random.random()
        if kind < pronouns:
            name = random.choice(list(lexicon.PRONOUNS))
            if not subject.names & pronoun_subject(name).names:
                return object_pronoun(name)
        else:
            if kind < pronouns + 0.35:
                other = somebodys_kin(random)
            elif kind < pronouns + 0.42:
                other = name_subject(random.choice(list(lexicon.NAMES)))
            else:
                other = role_subject(random.choice(list(lexicon.ROLES)))
            if not subject.names & other.names:
                return other.part


# What


def tagged(words: str, tag: int) -> str:
    return " ".join(f"{word}{tag}" for word in words.split())


@cache
def adjective_phrase(name: str) -> Part:
    """Before a noun."""
    word = name.split("/")[0]
    chinese = f"{lexicon.COLOURS[name]}的" if name in lexicon.COLOURS else lexicon.ADJECTIVES[name][1]
    return build(f"{word}1", f"{chinese}1", (word,))


@cache
def noun_phrase(name: str, plural: bool, adjective: str = "") -> Part:
    """A noun alone, or after its adjective; ``name`` is in the singular, or names a stuff."""
    if name in lexicon.STUFF:
        english, chinese = name, lexicon.STUFF[name][0]
    else:
        table = lexicon.THINGS if name in lexicon.THINGS else lexicon.PEOPLE
        english, chinese = table[name][0] if plural else name, table[name][1]
    before = adjective_phrase(adjective) if adjective else NOTHING
    return build("{a} " + tagged(english, 1), "{a}" + chinese + "1", (name,), a=before)


def measure_word(noun: str) -> str:
    return lexicon.THINGS[noun][2] if noun in lexicon.THINGS else lexicon.PEOPLE[noun][2]


def describe(random: Random, noun: str, share: float, bare: bool = False) -> str:
    """An adjective that suits the noun, or none; ``bare``: one that needs no 的."""
    if noun in lexicon.PEOPLE or random.random() >= share:
        return ""
    table = lexicon.STUFF[noun][2] if noun in lexicon.STUFF else lexicon.THINGS[noun][3]
    choices = [a for a in table.split() if not bare or a in lexicon.ADJECTIVES and "的" not in lexicon.ADJECTIVES[a][1]]
    return random.choice(choices) if choices else ""


def a_thing(noun: str, adjective: str = "") -> Part:
    thing = noun_phrase(noun, False, adjective)
    article = "an" if thing.words[0][0] in "aeiou" else "a"
    return build(article + "1 {n}", f"一{measure_word(noun)}1" + "{n}", n=thing)


def counted(random: Random, noun: str, adjective: str = "", highest: int = 5) -> Part:
    """Two to ``highest`` of them, with the measure word; or many, or some, without."""
    things = noun_phrase(noun, True, adjective)
    if random.random() < 0.25:
        word, chinese = random.choice([("many", "很多"), ("some", "一些")])
        return build(word + "1 {n}", chinese + "1{n}", n=things)
    word = random.choice(list(lexicon.NUMBERS)[1:highest])
    return build(word + "1 {n}", lexicon.NUMBERS[word] + measure_word(noun) + "1{n}", (word,), n=things)


def some_of(random: Random, noun: str, highest: int) -> Part:
    """Two of them, or a few more."""
    number = random.choice(list(lexicon.NUMBERS)[1:highest])
    measure = measure_word(noun)
    return build(f"{number}1 {{n}}", f"{lexicon.NUMBERS[number]}{measure}1{{n}}", (number,), n=noun_phrase(noun, True))


def container_of(random: Random, stuff: str) -> Part:
    """A cup of tea, two bowls of soup."""
    container = lexicon.STUFF[stuff][1]
    many, measure = lexicon.CONTAINERS[container]
    number = random.choice(["one", "one", "two", "three"])
    english = f"a1 {container}1 of1" if number == "one" else f"{number}1 {many}1 of1"
    content = (container,) if number == "one" else (container, number)
    return build(english + " {n}", lexicon.NUMBERS[number] + measure + "1{n}", content, n=noun_phrase(stuff, False))


POINTING = {"this": "这", "that": "那", "the": "那", "these": "这些", "those": "那些"}


def pointed(noun: str, word: str, adjective: str = "") -> Part:
    if word in ("these", "those"):
        return build(word + "1 {n}", POINTING[word] + "1{n}", n=noun_phrase(noun, True, adjective))
    return build(word + "1 {n}", POINTING[word] + measure_word(noun) + "1{n}", n=noun_phrase(noun, False, adjective))


GENITIVES = {
    "friend's": ("my1 friend's2", "我1朋友的2"),
    "mother's": ("my1 mother's2", "我1妈妈的2"),
    "father's": ("my1 father's2", "我1爸爸的2"),
    "tom's": ("tom's1", "汤姆的1"),
    "anna's": ("anna's1", "安娜的1"),
    "teacher's": ("the teacher's1", "老师的1"),
}


def owned(random: Random, noun: str, adjective: str = "", plural: bool = False, pronouns: float = 0.65) -> Part:
    """My book, my friend's book."""
    if random.random() < pronouns:
        name = random.choice(list(lexicon.PRONOUNS))
        _, possessive, chinese, _ = lexicon.PRONOUNS[name]
        owner = build(f"{possessive}1", f"{chinese}的1")
    else:
        name = random.choice(list(GENITIVES))
        owner = build(*GENITIVES[name], (name,))
    return build("{o} {n}", "{o}{n}", o=owner, n=noun_phrase(noun, plural, adjective))


def definite(random: Random, noun: str, share: float = 0.2) -> Part:
    """This book, the red dress, those chairs, my new car."""
    if noun in lexicon.OWN and random.random() < 0.35:
        return owned(random, noun, describe(random, noun, share, bare=True))
    word = random.choice(["this", "that", "the", "the", "these", "those"])
    return pointed(noun, word, describe(random, noun, share))


def one_or_more(random: Random, noun: str, share: float = 0.3) -> Part:
    adjective = describe(random, noun, share)
    if noun in ("car", "house", "computer") or random.random() < 0.55:
        return a_thing(noun, adjective)
    return counted(random, noun, adjective, 3 if noun in ("film", "story", "letter") else 5)


# Doing something


@dataclass(frozen=True)
class Doing:
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


def from_row(row: tuple[str, str, str, str, str]) -> Doing:
    english, chinese, can, places, times = row
    verb, *rest = english.split()
    content = tuple(word for token in rest if (word := token.rstrip("012")) not in EMPTY_WORDS)
    verb = verb[:-1]
    english = " ".join(["{v}", *(token if token[-1] != "1" else token[:-1] for token in rest)])
    chinese = chinese.replace("1", ":v ")
    return Doing(verb, english, chinese + "*", False, can, tuple(places.split()), tuple(times.split()), {}, content)


ACTIVITIES = [from_row(row) for row in lexicon.ACTIVITIES]
MOVES = [from_row(row) for row in lexicon.MOVES]
BY_NAME = {row[0]: doing for row, doing in zip((*lexicon.ACTIVITIES, *lexicon.MOVES), ACTIVITIES + MOVES, strict=True)}


def doing_to(verb: str, thing: Part, places: str | None = None) -> Doing:
    """``verb`` done to ``thing``."""
    chinese, _, _, usual = lexicon.DOINGS[verb]
    where = usual if places is None else places
    return Doing(verb, "{v} {o}", chinese + ":v*{o}", True, "可以", tuple(where.split()), parts={"o": thing})


VERB_WEIGHTS = {"eat": 3, "drink": 2.5, "buy": 5, "read": 1.5, "write": 1.5, "watch": 0.7, "sing": 0.7}
MARKET = {"apple", "egg", "flower", "tea", "coffee", "milk", "rice", "bread", "meat", "fish"}


def with_object(random: Random, indefinite: bool = True, verbs: tuple[str, ...] = tuple(VERB_WEIGHTS)) -> Doing:
    """A transitive verb and an object that suits it; ``indefinite``: a book, two books; else the book, my book, tea."""
    verb = random.choices(verbs, [VERB_WEIGHTS[verb] for verb in verbs])[0]
    _, things, stuffs, _ = lexicon.DOINGS[verb]
    things, stuffs = things.split(), stuffs.split()
    if stuffs and (not things or random.random() < {"buy": 0.3, "eat": 0.7}[verb]):
        stuff = random.choice(stuffs)
        contained = lexicon.STUFF[stuff][1] and indefinite and random.random() < 0.5
        thing = container_of(random, stuff) if contained else noun_phrase(stuff, False)
        return doing_to(verb, thing, "shop market" if verb == "buy" and stuff in MARKET else None)
    noun = random.choice(things)
    places = (
        "shop market here" if verb == "buy" and noun in MARKET else "" if noun == "house" or noun == "car" else None
    )
    if verb == "read" and noun == "letter":
        places = "home garden room"
    if indefinite:
        return doing_to(verb, one_or_more(random, noun), places)
    if verb == "eat":
        return doing_to(verb, pointed(noun, random.choice(["this", "that", "the", "these"])), places)
    if verb == "buy":
        word = random.choice(["this", "that", "the", "these", "those"])
        return doing_to(verb, pointed(noun, word, describe(random, noun, 0.2)), places)
    return doing_to(verb, pointed(noun, random.choice(["this", "that", "the", "these"])), places)


def consuming(random: Random) -> Doing:
    """Eats rice, drinks tea, buys milk: in general."""
    verb = random.choice(["eat", "eat", "drink", "drink", "buy"])
    stuff = random.choice(lexicon.DOINGS[verb][2].split())
    return doing_to(verb, noun_phrase(stuff, False), "shop market" if verb == "buy" and stuff in MARKET else None)


def going_somewhere(random: Random, plain: bool = False) -> Doing:
    """Goes to the park; by bus; to the market to buy fruit."""
    name = random.choice(list(lexicon.DESTINATIONS))
    to = fixed_part(*lexicon.DESTINATIONS[name])
    chance = random.random()
    times = ("any", "long") if name in lexicon.CITIES else ("any",)
    if not plain and chance < 0.3:
        far = "far" if name in lexicon.CITIES else "near"
        vehicle = random.choice([v for v, (_, _, reach) in lexicon.VEHICLES.items() if reach == far])
        by = fixed_part(*lexicon.VEHICLES[vehicle][:2])
        return Doing("go", "{v} {d} {w}", "{w}去:v*{d}", True, "可以", (), times, {"d": to, "w": by})
    if not plain and chance < 0.5:
        purposes = [doing for doing in ACTIVITIES if name in doing.places]
        if purposes:
            purpose = random.choice(purposes).form("base")
            parts = {"d": to, "q": purpose}
            return Doing("go", "{v} {d} to {q}", "去:v{d}{q}*", False, "可以", (), times, parts)
    return Doing("go", "{v} {d}", "去:v*{d}", True, "可以", (), times, {"d": to})


def towards(random: Random, subject: Subject, general: bool = False) -> Doing:
    """What is done to or for somebody else; ``general``: as a habit."""
    somebody = somebody_else(random, subject)
    kind = random.choice(["call", "talk", "help", "wait"] if general else "call talk help wait give buy letter".split())
    if kind == "call":
        return Doing("call", "{v} {x}", "给:v{x}打电话:v*", can="可以", parts={"x": somebody})
    if kind == "talk":
        return Doing(
            "talk", "{v} with1 {x}", "跟1{x}聊天:v*", can="可以", places=("home", "park"), parts={"x": somebody}
        )
    if kind == "wait":
        return Doing("wait", "{v} for {x}", "等:v{x}*", places=("station", "cinema", "park"), parts={"x": somebody})
    if kind == "help":
        names = "cook1/clean1 the room2/wash1 clothes2/do1 homework2/learn1 english2/learn1 chinese2".split("/")
        task = BY_NAME[random.choice(names)].form("base")
        return Doing("help", "{v} {x} {q}", "帮:v{x}{q}*", can="可以", parts={"x": somebody, "q": task})
    if kind == "letter":
        letter = a_thing("letter", describe(random, "letter", 0.2))
        return Doing("write", "{v} {o} to1 {x}", "给1{x}写:v*{o}", True, parts={"o": letter, "x": somebody})
    noun = random.choice("book phone umbrella bag photo flower apple dress shirt".split())
    if kind == "buy" and noun == "photo":
        noun = "chair"
    gift = (
        a_thing(noun, describe(random, noun, 0.3))
        if noun in ("phone", "umbrella", "bag")
        else one_or_more(random, noun)
    )
    if kind == "buy":
        return Doing("buy", "{v} {o} for1 {x}", "给1{x}买:v*{o}", True, parts={"o": gift, "x": somebody})
    return Doing("give", "{v} {x} {o}", "给:v*{x}{o}", True, parts={"o": gift, "x": somebody})
