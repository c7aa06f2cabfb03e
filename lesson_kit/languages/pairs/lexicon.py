"""The words of the English-Chinese pairs, and what goes with what.

A digit after a word says which characters translate it: ``play1 football2`` is ``踢1足球2``. Nouns carry their measure
word (量词), activities the places where people do them and the times that suit them, so that no absurd sentence arises.
"""

NUMBERS = {
    "one": "一", "two": "两", "three": "三", "four": "四", "five": "五",
    "six": "六", "seven": "七", "eight": "八", "nine": "九", "ten": "十",
}  # fmt: skip

# English: subject, object, possessive; Chinese; how the verb agrees.
PRONOUNS = {
    "i": ("me", "my", "我", "i"),
    "you": ("you", "your", "你", "many"),
    "he": ("him", "his", "他", "one"),
    "she": ("her", "her", "她", "one"),
    "we": ("us", "our", "我们", "many"),
    "they": ("them", "their", "他们", "many"),
}
NAMES = {"tom": "汤姆", "anna": "安娜", "xiaoming": "小明"}
KIN = {  # 我妈妈, 他朋友: near people need no 的
    "mother": "妈妈",
    "father": "爸爸",
    "older brother": "哥哥",
    "younger brother": "弟弟",
    "older sister": "姐姐",
    "younger sister": "妹妹",
    "grandmother": "奶奶",
    "grandfather": "爷爷",
    "friend": "朋友",
    "wife": "妻子",
    "husband": "丈夫",
    "son": "儿子",
    "daughter": "女儿",
}
ROLES = {
    "teacher": ("老师", "one"),
    "doctor": ("医生", "one"),
    "children": ("孩子们", "many"),
    "students": ("学生们", "many"),
}
PROFESSIONS = {"teacher": ("老师", "位"), "doctor": ("医生", "位"), "student": ("学生", "个")}
PEOPLE = {  # in numbers: 三个学生
    "student": ("students", "学生", "个"),
    "child": ("children", "孩子", "个"),
    "girl": ("girls", "女孩", "个"),
    "boy": ("boys", "男孩", "个"),
    "friend": ("friends", "朋友", "个"),
    "older brother": ("older brothers", "哥哥", "个"),
    "younger sister": ("younger sisters", "妹妹", "个"),
}

COLOURS = {"red": "红色", "white": "白色", "black": "黑色", "blue": "蓝色", "yellow": "黄色", "grey": "灰色"}
# After 很; before a noun; the comparative. A name after "/" is a sense: "old/thing" is written "old".
ADJECTIVES = {
    "big": ("大", "大", "bigger"),
    "small": ("小", "小", "smaller"),
    "new": ("新", "新", "newer"),
    "old/thing": ("旧", "旧", ""),
    "old/tree": ("老", "老", ""),
    "good": ("好", "好", "better"),
    "long": ("长", "很长的", "longer"),
    "sweet": ("甜", "很甜的", "sweeter"),
    "expensive": ("贵", "很贵的", "more expensive"),
    "cheap": ("便宜", "便宜的", "cheaper"),
    "beautiful": ("漂亮", "漂亮的", "more beautiful"),
    "beautiful/place": ("美", "很美的", ""),
    "beautiful/song": ("好听", "好听的", ""),
    "interesting": ("有意思", "有意思的", "more interesting"),
    "delicious/food": ("好吃", "好吃的", ""),
    "delicious/drink": ("好喝", "好喝的", ""),
    "clean": ("干净", "干净的", ""),
    "quiet": ("安静", "安静的", ""),
    "hot": ("热", "热", ""),
    "cold": ("冷", "冷", ""),
    "difficult": ("难", "很难的", ""),
    "easy": ("容易", "容易的", ""),
    "tall": ("高", "很高的", "taller"),
    "clever": ("聪明", "聪明的", ""),
    "young": ("年轻", "年轻的", "younger"),
    "happy": ("高兴", "", ""),
    "tired": ("累", "", ""),
    "busy": ("忙", "", "busier"),
    "hungry": ("饿", "", ""),
    "thirsty": ("渴", "", ""),
    "sad": ("难过", "", ""),
    "angry": ("生气", "", ""),
    "nervous": ("紧张", "", ""),
}
MOODS = "happy tired busy hungry thirsty sad angry nervous".split()  # of today
TRAITS = "tall clever young beautiful".split()  # of every day

