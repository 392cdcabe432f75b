"""Every key that does something: one table by which keys are bound, and in which they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.wording import mark


@dataclass(frozen=True, slots=True)
class Shortcut:
    """What a key does; `name` is given where `bind` binds it, and not where a widget hears it."""

    keys: tuple[str, ...]
    words: str
    name: str = ""


LEFT_TO_RIGHT, AS_BEFORE = "\u2066", "\u2069"
"""Around keys, which are written so in every language."""
ENTER = ("Ctrl+Return", "Ctrl+Enter")
"""Both keys of that name."""

WINDOW: tuple[Shortcut, ...] = (
    Shortcut(("Ctrl+N",), mark("Begin a new conversation"), "begin"),
    Shortcut(("Ctrl+Shift+N",), mark("Begin one that is not remembered"), "aside"),
    Shortcut(("Ctrl+F",), mark("Search your conversations"), "search"),
    Shortcut(("Ctrl+L",), mark("Write a request"), "write"),
    Shortcut(("Ctrl+G",), mark("Switch between a request and a goal"), "goal"),
    Shortcut(("Ctrl+Z",), mark("Take a deletion back"), "undo"),
    Shortcut(("Esc",), mark("Close what is open, refuse what is asked, or stop"), "escape"),
    Shortcut(("Ctrl+Q",), mark("Quit JARVIS"), "quit"),
)
REQUEST: tuple[Shortcut, ...] = (
    Shortcut(("Return",), mark("Send the request")),
    Shortcut(("Shift+Return",), mark("Begin a new line")),
    Shortcut(("F4",), mark("Talk, for as long as it is held")),
)
CONVERSATION: tuple[Shortcut, ...] = (
    Shortcut(("Alt+Up", "Alt+Down"), mark("Go to the message before or after")),
    Shortcut(("Ctrl+C",), mark("Copy the answer")),
    Shortcut(("F2",), mark("Change the request and send it again")),
    Shortcut(("F5",), mark("Have it answered again")),
    Shortcut(("Delete",), mark("Delete the message")),
)
PLAN: tuple[Shortcut, ...] = (
    Shortcut(ENTER[:1], mark("Do it by the plan as it stands")),
    Shortcut(("Return",), mark("Open the step")),
    Shortcut(("Alt+Up", "Alt+Down"), mark("Move the step")),
    Shortcut(("Delete",), mark("Remove the step")),
    Shortcut(("Ctrl+Z", "Ctrl+Shift+Z"), mark("Undo and redo")),
)
PICTURE: tuple[Shortcut, ...] = (
    Shortcut(("PgUp", "PgDown"), mark("Go to the picture before or after")),
    Shortcut(("+", "-"), mark("Make it larger or smaller")),
    Shortcut(("0", "1"), mark("Show the whole picture, or all its pixels")),
    Shortcut(("R",), mark("Turn it")),
    Shortcut(("Ctrl+S",), mark("Keep a copy")),
)
QUICK: tuple[Shortcut, ...] = (
    Shortcut(ENTER, mark("Go on in the window"), "window"),
    Shortcut(("Ctrl+N",), mark("Begin anew"), "begin"),
    Shortcut(("Esc",), mark("Stop, or close it"), "escape"),
)
GROUPS: tuple[tuple[str, tuple[Shortcut, ...]], ...] = (
    (mark("Everywhere in the window"), WINDOW),
    (mark("While you write"), REQUEST),
    (mark("In a message"), CONVERSATION),
    (mark("In a plan"), PLAN),
    (mark("In an enlarged picture"), PICTURE),
    (mark("In the quick box"), QUICK),
)


def bind(
    widget: QWidget, table: tuple[Shortcut, ...], **acts: Callable[..., object]
) -> list[QShortcut]:
    """Bind those keys of a table whose names are given to what they do."""
    named = {each.name: each for each in table if each.name}
    made = []
    for name, act in acts.items():
        for keys in named[name].keys:
            shortcut = QShortcut(QKeySequence(keys), widget)
            shortcut.activated.connect(act)
            made.append(shortcut)
    return made


def shown(keys: str) -> str:
    """A key as it is written on the person's keyboard."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
