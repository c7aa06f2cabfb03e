"""What single Chinese characters say: how each is pronounced (pinyin), and what it means or what it is there for.

Only for those that lesson 13 shows among the five best. Many have further meanings, and some mean something only in a
word: 姐姐 (older sister), 什么 (what), 因为 (because).
"""

GLOSSES = {
    "一": ("yī", "one"), "七": ("qī", "seven"), "丈": ("zhàng", "part of husband"), "上": ("shàng", "on; last (week)"),
    "不": ("bù", "not"), "业": ("yè", "part of homework"), "个": ("gè", "measure word"), "为": ("wèi", "for"),
    "么": ("me", "part of what, why"), "买": ("mǎi", "buy"), "了": ("le", "it is done"), "些": ("xiē", "some"),
    "今": ("jīn", "this (day)"), "他": ("tā", "he"), "以": ("yǐ", "part of so, can"), "们": ("men", "plural"),
    "住": ("zhù", "live"), "作": ("zuò", "do, part of work"), "你": ("nǐ", "you"), "候": ("hòu", "part of when"),
    "做": ("zuò", "do"), "公": ("gōng", "public"), "八": ("bā", "eight"), "写": ("xiě", "write"),
    "见": ("jiàn", "see"), "衫": ("shān", "shirt"), "很": ("hěn", "very"), "给": ("gěi", "give"),
    "影": ("yǐng", "film"), "欢": ("huān", "part of like"), "阳": ("yáng", "sun"), "要": ("yào", "want to, must"),
    "语": ("yǔ", "language"), "谁": ("shéi", "who"), "请": ("qǐng", "please"), "天": ("tiān", "day, sky"),
    "在": ("zài", "at"), "什": ("shén", "part of what, why"), "我": ("wǒ", "I"), "工": ("gōng", "work"),
    "班": ("bān", "part of go to work"), "生": ("shēng", "part of student"), "本": ("běn", "measure word, books"),
    "妈": ("mā", "mother"), "帮": ("bāng", "help"), "喝": ("hē", "drink"), "师": ("shī", "part of teacher"),
    "姐": ("jiě", "older sister"), "妹": ("mèi", "younger sister"), "哥": ("gē", "older brother"),
    "娜": ("nà", "part of Anna"), "奶": ("nǎi", "grandmother; milk"), "里": ("lǐ", "inside"),
    "昨": ("zuó", "yester(day)"), "学": ("xué", "learn"), "家": ("jiā", "home"), "是": ("shì", "is"),
    "台": ("tái", "measure word, machines"), "老": ("lǎo", "old"), "想": ("xiǎng", "want to"), "书": ("shū", "book"),
    "菜": ("cài", "vegetable"), "骑": ("qí", "ride"), "好": ("hǎo", "good"), "有": ("yǒu", "have"),
    "馆": ("guǎn", "part of library"), "果": ("guǒ", "fruit"), "因": ("yīn", "cause"), "爷": ("yé", "grandfather"),
    "这": ("zhè", "this"), "房": ("fáng", "room"), "可": ("kě", "part of can"), "游": ("yóu", "swim"),
    "她": ("tā", "she"), "朋": ("péng", "part of friend"), "英": ("yīng", "part of English"),
    "友": ("yǒu", "friend"), "车": ("chē", "car"), "太": ("tài", "too (much)"), "弟": ("dì", "younger brother"),
    "回": ("huí", "go back"), "打": ("dǎ", "hit, play"), "看": ("kàn", "look, read"), "所": ("suǒ", "part of so"),
    "的": ("de", "of, that"), "国": ("guó", "country"), "服": ("fú", "part of clothes"), "难": ("nán", "hard"),
    "过": ("guò", "pass"), "爸": ("bà", "father"), "晚": ("wǎn", "evening"), "息": ("xī", "part of rest"),
    "小": ("xiǎo", "small"), "院": ("yuàn", "part of hospital"), "喜": ("xǐ", "part of like"), "能": ("néng", "can"),
    "跟": ("gēn", "with"), "和": ("hé", "and"), "那": ("nà", "that"), "饭": ("fàn", "meal"), "黑": ("hēi", "black"),
    "歌": ("gē", "song"), "电": ("diàn", "electric"), "只": ("zhī", "measure word, animals"), "忙": ("máng", "busy"),
    "猫": ("māo", "cat"), "鸟": ("niǎo", "bird"), "花": ("huā", "flower"), "没": ("méi", "not (past)"),
    "但": ("dàn", "but"), "自": ("zì", "self"),
}  # fmt: skip
