"""Sentences of each kind: questions, places, comparisons, clauses inside clauses; and how often each comes."""

from collections.abc import Callable
from functools import cache
from random import Random

from lesson_kit.languages.pairs import lexicon
from lesson_kit.languages.pairs.clauses import (
    MODES,
    adjective_clause,
    an_activity,
    any_doing,
    be_form,
    choose_time,
    clause_of,
    copula,
    do_form,
    feels,
    having,
    identity,
    is_clause,
    knowing,
    liked,
    liking,
    says,
    setting,
    state,
    stative,
    time_phrase,
)
from lesson_kit.languages.pairs.phrases import (
    ACTIVITIES,
    BY_NAME,
    MARKET,
    MOVES,
    OWNERS,
    WHO,
    Doing,
    Subject,
    a_subject,
    a_thing,
    asked_subject,
    consuming,
    container_of,
    counted,
    describe,
    doing_to,
    going_somewhere,
    kin_subject,
    measure_word,
    name_subject,
    noun_phrase,
    one_or_more,
    owned,
    pointed,
    pronoun_subject,
    somebody_else,
    tagged,
    towards,
)
from lesson_kit.languages.pairs.rules import NOTHING, Part, build, fixed_part


def statement(random: Random) -> Part:
    mode = random.choices(["habit", "past", "future", "now", "clock"], [4.5, 3.5, 1, 2, 1])[0]
    if mode == "clock":
        return at_an_hour(random)
    if random.random() < 0.12:
        return of_animals(random)
    if mode == "habit" and random.random() < 0.4:  # each verb in the third person, often enough
        doing, subject = an_activity(random, mode), a_subject(random, 0)
        while subject.person != "one":
            subject = a_subject(random, 0.6)
        place, time = setting(random, doing, mode)
        adverb = "" if time else random.choice(["often", "always", "sometimes", "never"])
        return clause_of(random, subject, doing, mode, 0, place, time, adverb, front=random.random() < 0.25)
    return says(random, mode)


def at_an_hour(random: Random, subject: Subject | None = None) -> Part:
    name, hours = random.choice(list(lexicon.CLOCK.items()))
    hour = random.choice(hours.split())
    mode = random.choice(["habit", "habit", "must", "future"])
    day = random.choice(["", "every_day"]) if mode == "habit" else "tomorrow"
    time = f"{hour} o'clock {day}" if day else f"{hour} o'clock "
    return clause_of(random, subject or a_subject(random), BY_NAME[name], mode, 0, None, time)


ANIMAL_DOINGS = {
    "sleep": ("睡觉", "sofa bed under_table tree garden", "cat dog"),
    "run": ("跑", "park garden street", "dog horse cat"),
    "sing": ("唱歌", "garden tree", "bird"),
    "drink": ("喝水", "kitchen river garden", "cat dog horse"),
    "eat": ("吃东西", "kitchen garden", "cat dog"),
}


def of_animals(random: Random) -> Part:
    """What an animal is doing, and where."""
    verb, (chinese, places, animals) = random.choice(list(ANIMAL_DOINGS.items()))
    noun = random.choice(animals.split())
    place = random.choice([one for one in places.split() if noun != "horse" or one != "kitchen"])
    if random.random() < 0.5:
        part = pointed(noun, random.choice(["the", "that", "this"]), describe(random, noun, 0.3))
    else:
        part = owned(random, noun) if noun in ("cat", "dog") else pointed(noun, "the")
    who = Subject(part, "one", "it", frozenset())
    rest = {"drink": (" water2", "喝:v水2"), "eat": ("", "吃:v东西")}.get(verb, ("", chinese + ":v"))
    content = ("water",) if verb == "drink" else ()
    doing = Doing(verb, "{v}" + rest[0], rest[1], content=content)
    return clause_of(random, who, doing, "now", 0, place)


def negation(random: Random) -> Part:
    kind = random.random()
    if kind < 0.15:
        return liking(random, 1)
    if kind < 0.25:
        return having(random, 1)
    if kind < 0.3:
        return knowing(random, 1)
    if kind < 0.4:
        return feels(random, 1)
    return says(random, random.choices(["habit", "past", "future", "want", "now"], [3, 4, 1, 2, 1])[0], 1)


def yes_no(random: Random) -> Part:
    kind = random.random()
    if kind < 0.12:
        return liking(random, 2)
    if kind < 0.22:
        return having(random, 2)
    if kind < 0.28:
        return knowing(random, 2)
    if kind < 0.36:
        return feels(random, 2)
    modes = {"habit": 2, "past": 3, "future": 1, "want": 2, "can": 2, "must": 1, "need": 0.5, "now": 1.5}
    return says(random, random.choices(list(modes), list(modes.values()))[0], 2)


