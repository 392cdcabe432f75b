"""Tokens of texts: folded words, function words, stems, and words for a full-text index."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")

FUNCTION_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being
    below between both but by can could did do does doing down during each few for from further had
    has have having he her here hers him his how i if in into is it its itself just me more most my
    no nor not now of off on once only or other our out over own please same she should so some such
    than that the their them then there these they this those through to too under until up us very
    was we were what when where which while who whom whose why will with would you your s t don
    ll re ve d m""".split()
)
"""English words that say nothing about the topic of a text."""


_BASE_FORMS = dict(
    pair.split(":")
    for pair in """began:begin begun:begin wrote:write written:write built:build bought:buy
    held:hold took:take taken:take went:go gone:go came:come gave:give given:give ran:run met:meet
    led:lead lost:lose left:leave fell:fall fallen:fall grew:grow grown:grow paid:pay sold:sell
    told:tell won:win became:become broke:break broken:break chose:choose chosen:choose drove:drive
    driven:drive ate:eat eaten:eat flew:fly taught:teach thought:think spent:spend sent:send
    said:say made:make saw:see seen:see spoke:speak spoken:speak rose:rise born:bear caught:catch
    brought:bring fought:fight kept:keep slept:sleep stood:stand understood:understand
    children:child men:man women:woman feet:foot mice:mouse lives:life wives:wife""".split()
)


def tokens(text: str) -> list[str]:
    """Return the words in order, in lower case and without accents."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(sign for sign in folded if not unicodedata.combining(sign))
    return _WORD.findall(plain)


def stem(word: str) -> str:
    """Return the word without plural or tense ending, so that "opened" matches "opens".

    A light stemmer like Harman's S-stemmer ("How effective is suffixing?", 1991) with the two verb
    endings; it rather cuts too little.
    """
    word = _BASE_FORMS.get(word, word)
    word = word.removesuffix("'s").removesuffix("’s")
    for ending, instead, keep in (
        ("ies", "y", 5),
        ("sses", "ss", 6),
        ("shes", "sh", 6),
        ("ches", "ch", 6),
        ("ing", "", 6),
        ("ed", "", 5),
        ("s", "", 4),
    ):
        if word.endswith(ending) and len(word) >= keep and not word.endswith(("ss", "us", "is")):
            cut = word.removesuffix(ending) + instead
            if len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] in "bdgmnprt":
                cut = cut[:-1]
            return cut.removesuffix("e") if len(cut) > 4 else cut
    return word.removesuffix("e") if len(word) > 4 else word


def content(text: str) -> list[str]:
    """Return the stems of content words; all stems if there are none."""
    words = tokens(text)
    stems = [stem(word) for word in words if word not in FUNCTION_WORDS]
    return stems or [stem(word) for word in words]


INDEX_MARK = "ꙮ"
"""Begins every special word of a full-text index. It is a letter, so that the index takes the word
for one, and a letter that nobody types."""

_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese, kana
    "\u20a0-\u20cf\u2190-\u2bff\U0001f000-\U0001faff"  # currencies, arrows, symbols, emoji
)
UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
"""A run of a script written without spaces, or of symbols. FTS5 splits text into words at spaces: a
Chinese sentence would be one word, and an emoji none."""


def spell_runs(text: str) -> str:
    """Return all unspaced runs of a text with each sign as a word; "" if there are none.

    Between two runs stands a meaningless word, so that no phrase matches across both.
    """
    if text.isascii():
        return ""
    return f" {INDEX_MARK} ".join(spell_run(run) for run in UNSPACED_RUN.findall(text))


def spell_run(run: str) -> str:
    """Return one run sign by sign. What FTS5 would take for a space is written as its number."""
    return " ".join(sign if sign.isalpha() else f"{INDEX_MARK}{ord(sign):x}" for sign in run)