# Singular: plural, Chinese, measure word, the adjectives and colours that suit it.
THINGS = {
    "book": ("books", "书", "本", "new old/thing good interesting expensive"),
    "letter": ("letters", "信", "封", "long"),
    "story": ("stories", "故事", "个", "good interesting long"),
    "film": ("films", "电影", "部", "new good interesting long"),
    "song": ("songs", "歌", "首", "new beautiful/song"),
    "car": ("cars", "车", "辆", "new old/thing expensive cheap beautiful red white black blue"),
    "bicycle": ("bicycles", "自行车", "辆", "new old/thing cheap red black blue"),
    "house": ("houses", "房子", "座", "big small new old/thing beautiful expensive"),
    "phone": ("phones", "手机", "部", "new old/thing expensive cheap"),
    "computer": ("computers", "电脑", "台", "new old/thing expensive cheap"),
    "dress": ("dresses", "裙子", "条", "new beautiful long expensive red white black blue yellow"),
    "shirt": ("shirts", "衬衫", "件", "new old/thing cheap clean white blue grey"),
    "umbrella": ("umbrellas", "雨伞", "把", "new big red black yellow"),
    "bag": ("bags", "包", "个", "new big small expensive black grey"),
    "photo": ("photos", "照片", "张", "old/thing beautiful"),
    "chair": ("chairs", "椅子", "把", "new old/thing"),
    "flower": ("flowers", "花", "朵", "beautiful red white yellow"),
    "tree": ("trees", "树", "棵", "big tall old/tree"),
    "apple": ("apples", "苹果", "个", "big sweet red"),
    "egg": ("eggs", "鸡蛋", "个", ""),
    "cat": ("cats", "猫", "只", "big small beautiful white black grey"),
    "dog": ("dogs", "狗", "只", "big small white black yellow"),
    "bird": ("birds", "鸟", "只", "big small beautiful white yellow"),
    "horse": ("horses", "马", "匹", "white black big"),
}
GOODS = "book car bicycle house phone computer dress shirt umbrella bag chair flower apple egg".split()
OWN = "book car bicycle house phone computer dress shirt umbrella bag photo cat dog".split()
LIKED = "cat dog bird horse flower apple".split()  # in general: 我喜欢猫
# Without number: Chinese; container of it; its adjectives.
STUFF = {
    "tea": ("茶", "cup", "hot delicious/drink"),
    "coffee": ("咖啡", "cup", "hot delicious/drink"),
    "water": ("水", "bottle", "hot"),
    "milk": ("牛奶", "bottle", "hot delicious/drink"),
    "soup": ("汤", "bowl", "hot delicious/drink"),
    "rice": ("米饭", "bowl", ""),
    "noodles": ("面条", "bowl", "delicious/food"),
    "dumplings": ("饺子", "", "delicious/food"),
    "bread": ("面包", "", "delicious/food"),
    "meat": ("肉", "", ""),
    "fish": ("鱼", "", "delicious/food"),
    "fruit": ("水果", "", "delicious/food"),
    "vegetables": ("蔬菜", "", ""),
    "shoes": ("鞋", "pair", "new old/thing"),
    "clothes": ("衣服", "", "new old/thing"),
}
PLURAL_STUFF = {"noodles", "dumplings", "vegetables", "shoes", "clothes"}
CONTAINERS = {"cup": ("cups", "杯"), "bottle": ("bottles", "瓶"), "bowl": ("bowls", "碗"), "pair": ("pairs", "双")}
FOOD = "rice noodles dumplings bread meat fish fruit vegetables".split()
DRINKS = "tea coffee water milk soup".split()