def modal(random: Random) -> Part:
    mode = random.choice(["want", "want", "can", "can", "must", "need"])
    polarity = 1 if mode == "can" and random.random() < 0.3 else 0
    return says(random, mode, polarity)


def why_question(random: Random) -> Part:
    """为什么. "Why do we work" asks in general, and leaves the subject out: 为什么要工作."""
    kind = random.random()
    if kind < 0.25:
        doing = an_activity(random, "want") if random.random() < 0.7 else consuming(random)
        return build("why1 do1 we2 {v}", "为什么1要2{v}", ("we",), v=doing.form("base"))
    subject = asked_subject(random)
    while subject.pronoun == "we":
        subject = asked_subject(random)
    if kind < 0.37:
        what, is_ = liked(random), do_form(subject.person)
        return build(f"why1 {is_}9 {{s}} like1 {{o}}", "{s}为什么1喜欢1{o}", ("like",), s=subject.part, o=what)
    if kind < 0.5:
        mood = random.choice(lexicon.MOODS)
        chinese = lexicon.ADJECTIVES[mood][0]
        english = f"why1 {be_form(subject.person)} {{s}} so2 {mood}3"
        return build(english, f"{{s}}为什么1这么2{chinese}3", (mood,), s=subject.part)
    if kind < 0.6:
        doing = BY_NAME["cry1"]
        return clause_of(random, subject, doing, "past", 2, None, maybe_past(random), ask="why")
    mode = random.choice(["habit", "not habit", "not past", "want", "must"])
    if not mode.startswith("not"):
        doing = any_doing(random, subject, mode, 2)
        place = random.choice(doing.places) if doing.places and random.random() < 0.3 else None
        return clause_of(random, subject, doing, mode, 2, place, None, ask="why")
    past = mode == "not past"
    doing = any_doing(random, subject, "past" if past else "habit", 1)
    does, no = ("did", "没") if past else (do_form(subject.person), "不")
    time = maybe_past(random, doing) if past else ""
    parts = {"s": subject.part, "v": doing.form("base"), "t": time_phrase(time) if time else NOTHING}
    return build(f"why1 {does} {{s}} not2 {{v}} {{t}}", f"{{s}}{{t}}为什么1{no}2{{v}}", **parts)


def maybe_past(random: Random, doing: Doing | None = None) -> str:
    return "" if random.random() < 0.4 else choose_time(random, doing.times if doing else ("past",), 1)


def what_question(random: Random) -> Part:
    kind = random.random()
    subject = asked_subject(random)
    if kind < 0.1:
        return build(f"what1 {be_form(subject.person)}2 {{s}} doing3", "{s}正2在2做3什么1", ("do",), s=subject.part)
    if kind < 0.2:
        this, chinese = random.choice([("this", "这"), ("that", "那")])
        place = random.choice(list(lexicon.FOUND))
        if random.random() < 0.3:
            return build(f"what1 is2 {this}3", f"{chinese}3是2什么1")
        there = where_there_is(place)
        return build("what1 is2 there2 {p}", "{p}有2什么1", p=there)
    if kind < 0.3:
        return build(f"what1 {do_form(subject.person)} {{s}} like2", "{s}喜欢2什么1", ("like",), s=subject.part)
    verb = random.choice(["eat", "drink", "buy", "read", "write"])
    chinese, _, _, places = lexicon.DOINGS[verb]
    doing = Doing(verb, "{v}", chinese + ":v*", True, "可以", tuple(places.split()))
    mode = random.choice(["habit", "past", "past", "want", "want", "need", "future"])
    time = choose_time(random, doing.times, MODES[mode][0]) if random.random() < 0.6 else ""
    place = random.choice(doing.places) if random.random() < 0.35 else None
    return clause_of(random, subject, doing, mode, 2, place, time or None, ask="what")


