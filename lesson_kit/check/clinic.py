"""The patients of the bug clinic, lesson 19: which mistakes of the checks each of them has, and its story in short."""

from dataclasses import dataclass, field

CLINIC = "19_bug_clinic.ipynb"


@dataclass(frozen=True)
class Patient:
    """A bug of lesson 19: its heading there, the mistakes of the checks that are this bug, and its story in short.

    ``kin``: mistakes of the same family, of which that story is not true; each has one of its own.
    """

    heading: str
    slugs: tuple[str, ...]
    story: str
    kin: dict[str, str] = field(default_factory=dict)

    def story_of(self, slug: str) -> str:
        return self.kin.get(slug, self.story)


PATIENTS = [
    Patient(
        "Patient 1: The missing square root",
        ("no-scale",),
        "A score adds up d_k products, so its variance grows with d_k. Without the root, in wide models, softmax puts "
        "nearly all weight on one key and hardly any gradient comes through. Small examples hide it: with two features "
        "nothing looks wrong.",
        {
            "divided-by-d-k": (
                "The standard deviation of a score is the root of d_k. Divided by d_k itself, the scores come out too "
                "small, and the wider the model, the nearer all weights are to equal shares: attention hardly chooses."
            ),
            "multiplied-by-root": (
                "The standard deviation of a score is the root of d_k. Multiplied by it instead of divided, the scores "
                "come out d_k times too large, and softmax gives nearly all weight to one key."
            ),
        },
    ),
    Patient(
        "Patient 2: The wrong width under the root",
        ("scaled-by-d-model",),
        "With one head d_model and d_head are the same, so a test with one head sees nothing. With eight, the "
        "scores come out too small by a factor of almost three, and the weights too even.",
        {
            "scaled-by-value-width": (
                "Values are often as wide as queries and keys, and then nobody sees it. Where they are wider, the "
                "scores come out too small; where they are narrower, too large."
            ),
            "scaled-by-number-of-keys": (
                "With as many keys as features nobody sees it. Otherwise each further word changes all scores, and "
                "padding does, too."
            ),
            "scaled-by-first-axis": (
                "In a small example the first axis may be as long as the last, and then nobody sees it. Otherwise the "
                "weights of a sentence change with the number of its words, or with what else is in the batch."
            ),
            "fixed-width": (
                "A number that is right for one model is right in every test with that model. With another width the "
                "scores come out too large or too small, and nothing raises an error."
            ),
        },
    ),
    Patient(
        "Patient 3: The values inside the softmax",
        ("value-inside-softmax",),
        "The brackets of the formula are easily misread. The softmax decides how much to look where; the values "
        "are mixed afterwards. Rows of the result that add up to 1 look like weights, and are not.",
    ),
    Patient(
        "Patient 6: Hide or show",
        ("inverted",),
        "There are four conventions for the same mask, and each is right somewhere. With the wrong one the model "
        "attends to the padding, or to the future, and to nothing else. Nothing raises an error.",
        {
            "float-instead-of-boolean": (
                "PyTorch's scaled_dot_product_attention takes two kinds of masks. A boolean one says who may be looked "
                "at; one of floats is added to the scores. Ones and zeros, taken for the second kind, hide nothing."
            ),
            "upper-triangle": (
                "Which triangle is meant depends on what rows and columns stand for, and on whether True shows or "
                "hides. Taken for the other, it lets each word see itself and the future, and not the past."
            ),
        },
    ),
    Patient(
        "Patient 7: The row that may look nowhere",
        ("nan-on-an-empty-row",),
        "A row of minus infinities is 0 divided by 0. One such row in one sentence fills the whole model with NaN"
        " after a step of training.",
        {
            "empty-row-attends": (
                "Filled with a large negative number instead of minus infinity, a row without visible keys gives no "
                "NaN. Softmax sees only differences, so the hidden keys share out the weight among themselves."
            ),
        },
    ),
    Patient(
        "Patient 8: The mask that came too late",
        ("mask-after-softmax", "filled-with-zero", "small-negative-fill"),
        "What a mask hides must not take part in the sum. Hidden afterwards, or filled with a number that is "
        "merely small, it still changes the weights of the others.",
        {
            "mask-added": (
                "A mask that is added must hold 0 where a key is seen and minus infinity where it is hidden. With True "
                "and False, 1 and 0, it is a small bonus: the hidden keys keep their places in the sum."
            ),
            "renormalised": (
                "To share out anew what the mask has left mends the sums of the rows, and on paper it is the same as "
                "masking first. But a hidden score that is high enough takes everything, the rest is rounded to 0, and "
                "there is nothing left to share out."
            ),
        },
    ),
    Patient(
        "Patient 9: Heads cut without a transpose",
        ("view-without-transpose", "split-by-view", "merged-by-view"),
        "`view` can give the right shape with the wrong numbers in it: words and heads are mixed up. It even "
        "trains. Shuffle the words, and the output no longer shuffles with them.",
        {
            "not-transposed": (
                "Attention works on the last two axes. If these are heads and features, the heads of one token look at "
                "each other, and no token sees another. With as many tokens as heads even the shape is right."
            ),
            "heads-and-features-swapped": (
                "Which features belong to which head is a convention. A model that is trained with another one learns "
                "all the same; one whose weights are loaded gives wrong numbers."
            ),
        },
    ),
    Patient(
        "Patient 10: The sequence split among the heads",
        ("splits-the-sequence",),
        "Every head sees all words, and a part of the features. Split the other way, many words never meet.",
        {
            "attends-across-heads": (
                "Every head sees all words, and a part of the features. Here the heads of one word see each other "
                "instead, and no two words ever meet."
            ),
        },
    ),
    Patient(
        "Patient 12: The output projection that nobody missed",
        ("no-output-projection",),
        "Without it the heads lie side by side and never mix. Shapes are right, the loss falls, and a whole "
        "weight matrix gets no gradient.",
    ),
    Patient(
        "Patient 14: Weights on the wrong side",
        ("weights-transposed",),
        "Rows are tokens, so the weights stand on the right. nn.Linear stores them turned round, which makes it "
        "easy to turn them once too often. Square matrices raise no error.",
    ),
    Patient(
        "Patient 15: The norm over length and features",
        ("over-length-and-features",),
        "LayerNorm looks at one token at a time. Over more axes than the features, tokens leak into each other, also "
        "from the future.",
        {
            "over-the-batch": (
                "LayerNorm looks at one token at a time. Over the batch, the result for a sentence depends on which "
                "other sentences happen to stand beside it."
            ),
            "over-the-length": (
                "LayerNorm looks at one token at a time. Over the tokens, each one depends on all others, also on "
                "those of the future and on the padding."
            ),
        },
    ),
    Patient(
        "Patient 16: The norm with n - 1",
        ("unbiased-variance",),
        "For four features the difference is large, for 768 it is so small that a loose test passes. Loaded "
        "weights then give other numbers, layer after layer.",
        {
            "eps-outside-the-root": (
                "For features with a spread near 1 and a tiny eps nobody sees it. Where all features of a token are "
                "nearly equal, eps decides the result, and there it makes a difference where it stands."
            ),
        },
    ),
    Patient(
        "Patient 17: Divided by the variance",
        ("divided-by-variance",),
        "For inputs with a variance near 1, as randn makes them, nobody can see it. Try inputs ten times as large.",
    ),
    Patient(
        "Patient 18: The residual from the normalised x",
        ("residual-from-normalised-x", "norm-on-the-residual"),
        "The residual is the way on which x passes by untouched. With a norm on it, every layer brings x to one size "
        "before it adds anything. The shapes are right all the same.",
    ),
    Patient(
        "Patient 20: The doubled exponent",
        ("exponent-doubled",),
        "A loop that counts in steps of two has doubled the index already. The table looks like waves all the "
        "same, but more of its features stand still.",
        {
            "exponent-halved": (
                "A loop that counts the pairs has not doubled the index yet. The table looks like waves all the same, "
                "but the slowest of them come round far too soon."
            ),
            "sine-and-cosine-differ": (
                "A sine and a cosine of one speed are a clock hand: a step of so many positions turns it by the same "
                "angle everywhere. With two speeds the table still looks like waves, but there is no hand to turn."
            ),
            "exponent-not-divided": (
                "The exponent is a share of the way from the fastest to the slowest wave. Not divided by d_model, it "
                "grows so large that all waves but the first stand still."
            ),
        },
    ),
    Patient(
        "Patient 21: Positions along the batch axis",
        ("along-the-batch-axis", "position-along-the-batch"),
        "Each sentence gets the position of its place in the batch. It trains, and it knows nothing of word "
        "order. Shuffle the batch, and the answers change.",
    ),
    Patient(
        "Patient 22: The decoder that saw the answer",
        (),
        "A causal mask belongs to the decoder's self-attention, and only there. Without it the training loss is "
        "splendid, because the answer stands in the input.",
        {
            "causal-mask": (
                "A causal mask hides words that are not written yet, where a whole sentence is given at once. Neither "
                "the source nor a cache holds any such word: there it hides what ought to be seen. (The patient is the "
                "opposite case: a mask that is missing.)"
            ),
        },
    ),
    Patient(
        "Patient 23: The step that could not see itself",
        ("diagonal-hidden",),
        "With inputs shifted right, a position may see itself. If it may not, the newest word is not looked at, "
        "and the first row has nothing to look at.",
    ),
    Patient(
        "Patient 24: Cross-attention the wrong way round",
        ("query-and-key-value-swapped",),
        "The decoder asks, the encoder answers: queries from the target, keys and values from the source. With "
        "equal lengths the swap raises no error.",
        {
            "all-from-the-decoder": (
                "The decoder asks, the encoder answers. Here the decoder asks itself: the shape is always right, and "
                "the translation cannot depend on the sentence that is to be translated."
            ),
            "all-from-the-encoder": (
                "The decoder asks, the encoder answers. Here the encoder asks itself: with equal lengths nothing "
                "raises an error, and what has been written so far has no influence."
            ),
        },
    ),
    Patient(
        "Patient 25: Targets that were never shifted",
        ("not-shifted",),
        "If input and target are the same, the best a model can do is to copy, and it learns that quickly. The "
        "loss goes to zero, and nothing can be generated.",
        {
            "shifted-left": (
                "Position t is fed the token after the one it must predict. Whoever writes a sentence word by word "
                "does not have that token yet: what was learned cannot be used."
            ),
            "shifted-twice": (
                "Position t is not fed the token right before the one it must predict, which often says most about it. "
                "The loss stays higher than it need be, and no shape says why."
            ),
        },
    ),
    Patient(
        "Patient 26: The loss on every token",
        ("labels-everywhere",),
        "Most tokens are not hidden, so a model that copies what it sees has a fine loss. Only the hidden ones "
        "tell whether it has learned anything.",
        {
            "padding-counted": (
                "That padding follows padding is soon learned. Its small losses then make the mean look better than "
                "the model is, and the more so, the more padding a batch happens to have."
            ),
            "padding-in-the-mean": (
                "The padding adds nothing to the sum, but it is counted: the mean looks better than the model is, and "
                "the more so, the more padding a batch happens to have."
            ),
        },
    ),
    Patient(
        "Patient 28: ReLU in BERT",
        ("gelu-instead-of-relu",),
        "The paper's feed-forward network has ReLU, BERT's has GELU. The weights load without a word either way; "
        "only the numbers drift.",
    ),
]
