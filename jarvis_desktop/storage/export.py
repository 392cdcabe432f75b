"""Exports the history: JSON for other programs; Markdown, plain text and HTML for people.

Attachments and results can be included. The HTML page loads nothing and runs nothing: all texts are
escaped, and the page's policy forbids the rest.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.display import encodable, one_line, unused_name
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.expert import TaskResult
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.serialization import plan_to_wire, to_wire
from jarvis_desktop.core.turn import Conversation, Round, Turn
from jarvis_desktop.storage.turn_rows import encoded

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


FORMATS = ("json", "markdown", "text")
"""The text formats; HTML is only written to files."""
FORMAT = "jarvis-desktop history"
VERSION = 1
"""The version of the JSON form, which `import_` reads."""

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~&-])")

Link = Callable[[Artifact], str | None]
"""Returns the link from the text to the file of an artifact; None if it is not included."""


@dataclass(frozen=True, slots=True)
class ExportedConversation:
    """A conversation to be exported."""

    conversation: Conversation
    title: str
    pinned: bool = False


def in_place(artifact: Artifact) -> str | None:
    """Return the path of the file on this computer."""
    return str(artifact.path) if artifact.path else None


def exported(entries: Iterable[ExportedConversation], form: str, link: Link = in_place) -> str:
    """Return the conversations in one of FORMATS. Raises InputError on any other."""
    return "".join(pieces(entries, form, link))


def pieces(
    entries: Iterable[ExportedConversation], form: str, link: Link = in_place
) -> Iterator[str]:
    """Yield the same bit by bit: a history may be larger than memory."""
    match form:
        case "json":
            found = _json(entries, link)
        case "markdown":
            found = (f"{line}\n" for item in entries for line in _markdown(item, link))
        case "text":
            found = (f"{line}\n" for item in entries for line in _plain(item, link))
        case _:
            raise InputError(
                tr("The history cannot be exported as {form}.", form=one_line(form)),
                hint=tr("Choose one of {formats}.", formats=", ".join(FORMATS)),
            )
    return map(encodable, found)


def _json(entries: Iterable[ExportedConversation], link: Link) -> Iterator[str]:
    yield f'{{"format": {json.dumps(FORMAT)}, "version": {VERSION}, "conversations": ['
    for index, entry in enumerate(entries):
        document = {
            "id": entry.conversation.id,
            "title": entry.title,
            "pinned": entry.pinned,
            "turns": [turn_document(turn, link) for turn in entry.conversation.turns],
        }
        text = json.dumps(document, ensure_ascii=False, indent=1)
        yield f"{',' if index else ''}\n{text}"
    yield "\n]}\n"


def turn_document(turn: Turn, link: Link) -> dict[str, Any]:
    """Return a turn with everything saved, ready for JSON."""
    outlines = {path: encoded(item) for path, item in turn.inner_outlines.items()}
    document = to_wire(turn) | {
        "plan": None if turn.plan is None else plan_to_wire(turn.plan, whole=True),
        "outline": None if turn.outline is None else encoded(turn.outline),
        "inner_outlines": outlines,
    }
    for passing in (
        "running",
        "progress",
        "drafts",
        "trying",
        "failed_attempts",
        "trace",
        "speaking",
    ):
        document.pop(passing, None)
    linked: dict[str, Any] = _linked(document, link)
    return linked


def _linked(value: Any, link: Link) -> Any:
    """Return the value with the path of each artifact as a reader finds it."""
    if isinstance(value, list):
        return [_linked(item, link) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("path"), str) and "kind" in value and "text" in value:
        artifact = Artifact(value["kind"], None, Path(value["path"]), value.get("name") or "")
        # The path is private; the store knows its files by name.
        return {**value, "path": link(artifact) or Path(value["path"]).name}
    return {key: _linked(item, link) for key, item in value.items()}


def _markdown(entry: ExportedConversation, link: Link) -> Iterator[str]:
    yield f"# {_escaped(one_line(entry.title))}\n"
    for turn in entry.conversation.turns:
        yield f"## {turn.started:%Y-%m-%d %H:%M}\n"
        yield _quoted(turn.text)
        for line in details(turn, link):
            yield f"- {_escaped(line)}"
        yield f"\n{_escaped(turn.reply)}\n"


def _plain(entry: ExportedConversation, link: Link) -> Iterator[str]:
    for turn in entry.conversation.turns:
        yield f"[{turn.started:%Y-%m-%d %H:%M}] {turn.text}"
        for line in details(turn, link):
            yield f"  - {line}"
        yield f"{turn.reply}\n"


def details(turn: Turn, link: Link) -> Iterator[str]:
    """Yield the attachments, and who did what with what result, a line each."""
    for item in turn.attachments:
        yield f"given: {_file_line(item, link) if link is not in_place else one_line(item.title)}"
    for step in turn.outline or ():
        words = one_line(": ".join(part for part in (step.text, step.note) if part), limit=400)
        yield f"step {step.id} {step.state}: {words}"
    yield from (_round(item, link) for item in turn.rounds.values())
    types = {task.id: task.type.name for task in turn.plan or ()}
    for result in turn.results.values():
        yield _result(result, types.get(result.task_id, f"task {result.task_id}"), link)


def _round(item: Round, link: Link) -> str:
    made = ", ".join(_file_line(each, link) for each in item.artifacts)
    said = one_line(item.observation, limit=400)
    head = f"round {item.number}, {item.path}: {item.branch} {item.status or 'cut off'}"
    return ": ".join(part for part in (head, one_line(item.what, limit=400), said, made) if part)


def _result(result: TaskResult, name: str, link: Link) -> str:
    made = ", ".join(_file_line(item, link) for item in result.artifacts)
    return ": ".join(
        part for part in (f"{name} {result.status}", made, one_line(result.reason)) if part
    )


def _file_line(artifact: Artifact, link: Link) -> str:
    place = link(artifact) if artifact.path else None
    where = f" ({place})" if place else ""
    return one_line(f"{artifact.title}{where}", limit=400)


def _escaped(text: str) -> str:
    """Escape characters that Markdown, or HTML within it, would interpret."""
    return _MARKDOWN.sub(r"\\\1", text)


def _quoted(text: str) -> str:
    return "\n".join(f"> {_escaped(line)}" for line in text.splitlines()) + "\n"


MAX_MARKDOWN_CHARS = 200_000
"""Characters of an answer that is rendered; a longer one is shown as plain text."""

_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' data: file:;
 media-src 'self' data: file:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>JARVIS</title>
<style>
:root { color-scheme: light dark; --text: #1d2126; --muted: #5c636c; --ground: #fcfcfb;
 --soft: #e6ecfb; --on-soft: #1b3a85; --line: #e1e1db; --sunken: #f1f1ee; }
@media (prefers-color-scheme: dark) { :root { --text: #e9ebee; --muted: #a6aeb8; --ground: #16181b;
 --soft: #263352; --on-soft: #cbdaff; --line: #343a41; --sunken: #23272c; } }
body { margin: 0 auto; max-width: 46rem; padding: 2rem 1rem 6rem; color: var(--text);
 background: var(--ground); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 3rem 0 1rem; border-bottom: 1px solid var(--line); }
time, .by { color: var(--muted); font-size: .85rem; }
.asked { background: var(--soft); color: var(--on-soft); border-radius: 1rem;
 padding: .6rem 1rem; margin: .4rem 0 1rem 15%; white-space: pre-wrap; }
.turn { margin: 0 0 2.5rem; }
.turn.pinned { border-inline-start: 3px solid var(--on-soft); padding-inline-start: 1rem; }
pre, code { background: var(--sunken); border-radius: .3rem; }
pre { padding: .7rem; overflow: auto; }
table { border-collapse: collapse; } td, th { border: 1px solid var(--line); padding: .2rem .6rem; }
img, video { max-width: 100%; max-height: 30rem; border-radius: .5rem; }
audio { width: 100%; } figure { margin: .6rem 0; } figcaption { color: var(--muted); }
.plain { white-space: pre-wrap; }
</style></head><body>
"""
_FOOT = "</body></html>\n"