def where_question(random: Random) -> Part:
    kind = random.random()
    subject = asked_subject(random)
    if kind < 0.15:
        return build(f"where1 {be_form(subject.person)}2 {{s}}", "{s}在2哪里1", s=subject.part)
    if kind < 0.3:
        thing = owned(random, random.choice(lexicon.OWN))
        return build("where1 is2 {o}", "{o}在2哪里1", o=thing)
    if kind < 0.37:
        return build(f"where1 {do_form(subject.person)} {{s}} live2", "{s}住2在1哪里1", ("live",), s=subject.part)
    if kind < 0.55:
        time = random.choice(lexicon.TIME_CLASSES["some"][1].split()) if random.random() < 0.7 else ""
        if random.random() < 0.6:
            when = time_phrase(time) if time else NOTHING
            return build("where1 did2 {s} go3 {t}", "{s}{t}去3了2哪里1", ("go",), s=subject.part, t=when)
        do = do_form(subject.person)
        return build(f"where1 {do} {{s}} want2 to2 go3", "{s}想2去3哪里1", ("want", "go"), s=subject.part)
    mode = random.choice(["habit", "habit", "past", "past", "want", "can"])
    eating = Doing("eat", "{v}", "吃饭:v", places=("home",))
    doing = eating if random.random() < 0.2 else an_activity(random, "want")
    if mode == "can":
        doing = random.choice([one for one in ACTIVITIES if one.can == "可以"])
    while not doing.places:
        doing = an_activity(random, "want")
    time = None
    if mode == "past":
        time = choose_time(random, doing.times, 1)
    elif mode in ("habit", "want") and random.random() < 0.3:
        time = choose_time(random, doing.times, MODES[mode][0]) or None
        if time and mode == "habit" and time.startswith("every"):
            time = None
    return clause_of(random, subject, doing, mode, 2, None, time, ask="where")


def when_question(random: Random) -> Part:
    subject = asked_subject(random)
    kind = random.random()
    going = going_somewhere(random, plain=True) if random.random() < 0.4 else None
    if kind < 0.35:
        doing = going or BY_NAME[random.choice(["go1 home2", "come1", "get1 up1", "go1 to1 work2", "eat1 dinner2"])]
        parts = {"s": subject.part, "v": doing.form("base")}
        return build("when1 did2 {s} {v}", "{s}什么时候1{v}的2", **parts)
    if kind < 0.6:
        doing = going or any_doing(random, subject, "habit", 2)
        parts = {"s": subject.part, "v": doing.form("base")}
        return build("when1 will2 {s} {v}", "{s}什么时候1{v}", **parts)
    mode = random.choice(["habit", "want", "must", "can"])
    if mode == "habit":
        names = "get1 up1/eat1 breakfast2/eat1 lunch2/eat1 dinner2/go1 to1 work2/go1 home2/watch1 television2/run1"
        doing = BY_NAME[random.choice([*names.split("/"), "do1 homework2"])]
    elif mode == "can":
        doing = random.choice([one for one in (*ACTIVITIES, *MOVES) if one.can == "可以"])
    else:
        doing = going or any_doing(random, subject, mode, 2)
    return clause_of(random, subject, doing, mode, 2, None, None, ask="when")


def who_question(random: Random) -> Part:
    kind = random.random()
    if kind < 0.12:
        subject = a_subject(random)
        return build(f"who1 {be_form(subject.person)}2 {{s}}", "{s}是2谁1", s=subject.part)
    if kind < 0.2:
        noun = random.choice(lexicon.OWN)
        this, chinese = random.choice([("this", "这"), ("that", "那")])
        return build(f"whose1 {{n}} is2 {this}3", f"{chinese}3是2谁1的1{{n}}", n=noun_phrase(noun, False))
    if kind < 0.3:
        return liking(random, 0, WHO)
    if kind < 0.4:
        return having(random, 0, WHO)
    mode = random.choice(["past", "past", "want", "can", "now", "must"])
    doing = any_doing(random, WHO, mode)
    place, time = setting(random, doing, mode)
    if mode == "want" and random.random() < 0.5:
        time = None
    return clause_of(random, WHO, doing, mode, 0, place, time)


def how_question(random: Random) -> Part:
    kind = random.random()
    if kind < 0.35:
        noun = random.choice(lexicon.GOODS)
        thing = pointed(noun, random.choice(["this", "that", "these", "those"]), describe(random, noun, 0.3))
        is_ = "are" if thing.words[0] in ("these", "those") else "is"
        return build(f"how1 much1 {is_} {{o}}", "{o}多少1钱1", o=thing)
    subject = asked_subject(random)
    if kind < 0.65:
        noun = random.choice("book car dress cat dog phone bicycle umbrella bag computer".split())
        parts = {"n": noun_phrase(noun, True), "s": subject.part}
        english = f"how1 many1 {{n}} {do_form(subject.person)} {{s}} have2"
        return build(english, f"{{s}}有2几1{measure_word(noun)}1{{n}}", ("have",), **parts)
    if kind < 0.8:
        place = random.choice(list(lexicon.FOUND))
        noun = random.choice(lexicon.FOUND[place].split())
        parts = {"n": noun_phrase(noun, True), "p": where_there_is(place)}
        return build("how1 many1 {n} are2 there2 {p}", f"{{p}}有2几1{measure_word(noun)}1{{n}}", **parts)
    mode = random.choice(["habit", "future", "want"])
    time = random.choice(["", "tomorrow", "next_week"]) if mode != "habit" else ""
    return clause_of(random, subject, going_somewhere(random, plain=True), mode, 2, None, time or None, ask="how")