# Unique things, and places as things, with what is said of them.
UNIQUE = {
    "sky": ("天空", "blue grey"),
    "moon": ("月亮", "big beautiful/place"),
    "sun": ("太阳", "hot"),
    "sea": ("大海", "beautiful/place blue"),
    "world": ("世界", "big beautiful/place"),
    "park": ("公园", "big small beautiful/place quiet clean"),
    "garden": ("花园", "big small beautiful/place quiet"),
    "library": ("图书馆", "big new quiet"),
    "classroom": ("教室", "big small clean quiet"),
    "kitchen": ("厨房", "small big clean"),
    "office": ("办公室", "small big clean quiet"),
    "room": ("房间", "small big clean quiet"),
    "hospital": ("医院", "new big"),
    "station": ("车站", "new big"),
    "street": ("街道", "clean quiet"),
}
PLACES = {
    "park": ("in1 the park2", "在1公园2里1"),
    "garden": ("in1 the garden2", "在1花园2里1"),
    "kitchen": ("in1 the kitchen2", "在1厨房2里1"),
    "room": ("in1 the room2", "在1房间2里1"),
    "classroom": ("in1 the classroom2", "在1教室2里1"),
    "office": ("in1 the office2", "在1办公室2里1"),
    "library": ("at1 the library2", "在1图书馆2"),
    "restaurant": ("at1 the restaurant2", "在1餐厅2"),
    "hospital": ("at1 the hospital2", "在1医院2"),
    "station": ("at1 the station2", "在1车站2"),
    "market": ("at1 the market2", "在1市场2"),
    "shop": ("at1 the shop2", "在1商店2"),
    "cinema": ("at1 the cinema2", "在1电影院2"),
    "home": ("at1 home2", "在1家2"),
    "school": ("at1 school2", "在1学校2"),
    "river": ("by1 the river2", "在1河2边1"),
    "swimming_river": ("in1 the river2", "在1河2里1"),
    "bed": ("on1 the bed2", "在1床2上1"),
    "sofa": ("on1 the sofa2", "在1沙发2上1"),
    "table": ("on1 the table2", "在1桌子2上1"),
    "under_table": ("under1 the table2", "在1桌子2下面1"),
    "tree": ("under1 the tree2", "在1树2下1"),
    "street": ("in1 the street2", "在1街2上1"),
    "train": ("on1 the train2", "在1火车2上1"),
    "beijing": ("in1 beijing2", "在1北京2"),
    "shanghai": ("in1 shanghai2", "在1上海2"),
    "china": ("in1 china2", "在1中国2"),
    "here": ("here1", "在1这里1"),
}
DESTINATIONS = {
    **{name: (f"to1 the {name}2", f"{chinese}2") for name, chinese in {
        "park": "公园", "market": "市场", "shop": "商店", "library": "图书馆", "hospital": "医院", "station": "车站",
        "restaurant": "餐厅", "cinema": "电影院", "office": "办公室"}.items()},
    "school": ("to1 school2", "学校2"),
    "beijing": ("to1 beijing2", "北京2"),
    "shanghai": ("to1 shanghai2", "上海2"),
    "china": ("to1 china2", "中国2"),
}  # fmt: skip
CITIES = ("beijing", "shanghai", "china")
VEHICLES = {
    "bus": ("by1 bus2", "坐1公共汽车2", "near"),
    "bicycle": ("by1 bicycle2", "骑1自行车2", "near"),
    "car": ("by1 car2", "开1车2", "near"),
    "train": ("by1 train2", "坐1火车2", "far"),
    "plane": ("by1 plane2", "坐1飞机2", "far"),
}

# What stands where: for "there is", and "my book is on the table".
FOUND = {
    "table": "book phone photo bag apple egg flower letter computer",
    "under_table": "cat dog bag",
    "sofa": "cat dog book dress bag",
    "bed": "cat dress shirt book bag",
    "room": "computer chair child",
    "garden": "tree flower cat dog bird",
    "park": "tree bird child dog horse",
    "kitchen": "apple egg chair",
    "classroom": "student computer chair",
    "library": "student computer",
    "tree": "dog cat bicycle chair",
    "street": "car bicycle dog",
    "office": "computer chair",
}
KEPT = {  # one's own things
    "table": "book phone photo bag computer letter",
    "sofa": "cat book bag phone",
    "bed": "dress shirt phone book",
    "room": "computer bag umbrella cat bicycle",
    "office": "computer bag umbrella",
    "tree": "bicycle dog",
    "garden": "cat dog bicycle",
    "street": "car",
}

