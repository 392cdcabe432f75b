"""The task that edits texts line by line: replaces words, sorts, numbers or leaves out lines."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.documents.to_text import text_of
from jarvis_desktop.tasks.naming import original_stem
from jarvis_desktop.text.line_edits import edit_text, read_edits

_CASES = ("upper case", "uppercase", "capital letters", "capitals", "caps", "all caps",
          "lower case", "lowercase", "small letters")  # fmt: skip
PLAIN = (".txt", ".md", ".markdown", ".log", ".srt", ".vtt", ".tex", ".rst", ".ini")
"""Endings that a new file keeps; others become .txt."""


def edit_lines(call: Call, report: Report) -> Iterable[Artifact]:
    """Return each edited text as a file, or what is collected of all texts as one. Raises
    ExpertError for wishes that need understanding, and InputError if nothing would change."""
    edits = read_edits(call.words("wish"))
    if not edits:
        raise ExpertError(
            tr("Changing that in a text needs a language model."),
            hint=tr(
                "What works without: “replace … with …”, sort, number or reverse the lines, remove "
                "empty or repeated ones, keep those with a word, capital letters."
            ),
        )
    items = call.inputs["text"]
    before = [text_of(item, report, call.workdir) for item in items]
    if len(items) > 1 and any(edit.collects for edit in edits):
        whole = "".join(text if text.endswith("\n") else f"{text}\n" for text in before)
        return [_written(edit_text(whole, edits), items[0], call.workdir / "collected")]
    made = [
        _written(after, item, call.workdir / f"edited-{number}")
        for number, (item, text) in enumerate(zip(items, before, strict=True))
        if (after := edit_text(text, edits)) != text
    ]
    if not made:
        names = ", ".join(item.title for item in items[:4])
        raise InputError(
            tr("That changes nothing in {name}.", name=names), hint=tr("Look at the spelling.")
        )
    return made


def _written(text: str, item: Artifact, to: Path) -> Artifact:
    """Write the edited text as a new file."""
    name = item.title if item.path else ""
    suffix = PurePath(name).suffix.lower()
    stem = original_stem(name, ("edited",)) or "text"
    name = f"{stem}-edited{suffix if suffix in PLAIN else '.txt'}"
    path = to.with_suffix(PurePath(name).suffix)
    path.write_text(text, "utf-8", newline="\n")
    return Artifact(Kind.DOCUMENT, path=path, name=name)


LINE_EDITING = define(
    name="edit-text", label="Edit text",
    summary="Edits the lines of a text: replaces words, sorts, numbers, reverses or leaves out "
    "lines, keeps the headings, changes to capital letters.",
    ports=(Port("text", (Kind.TEXT, Kind.DOCUMENT), many=True),), gives=(Kind.DOCUMENT,),
    options=(TaskOption("wish", "what to change", "", reads="own-words"),),
    cues=(
        *(f"{drop} {the}{doubles}" for drop in ("drop", "delete", "leave out") for the in
          ("", "the ", "all ") for doubles in ("duplicates", "doubles", "repeated lines")),
        "replace ... with", "replace ... by", "replace every ... with", "replace all ... with",
        "sort ... by name", "sort ... alphabetically", "sort the lines", "sort these lines",
        "sort the names", "remove duplicates", "remove the duplicates", "number the lines",
        "number all lines", "number its lines",
        "add line numbers", "line numbers", "reverse the lines", "in reverse order",
        *(
            f"{leave_out} {which}{kind} lines"
            for leave_out, which in (("remove", ""), ("remove", "the "), ("delete", ""),
                                     ("delete", "the "), ("without", ""), ("without", "the "))
            for kind in ("empty", "blank", "duplicate", "repeated")
        ),
        "todo item*", "to-do item*", "my todos", "my to-dos", "the todos", "all todos",
        "all the todos", "all the todo*",
        *(f"all {the}lines {that}" for the in ("", "the ") for that in
          ("with", "that contain", "that have", "that mention", "containing", "mentioning")),
        "keep only the lines", "only the lines", "remove all lines", "remove the lines",
        "delete the lines", "all the headings", "only the headings", "all headings",
        *(
            f"{to} {case}"
            for to in ("to", "into", "in", "in all", "convert ... to")
            for case in _CASES
        ),
        *(f"make {it} {case}" for case in _CASES
          for it in ("it", "it all", "everything", "them", "them all", "all of it", "the text")),
        "^number them", "^number it", "^number the rest",
        "^number the others",
        "^number the remaining", "only the lines with ... are left", "filter the lines",
        "ersetze ... durch", "sortiere ... alphabetisch",
        "in großbuchstaben", "in kleinbuchstaben", "sort xfile*xdocument",
    ),
    method=edit_lines, note="by rules, and nothing else",
)  # fmt: skip
