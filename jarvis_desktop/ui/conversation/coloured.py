"""The colours of code that is shown: they come later than the code, and never hold it up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat

from jarvis_desktop.ui.bridge import Outcome
from jarvis_desktop.ui.look import theme

if TYPE_CHECKING:
    from jarvis_desktop.ui.conversation.code_text import CodeText
    from jarvis_desktop.ui.conversation.colouring import Lines
    from jarvis_desktop.ui.media.media import Media

MOST_COLOURED = 12_000
"""Characters of a text that are coloured: more would hold up the window."""
PAUSE = 150
"""Milliseconds between two looks at a text that grows."""


class Coloured(QSyntaxHighlighter):
    """Colours one CodeText."""

    def __init__(self, view: CodeText, media: Media) -> None:
        super().__init__(view.document())
        self._view, self._media = view, media
        self._language = self._read = ""
        self._lines: Lines = ()
        self._formats: dict[str, QTextCharFormat] = {}
        self._asking = False
        self._later = QTimer(self, interval=PAUSE, singleShot=True)
        self._later.timeout.connect(self._ask)

    def follow(self, language: str) -> None:
        """The code is in this language, and may have changed."""
        words = language.split()
        self._language = words[0].lower().strip("{}.,") if words else ""
        if not self._text.startswith(self._read):
            self._read, self._lines = "", ()
            self.rehighlight()
        if not self._language or not self._view.isVisible():
            return
        known = self._media.code.known(self._text, self._language)
        if known is not None:
            self._show(self._text, known)
        elif not self._later.isActive() and not self._asking:
            self._later.start()

    def recolour(self) -> None:
        """Take the colours of the theme that is worn now."""
        self._formats.clear()
        if self._lines:
            self.rehighlight()

    def highlightBlock(self, line: str) -> None:
        """Colour a line, as Qt asks for it."""
        number = self.currentBlock().blockNumber()
        for start, length, colour in self._lines[number] if number < len(self._lines) else ():
            self.setFormat(start, length, self._format(colour))

    @property
    def _text(self) -> str:
        """Whole lines of it, as many as are coloured."""
        text = self._view.toPlainText()
        if len(text) <= MOST_COLOURED:
            return text
        return text[: text.rfind("\n", 0, MOST_COLOURED) + 1]

    def _format(self, colour: str) -> QTextCharFormat:
        if colour not in self._formats:
            made = QTextCharFormat()
            made.setForeground(theme.colour(colour))
            self._formats[colour] = made
        return self._formats[colour]

    def _ask(self) -> None:
        text, language = self._text, self._language
        if not text or text == self._read:
            return
        self._asking = True

        def tell(outcome: Outcome) -> None:
            self._asking = False
            if outcome.error or outcome.cancelled:
                return
            if language == self._language and self._text.startswith(text):
                self._show(text, outcome.value)
            if text != self._text or language != self._language:
                self._later.start()

        self._media.ask(self, lambda: self._media.code.words(text, language), tell)

    def _show(self, text: str, lines: Lines) -> None:
        self._read, self._lines = text, lines
        self.rehighlight()