def page(entries: Iterable[ExportedConversation], link: Link) -> Iterator[str]:
    """Yield the page bit by bit. `link` returns the address of a file, which is safe."""
    yield _HEAD
    for entry in entries:
        yield f"<h1>{_as_html(one_line(entry.title))}</h1>\n"
        for turn in entry.conversation.turns:
            yield from _turn(turn, link)
    yield _FOOT


def _turn(turn: Turn, link: Link) -> Iterator[str]:
    mark = " pinned" if turn.pinned else ""
    yield f'<article class="turn{mark}"><time>{turn.started:%Y-%m-%d %H:%M}</time>\n'
    yield f'<div class="asked">{_as_html(turn.text)}</div>\n'
    for item in turn.attachments:
        yield _figure(item, link)
    yield _answer(turn.reply)
    for item in turn.artifacts:
        yield _figure(item, link)
    if lines := list(details(turn, lambda artifact: None)):
        told = "".join(f"<li>{_as_html(line)}</li>" for line in lines)
        who = _as_html(tr("Who did what"))
        yield f'<details class="by"><summary>{who}</summary><ul>{told}</ul></details>\n'
    yield "</article>\n"


def _answer(text: str) -> str:
    text = encodable(text)
    if len(text) > MAX_MARKDOWN_CHARS:
        return f'<div class="plain">{escape(text)}</div>\n'
    laid_out: str = _markdown_html().render(text)
    return f"<div>{laid_out}</div>\n"