def which_question(random: Random) -> Part:
    subject = asked_subject(random)
    verb, chinese, nouns = random.choice(
        [("like", "喜欢", "book film song car dress shirt house story photo cat dog flower"),
         ("buy", "买", " ".join(noun for noun in lexicon.GOODS if noun not in ("egg", "flower"))),
         ("read", "看", "book letter"), ("watch", "看", "film")]
    )  # fmt: skip
    noun = random.choice(nouns.split())
    which = build("which1 {n}", f"哪1{measure_word(noun)}1{{n}}", n=noun_phrase(noun, False))
    parts, do = {"w": which, "s": subject.part}, do_form(subject.person)
    if verb == "like":
        return build(f"{{w}} {do} {{s}} like2", "{s}喜欢2{w}", ("like",), **parts)
    if random.random() < 0.5:
        return build(f"{{w}} {do} {{s}} want2 to2 {verb}3", f"{{s}}想2{chinese}3{{w}}", ("want", verb), **parts)
    time = maybe_past(random, Doing(verb, "", ""))
    return build(
        f"{{w}} did2 {{s}} {verb}3 {{t}}",
        f"{{s}}{{t}}{chinese}3了2{{w}}",
        (verb,),
        t=time_phrase(time) if time else NOTHING,
        **parts,
    )


@cache
def where_there_is(place: str) -> Part:
    """The place without 在: 桌子上有三本书."""
    english, chinese = lexicon.PLACES[place]
    chinese = chinese.removeprefix("在1")
    return fixed_part(english, chinese if chinese.endswith("1") else chinese + "里1")


def there_is(random: Random) -> Part:
    place = random.choice(list(lexicon.FOUND))
    noun = random.choice(lexicon.FOUND[place].split())
    there = where_there_is(place)
    kind = random.random()
    many = noun_phrase(noun, True)
    if kind < 0.3:
        thing = a_thing(noun, describe(random, noun, 0.35))
        return build("there1 is1 {o} {p}", "{p}有1{o}", o=thing, p=there)
    if kind < 0.6:
        thing = counted(random, noun, describe(random, noun, 0.25), 10)
        return build("there1 are1 {o} {p}", "{p}有1{o}", o=thing, p=there)
    if kind < 0.75:
        return build("there1 are1 no2 {o} {p}", "{p}没2有1{o}", o=many, p=there)
    if kind < 0.88:
        return build("are1 there1 {o} {p}", "{p}有1{o}吗1", o=many, p=there)
    thing = build("a1 {o}" if noun[0] not in "aeiou" else "an1 {o}", "{o}", o=noun_phrase(noun, False))
    return build("is1 there1 {o} {p}", "{p}有1{o}吗1", o=thing, p=there)


def place_clause(random: Random) -> Part:
    """My mother is in the kitchen; is my book on the table."""
    polarity = random.choices([0, 1, 2], [3, 1, 1.5])[0]
    if random.random() < 0.55:
        subject = a_subject(random)
        part, person = subject.part, subject.person
        names = "home school kitchen garden park library station hospital office restaurant beijing classroom room here"
        place = random.choice(names.split())
    else:
        place = random.choice(list(lexicon.KEPT))
        noun = random.choice(lexicon.KEPT[place].split())
        part, person = owned(random, noun) if random.random() < 0.7 else pointed(noun, "the"), "one"
    where = fixed_part(*lexicon.PLACES[place])
    be, parts = be_form(person), {"s": part, "p": where}
    if polarity == 0 and random.random() < 0.2:
        return build(f"{{s}} {be} {{p}} now1", "{s}现在1{p}", ("now",), **parts)
    english, chinese = (
        (f"{{s}} {be} {{p}}", "{s}{p}"),
        (f"{{s}} {be} not2 {{p}}", "{s}不2{p}"),
        (f"{be}1 {{s}} {{p}}", "{s}{p}吗1"),
    )[polarity]
    return build(english, chinese, **parts)