# Third person, past, -ing.
VERBS = {
    "work": "works worked working", "sleep": "sleeps slept sleeping", "rest": "rests rested resting",
    "run": "runs ran running", "swim": "swims swam swimming", "dance": "dances danced dancing",
    "sing": "sings sang singing", "cook": "cooks cooked cooking", "eat": "eats ate eating",
    "play": "plays played playing", "watch": "watches watched watching", "listen": "listens listened listening",
    "read": "reads read reading", "learn": "learns learned learning", "speak": "speaks spoke speaking",
    "do": "does did doing", "wash": "washes washed washing", "clean": "cleans cleaned cleaning",
    "drive": "drives drove driving", "ride": "rides rode riding", "take": "takes took taking",
    "write": "writes wrote writing", "wait": "waits waited waiting", "go": "goes went going",
    "get": "gets got getting", "cry": "cries cried crying", "come": "comes came coming",
    "talk": "talks talked talking", "call": "calls called calling", "help": "helps helped helping",
    "drink": "drinks drank drinking", "buy": "buys bought buying", "see": "sees saw seeing",
    "give": "gives gave giving", "live": "lives lived living", "like": "likes liked liking",
    "want": "wants wanted wanting", "need": "needs needed needing", "know": "knows knew knowing",
    "rain": "rains rained raining", "snow": "snows snowed snowing",
}  # fmt: skip

# English, Chinese, "can" (会 for a skill, 可以 for leave, "" for neither), places, times.
ACTIVITIES = (
    ("work1", "工作1", "可以", "home hospital office school beijing shanghai library here", "any long"),
    ("rest1", "休息1", "可以", "home sofa tree garden office here room", "any"),
    ("sleep1", "睡觉1", "可以", "sofa bed home train room", "placed"),
    ("run1", "跑步1", "", "park river school", "any"),
    ("swim1", "游泳1", "会", "swimming_river", "any season"),
    ("dance1", "跳舞1", "会", "park home school", "any"),
    ("sing1", "唱歌1", "会", "park home classroom garden", "any"),
    ("cook1", "做饭1", "会", "kitchen home", "any"),
    ("eat1 breakfast2", "吃1早饭2", "", "home restaurant school kitchen", "breakfast"),
    ("eat1 lunch2", "吃1午饭2", "", "home restaurant school office", "lunch"),
    ("eat1 dinner2", "吃1晚饭2", "", "home restaurant kitchen", "dinner"),
    ("play1 football2", "踢1足球2", "会", "park school", "any"),
    ("play1 basketball2", "打1篮球2", "会", "park school", "any"),
    ("play1 chess2", "下1棋2", "会", "home park tree", "any"),
    ("play1 the piano2", "弹1钢琴2", "会", "home school", "any"),
    ("watch1 television2", "看1电视2", "可以", "home sofa room", "any"),
    ("listen1 to1 music2", "听1音乐2", "可以", "home train room garden sofa", "any"),
    ("read1 books2", "看1书2", "可以", "library home garden tree train bed sofa", "any"),
    ("learn1 chinese2", "学1中文2", "", "school home library beijing", "any long"),
    ("learn1 english2", "学1英语2", "", "school home library", "any long"),
    ("speak1 chinese2", "说1中文2", "会", "home school here", "habit"),
    ("speak1 english2", "说1英语2", "会", "home school here", "habit"),
    ("do1 homework2", "做1作业2", "可以", "home library classroom school", "any"),
    ("wash1 clothes2", "洗1衣服2", "", "home river", "any"),
    ("clean1 the room2", "打扫1房间2", "", "", "any"),
    ("drive1", "开车1", "会", "", "none"),
    ("ride1 a bicycle2", "骑1自行车2", "会", "park street", "any"),
    ("take1 photos2", "拍1照2", "可以", "park river garden here", "any"),
    ("write1 letters2", "写1信2", "", "home room office", "any"),
    ("wait1 for1 the bus2", "等1公共汽车2", "", "station here", "placed"),
    ("buy1 vegetables2", "买1蔬菜2", "", "market shop", "any"),
    ("buy1 fruit2", "买1水果2", "", "market shop", "any"),
)  # fmt: skip
MOVES = (  # no place beside them
    ("go1 home2", "回1家2", "可以", "", "any"),
    ("go1 to1 work2", "去1上班2", "", "", "any"),
    ("get1 up1", "起床1", "可以", "", "clock"),
    ("cry1", "哭1", "", "", "past"),
    ("come1", "来1", "可以", "", "some"),
)
CLOCK = {  # what is done at which hour
    "get1 up1": "six seven eight",
    "eat1 breakfast2": "six seven eight",
    "eat1 dinner2": "six seven",
    "go1 to1 work2": "seven eight nine",
    "go1 home2": "five six ten",
}

