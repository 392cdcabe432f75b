"""The task that counts words: how often one occurs, which occur most, and which several texts
share. Capital letters and other signs do not count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.documents.to_text import text_of
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import with_digits

USUAL_COUNT = 10
"""Words that are listed if no number is named."""
MAX_LISTED = 1000

_word = r"[\"“„'‘]?(?P<word>[^\"“”„'‘’?.,;]+?)[\"”“'’]?"
_one_word = tuple(
    lazy_re(form, re.IGNORECASE)
    for form in (
        r"\bhow (?:often|many times) (?:do|does|did|is|are|was|were|has|have)\s+(?:the\s+)?"
        rf"(?:(?:word|name|phrase)s?\s+)?{_word}\s+(?:occur|appear|come|turn up|show up|used|"
        r"mentioned|said|named|written|in\b|there|been)",
        rf"\bhow (?:often|many times)\s+(?:the\s+)?(?:word|name|phrase)\s+{_word}\s+"
        r"(?:is|was|occurs?|appears?|comes?|turns? up|shows? up|in)\b",
        r"\bcount\s+(?:how (?:often|many times)\s+)?(?:the\s+)?(?:word|name|phrase|occurrences of|"
        rf"mentions of)\s+(?:the word\s+)?{_word}(?=\s+(?:in|occurs?|appears?|is|comes?)\b|\W*$)",
        rf"\bwie (?:oft|viele? mal) (?:kommt|steht|wird)\s+(?:das wort\s+)?{_word}\s+"
        r"(?:vor|im|in|darin|genannt|erwähnt)\b",
    )
)
_lines_with = lazy_re(
    r"\bhow many (?:lines|sentences) (?:contain|mention|have|include|with)\s+"
    rf"(?:the (?:word|name)\s+)?{_word}\W*(?:\s+in\b.*)?$|"
    r"\bwie viele zeilen (?:enthalten|nennen)\s+(?:das wort\s+)?"
    r"[\"“„]?(?P<german>[^\"“”„?.,;]+?)[\"”“]?\W*$",
    re.IGNORECASE,
)
_in_all_texts = lazy_re(
    r"\bhow many words\b|\b(?:word count|number of words)\b|\bwie viele wörter\b"
    r"|\b(?:which|welcher?)\b.*\b(?:long|short|läng|kürz)\w*\b",
    re.IGNORECASE,
)
_of_each_text = lazy_re(
    r"\b(?:how many|count(?: all)? the|counts? of|number of|wie viele|zähle(?: alle)? die|word)\s+"
    r"(?:words?|wörter|counts?)\b[^.?]{0,30}\b(?:each|every|per|jede[nrms]?|pro|je)\b[^.?]{0,20}"
    r"\b(?:texts?|files?|notes?|documents?|letters?|chapters?|stor(?:y|ies)|essays?|datei(?:en)?"
    r"|texte[ns]?|briefe?)\b",
    re.IGNORECASE,
)
_shared = lazy_re(
    r"\bwords?\b.*\b(?:in both|in common|both\b.*\b(?:have|share|contain)|in (?:all|each) of)|"
    r"\bwörter\b.*\b(?:in beiden|beide)\b",
    re.IGNORECASE,
)
_least_letters = lazy_re(
    r"\b(?P<over>more than|over|longer than|mehr als|at least|mindestens)\s+(?P<count>\d+)\s+"
    r"(?:letters?|characters?|buchstaben)\b|\b(?:of|with)\s+(?P<from>\d+)\s+"
    r"(?:or more letters|letters or more)\b",
    re.IGNORECASE,
)
_how_many = lazy_re(
    r"(?<!than )(?<!least )(?<!als )\b(\d+)\s+(?:(?:most|häufigsten|commonest)\b|words?\b|wörter\b)"
    r"|\btop\s+(\d+)\b",
    re.IGNORECASE,
)
_each = lazy_re(
    r"\b(?:each|every|all|jedes|alle)\b[^.?]{0,12}\b(?:words?|wort|wörter)\b", re.IGNORECASE
)


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters; "it’s" and "e-mail" are one word each."""
    return re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text.casefold())


def count_words(call: Call, report: Report) -> Iterable[Artifact]:
    """Return the counts in sentences or lines. Raises InputError if there is no text, and
    ExpertError if something else is asked."""
    asked, items = with_digits(call.words("asked")), call.inputs["text"]
    texts = [text_of(item, report, call.workdir) for item in items]
    if not any(text.strip() for text in texts):
        raise InputError(tr("There is no text to look through."))
    if found := next((match for form in _one_word if (match := form.search(asked))), None):
        return [text_artifact(_occurrences(found["word"].strip(), texts))]
    if found := _lines_with.search(asked):
        return [text_artifact(_lines(found["word"] or found["german"], texts))]
    if _of_each_text.search(asked) and not _most.search(asked):
        lines = [
            f"- {it.title}: {len(text.split())}" for it, text in zip(items, texts, strict=True)
        ]
        return [text_artifact("\n".join(lines))]
    if _in_all_texts.search(asked):
        return [text_artifact(_lengths(asked, [item.title for item in items], texts))]
    least = _least(asked)
    if _shared.search(asked):
        return [text_artifact(_in_all(texts, least))]
    many = _how_many.search(asked)
    if not many and not _most.search(asked) and not _each.search(asked):
        raise ExpertError(
            tr("I did not understand which words are to be counted."),
            hint=tr("Such as: the ten most frequent words, or: how often does “river” occur?"),
        )
    most = int(many[1] or many[2]) if many else MAX_LISTED if _each.search(asked) else USUAL_COUNT
    counts = Counter(word for text in texts for word in words_of(text) if len(word) >= least)
    if not counts:
        raise InputError(tr("There are no such words in the text."))
    # Of words that are as frequent as each other, the alphabet decides.
    first = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[: min(most, MAX_LISTED)]
    return [text_artifact("\n".join(f"- {word}: {count}" for word, count in first))]