IN_GENERAL = {
    "smaller": [("cats", "猫", "dogs", "狗"), ("dogs", "狗", "horses", "马"), ("birds", "鸟", "cats", "猫")],
    "bigger": [("dogs", "狗", "cats", "猫"), ("horses", "马", "dogs", "狗"), ("cats", "猫", "birds", "鸟")],
    "cheaper": [("bread", "面包", "meat", "肉"), ("tea", "茶", "coffee", "咖啡"), ("bicycles", "自行车", "cars", "车")],
    "more expensive": [
        ("meat", "肉", "bread", "面包"), ("coffee", "咖啡", "tea", "茶"), ("cars", "车", "bicycles", "自行车"),
    ],
}  # fmt: skip


def comparison(random: Random) -> Part:
    """比: this book is more expensive than that book."""
    kind = random.random()
    if kind < 0.2:
        er = random.choice(list(IN_GENERAL))
        left, left_chinese, right, right_chinese = random.choice(IN_GENERAL[er])
        a = build(f"{left}1", f"{left_chinese}1", (left,))
        b = build(f"{right}1", f"{right_chinese}1", (right,))
        person = "many" if left.endswith("s") else "one"
        name = er
    elif kind < 0.55:
        subject = a_subject(random)
        name = random.choice(["taller", "younger", "busier"])
        if name == "younger":  # nobody is younger than his younger sister
            subject = (
                pronoun_subject(random.choice(list(lexicon.PRONOUNS)))
                if random.random() < 0.6
                else name_subject(random.choice(list(lexicon.NAMES)))
            )
        a, person = subject.part, subject.person
        b = somebody_else(random, subject, 1 if name == "younger" else 0.5)
    else:
        noun = random.choice([n for n, row in lexicon.THINGS.items() if any(comparative(x) for x in row[3].split())])
        name = random.choice([er for x in lexicon.THINGS[noun][3].split() if (er := comparative(x))])
        person = "one"
        if noun in lexicon.OWN and random.random() < 0.6:
            a, b = owned(random, noun), owned(random, noun)
            while a.words == b.words:
                b = owned(random, noun)
        else:
            a, b = pointed(noun, "this"), pointed(noun, "that")
            if random.random() < 0.3:
                a, b = b, a
    chinese = next(row[0] for row in lexicon.ADJECTIVES.values() if row[2] == name)
    be, parts = be_form(person), {"a": a, "b": b}
    er, content = tagged(name, 3), tuple(name.split())
    if random.random() < 0.25:
        return build(f"{be}1 {{a}} {er} than2 {{b}}", f"{{a}}比2{{b}}{chinese}3吗1", content, **parts)
    return build(f"{{a}} {be} {er} than2 {{b}}", f"{{a}}比2{{b}}{chinese}3", content, **parts)


def comparative(name: str) -> str:
    return lexicon.ADJECTIVES[name][2] if name in lexicon.ADJECTIVES else ""


RELATIVES = {
    "buy": ("买", "book car bicycle phone computer dress shirt umbrella bag chair flower apple house"),
    "read": ("看", "book letter story"),
    "write": ("写", "letter story song book"),
    "watch": ("看", "film"),
    "see": ("看见", "bird cat dog horse car"),
    "cook": ("做", "noodles dumplings soup fish"),
}


def relative_thing(random: Random, timed: float = 0.35, placed: float = 0.0) -> tuple[Part, str, bool]:
    """ "The book that she bought" is 她买的书; also its noun, and whether it is plural."""
    verb, (chinese, nouns) = random.choice(list(RELATIVES.items()))
    noun = random.choice(nouns.split())
    subject = a_subject(random, 0.75)
    past = lexicon.VERBS[verb].split()[1]
    time = random.choice(["yesterday", "today", "last_week", "this_morning"]) if random.random() < timed else ""
    place = NOTHING
    if verb == "buy" and noun != "house" and random.random() < placed:
        place = fixed_part(*lexicon.PLACES["market" if noun in MARKET else "shop"])
    elif verb == "see" and random.random() < placed:
        place = fixed_part(*lexicon.PLACES["park" if noun != "car" else "street"])
    stuff = noun in lexicon.STUFF
    plural = noun in lexicon.PLURAL_STUFF or not stuff and random.random() < 0.25
    parts = {"n": noun_phrase(noun, plural), "s": subject.part, "t": time_phrase(time) if time else NOTHING, "p": place}
    part = build(f"the {{n}} that2 {{s}} {past}1 {{p}} {{t}}", f"{{s}}{{t}}{{p}}{chinese}1的2{{n}}", (verb,), **parts)
    return part, noun, plural


