"""The files that will go with the next request: dropped, pasted or chosen, and shown as chips."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.wording import tr, trn
from jarvis_desktop.storage.offers import MOST, Offered
from jarvis_desktop.ui.look.flow import FlowLayout
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.request.chips import FileChip
from jarvis_desktop.ui.request.offering import Offering

if TYPE_CHECKING:
    from jarvis_desktop.ui.session import Session

SHOWN = 12
"""Chips that are shown; further ones are counted."""


class Attachments(QWidget):
    """There only while it holds something."""

    changed = Signal()
    """Other files are attached, or `looks` is another."""
    typed = Signal(str)
    """Carries a text or addresses that belong into the field."""
    refused = Signal(str)
    """Carries why something cannot be attached."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._chips: dict[Path, FileChip] = {}
        self._flow = FlowLayout(self)
        self._offering = Offering(session, self)
        self._offering.offered.connect(self._attach)
        self._offering.looking.connect(self._show_looking)
        self._offering.typed.connect(self.typed)
        self._offering.refused.connect(self.refused)
        self.looks = False
        """Whether something is looked over that may come to it."""
        self.more = Label(role="small")
        self.clear_all = IconButton(
            "close", tr("Remove all files"), kind="quiet", text=tr("Remove all")
        )
        self.clear_all.clicked.connect(self._drop_all)
        self._show()

    def files(self) -> tuple[Path, ...]:
        """The files, in the order in which they came."""
        return tuple(self._chips)

    def take(self, held: QMimeData) -> bool:
        """Take what is dropped or pasted; False where nothing of it can be used."""
        return self._offering.take(held, room=MOST - len(self._chips))

    def offer(self, files: Sequence[Path]) -> None:
        """Attach files and those in folders, once they were looked over."""
        self._offering.offer(files, room=MOST - len(self._chips))

    def take_over(self, other: Attachments) -> None:
        """Hold what another one holds, which holds nothing any more."""
        self._offering.take_over(other._offering)
        self._attach([chip.offered for chip in other._chips.values()])
        other.clear()

    def clear(self) -> None:
        """They went with a request."""
        for path in self.files():
            self._remove(path)
        self._show()

    def _attach(self, files: Sequence[Offered]) -> None:
        for offered in files:
            if offered.path not in self._chips and len(self._chips) < MOST:
                chip = FileChip(offered)
                chip.removed.connect(self._drop)
                self._chips[offered.path] = chip
        self._show()

    def _drop(self, path: Path) -> None:
        self._remove(path)
        self._offering.forget(path)
        self._show()

    def _drop_all(self) -> None:
        for path in self.files():
            self._offering.forget(path)
        self.clear()

    def _remove(self, path: Path) -> None:
        chip = self._chips.pop(path)
        self._flow.removeWidget(chip)
        chip.hide()
        chip.deleteLater()

    def _show_looking(self, looking: bool) -> None:
        self.looks = looking
        self.changed.emit()

    def _show(self) -> None:
        chips = list(self._chips.values())
        while self._flow.takeAt(0):
            pass
        more = max(0, len(chips) - SHOWN)
        self.more.setText(trn("and {count} more", "and {count} more", more))
        for widget in (*chips, self.more, self.clear_all):
            self._flow.addWidget(widget)
        for index, chip in enumerate(chips):
            chip.setVisible(index < SHOWN)
        self.more.setVisible(more > 0)
        self.clear_all.setVisible(len(chips) > 1)
        self.setVisible(bool(chips))
        self.changed.emit()
