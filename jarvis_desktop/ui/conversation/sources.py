"""What an answer rests on: the files and texts that its steps were given, as chips at its end."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.look import icons
from jarvis_desktop.ui.look.flow import FlowLayout
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.look.text import Label

MOST = 12


def sources(turn: Turn) -> tuple[Artifact, ...]:
    """The files that steps which gave a result were given, each once."""
    found: dict[Path, Artifact] = {}
    for task in turn.plan or ():
        result = turn.results.get(task.id)
        if result and result.status is Status.DONE:
            for _, item in task.items():
                if isinstance(item, Artifact) and item.path and item.made_by is None:
                    found.setdefault(item.path, item)
    return tuple(found.values())


class Sources(QWidget):
    """A line of chips; a click opens what a chip stands for."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        self._drawn: tuple[Artifact, ...] = ()
        self._flow = FlowLayout(self, gap=6)
        self.hide()

    def draw(self, turn: Turn) -> None:
        """Show the sources of an answer that is there."""
        known = sources(turn) if turn.reply and turn.status else ()
        if known == self._drawn:
            return
        self._drawn = known
        while item := self._flow.takeAt(0):
            if old := item.widget():
                old.hide()
                old.deleteLater()
        chips = [self._chip(artifact) for artifact in known[:MOST]]
        told = Label(tr("Based on"), role="small")
        told.setFixedHeight(chips[0].sizeHint().height() if chips else 0)  # in line with them
        for widget in (told, *chips):
            self._flow.addWidget(widget)
        if len(known) > MOST:
            more = tr("and {count} more", count=len(known) - MOST)
            self._flow.addWidget(Label(more, role="small"))
        self.setVisible(bool(known))

    def _chip(self, artifact: Artifact) -> IconButton:
        name = one_line(artifact.title, limit=40)
        chip = IconButton(
            icons.FOR_KIND[artifact.kind],
            tr("Open {name}, on which the answer is based", name=name),
            kind="source",
            text=name.replace("&", "&&"),
            tip=tr("Open"),
        )
        chip.setIconSize(QSize(14, 14))
        chip.clicked.connect(lambda: self._actions.open(self, artifact))
        return chip