def relative_clause(random: Random, timed: float = 0.35, placed: float = 0.0) -> Part:
    """Clauses with 的: 她昨天买的书很有意思."""
    kind = random.random()
    if kind < 0.25:
        return person_who(random)
    thing, noun, plural = relative_thing(random, timed, placed)
    person = "many" if plural else "one"
    table = lexicon.STUFF[noun][2] if noun in lexicon.STUFF else lexicon.THINGS[noun][3]
    if kind < 0.6 and table:
        name = random.choice(table.split())
        polarity = random.choices([0, 1, 2], [5, 1, 2])[0]
        degree = "very" if polarity == 0 and name not in lexicon.COLOURS and random.random() < 0.25 else ""
        return copula(thing, person, name, polarity, degree)
    if kind < 0.85:
        return stative(random.choices([0, 1, 2], [4, 1, 2])[0], a_subject(random, 0.7), "like", "喜欢", thing)
    this, chinese = ("these", "这些") if plural else ("this", "这")
    return is_clause(build(f"{this}1", f"{chinese}1"), person, thing, random.choice([0, 0, 1, 2]))


def person_who(random: Random) -> Part:
    """The girl who is singing in the park is my younger sister: 正在公园里唱歌的女孩是我妹妹."""
    who, chinese, kins = random.choice(
        [("girl", "女孩", "younger sister/older sister/daughter/friend"), ("boy", "男孩", "younger brother/son/friend"),
         ("student", "学生", "friend/older brother/younger sister"), ("man", "男人", "father/husband/older brother"),
         ("woman", "女人", "mother/wife/older sister")]
    )  # fmt: skip
    doing = random.choice([one for one in ACTIVITIES if one.times not in (("none",), ("habit",))])
    place = random.choice(doing.places) if doing.places and random.random() < 0.4 else None
    if random.random() < 0.3:
        doing = random.choice([one for one in ACTIVITIES if one.can == "会"])
        parts = {"v": doing.form("base")}
        part = build(f"the {who}3 who2 can1 {{v}}", f"会1{{v}}的2{chinese}3", (who,), **parts)
    else:
        parts = {"v": doing.form("ing"), "p": fixed_part(*lexicon.PLACES[place]) if place else NOTHING}
        now = "正1" if place else "正1在1"
        part = build(f"the {who}3 who2 is1 {{v}} {{p}}", f"{now}{{p}}{{v}}的2{chinese}3", (who,), **parts)
    if random.random() < 0.65:
        kin = random.choice(kins.split("/"))
        owner = random.choice(OWNERS if kin not in ("wife", "husband") else ("i",))
        return is_clause(part, "one", kin_subject(kin, owner).part, random.choice([0, 0, 2]))
    return copula(
        part,
        "one",
        random.choice(
            ["tall", "clever", "young", "beautiful"] if who in ("girl", "woman") else ["tall", "clever", "young"]
        ),
        0,
    )


def recipient(random: Random) -> Part:
    """给, 跟, 帮, 等: what is done to or for somebody."""
    subject = a_subject(random)
    mode = random.choice(["past", "past", "past", "want", "future", "habit", "must"])
    doing = towards(random, subject, mode == "habit")
    time = choose_time(random, ("any",), MODES[mode][0]) if random.random() < 0.7 or mode == "future" else ""
    adverb = "often" if mode == "habit" and not time else ""
    place = random.choice(doing.places) if doing.verb == "wait" and random.random() < 0.6 and time else None
    return clause_of(random, subject, doing, mode, 0, place, time or None, adverb, front=random.random() < 0.2)


def seeing(random: Random) -> Part:
    """看见: we saw two birds in the park yesterday."""
    subject = a_subject(random)
    place = random.choice(list(lexicon.SEEN))
    noun = random.choice(lexicon.SEEN[place].split())
    polarity = random.choices([0, 1, 2], [3, 1, 1])[0]
    if random.random() < 0.35:
        thing, place = somebody_else(random, subject), random.choice("station park library school".split())
    else:
        thing = one_or_more(random, noun) if polarity == 0 else definite_seen(random, noun)
    doing = Doing("see", "{v} {o}", "看见:v*{o}", True, places=(place,), parts={"o": thing})
    where = place if random.random() < 0.7 else None
    time = choose_time(random, ("any",), 1) if random.random() < 0.6 else None
    return clause_of(random, subject, doing, "past", polarity, where, time, front=random.random() < 0.3)


def definite_seen(random: Random, noun: str) -> Part:
    if noun in lexicon.PEOPLE:
        return pointed_person(noun)
    return owned(random, noun) if noun in lexicon.OWN and random.random() < 0.6 else pointed(noun, "the")