def _figure(artifact: Artifact, link: Link) -> str:
    if artifact.path is None:
        return ""
    name, place = _as_html(one_line(artifact.title)), link(artifact)
    if place is None:
        left_out = _as_html(tr("{file} (not included)", file=one_line(artifact.title)))
        return f'<p class="by">{left_out}</p>\n'
    at = escape(place, quote=True)
    match artifact.kind:
        case Kind.IMAGE:
            seen = f'<img src="{at}" alt="{name}" loading="lazy">'
        case Kind.AUDIO:
            seen = f'<audio controls preload="none" src="{at}"></audio>'
        case Kind.VIDEO:
            seen = f'<video controls preload="none" src="{at}"></video>'
        case _:
            return f'<p><a download="{name}" href="{at}">{name}</a></p>\n'
    return f"<figure>{seen}<figcaption>{name}</figcaption></figure>\n"


def _as_html(text: str) -> str:
    return escape(encodable(text), quote=True)


@cache
def _markdown_html() -> MarkdownIt:
    """Return the renderer of answers. HTML stays text, and images are disabled: they would be
    fetched."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


Form = Literal["json", "markdown", "text", "html"]
Media = Literal["none", "folder", "inside"]
"""Whether files are included: not at all, in a folder beside the file, or embedded (HTML only)."""

FORMS: tuple[Form, ...] = ("markdown", "html", "json", "text")
SUFFIXES: dict[Form, str] = {"markdown": ".md", "html": ".html", "json": ".json", "text": ".txt"}
MAX_EMBEDDED_BYTES = 25 * 1000**2
"""Bytes of one embedded file."""
MAX_ALL_EMBEDDED_BYTES = 250 * 1000**2
"""Bytes of all embedded files."""

_TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
    ".webp": "image/webp", ".bmp": "image/bmp", ".wav": "audio/wav", ".mp3": "audio/mpeg",
    ".flac": "audio/flac", ".ogg": "audio/ogg", ".opus": "audio/ogg", ".m4a": "audio/mp4",
    ".mp4": "video/mp4", ".webm": "video/webm",
}  # fmt: skip
_ODD = re.compile(r'[/\\:*?"<>|%#]')


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export."""

    path: Path
    conversations: int
    files: int
    missing: int
    """Files that could not be included: missing, or too large to embed."""


