"""Controls of the dictation settings: the replacements, and the last dictations."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.session import AppJobs
from jarvis_desktop.ui.settings.schema import RowContext, SettingsRow
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import GrowingTextField, SettingsPanel, button
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label
from jarvis_desktop.ui.widgets.layout import clear, hbox, vbox

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.storage.dictations import KeptDictation

EXAMPLE = mark("my mail = anna@example.org")
NO_SIGN = mark("There is no “=” in “{line}”.")
NONE_KEPT = mark("None. What you dictate is listed here.")
MOST_SHOWN = 10


class ReplacementLines(SettingsPanel):
    """One replacement on each line."""

    changed = Signal(object)

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self.field = field = GrowingTextField(tr(row.title), tr(EXAMPLE), role="field")
        field.setAccessibleDescription(tr(row.help))
        field.entered.connect(lambda: field.insertPlainText("\n"))
        field.focused.connect(lambda focused: None if focused else self.leave())
        self.column.addWidget(self.field)
        self.setFocusProxy(self.field)

    def show_value(self, value: Sequence[str]) -> None:
        """Show the replacements, unless the user is typing."""
        if not self.field.hasFocus():
            self.field.setPlainText("\n".join(value))

    def leave(self) -> None:
        """Take what was typed."""
        lines = [line.strip() for line in self.field.toPlainText().splitlines() if line.strip()]
        wrong = next((line for line in lines if not line.partition("=")[1]), None)
        self.complain(tr(NO_SIGN, line=one_line(wrong, limit=60)) if wrong else "")
        if self.field.document().isModified():
            self.field.document().setModified(False)
            self.changed.emit(tuple(lines))


class LastDictations(SettingsPanel):
    """The last dictations, to be copied or forgotten."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._jobs = AppJobs(hands.context.session, self)
        self._rows = vbox(spacing=theme.space("half"))
        self.column.addLayout(self._rows)
        self.forget = button(tr("Forget all"), tr("Forget all dictations"))
        self.forget.clicked.connect(self._forget)
        self.column.addWidget(self.forget, alignment=Qt.AlignmentFlag.AlignLeading)
        self.setFocusProxy(self.forget)
        self._show(Outcome(()))
        hands.context.session.settled.connect(self.appear)

    def appear(self) -> None:
        """Read them."""
        self._jobs.start("read", lambda app: asyncio.to_thread(app.dictation.log.kept), self._show)

    def _forget(self) -> None:
        async def forget(app: Application) -> Sequence[KeptDictation]:
            await asyncio.to_thread(app.dictation.log.clear)
            return ()

        self._jobs.start("forget", forget, self._show)

    def _show(self, outcome: Outcome) -> None:
        kept: Sequence[KeptDictation] = outcome.value or ()
        clear(self._rows)
        for each in kept[:MOST_SHOWN]:
            text = ElidedLabel(one_line(each.text, limit=300))
            copy = IconButton("copy", tr("Copy: {text}", text=one_line(each.text, limit=60)))
            copy.clicked.connect(partial(QGuiApplication.clipboard().setText, each.text))
            line = QWidget()
            hbox((text, 1), copy, parent=line, spacing=theme.space())
            self._rows.addWidget(line)
        if not kept:
            self._rows.addWidget(Label(tr(NONE_KEPT), role="small", wrap=True))
        self.forget.setEnabled(bool(kept))
