"""The task that tells what changed from one text to another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import both, mark, tr, trn
from jarvis_desktop.core.task import Call, Port, Report
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.documents.to_text import text_of
from jarvis_desktop.text.sentences import paragraphs, sentences

MAX_PARTS = 5_000
"""Sentences of a text that are compared."""
MAX_SHOWN = 30
"""Changes that are told."""
MAX_CHARS = 300
"""Characters of a sentence that are shown."""
MAX_PAIRS, MIN_NEAR = 100_000, 20
"""Of sentences that are rated in one place, and of those that are rated for each: in two texts that
have nothing in common, all are in one place."""
MAX_ORDERED_WORDS = 1_000
"""Longer sentences, such as lists without a full stop, count as alike whatever the order of their
words is."""
ALIKE = 0.5
"""A sentence that has at least this share of the words of another is that one changed."""

Change = tuple[str, str]
"""A sentence before and after; "" where there is none."""


def tell_differences(call: Call, report: Report) -> Iterable[Artifact]:
    """Tell each sentence that is only in one of two texts, or that was changed. Raises
    InputError."""
    items = call.inputs["text"]
    if len(items) != 2:
        raise InputError(
            tr("Two texts are needed to tell how they differ."), hint=tr("Give two files.")
        )
    report(None, tr("Comparing the texts"))
    texts = [text_of(item, report, call.workdir) for item in items]
    first, last = (item.title if item.path else "" for item in items)
    names = [first or tr("the first"), last or tr("the second")]
    one, other = map(_parts, texts)
    if not one and not other:
        raise InputError(tr("There is no text to look through."))
    if max(len(one), len(other)) > MAX_PARTS:
        raise InputError(
            tr("The texts are too long to be compared."),
            hint=tr("Compare single chapters: at most {most} sentences.", most=MAX_PARTS),
        )
    changes = differences(one, other)
    if not changes:
        return [text_artifact(tr("{names} say the same.", names=both(*names)))]
    told = trn("{names} differ in one sentence:", "{names} differ in {count} sentences:",
               len(changes), names=both(*names))  # fmt: skip
    lines = [_line(change, names) for change in changes[:MAX_SHOWN]]
    if more := len(changes) - MAX_SHOWN:
        lines += [tr("… and {count} more.", count=more)] if more > 0 else []
    return [text_artifact("\n".join([told, *lines]))]


def _parts(text: str) -> list[str]:
    """The sentences of a text, however its lines are broken."""
    return [
        " ".join(part.split()) for block in paragraphs(text) for part in sentences(block) if part
    ]


def differences(one: Sequence[str], other: Sequence[str]) -> list[Change]:
    """Return what was left out, added or changed, in order. Sentences that changed are paired with
    the likest of those in the same place."""
    found: list[Change] = []
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    for kind, begin, end, start, stop in matcher.get_opcodes():
        if kind == "equal":
            continue
        added = list(other[start:stop])
        near = max(MIN_NEAR, MAX_PAIRS // (end - begin)) if end > begin else 0
        for before in one[begin:end]:
            rated = [(_likeness(before, after), after) for after in added[:near]]
            best = max(rated, default=(0.0, ""))
            if best[0] >= ALIKE:
                # What stands before the changed sentence was added before it.
                place = added.index(best[1])
                found += [("", after) for after in added[:place]]
                del added[: place + 1]
            found.append((before, best[1] if best[0] >= ALIKE else ""))
        found += [("", after) for after in added]
    return found


def _likeness(one: str, other: str) -> float:
    words, others = one.split(), other.split()
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    # Whatever their order, they cannot be more alike than this, which is quicker to find out.
    if matcher.real_quick_ratio() < ALIKE or (rough := matcher.quick_ratio()) < ALIKE:
        return 0.0
    return rough if max(len(words), len(others)) > MAX_ORDERED_WORDS else matcher.ratio()


def _line(change: Change, names: Sequence[str]) -> str:
    before, after = (f"{it[:MAX_CHARS]}…" if it[MAX_CHARS:] else it for it in change)
    if before and after:
        form = mark("- Changed: “{before}” became “{after}”")
        return tr(form, before=before, after=after)
    return tr("- Only in {name}: “{words}”", name=names[not before], words=before or after)


_WHAT = ("documents", "files", "versions", "contracts", "drafts", "letters", "texts", "reports")
DIFFERENCES = define(
    name="text-differences", label="Tell the differences",
    summary="Tells what changed from one text or document to another: sentences that were added, "
    "left out or changed.",
    ports=(Port("text", (Kind.TEXT, Kind.DOCUMENT), many=True),),
    cues=(
        "what changed", "what has changed", "what's changed", "what was changed",
        "what is different", "what's different", "difference between xfile* and xfile*",
        "compare xfile* and xfile*", "compare xfile* with xfile*", "compare xfile* to xfile*",
        "what are the differences", "differences between", "the differences",
        *(f"{ask} the changes" for ask in ("list", "show", "show me", "find", "tell me",
          "point out", "spot", "give me")),
        "list all changes", "list all the changes", "list changes", "changes between",
        "difference between the two", "difference between these", "how do they differ",
        "how do these differ", "what differs", "compare these two$", "compare the two$",
        "compare them$",
        *(f"compare {which} {two}{noun}" for which in ("these", "the", "my", "both")
          for two in ("", "two ") for noun in _WHAT),
        "vergleiche xfile* mit xfile*", "vergleiche xfile* und xfile*",
        "was hat sich geändert", "was ist anders", "die unterschiede", "unterschiede zwischen",
        "worin unterscheiden",
    ),
    method=tell_differences, note="sentence by sentence (difflib); the order counts",
)  # fmt: skip