def pointed_person(noun: str) -> Part:
    _, chinese, measure = lexicon.PEOPLE[noun]
    return build(f"the1 {noun}2", f"那1{measure}1{chinese}2", (noun,))


CAUSES = {
    "tired": ["work1", "run1", "dance1", "play1 football2", "play1 basketball2", "wash1 clothes2",
              "clean1 the room2", "swim1", "-rest1"],
    "hungry": ["-eat1 breakfast2", "-eat1 lunch2", "-eat1 dinner2", "play1 football2"],
    "thirsty": ["run1", "play1 basketball2", "dance1"],
    "busy": ["!work1", "!do1 homework2", "!learn1 english2", "!learn1 chinese2", "!clean1 the room2"],
    "sad": ["-come1", "-go1 home2"],
    "happy": ["*car", "*phone", "*bicycle", "*dress", "*computer", "*house"],
}  # fmt: skip


def pronoun_for(subject: Subject) -> Subject:
    """Who it was, as a pronoun."""
    return pronoun_subject(subject.pronoun)


def because_clause(random: Random, full: bool = False) -> Part:
    """因为 ... 所以: the cause comes first in Chinese."""
    subject = a_subject(random, 0.75)
    again = pronoun_for(subject)
    mood = random.choice(list(CAUSES))
    cause = random.choice(CAUSES[mood])
    time = random.choice(["yesterday", "today", "last_night"]) if full or random.random() < 0.3 else None
    if cause[0] == "*":
        thing = a_thing(
            cause[1:], random.choice(["new", "beautiful"]) if cause[1:] in ("car", "dress", "house") else "new"
        )
        reason = clause_of(random, again, doing_to("buy", thing, ""), "past", 0, None, time)
    elif cause[0] == "!":
        reason = clause_of(random, again, BY_NAME[cause[1:]], "must", 0, None, "today" if full else None)
    elif cause[0] == "-":
        doing = BY_NAME[cause[1:]]
        if mood == "sad":
            friend = kin_subject("friend", again.pronoun if again.pronoun in OWNERS else "i")
            reason = clause_of(random, friend, doing, "past", 1 if "come" in cause else 0, None, time)
        else:
            times = [
                name
                for name in lexicon.TIME_CLASSES[doing.times[0]][1].split()
                if name in ("yesterday", "today", "last_night")
            ]
            reason = clause_of(random, again, doing, "past", 1, None, random.choice(times) if time else None)
    else:
        reason = clause_of(random, again, BY_NAME[cause], "past", 0, None, time)
    chinese = lexicon.ADJECTIVES[mood][0]
    be = be_form(subject.person)
    english = f"{{s}} {be}2 {mood}3 because1 {{r}}"
    return build(english, f"因为1{{r}}所以1{{s}}很2{chinese}3", (mood,), s=subject.part, r=reason)


def but_clause(random: Random, full: bool = False) -> Part:
    """但是: two clauses that differ."""
    first, second = a_subject(random, 0.85), a_subject(random, 0.85)
    while first.names & second.names:
        second = a_subject(random, 0.85)
    kind = random.random()
    if kind < 0.35:
        group = random.choice([lexicon.FOOD, lexicon.DRINKS, lexicon.LIKED])
        one, other = (noun_phrase(noun, noun in lexicon.THINGS) for noun in random.sample(group, 2))
        left, right = (stative(0, who, "like", "喜欢", what) for who, what in ((first, one), (second, other)))
    elif kind < 0.6:
        doing = random.choice([one for one in ACTIVITIES if one.can == "会"])
        left, right = clause_of(random, first, doing, "can", 0), clause_of(random, second, doing, "can", 1)
    elif kind < 0.8:
        rest = random.choice(["rest1", "go1 home2", "watch1 television2", "listen1 to1 music2", "take1 photos2"])
        duty = random.choice(["work1", "do1 homework2", "clean1 the room2", "wash1 clothes2", "learn1 english2"])
        time = random.choice(["tonight", "today"]) if full else None
        place = "home" if full and rest in ("rest1", "watch1 television2") else None
        left = clause_of(random, first, BY_NAME[rest], "want", 0, place, time)
        right = clause_of(random, pronoun_for(first), BY_NAME[duty], "must", 0, None, None)
    else:
        mood = random.choice(lexicon.MOODS)
        left = copula(first.part, first.person, mood, 0)
        right = copula(second.part, second.person, mood, 1)
    return build("{a} but1 {b}", "{a}但是1{b}", a=left, b=right)


