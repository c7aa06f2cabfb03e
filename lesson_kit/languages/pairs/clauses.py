"""Clauses: what somebody does, likes, has or is; said, denied or asked."""

from random import Random

from lesson_kit.languages.pairs import lexicon
from lesson_kit.languages.pairs.phrases import (
    ACTIVITIES,
    MOVES,
    VERB_WEIGHTS,
    WHO,
    Doing,
    Subject,
    a_subject,
    a_thing,
    asked_subject,
    consuming,
    container_of,
    counted,
    definite,
    describe,
    going_somewhere,
    noun_phrase,
    owned,
    pointed,
    some_of,
    somebody_else,
    somebodys_kin,
    tagged,
    towards,
    with_object,
)
from lesson_kit.languages.pairs.rules import NOTHING, Part, build, fixed_part


def be_form(person: str, past: bool = False) -> str:
    return ({"i": "was", "one": "was", "many": "were"} if past else {"i": "am", "one": "is", "many": "are"})[person]


def do_form(person: str) -> str:
    return "does" if person == "one" else "do"


def time_phrase(name: str) -> Part:
    return fixed_part(*lexicon.TIMES[name.replace("_", " ")][:2])


def choose_time(random: Random, times: tuple[str, ...], group: int) -> str:
    """A name of ``TIMES``, or nothing; ``group``: 0 habits, 1 past, 2 future, 3 a habit that is denied."""
    choices = [name for kind in times for name in lexicon.TIME_CLASSES[kind][group].split()]
    return random.choice(choices) if choices else ""