def export_to(
    path: Path,
    form: Form,
    entries: Iterable[ExportedConversation],
    *,
    media: Media,
    holds: Callable[[Path], bool],
) -> Exported:
    """Write conversations to a file, replacing an existing one, all or nothing.

    `holds` recognises files of the store; of others only the name is written. Raises InputError and
    StorageError.
    """
    if media == "inside" and form != "html":
        raise InputError(tr("Only a page for the browser can have the files inside."))
    along = _FileExporter(path, media, holds, quoted=form != "json")
    counted = _CountedEntries(entries)
    text = page(counted, along.link) if form == "html" else pieces(counted, form, along.link)
    fresh = path.with_name(f".{path.name}.new")
    try:
        with fresh.open("w", encoding="utf-8", newline="\n") as file:
            for piece in text:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError):
            fresh.unlink(missing_ok=True)
        reason = getattr(error, "strerror", None) or "it is not a file name"
        raise StorageError(
            tr(
                "{name} could not be written: {reason}.",
                name=one_line(path.name),
                reason=reason.lower(),
            ),
            hint=tr("Choose another folder."),
        ) from error
    return Exported(path, counted.count, along.files, along.missing)


class _CountedEntries:
    """Counts the entries that pass through."""

    def __init__(self, entries: Iterable[ExportedConversation]) -> None:
        self._entries = entries
        self.count = 0

    def __iter__(self) -> Iterator[ExportedConversation]:
        for entry in self._entries:
            self.count += 1
            yield entry


class _FileExporter:
    """Includes the files of artifacts, each content once."""

    def __init__(
        self, path: Path, media: Media, holds: Callable[[Path], bool], *, quoted: bool
    ) -> None:
        """`quoted`: whether links are percent-encoded addresses."""
        # An existing folder may be the user's own.
        self._folder = path.with_name(
            unused_name(
                f"{path.stem} files",
                between=" ",
                taken=lambda name: os.path.lexists(path.with_name(name)),
            )
        )
        self._media = media
        self._holds = holds
        self._quoted = quoted
        self._known: dict[Path, str | None] = {}
        self._names: set[str] = set()
        self._inside = 0
        self.files = 0
        self.missing = 0

    def link(self, artifact: Artifact) -> str | None:
        """Return where the file of an artifact is found from the text."""
        path = artifact.path
        if path is None or self._media == "none":
            return None
        if path not in self._known:
            found = self._bring(path, artifact)
            self._known[path] = found
            self.files += found is not None
            self.missing += found is None
        return self._known[path]

    def _bring(self, path: Path, artifact: Artifact) -> str | None:
        if not self._holds(path):
            return None
        try:
            return self._put_inside(path) if self._media == "inside" else self._copy(path, artifact)
        except FileNotFoundError:  # it was removed in the meantime
            return None

    def _put_inside(self, path: Path) -> str | None:
        size = path.stat().st_size
        if size > MAX_EMBEDDED_BYTES or self._inside + size > MAX_ALL_EMBEDDED_BYTES:
            return None
        self._inside += size
        kind = _TYPES.get(path.suffix, "application/octet-stream")
        return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"

    def _copy(self, path: Path, artifact: Artifact) -> str:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        name = self._name(path, artifact)
        shutil.copyfile(path, self._folder / name)
        place = f"{self._folder.name}/{name}"
        return quote(place) if self._quoted else place

    def _name(self, path: Path, artifact: Artifact) -> str:
        """Return an unused name that is valid on any system."""
        wished = Path(_ODD.sub("_", encodable(one_line(artifact.name, limit=80)))).stem
        stem = wished.strip(" .") or Kind(artifact.kind).value
        name = unused_name(
            stem, path.suffix, between=" ", taken=lambda name: name.casefold() in self._names
        )
        self._names.add(name.casefold())
        return name