def if_clause(random: Random, full: bool = False) -> Part:
    """如果 ... 就: if it rains tomorrow we will read books at home."""
    verb, chinese = random.choice([("rains", "下雨"), ("snows", "下雪")])
    time = time_phrase(random.choice(["tomorrow", "today", "tonight"]))
    subject = pronoun_subject(random.choice(list(lexicon.PRONOUNS))) if not full else a_subject(random, 0.3)
    indoors = [one for one in ACTIVITIES if "home" in one.places and one.times[0] in ("any", "placed")]
    place = fixed_part(*lexicon.PLACES["home"])
    parts = {"t": time, "s": subject.part, "v": random.choice(indoors).form("base"), "p": place}
    english = f"if1 it {verb}2 {{t}} {{s}} will3 {{v}} {{p}}"
    return build(english, f"如果1{{t}}{chinese}2{{s}}就3{{p}}{{v}}", (verb[:-1],), **parts)


def joined(random: Random) -> Part:
    return random.choice([because_clause, but_clause, but_clause, if_clause])(random)


def request(random: Random) -> Part:
    kind = random.random()
    if kind < 0.25:
        doing = random.choice([one for one in (*ACTIVITIES, *MOVES) if one.can == "可以"])
        place = fixed_part(*lexicon.PLACES["here"]) if "here" in doing.places else NOTHING
        return build("please1 {v} {p}", "请1{p}{v}", v=doing.form("base"), p=place)
    if kind < 0.45:
        doing = random.choice([one for one in (*ACTIVITIES, *MOVES) if one.times not in (("none",), ("clock",))])
        places = [
            name
            for name in doing.places
            if name in ("classroom", "library", "station", "street", "train", "office", "here", "bed", "sofa")
        ]
        where = fixed_part(*lexicon.PLACES[random.choice(places)]) if places else NOTHING
        return build("do1 not1 {v} {p}", "不要1{p}{v}", v=doing.form("base"), p=where)
    if kind < 0.55:
        mood, chinese = random.choice([("angry", "生气"), ("nervous", "紧张"), ("sad", "难过")])
        return build(f"do1 not1 be {mood}2", f"不要1{chinese}2", (mood,))
    if kind < 0.8:
        doing = (
            going_somewhere(random)
            if random.random() < 0.5
            else random.choice([one for one in ACTIVITIES if one.times[0] == "any"])
        )
        place = NOTHING
        if doing.places and random.random() < 0.5:
            place = fixed_part(*lexicon.PLACES[random.choice(doing.places)])
        return build("let1 us2 {v} {p}", "我们2{p}{v}吧1", v=doing.form("base"), p=place)
    you = pronoun_subject("you")
    if kind < 0.92:
        noun = random.choice("book phone umbrella bag photo apple egg chair".split())
        thing = (
            container_of(random, random.choice(["tea", "coffee", "water", "soup", "rice"]))
            if random.random() < 0.5
            else one_or_more(random, noun, 0.2)
        )
        return build("please1 give2 {x} {o}", "请1给2{x}{o}", ("give",), x=somebody_else(random, you), o=thing)
    return build("please1 help2 {x}", "请1帮助2{x}", ("help",), x=somebody_else(random, you))


GREETINGS = (
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


def greeting(random: Random) -> Part:
    english, chinese = random.choice(GREETINGS)
    if random.random() < 0.3:
        english, chinese = GREETINGS[1]
    return fixed_part(english, chinese)


KINDS: dict[str, tuple[float, Callable[[Random], Part]]] = {
    "statement": (14, statement),
    "negation": (8, negation),
    "yes/no question": (8, yes_no),
    "modal": (7, modal),
    "why": (6, why_question),
    "what": (4, what_question),
    "where": (5, where_question),
    "when": (4, when_question),
    "who": (4, who_question),
    "how": (4, how_question),
    "which": (3, which_question),
    "state": (7, state),
    "adjective": (7, adjective_clause),
    "identity": (4, identity),
    "there is": (5, there_is),
    "place": (4, place_clause),
    "comparison": (4, comparison),
    "relative clause": (7, relative_clause),
    "for somebody": (5, recipient),
    "seeing": (3, seeing),
    "joined": (8, joined),
    "request": (4, request),
    "greeting": (1, greeting),
}
LONGER: dict[str, tuple[float, Callable[[Random], Part]]] = {
    "two clauses": (3, lambda random: random.choice([because_clause, but_clause, if_clause])(random, full=True)),
    "relative clause": (3, lambda random: relative_clause(random, timed=1.0, placed=1.0)),
    "for somebody": (2, recipient),
    "statement": (2, statement),
    "comparison": (0.3, comparison),
}
