"""The class of every word of the course language. An ambiguous word has the class of its sense."""

from lesson_kit.languages.english import lexicon

_PLAIN = {
    "punctuation": ", . ;",
    "pronoun": "he him his she her it its they them their everybody everyone everything nobody nothing",
    "determiner": "the a an another all much no one",
    "preposition": "about after around at before behind by down for from in into like near of on out outside over than"
    " through to under up with without",
    "conjunction": "and because but so that when while",
    "auxiliary": "was were could had",
    "adverb": "again alone always ashore away back everywhere far first free hard highly home loudly not now once"
    " only quickly slowly softly sweetly there too together twice upside very well yesterday",
    "adjective": "afraid angry bad beautiful black bright broken clear closed cold dark darker deep dirty dry easy"
    " empty expensive flat fresh full good happy heavy high hoarse hungry ill inspired loaded long longer"
    " loud low mild muddy noisy official open polite proud ready rich rough round silent soft steep sticky"
    " strong sunny terrible thin thirsty tired warm wet wrong",
    "verb": "aimed answered asked ate attacked baked barked became began bit bloomed bought broke brought built"
    " burned called came carried carry carved caught chased cheer cheered chewed chose cleaned cleared"
    " clicked climbed comforted cooked cost counted covered cried crossed crying cured cut danced decided"
    " described dreamed drank draw ended explained failed fed fell felt filled fishing flew flowed"
    " followed forgot fought found frightened galloped gathered gave gone got growled heard held helped"
    " hid hired hit howled hung hunted kissed knew laid landed lay learned leave left licked lift lifted"
    " liked lit locked looked lost made marched matched measured melted mended met milked missed mixed"
    " moved needed noticed opened ordered packed paid painted passed planted played ploughed polished"
    " pressed pulled punished purred put ran read remembered repaired said sang sank sat saw see seen"
    " sewed shone shouted showed sighed signed slept slid smelled smiled sold spent spoke started stayed"
    " stealing stole stood stopped struck studied suited swam swung switched talked thanked thought threw"
    " told took torn trained typed used visited waited walked warmed wanted watched watered weighed went"
    " won wore worked wrote",
}
_LIST_CLASSES = {
    "adjective": "colour size age plain look lazy burnt sad",
    "verb": "swam",
    "determiner": "number",
    "name": "river day",
}


def _table() -> dict[str, str]:
    table = {word: kind for kind, words in _PLAIN.items() for word in words.split()}
    of_list = {name: kind for kind, names in _LIST_CLASSES.items() for name in names.split()}
    for name, words in lexicon.LISTS.items():
        for word in words:
            table.setdefault(word, of_list.get(name, "noun"))
    table |= dict.fromkeys([*lexicon.HE_NAMES, *lexicon.SHE_NAMES, "april", "march"], "name")
    table |= dict.fromkeys(lexicon.MEETINGS, "verb")
    return table


_TABLE = _table()


def word_class(word: str, sense: str = "") -> str:
    """One of "noun", "verb", "adjective" and so on; ``sense`` is "word/sense" where the word is ambiguous."""
    if sense:
        ambiguous, _, name = sense.partition("/")
        return lexicon.AMBIGUOUS[ambiguous][name][0]
    return _TABLE.get(word, "noun")
