"""The page about all conversations: export, import and deletion."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDate
from PySide6.QtWidgets import QDateEdit, QFileDialog, QWidget

from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.storage.export import SUFFIXES
from jarvis_desktop.ui.history.controller import HistoryController
from jarvis_desktop.ui.request.file_dialogs import file_dialog
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import Section, SelectOption, button, unmoved
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox
from jarvis_desktop.ui.widgets.page import WindowPage

if TYPE_CHECKING:
    from jarvis_desktop.ui.actions import PageContext

FORMS = {
    "html": mark("Page for the browser (HTML)"),
    "markdown": mark("Markdown"),
    "text": mark("Plain text"),
    "json": mark("For JARVIS, to be imported (JSON)"),
}
MEDIA = {
    "inside": mark("Inside the page"),
    "folder": mark("In a folder beside it"),
    "none": mark("Leave them out"),
}
RANGES = {
    "year": mark("Older than a year"),
    "month": mark("Older than a month"),
    "week": mark("The last seven days"),
    "today": mark("Today"),
    "days": mark("Between two days"),
    "all": mark("All of them"),
}


class HistoryPage(WindowPage):
    """The work is done by HistoryController."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(
            tr("Conversations"),
            tr("Your requests and their results are stored on this computer, for you alone."),
        )
        controller = context.actions.history
        assert controller
        self._controller = controller
        self._actions = context.actions
        self.kept = _Kept(lambda: self._actions.go.emit("settings", "history"))
        self.export = _Export(self, controller)
        self.import_ = _Import(self, controller)
        self.delete = _Delete(controller)
        self._parts: dict[str, _Export | _Import | _Delete] = {
            "export": self.export,
            "import": self.import_,
            "delete": self.delete,
        }
        for section in (self.kept, self.export, self.import_, self.delete):
            self.column.addWidget(section)
        self.column.addStretch(1)
        controller.counted.connect(self.kept.show_count)
        controller.counted.connect(self.delete.show_count)

    def appear(self, part: str = "") -> None:
        """Count again, and go to the requested part."""
        self._controller.count()
        self.export.offer()
        self.delete.keep()
        if section := self._parts.get(part):
            self.scroller.ensureWidgetVisible(section)
            section.begin.setFocus()


class _Kept(Section):
    def __init__(self, open_settings: Callable[[], None]) -> None:
        super().__init__(tr("What is kept"))
        self.count = Label(wrap=True)
        settings = button(
            tr("Forget old ones…"), tip=tr("After how many days conversations are forgotten")
        )
        settings.clicked.connect(open_settings)
        self.column.addLayout(hbox((self.count, 1), settings, spacing=theme.space()))

    def show_count(self, conversations: int, turns: int) -> None:
        """Say how much there is."""
        said = trn("{count} conversation", "{count} conversations", conversations)
        asked = trn("{count} request", "{count} requests", turns)
        self.count.setText(
            tr("{conversations}, {requests}", conversations=said, requests=asked)
            if turns
            else tr("Nothing is kept yet.")
        )


