"""The history as a page for a browser. Whatever a text says, the page loads nothing, runs nothing
and shows only what was written: all of it is escaped, and the page itself forbids the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.shown import encodable, one_line
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import tr
from jarvis_desktop.storage.export import Entry, Link, details

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

LONGEST = 200_000
"""Characters of an answer that is laid out; a longer one is shown as it is."""

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


def page(entries: Iterable[Entry], link: Link) -> Iterator[str]:
    """The page, bit by bit. `link` gives the address of a file, which is ours and safe."""
    yield _HEAD
    for entry in entries:
        yield f"<h1>{_shown(one_line(entry.title))}</h1>\n"
        for turn in entry.conversation.turns:
            yield from _turn(turn, link)
    yield _FOOT


def _turn(turn: Turn, link: Link) -> Iterator[str]:
    mark = " pinned" if turn.pinned else ""
    yield f'<article class="turn{mark}"><time>{turn.started:%Y-%m-%d %H:%M}</time>\n'
    yield f'<div class="asked">{_shown(turn.text)}</div>\n'
    for item in turn.attachments:
        yield _figure(item, link)
    yield _answer(turn.reply)
    for item in turn.artifacts:
        yield _figure(item, link)
    if lines := list(details(turn, lambda artifact: None)):
        told = "".join(f"<li>{_shown(line)}</li>" for line in lines)
        who = _shown(tr("Who did what"))
        yield f'<details class="by"><summary>{who}</summary><ul>{told}</ul></details>\n'
    yield "</article>\n"


def _answer(text: str) -> str:
    text = encodable(text)
    if len(text) > LONGEST:
        return f'<div class="plain">{escape(text)}</div>\n'
    laid_out: str = _markdown().render(text)
    return f"<div>{laid_out}</div>\n"


def _figure(artifact: Artifact, link: Link) -> str:
    if artifact.path is None:
        return ""
    name, place = _shown(one_line(artifact.title)), link(artifact)
    if place is None:
        left_out = _shown(tr("{file} (not included)", file=one_line(artifact.title)))
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


def _shown(text: str) -> str:
    return escape(encodable(text), quote=True)


@cache
def _markdown() -> MarkdownIt:
    """Lays answers out. HTML in them stays text; a picture of theirs would be fetched from
    somewhere."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
