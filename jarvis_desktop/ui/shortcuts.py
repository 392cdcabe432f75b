"""All keyboard shortcuts: one table that binds them and that the user can read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.i18n import mark


@dataclass(frozen=True, slots=True)
class WindowShortcut:
    """A shortcut. It has a `name` if `bind` binds it, and none if a widget handles it."""

    keys: tuple[str, ...]
    words: str
    name: str = ""


LEFT_TO_RIGHT, AS_BEFORE = "\u2066", "\u2069"
"""Marks around keys; the keys are written the same in every language."""
ENTER = ("Ctrl+Return", "Ctrl+Enter")
"""The two Enter keys."""

WINDOW: tuple[WindowShortcut, ...] = (
    WindowShortcut(("Ctrl+N",), mark("Begin a new conversation"), "begin"),
    WindowShortcut(("Ctrl+Shift+N",), mark("Start a private conversation"), "aside"),
    WindowShortcut(("Ctrl+F",), mark("Search your conversations"), "search"),
    WindowShortcut(("Ctrl+L",), mark("Write a request"), "write"),
    WindowShortcut(("Ctrl+G",), mark("Switch between a request and a goal"), "goal"),
    WindowShortcut(("Ctrl+Z",), mark("Take a deletion back"), "undo"),
    WindowShortcut(("Esc",), mark("Close what is open, refuse what is asked, or stop"), "escape"),
    WindowShortcut(("Ctrl+Q",), mark("Quit JARVIS"), "quit"),
)
REQUEST: tuple[WindowShortcut, ...] = (
    WindowShortcut(("Return",), mark("Send the request")),
    WindowShortcut(("Shift+Return",), mark("Begin a new line")),
    WindowShortcut(("F4",), mark("Talk, for as long as it is held")),
)
CONVERSATION: tuple[WindowShortcut, ...] = (
    WindowShortcut(("Alt+Up", "Alt+Down"), mark("Go to the message before or after")),
    WindowShortcut(("Ctrl+C",), mark("Copy the answer")),
    WindowShortcut(("F2",), mark("Change the request and send it again")),
    WindowShortcut(("F5",), mark("Have it answered again")),
    WindowShortcut(("Delete",), mark("Delete the message")),
)
PLAN: tuple[WindowShortcut, ...] = (
    WindowShortcut(ENTER[:1], mark("Run the plan as it is")),
    WindowShortcut(("Return",), mark("Open the step")),
    WindowShortcut(("Alt+Up", "Alt+Down"), mark("Move the step")),
    WindowShortcut(("Delete",), mark("Remove the step")),
    WindowShortcut(("Ctrl+Z", "Ctrl+Shift+Z"), mark("Undo and redo")),
)
PICTURE: tuple[WindowShortcut, ...] = (
    WindowShortcut(("PgUp", "PgDown"), mark("Go to the picture before or after")),
    WindowShortcut(("+", "-"), mark("Make it larger or smaller")),
    WindowShortcut(("0", "1"), mark("Show the whole picture, or all its pixels")),
    WindowShortcut(("R",), mark("Turn it")),
    WindowShortcut(("Ctrl+S",), mark("Keep a copy")),
)
QUICK: tuple[WindowShortcut, ...] = (
    WindowShortcut(ENTER, mark("Continue in the window"), "window"),
    WindowShortcut(("Ctrl+N",), mark("Start over"), "begin"),
    WindowShortcut(("Esc",), mark("Stop, or close it"), "escape"),
)
GROUPS: tuple[tuple[str, tuple[WindowShortcut, ...]], ...] = (
    (mark("Everywhere in the window"), WINDOW),
    (mark("While you write"), REQUEST),
    (mark("In a message"), CONVERSATION),
    (mark("In a plan"), PLAN),
    (mark("In an enlarged picture"), PICTURE),
    (mark("In the quick box"), QUICK),
)


def bind(
    widget: QWidget, table: tuple[WindowShortcut, ...], **acts: Callable[..., object]
) -> list[QShortcut]:
    """Bind the shortcuts of a table to the functions given by name."""
    named = {each.name: each for each in table if each.name}
    made = []
    for name, act in acts.items():
        for keys in named[name].keys:
            shortcut = QShortcut(QKeySequence(keys), widget)
            shortcut.activated.connect(act)
            made.append(shortcut)
    return made


def shown(keys: str) -> str:
    """Return a key as it is labelled on the user's keyboard."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