class _Export(Section):
    def __init__(self, page: QWidget, controller: HistoryController) -> None:
        super().__init__(
            tr("Export"), tr("To read elsewhere, to keep, or to move to another computer.")
        )
        self._page, self._controller = page, controller
        self.what = SelectOption(tr("Which conversations are exported"))
        self.form = SelectOption(tr("As what it is exported"))
        self.form.offer([(form, tr(words)) for form, words in FORMS.items()], "html")
        self.media = SelectOption(tr("What is done with pictures and other files"))
        self.row(tr("Which"), self.what)
        self.row(tr("As"), self.form)
        self.row(tr("Files"), self.media)
        self.begin = button(tr("Export…"), kind="primary", act=self._choose)
        _at_end(self, self.begin)
        self.form.currentIndexChanged.connect(lambda: self._offer_media())
        self._offer_media()

    def offer(self) -> None:
        """Offer what can be exported now."""
        chosen, opened = self._controller.chosen, self._controller.session.open
        offers = [("all", tr("All conversations"))]
        if opened.id:
            offers.append(("open", tr("The open conversation")))
        if chosen:
            offers.append(("chosen", chosen.name))
        # What is not remembered can be exported while it is open only.
        usual = "open" if opened.id and opened.private else "all"
        self.what.offer(offers, "chosen" if chosen else usual)

    def _offer_media(self) -> None:
        kinds = [kind for kind in MEDIA if kind != "inside" or self.form.value == "html"]
        wished = self.media.value if self.media.value in kinds else kinds[0]
        self.media.offer([(kind, tr(MEDIA[kind])) for kind in kinds], wished)

    def _choose(self) -> None:
        form, media = self.form.value, self.media.value
        ids = {
            "all": None,
            "open": [self._controller.session.open.id or ""],
            "chosen": [self._controller.chosen.id] if self._controller.chosen else None,
        }[self.what.value]
        suffix = SUFFIXES[form]
        dialog = file_dialog(self._page, tr("Export conversations"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(suffix)
        dialog.selectFile(f"JARVIS {date.today():%Y-%m-%d}{suffix}")
        dialog.fileSelected.connect(
            lambda name: self._controller.export(Path(name), form, ids, media)
        )
        dialog.open()


class _Import(Section):
    def __init__(self, page: QWidget, controller: HistoryController) -> None:
        super().__init__(
            tr("Import"),
            tr("Reads conversations that were exported for JARVIS. What is here already stays."),
        )
        self._page, self._controller = page, controller
        self.begin = button(tr("Import…"), act=self._choose)
        _at_end(self, self.begin)

    def _choose(self) -> None:
        dialog = file_dialog(self._page, tr("Import conversations"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([tr("Exported conversations (*.json)"), tr("All files (*)")])
        dialog.fileSelected.connect(lambda name: self._controller.import_from(Path(name)))
        dialog.open()


class _Delete(Section):
    """Deletes after a confirmation; it can be undone for a moment."""

    def __init__(self, controller: HistoryController) -> None:
        super().__init__(
            tr("Delete"), tr("With their files. It can be undone for ten seconds, then never.")
        )
        self._controller = controller
        self._there = 0
        self.which = SelectOption(tr("Which conversations are deleted"))
        self.which.offer([(name, tr(words)) for name, words in RANGES.items()], "year")
        self.row(tr("Which"), self.which)
        self._days = QWidget()
        row = hbox(parent=self._days)
        self.first, self.last = _day(tr("From")), _day(tr("To"))
        for words, field in ((tr("From"), self.first), (tr("To"), self.last)):
            row.addWidget(Label(words))
            row.addWidget(field, 1)
        self.column.addWidget(self._days)
        self.begin = button(tr("Delete…"), kind="risk", act=self._ask)
        _at_end(self, self.begin)
        self._question = QWidget()
        self.question = Label(role="danger", wrap=True)
        self.never_mind = button(tr("Keep them"), act=self.keep)
        self.sure = button(tr("Delete"), kind="risk", act=self._delete)
        hbox(
            (self.question, 1),
            self.never_mind,
            self.sure,
            parent=self._question,
            spacing=theme.space(),
        )
        self.column.addWidget(self._question)
        self.which.currentIndexChanged.connect(lambda: self.keep())
        self.keep()

    def show_count(self, conversations: int, turns: int) -> None:
        """Allow deletion if there is anything to delete."""
        self._there = conversations
        self.begin.setEnabled(conversations > 0)

    def keep(self) -> None:
        """Delete nothing."""
        self._days.setVisible(self.which.value == "days")
        self._question.hide()
        self.begin.show()

    def _ask(self) -> None:
        words = tr(RANGES[self.which.value])
        self.question.setText(tr("Delete the conversations: {which}?", which=words))
        self.begin.hide()
        self._question.show()
        self.never_mind.setFocus()

    def _delete(self) -> None:
        today = date.today()
        first, last = self.first.date().toPython(), self.last.date().toPython()
        since, until = {
            "year": (None, today - timedelta(days=366)),
            "month": (None, today - timedelta(days=31)),
            "week": (today - timedelta(days=6), None),
            "today": (today, None),
            "days": (first, last),
            "all": (None, None),
        }[self.which.value]
        self.keep()
        self._controller.delete_many(since, until)  # type: ignore[arg-type]


def _at_end(section: Section, widget: QWidget) -> None:
    section.column.addLayout(hbox(None, widget))


def _day(name: str) -> QDateEdit:
    field = QDateEdit(QDate(*date.today().timetuple()[:3]))
    field.setObjectName("day")
    field.setAccessibleName(name)
    field.setDisplayFormat("yyyy-MM-dd")
    unmoved(field)
    return field
