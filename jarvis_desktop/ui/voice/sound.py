"""In the settings of the voice: a sentence, to hear how it sounds."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout

from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.bridge import Outcome, unexpected
from jarvis_desktop.ui.look import phrases, theme
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.settings.rows import Hands, Row
from jarvis_desktop.ui.voice.desk import Look
from jarvis_desktop.ui.voice.panel import Panel

HEAR = mark("Hear a sentence")
TOLD = mark("One sentence is spoken as an answer is.")


class SentencePanel(Panel):
    """Says a sentence in the voice that is chosen."""

    def __init__(self, row: Row, hands: Hands) -> None:
        super().__init__(tr(row.title))
        self._desk = desk = hands.voice
        self._settings = hands.settings
        line = QHBoxLayout()
        line.setSpacing(theme.space())
        self.say = button(tr(HEAR))
        self.say.clicked.connect(self._toggle)
        self.told = Label(tr(TOLD), role="small", wrap=True)
        line.addWidget(self.say)
        line.addWidget(self.told, 1)
        self.column.addLayout(line)
        self.setFocusProxy(self.say)
        desk.said.connect(self._said)
        desk.looked.connect(self._looked)

    def leave(self) -> None:
        """Be silent."""
        self._desk.stop("sentence")

    def _looked(self, look: Look) -> None:
        lacking = look.lacking
        self.complain(
            tr("{lacking} The system’s own voice speaks meanwhile.", lacking=lacking)
            if lacking
            else ""
        )

    def _toggle(self) -> None:
        if self._desk.does("sentence"):
            self.leave()
            return
        self._settings.write()
        self.complain("")
        self.told.setText(tr("It is about to be heard…"))
        self.say.setText(tr("Silence"))
        self.say.setAccessibleName(tr("Silence the sentence"))
        self._desk.say()

    def _said(self, outcome: Outcome) -> None:
        self.say.setText(tr(HEAR))
        self.say.setAccessibleName(tr(HEAR))
        self.told.setText(tr(TOLD))
        if outcome.value is not None:
            self.told.setText(
                tr(
                    "It began after {time}, and was played. Not heard? See the volume of your "
                    "system, and that the right loudspeaker is chosen.",
                    time=phrases.seconds(outcome.value),
                )
            )
        elif not outcome.cancelled:
            self.complain(str(outcome.error or unexpected()))