# For each mode: the time group; then for a statement, its denial and a question: English before the verb (or before
# the subject), English after the subject, Chinese, form of the verb, 了. DO and BE agree with the subject.
MODES = {
    "habit": (0, ("", "", "here"), ("DO8 not8", "不8", "base"), ("DO9", "", "", "base")),
    "past": (1, ("", "", "past"), ("did8 not8", "没8", "base"), ("did9", "", "", "base")),
    "future": (2, ("will1", "要1", "base"), ("will8 not8", "不8", "base"), ("will9", "", "要9", "base")),
    "want": (
        2,
        ("WANT1 to1", "想1", "base"),
        ("DO8 not8 want1 to1", "不8想1", "base"),
        ("DO9", "want1 to1", "想1", "base"),
    ),
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
ASKED = {
    "": ("", "{{s}}{{t}}{aux}{{p}}{{v}}吗9"),
    "why": ("why7", "{{s}}{{t}}为什么7{aux}{{p}}{{v}}"),
    "where": ("where7", "{{s}}{{t}}{aux}在7哪里7{{v}}"),
    "when": ("when7", "{{s}}什么时候7{aux}{{p}}{{v}}"),
    "what": ("what7", "{{s}}{{t}}{aux}{{p}}{{v}}什么7"),
    "how": ("how7", "{{s}}{{t}}{aux}怎么7{{v}}"),
}
FRONT_TIMES = frozenset(name for name, (_, _, front) in lexicon.TIMES.items() if front)


def clause_of(
    random: Random,
    subject: Subject,
    doing: Doing,
    mode: str,
    polarity: int = 0,
    place: str | None = None,
    time: str | None = None,
    adverb: str = "",
    ask: str = "",
    front: bool = False,
) -> Part:
    """One clause. ``polarity``: 0 says, 1 denies, 2 asks. ``ask``: the question word, for 2."""
    english, chinese, form = MODES[mode][1 + polarity] if polarity < 2 else MODES[mode][3][:1] + MODES[mode][3][2:]
    after = MODES[mode][3][1] if polarity == 2 else ""
    skill = doing.can == "会"
    for name, value in (("CANNOT", "会" if skill else "能"), ("CAN", doing.can)):
        chinese = chinese.replace(name, value)
    person = subject.person
    agree = {"DO": do_form(person), "BE": be_form(person), "WANT": "want" if person != "one" else "wants"}
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
    where = fixed_part(*lexicon.PLACES[place]) if place else NOTHING
    when = oclock(time) if time and "o'clock" in time else time_phrase(time) if time else NOTHING
    extra = fixed_part(f"{adverb}1", f"{lexicon.ADVERBS[adverb]}1") if adverb else NOTHING
    parts = {"s": subject.part, "v": doing.form(form, le), "p": where, "t": when, "a": extra}
    if polarity == 2:
        left = f"{ASKED[ask][0]} {english} {{s}} {after} {{v}} {{p}} {{t}}"
        right = ASKED[ask][1].format(aux=chinese)
        del parts["a"]
    elif front and time and time.replace("_", " ") in FRONT_TIMES:
        left, right = f"{{t}} {{s}} {{a}} {english} {{v}} {{p}}", f"{{t}}{{s}}{{a}}{chinese}{{p}}{{v}}"
    else:
        left, right = f"{{s}} {{a}} {english} {{v}} {{p}} {{t}}", f"{{s}}{{t}}{{a}}{chinese}{{p}}{{v}}"
    return build(left, right, **parts)


def oclock(time: str) -> Part:
    """At seven o'clock, every day or tomorrow."""
    hour, _, day = time.partition(" o'clock ")
    part = build(f"at1 {hour}1 o'clock1", f"{lexicon.NUMBERS[hour]}点1", (hour,))
    if not day:
        return part
    return build("{c} {d}", "{d}{c}", c=part, d=time_phrase(day))


PLEASURES = {"watch", "listen", "dance", "sing", "play", "take", "swim", "ride", "run"}  # nobody must


def an_activity(random: Random, mode: str, polarity: int = 0) -> Doing:
    """An activity that suits the mode."""
    while True:
        doing = random.choice(ACTIVITIES)
        if mode == "can" and not doing.can or mode in ("must", "need") and doing.verb in PLEASURES:
            continue
        if mode != "can" and doing.times == ("none",) and polarity != 2:
            continue
        if mode in ("past", "future", "want", "need", "must", "now") and doing.times in (("none",), ("habit",)):
            continue
        return doing


def setting(random: Random, doing: Doing, mode: str, polarity: int = 0) -> tuple[str | None, str | None]:
    """A place and a time that suit what is done; in a plain habit at least one of them."""
    skill = mode == "can" and doing.can == "会"
    place = random.choice(doing.places) if doing.places and not skill and random.random() < 0.4 else None
    if "placed" in doing.times and doing.places and not place:
        place = random.choice(doing.places)
    group = MODES[mode][0]
    if polarity == 1 and mode == "habit":
        group = 3
    time = "" if skill or mode == "now" else choose_time(random, doing.times, group)
    if mode == "now":
        time = "now" if random.random() < 0.3 else ""
    elif random.random() < (0.35 if polarity else 0.25) and mode not in ("future",):
        time = ""
    if mode == "past" and place and not doing.finished and not time and polarity != 1:
        time = choose_time(random, doing.times, 1)
    return place, time or None


def any_doing(random: Random, subject: Subject, mode: str, polarity: int = 0) -> Doing:
    """What somebody does, will do, did not do: of all sorts."""
    kind = random.random()
    settled = polarity > 0 or mode == "habit"  # no "a book" there: it would be 书 or 一本书
    if mode == "can" and kind < 0.6:
        return an_activity(random, mode, polarity)
    if kind < 0.4:
        return an_activity(random, mode, polarity)
    if kind < 0.6:
        if mode == "habit":
            return consuming(random)
        verbs = ("buy", "read", "write") if mode in ("must", "need") else tuple(VERB_WEIGHTS)
        return with_object(random, not settled and mode != "can", verbs)
    if kind < 0.78 and mode != "now":
        return going_somewhere(random, plain=polarity > 0)
    if kind < 0.86 and mode != "now":
        moves = [move for move in MOVES if move.verb not in ("get", "cry") and (move.can or mode != "can")]
        return random.choice(moves)
    if mode == "can" or settled and kind > 0.96:
        return an_activity(random, mode, polarity)
    return towards(random, subject, general=settled or mode in ("now", "need", "must"))


def says(random: Random, mode: str, polarity: int = 0, subject: Subject | None = None) -> Part:
    """A clause in a mode, with all that is left open chosen."""
    subject = subject or (asked_subject if polarity == 2 else a_subject)(random)
    doing = any_doing(random, subject, mode, polarity)
    place, time = setting(random, doing, mode, polarity)
    adverb = ""
    if (
        mode == "habit"
        and polarity == 0
        and subject.person == "many"
        and subject.pronoun != "you"
        and random.random() < 0.2
    ):
        return clause_of(random, subject, doing, mode, 0, place, None, "both" if "and" in subject.part.words else "all")
    if mode == "habit" and polarity == 0:
        if not time or random.random() < 0.15:
            adverb = random.choice(["often", "always", "sometimes", "never", "also", "only"])
            if adverb == "only" and doing.verb not in ("eat", "drink", "speak", "buy"):
                adverb = "often"
        if adverb in ("often", "always", "sometimes", "never", "only"):
            time = None
    return clause_of(random, subject, doing, mode, polarity, place, time, adverb, front=random.random() < 0.25)


def liked(random: Random) -> Part:
    """What one likes: cats, tea, this book, to swim, tea and coffee."""
    kind = random.random()
    if kind < 0.2:
        return noun_phrase(random.choice(lexicon.LIKED), True)
    if kind < 0.5:
        stuff = random.choice([*lexicon.FOOD, *lexicon.DRINKS])
        if random.random() < 0.3:
            other = random.choice(
                [one for one in (lexicon.FOOD if stuff in lexicon.FOOD else lexicon.DRINKS) if one != stuff]
            )
            return build("{a} and1 {b}", "{a}和1{b}", a=noun_phrase(stuff, False), b=noun_phrase(other, False))
        return noun_phrase(stuff, False)
    if kind < 0.75:
        activity = an_activity(random, "want")
        place = (
            fixed_part(*lexicon.PLACES[random.choice(activity.places)])
            if activity.places and random.random() < 0.4
            else NOTHING
        )
        return build("to {v} {p}", "{p}{v}", v=activity.form("base"), p=place)
    noun = random.choice("book story film song car house dress shirt bag photo flower cat dog bird horse".split())
    return definite(random, noun, 0.3)


def stative(
    polarity: int, subject: Subject, verb: str, chinese: str, thing: Part, adverb: str = "", no: str = "不"
) -> Part:
    """A verb without tense: like, have, need, know."""
    do, third = do_form(subject.person), lexicon.VERBS.get(verb, "has").split()[0]
    parts = {"s": subject.part, "o": thing}
    if polarity == 0:
        form = third if subject.person == "one" else verb
        parts["a"] = fixed_part(f"{adverb}1", f"{lexicon.ADVERBS[adverb]}1") if adverb else NOTHING
        return build(f"{{s}} {{a}} {form}1 {{o}}", f"{{s}}{{a}}{chinese}1{{o}}", (verb,), **parts)
    if polarity == 1:
        return build(f"{{s}} {do}2 not2 {verb}1 {{o}}", f"{{s}}{no}2{chinese}1{{o}}", (verb,), **parts)
    return build(f"{do}2 {{s}} {verb}1 {{o}}", f"{{s}}{chinese}1{{o}}吗2", (verb,), **parts)


def liking(random: Random, polarity: int = 0, subject: Subject | None = None) -> Part:
    subject = subject or (asked_subject if polarity == 2 else a_subject)(random)
    if random.random() < 0.2:
        return stative(polarity, subject, "like", "喜欢", somebody_else(random, subject))
    adverb = "also" if polarity == 0 and subject is not WHO and random.random() < 0.15 else ""
    if polarity == 0 and subject.person == "many" and subject.pronoun != "you" and random.random() < 0.25:
        adverb = "both" if "and" in subject.part.words else "all"
    return stative(polarity, subject, "like", "喜欢", liked(random), adverb)


def knowing(random: Random, polarity: int = 0) -> Part:
    subject = (asked_subject if polarity == 2 else a_subject)(random)
    somebody = somebody_else(random, subject)
    own = {"i": {"my"}, "we": {"my"}, "you": {"your"}, "he": {"his"}, "she": {"her"}}.get(subject.pronoun, set())
    while len(somebody.words) > 1 and somebody.words[0] in own:  # everybody knows his own mother
        somebody = somebody_else(random, subject)
    return stative(polarity, subject, "know", "认识", somebody)


def having(random: Random, polarity: int = 0, subject: Subject | None = None) -> Part:
    """有. No number where it is denied or asked: "a cat" is 猫 there."""
    subject = subject or (asked_subject if polarity == 2 else a_subject)(random)
    if random.random() < 0.25:
        noun = random.choice(["friend", "older brother", "younger sister", "child"])
        many, chinese, _ = lexicon.PEOPLE[noun]
    else:
        noun = random.choice(lexicon.OWN)
        many, chinese, _, _ = lexicon.THINGS[noun]
    if polarity == 0:
        if noun == "friend" and random.random() < 0.4:
            return stative(0, subject, "have", "有", build("many1 friends2", "很多1朋友2", ("friend",)))
        big = noun in ("car", "house")
        thing = a_thing(noun, describe(random, noun, 0.3)) if big or random.random() < 0.5 else counted(random, noun)
        if thing.words[0] == "some":
            thing = a_thing(noun)
        return stative(0, subject, "have", "有", thing)
    article = "an" if noun[0] in "aeiou" else "a"
    thing = build(f"{article}1 {tagged(noun, 1)}", f"{chinese}1", (noun,))
    return stative(polarity, subject, "have", "有", thing, no="没")


def needing(random: Random) -> Part:
    subject = a_subject(random)
    if random.random() < 0.3:
        return stative(
            0,
            subject,
            "need",
            "需要",
            container_of(random, random.choice(["tea", "coffee", "water", "milk", "shoes", "shoes"])),
        )
    noun = random.choice("book bicycle phone computer umbrella bag chair car shirt".split())
    few = noun in ("book", "umbrella", "chair", "bag", "shirt") and random.random() < 0.4
    thing = some_of(random, noun, 3) if few else a_thing(noun, describe(random, noun, 0.3))
    return stative(0, subject, "need", "需要", thing)


def state(random: Random) -> Part:
    """Likes, has, knows, needs, lives."""
    kind = random.random()
    if kind < 0.4:
        return liking(random)
    if kind < 0.62:
        return having(random)
    if kind < 0.74:
        return needing(random)
    if kind < 0.84:
        return knowing(random)
    return living(random)


def living(random: Random) -> Part:
    subject, do = (subject := a_subject(random)), do_form(subject.person)
    kind = random.random()
    if kind < 0.5:
        place = build("{p}", "{p}", p=fixed_part(*lexicon.PLACES[random.choice([*lexicon.CITIES, "here"])]))
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


def copula(
    subject: Part, person: str, name: str, polarity: int, degree: str = "", time: Part = NOTHING, past: bool = False
) -> Part:
    """很 stands where English says "is"; colours take 是 ... 的."""
    be, word = be_form(person, past), name.split("/")[0]
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


def feels(random: Random, polarity: int, subject: Subject | None = None, timed: bool = True) -> Part:
    subject = subject or (asked_subject if polarity == 2 else a_subject)(random)
    if random.random() < 0.75:
        mood = random.choice(lexicon.MOODS)
        kind = random.random() if timed else 1
        time, past = (
            ("today", False)
            if kind < 0.25
            else (random.choice(["yesterday", "last_night"]), True)
            if kind < 0.45
            else ("", False)
        )
    else:
        mood, time, past = random.choice(lexicon.TRAITS), "", False
    degree = random.choice(["", "", "", "very", "too"]) if polarity == 0 else ""
    if degree == "too" and mood in ("happy", "beautiful", "clever", "sad"):
        degree = "very"
    return copula(subject.part, subject.person, mood, polarity, degree, time_phrase(time) if time else NOTHING, past)


def described(random: Random) -> tuple[Part, str, str]:
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
        return build("the {n}", "{n}", n=noun_phrase(stuff, False)), person, name
    if kind < 0.5:
        subject = random.choice(["chinese", "english"])
        chinese = {"chinese": "中文", "english": "英语"}[subject]
        name = random.choice(["difficult", "easy", "interesting"])
        return build(f"{subject}1", f"{chinese}1", (subject,)), "one", name
    noun = random.choice([noun for noun, row in lexicon.THINGS.items() if row[3]])
    name = random.choice(lexicon.THINGS[noun][3].split())
    if noun in lexicon.OWN and random.random() < 0.4:
        return owned(random, noun), "one", name
    word = random.choice(["this", "that", "the", "these", "those"])
    return pointed(noun, word), "many" if word in ("these", "those") else "one", name


NOT_TOO = {"good", "beautiful", "interesting", "delicious", "clean", "new", "clever", "sweet"}


def adjective_clause(random: Random) -> Part:
    polarity = random.choices([0, 1, 2], [4, 1, 1.5])[0]
    kind = random.random()
    if kind < 0.35:
        return feels(random, polarity)
    if kind < 0.45:
        return weather(random)
    thing, person, name = described(random)
    degree = random.choice(["", "", "", "very", "too"]) if polarity == 0 and name not in lexicon.COLOURS else ""
    if degree == "too" and name.split("/")[0] in NOT_TOO:
        degree = "very"
    return copula(thing, person, name, polarity, degree)


def weather(random: Random) -> Part:
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
        return build(f"it {is_} {word} {name}3 {{t}}", f"{{t}}{before}{chinese}3{after}", (name,), t=time_phrase(time))
    verb, chinese = random.choice([("rain", "下雨"), ("snow", "下雪")])
    third, past, ing = lexicon.VERBS[verb].split()
    if kind < 0.5:
        time = time_phrase(random.choice(lexicon.TIME_CLASSES["some"][1].split()))
        return build(f"it {past}1 {{t}}", f"{{t}}{chinese}1了1", (verb,), t=time)
    if kind < 0.65:
        time = time_phrase(random.choice(["tomorrow", "tonight", "today", "next_week"]))
        if random.random() < 0.5:
            return build(f"it will1 {verb}2 {{t}}", f"{{t}}会1{chinese}2", (verb,), t=time)
        return build(f"will1 it {verb}2 {{t}}", f"{{t}}会1{chinese}2吗1", (verb,), t=time)
    if kind < 0.75:
        time = time_phrase(random.choice(["yesterday", "last_night", "today"]))
        return build(f"it did1 not1 {verb}2 {{t}}", f"{{t}}没1{chinese}2", (verb,), t=time)
    if kind < 0.85:
        place = fixed_part(*lexicon.PLACES[random.choice(["beijing", "shanghai"])])
        city, characters = place.words[1], place.characters[1:]
        return build(f"it is1 {ing}2 in {city}3", f"{characters}3正1在1{chinese}2", (verb, city))
    name = random.choice(["good", "hot", "cold"])
    time = random.choice(["today", "yesterday"])
    parts = {"t": time_phrase(time), "s": build("the weather1", "天气1", ("weather",))}
    be, chinese = ("was" if time == "yesterday" else "is"), lexicon.ADJECTIVES[name][0]
    if random.random() < 0.3:
        return build(f"{be} {{s}} {name}3 {{t}}", f"{{t}}{{s}}{chinese}3吗", (name,), **parts)
    return build(f"{{s}} {be}1 {name}3 {{t}}", f"{{t}}{{s}}很1{chinese}3", (name,), **parts)


def identity(random: Random) -> Part:
    """是: she is a doctor, this is my friend's book."""
    polarity = random.choices([0, 1, 2], [3, 1, 1.5])[0]
    kind = random.random()
    if kind < 0.5:
        subject = a_subject(random)
        while subject.part.words[-1] in ("teacher", "doctor", "children", "students"):
            subject = a_subject(random)
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
        return is_clause(subject.part, subject.person, what, polarity)
    this, chinese = random.choice([("this", "这"), ("that", "那"), ("these", "这些"), ("those", "那些")])
    plural = this in ("these", "those")
    pointer = build(f"{this}1", f"{chinese}1")
    noun = random.choice(lexicon.OWN)
    if kind < 0.62 and not plural:
        what = somebodys_kin(random).part
    elif kind < 0.75 and not plural:
        what = a_thing(noun, describe(random, noun, 0.5)) if polarity == 0 else bare_a(noun)
    else:
        what = owned(random, noun if noun != "house" or not plural else "book", plural=plural, pronouns=0.5)
    return is_clause(pointer, "many" if plural else "one", what, polarity)


def bare_a(noun: str) -> Part:
    article = "an" if noun[0] in "aeiou" else "a"
    return build(f"{article}1 {noun}1", f"{lexicon.THINGS[noun][1]}1", (noun,))


def is_clause(subject: Part, person: str, what: Part, polarity: int) -> Part:
    be = be_form(person)
    english, chinese = (
        (f"{{s}} {be}1 {{o}}", "{s}是1{o}"),
        (f"{{s}} {be}1 not2 {{o}}", "{s}不2是1{o}"),
        (f"{be}1 {{s}} {{o}}", "{s}是1{o}吗1"),
    )[polarity]
    return build(english, chinese, s=subject, o=what)
