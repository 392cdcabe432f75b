"""What widgets and pages share: the actions that the window carries out, and its main parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from jarvis_desktop.ui.media.controller import MediaController

if TYPE_CHECKING:
    from jarvis_desktop.core.artifact import Artifact
    from jarvis_desktop.ui.history.controller import HistoryController
    from jarvis_desktop.ui.plan.controller import PlanController
    from jarvis_desktop.ui.session import WindowSession
    from jarvis_desktop.ui.settings.controller import SettingsController
    from jarvis_desktop.ui.voice.talk import TalkController


class Actions(QObject):
    """The actions that widgets request, as one object that all widgets of a window share."""

    open_file = Signal(object)
    """Open this file (a Path) with its usual program."""
    show_folder = Signal(object)
    """Open the folder that holds this file (a Path)."""
    save_as = Signal(object)
    """Save a copy of this Artifact where the user chooses."""
    attach = Signal(object)
    """Add this file (a Path) to the next request."""
    enlarge = Signal(object)
    """Show this picture (an Artifact) large."""
    copy_text = Signal(str)
    """Put this text on the clipboard."""
    go = Signal(str, str)
    """Show the page of that name, and the part of it that the second text names."""
    silence = Signal()
    """Stop speaking."""
    open_link = Signal(str)
    """Open this address, of a web page or for a letter, with the desktop."""
    save_text = Signal(str, str)
    """Save a text (the second) where the user chooses; the first is the suggested file name."""
    read_aloud = Signal(object)
    """Read the answer of this Turn aloud, or stop reading it."""
    reading = Signal(object)
    """Emitted by the window: the answer of this Turn is being read aloud, or none if None."""
    edit_turn = Signal(object)
    """Put the request of this Turn into the input again."""
    answer_again = Signal(object)
    """Ask for the request of this Turn again."""
    stop_turn = Signal(object)
    """Stop this Turn."""
    delete_turn = Signal(object)
    """Delete this Turn."""
    pin_turn = Signal(object, bool)
    """Mark this Turn in the history, or unmark it."""

    history: HistoryController | None = None
    """Lists, exports and deletes conversations, if there is a window."""
    plans: PlanController | None = None
    """Edits plans, if there is an application to run them."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.media = MediaController(self)
        """Reads files and plays them."""

    def open(self, who: QObject, artifact: Artifact) -> None:
        """Open a file with its usual program, as long as `who` exists."""
        self.media.lend(who, artifact, self.open_file.emit)


@dataclass(frozen=True, slots=True)
class PageContext:
    """The parts of the window that a page works with."""

    session: WindowSession
    talker: TalkController
    actions: Actions
    settings: SettingsController