_most = lazy_re(r"\b(?:most|frequen\w*|häufig\w*|top|common\w*)\b", re.IGNORECASE)


def _least(asked: str) -> int:
    found = _least_letters.search(asked)
    if found is None:
        return 1
    if found["from"]:
        return int(found["from"])
    return int(found["count"]) + (found["over"].lower() not in ("at least", "mindestens"))


def _occurrences(said: str, texts: Sequence[str]) -> str:
    pattern = re.compile(rf"(?<!\w){re.escape(said.casefold())}(?!\w)")
    count = sum(len(pattern.findall(text.casefold())) for text in texts)
    if not count:
        return tr("“{word}” does not occur.", word=said)
    return trn("“{word}” occurs once.", "“{word}” occurs {count} times.", count, word=said)


def _lines(said: str, texts: Sequence[str]) -> str:
    lines = [
        line for text in texts for line in text.splitlines() if said.casefold() in line.casefold()
    ]
    return trn("“{word}” is in 1 line.", "“{word}” is in {count} lines.", len(lines), word=said)


def _lengths(asked: str, names: Sequence[str], texts: Sequence[str]) -> str:
    counts = [len(text.split()) for text in texts]
    told = [trn("{name} has 1 word.", "{name} has {count} words.", count, name=name)
            for name, count in zip(names, counts, strict=True)]  # fmt: skip
    if len(texts) > 1:
        whole = trn("Altogether it is 1 word.", "Altogether they are {count} words.", sum(counts))
        ranked = [name for _, name in sorted(zip(counts, names, strict=True))]
        short = re.search(r"\b(?:short|kürz)", asked, re.IGNORECASE)
        form = mark("{name} is the shortest.") if short else mark("{name} is the longest.")
        told += [whole, tr(form, name=ranked[0 if short else -1])]
    return " ".join(told)


def _in_all(texts: Sequence[str], least: int) -> str:
    if len(texts) < 2:
        raise InputError(tr("For words that texts share I need two texts."))
    shared = set.intersection(*({*words_of(text)} for text in texts))
    found = sorted(word for word in shared if len(word) >= least)
    return ", ".join(found) or tr("The texts have no word in common.")


COUNT_WORDS = define(
    name="count-words", label="Count words",
    summary="Counts how often a word occurs in a text, lists its most frequent words, or the words "
    "that several texts share.",
    ports=(Port("text", (Kind.TEXT, Kind.DOCUMENT), many=True),),
    options=(TaskOption("asked", "which words are counted", "", reads="own-words"),),
    cues=(
        *(f"{most} {used} words"
          for most in ("most", "# most", "the most")
          for used in ("frequent", "common", "often used", "used", "frequently used")),
        "frequent words", "commonest words", "word frequenc*", "frequency of words",
        "frequency of each word", "top # words", "most often ... word*", "words ... most often",
        "how often each word", "how many times each word", "count each word", "count every word",
        *(f"how {often} {does} ... {occur}"
          for often in ("often", "many times") for does in ("does", "is", "do", "are")
          for occur in ("occur", "occurs", "appear", "come up", "used in", "mentioned",
                        "in the text", "in this text", "in it")),
        "how often the word", "how many times the word", "how often ... said",
        "count how often", "count how many times", "count the word", "count the name",
        "count the occurrences of", "occurrences of the word",
        *(f"how many {lines} {contain}" for lines in ("lines", "sentences")
          for contain in ("contain", "mention", "have the word", "include")),
        *(f"words {are} in {which}" for are in ("are", "occur", "appear", "are there")
          for which in ("both", "both of these", "all of these", "both texts", "both files")),
        "words ... have in common", "words ... in common",
        *(f"{how_many} {which} {texts}"
          for how_many in ("how many words do", "how many words are in", "how many words have")
          for which in ("the", "these", "my", "those", "all", "all the", "both", "both of the")
          for texts in ("texts", "notes", "files", "documents", "letters", "stories", "essays")),
        *(f"which {of}{text} is {the}"
          for of, texts in (("", ("text", "note", "document", "letter", "story", "essay")),
                            ("of these ", ("texts", "notes", "documents", "letters")))
          for text in texts for the in ("the longest", "the shortest", "longer", "shorter")),
        "how many words ... altogether", "how many words ... in total", "how many words ... in all",
        "total number of words",
        *(f"words {of} {each} {of_these}{text}" for of in ("of", "in", "for", "per", "has")
          for each in ("each", "every", "each of") for of_these in ("", "these ", "the ", "my ")
          for text in ("text", "texts", "file", "files", "note", "notes", "document", "documents",
                       "letter", "letters", "chapter", "chapters")),
        "wie viele wörter haben ... zusammen",
        "wie viele wörter haben die texte",
        "wie oft kommt ... vor", "wie oft steht ... in", "häufigsten wörter", "häufigste wörter",
        "wie oft jedes wort", "wie viele zeilen enthalten", "welche wörter ... in beiden",
    ),
    method=count_words, note="the letters as they are; capitals make no difference",
)  # fmt: skip