# English, Chinese; is it in front of the sentence too?
TIMES = {
    "every day": ("every1 day1", "每天1", False),
    "every morning": ("every1 morning2", "每天1早上2", False),
    "every evening": ("every1 evening2", "每天1晚上2", False),
    "in the morning": ("in1 the1 morning1", "早上1", True),
    "in the afternoon": ("in1 the1 afternoon1", "下午1", True),
    "in the evening": ("in1 the1 evening1", "晚上1", True),
    "on saturday": ("on1 saturday1", "星期六1", True),
    "on sunday": ("on1 sunday1", "星期天1", True),
    "in summer": ("in1 summer1", "夏天1", True),
    "in winter": ("in1 winter1", "冬天1", True),
    "yesterday": ("yesterday1", "昨天1", True),
    "this morning": ("this1 morning2", "今天1早上2", True),
    "last night": ("last1 night2", "昨天1晚上2", True),
    "last week": ("last1 week2", "上个1星期2", True),
    "last year": ("last1 year1", "去年1", True),
    "today": ("today1", "今天1", True),
    "tomorrow": ("tomorrow1", "明天1", True),
    "tonight": ("tonight1", "今天晚上1", True),
    "next week": ("next1 week2", "下个1星期2", True),
    "next year": ("next1 year1", "明年1", True),
    "now": ("now1", "现在1", False),
}
_HABIT = "every_day every_morning every_evening in_the_morning in_the_afternoon in_the_evening on_saturday on_sunday"
_PAST = "yesterday this_morning last_night last_week today"
_FUTURE = "tomorrow tonight next_week today on_saturday on_sunday"
# A time class: habits, past, future, and the times of "she does not work today".
TIME_CLASSES = {
    "any": (_HABIT, _PAST, _FUTURE, "today on_saturday on_sunday in_the_morning in_the_evening"),
    "placed": (_HABIT, _PAST, _FUTURE, "today"),
    "habit": ("every_day", "", "", ""),
    "long": ("", "last_year", "next_year", ""),
    "season": ("in_summer in_winter", "", "", "in_summer in_winter"),
    "breakfast": ("every_day every_morning", "yesterday today this_morning", "tomorrow", "today on_sunday"),
    "lunch": ("every_day", "yesterday today", "tomorrow today", "today"),
    "dinner": ("every_day every_evening", "yesterday last_night", "tomorrow tonight", "today"),
    "clock": ("", "", "", ""),
    "past": ("every_day", "yesterday last_night this_morning", "", ""),
    "some": ("every_day on_saturday on_sunday", _PAST, _FUTURE, "today on_sunday"),
    "none": ("", "", "", ""),
}
ADVERBS = {
    "often": "经常",
    "always": "总是",
    "sometimes": "有时候",
    "never": "从来不",
    "also": "也",
    "only": "只",
    "all": "都",
    "both": "都",
}

# Verb: Chinese, what it is done to, places.
DOINGS = {
    "eat": ("吃", "apple egg", "rice noodles dumplings bread meat fish fruit vegetables", "home restaurant kitchen"),
    "drink": ("喝", "", "tea coffee water milk soup", "home restaurant office"),
    "buy": ("买", " ".join(GOODS), "tea coffee milk rice bread meat fish shoes clothes", "shop here"),
    "read": ("看", "book letter", "", "library home garden"),
    "write": ("写", "letter story", "", "home office room"),
    "watch": ("看", "film", "", "home cinema"),
    "sing": ("唱", "song", "", "park home"),
}
SEEN = {  # 看见: what one sees where
    "park": "bird horse dog child", "garden": "bird cat flower", "street": "dog cat car", "river": "bird dog horse",
    "tree": "cat dog bird",
}  # fmt: skip
