"""What is looked for among the experts: words, and conditions."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from jarvis_desktop.catalogue.fits import Level
from jarvis_desktop.catalogue.searching import Hit, Sought
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.tasks.language_identification import NAMES
from jarvis_desktop.ui.look import icons, phrases, theme
from jarvis_desktop.ui.look.flow import FlowLayout
from jarvis_desktop.ui.look.section import Choice, Tick

LICENCES = (
    ("", mark("Any licence")),
    ("apache-2.0", "Apache 2.0"),
    ("mit", "MIT"),
    ("bsd*", "BSD"),
    ("cc-by-*", mark("Creative Commons")),
    ("*openrail*", "OpenRAIL"),
)
SIZES = (
    ("0", mark("Any size")),
    ("100", mark("Up to 100 MB")),
    ("500", mark("Up to 500 MB")),
    ("2000", mark("Up to 2 GB")),
    ("8000", mark("Up to 8 GB")),
)
LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "cs", "tr", "uk", "ru", "ar", "he",
    "hi", "ja", "ko", "zh",
)  # fmt: skip
SORTS = (
    ("", mark("Best match first")),
    ("small", mark("Smallest first")),
    ("downloads", mark("Most downloaded first")),
)

RANKS = {Level.SLOWLY: 1, Level.UNKNOWN: 2, Level.SERVED: 3, Level.NO: 4}
"""What comes later where nothing is searched for."""


class Filters(QWidget):
    """A field and a few choices."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.space())
        self.words = QLineEdit()
        self.words.setPlaceholderText(tr("What should it do? For example: describe pictures"))
        self.words.setAccessibleName(tr("Search for experts"))
        self.words.addAction(
            icons.icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition
        )
        self.words.textChanged.connect(self.changed)
        column.addWidget(self.words)
        held = QWidget()
        flow = FlowLayout(held, gap=theme.space())
        self.task = Choice(tr("Task"))
        self.task.offer([("", tr("Any task"))], "")
        self.language = Choice(tr("Language"))
        named = sorted((tr(NAMES[code]), code) for code in LANGUAGES)
        self.language.offer([("", tr("Any language")), *((code, said) for said, code in named)], "")
        self.licence = Choice(tr("Licence"))
        self.licence.offer([(key, tr(said)) for key, said in LICENCES], "")
        self.largest = Choice(tr("Size of the download"))
        self.largest.offer([(key, tr(said)) for key, said in SIZES], "0")
        self.sort = Choice(tr("Order of the list"))
        self.sort.offer([(key, tr(said)) for key, said in SORTS], "")
        for choice in (self.task, self.language, self.licence, self.largest, self.sort):
            choice.setMinimumContentsLength(14)
            choice.activated.connect(self.changed)
            flow.addWidget(choice)
        self.fits = Tick(
            tr("Fits this computer"), tr("Leaves out what would find no room in the memory.")
        )
        self.fits.setMinimumHeight(self.task.sizeHint().height())
        self.fits.toggled.connect(self.changed)
        flow.addWidget(self.fits)
        column.addWidget(held)

    def offer_tasks(self, tasks: Sequence[TaskType]) -> None:
        """Offer these tasks."""
        named = sorted((phrases.upper_first(tr(each.title)), each.name) for each in tasks)
        chosen = self.task.value or ""
        self.task.offer([("", tr("Any task")), *((key, said) for said, key in named)], chosen)

    def sought(self, *, limit: int) -> Sought:
        """What is looked for now."""
        return Sought(
            words=self.words.text().strip(),
            task=self.task.value or "",
            licence=self.licence.value or "",
            max_mb=int(self.largest.value or 0),
            language=self.language.value or "",
            fits=self.fits.isChecked(),
            limit=limit,
        )

    def sorted(self, hits: Sequence[Hit]) -> list[Hit]:
        """In the order that is wanted."""
        match self.sort.value:
            case "small":
                return sorted(hits, key=lambda hit: hit.expert.whole_mb or 1 << 40)
            case "downloads":
                return sorted(hits, key=lambda hit: -hit.expert.downloads)
        if not self.words.text().strip():  # nothing matches better than anything else
            return sorted(hits, key=lambda hit: RANKS.get(hit.fit.level, 0))
        return list(hits)
