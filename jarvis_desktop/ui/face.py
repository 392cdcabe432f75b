"""The window and what stands beside it, as one: made anew when another language is spoken."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from shiboken6 import delete

from jarvis_desktop.start import Wish
from jarvis_desktop.ui.appearance import Appearance
from jarvis_desktop.ui.desktop.presence import Presence
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.session import Session


class Face(QObject):
    """What of JARVIS can be seen. The session lives on beneath it."""

    painted = Signal()
    """A window is on the screen for the first time."""

    def __init__(self, session: Session, appearance: Appearance, kept: Path) -> None:
        """`kept` is the file with the window's place."""
        super().__init__()
        self._session = session
        self._kept = kept
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._renew)
        self._make()
        session.settled.connect(appearance.adopt)
        # What changed the language may be a part of the window, which cannot go while it speaks.
        appearance.relabelled.connect(self._later.start)

    def begin(self, wish: Wish) -> None:
        """Show what the person wants of this start."""
        self.presence.begin(wish)

    def let_end(self) -> None:
        """Closing the window ends JARVIS from now on."""
        self.presence.let_end()

    def close(self) -> None:
        """Take everything from the screen."""
        self._later.stop()
        self.window.hide()
        self.presence.close()

    def _make(self) -> None:
        self.window = MainWindow(self._session, self._kept)
        self.presence = Presence(self.window, self._kept)
        self.window.painted.connect(self._painted)

    def _painted(self) -> None:
        if self.window.is_first_start:
            self.window.begin_first_start()
        # Only now: the engine, which starts by it, keeps Python from what is imported here.
        self.painted.emit()

    def _renew(self) -> None:
        before, quick = self.window, self.presence.quick
        shown, here, asked = before.isVisible(), before.places.here, quick.is_open
        before.keep()
        self.presence.close()
        self._make()
        self.window.take_over(before)
        self.presence.quick.take_over(quick)
        delete(before)
        if shown:
            self.presence.show()
        self._session.greet()
        if here:
            self.window.places.go(here)
        if asked:
            self.presence.quick.appear()
