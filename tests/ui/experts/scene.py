"""The page of experts and LLMs, by itself, over an expert manager without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.ui.actions import Actions, PageContext
from jarvis_desktop.ui.engine import EngineThread
from jarvis_desktop.ui.experts.list_item import ExpertListItem
from jarvis_desktop.ui.experts.page import ExpertsPage
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.settings.controller import SettingsController
from tests.fake_fetcher import FakeFetcher
from tests.fake_house import FakeHouse, fake_expert_manager
from tests.ui.scene import FakeApp, no_llms

WEIGHTS = ("*.json", "*.safetensors")
TRANSLATOR = Expert(
    "opus-en-fr",
    "translation",
    "Translates English into French.",
    download_mb=300,
    licence="Apache-2.0",
    languages=("en", "fr"),
    verified=True,
    repo="someone/opus-en-fr",
    files=WEIGHTS,
    memory_mb=1000,
    downloads=1200,
)
PAINTER = Expert(
    "painter",
    "text-to-image",
    "Draws a picture from words.",
    download_mb=5000,
    licence="OpenRAIL-M",
    repo="someone/painter",
    files=WEIGHTS,
    memory_mb=6500,
)
STEERED = Expert(
    "steered",
    "canny-text-to-image",
    "Draws along the lines of a sketch.",
    download_mb=700,
    licence="OpenRAIL-M",
    repo="someone/steered",
    files=WEIGHTS,
    memory_mb=7000,
    base=PAINTER,
)
GIANT = Expert(
    "giant",
    "text-to-image",
    "Draws far better.",
    download_mb=90_000,
    licence="MIT",
    repo="someone/giant",
    files=WEIGHTS,
    memory_mb=200_000,
)
GATED = Expert(
    "gated",
    "summarization",
    "Shortens texts.",
    download_mb=500,
    licence="CC-BY-NC-4.0",
    repo="someone/gated",
    files=WEIGHTS,
    memory_mb=1200,
    gated=True,
)
PICKLED = Expert(
    "pickled",
    "summarization",
    "Shortens texts too.",
    download_mb=400,
    licence="MIT",
    repo="someone/pickled",
    files=WEIGHTS,
    memory_mb=1200,
    pickled=True,
)
SERVED = Expert(
    "served",
    "text-generation",
    "Writes.",
    licence="MIT",
    repo="someone/served",
    providers=("novita",),
)
ALL = (TRANSLATOR, PAINTER, STEERED, GIANT, GATED, PICKLED, SERVED)


@dataclass
class World:
    """Opens the page over what the test says."""

    qtbot: QtBot
    engine: EngineThread
    folder: Path
    weights: FakeFetcher = field(default_factory=FakeFetcher)
    pages: list[ExpertsPage] = field(default_factory=list)
    told: list[tuple[str, bool]] = field(default_factory=list)
    actions: Actions = field(default_factory=Actions)

    def open(
        self,
        part: str,
        *,
        experts: Sequence[Expert] = ALL,
        mode: Mode = Mode.LOCAL,
        llms: LLMChoice | None = None,
        **house: Any,
    ) -> ExpertsPage:
        """The page, with that part shown."""
        self.app = app = FakeApp(
            weights=self.weights,
            experts=experts,
            mode=mode,
            policy=Policy(mode),
            llms=llms or no_llms(),
        )
        app.expert_manager = fake_expert_manager(app, **house)
        session = WindowSession(self.engine)
        settings = SettingsController(session)
        page = ExpertsPage(PageContext(session, cast(Any, None), self.actions, settings))
        page.message.connect(lambda text, good: self.told.append((text, good)))
        self.qtbot.addWidget(page)
        self.pages.append(page)
        page.resize(900, 800)
        page.show()
        with self.qtbot.waitSignal(session.ready):
            session.start(app.build)
        page.appear(part)
        self.settle(page)
        return page

    @property
    def house(self) -> FakeHouse:
        """What the expert manager depends on."""
        return cast(Any, self.app.expert_manager)._dependencies  # type: ignore[no-any-return]

    def settle(self, page: ExpertsPage) -> None:
        """Wait until everything that was asked is answered."""
        self.qtbot.waitUntil(lambda: not page.controller.jobs.busy)
        QApplication.processEvents()

    def close(self) -> None:
        """End what was opened."""
        for page in self.pages:
            page.leave()
            self.engine.submit(page.controller.session.close_app()).result(60)


def said(widget: QWidget) -> str:
    """All that can be read in it."""
    QApplication.processEvents()  # Qt shows what was added to a layout a moment later
    labels = [each for each in widget.findChildren(QLabel) if each.isVisible()]
    return "\n".join(filter(None, (each.text() for each in labels))).replace("\u200b", "")


def button(widget: QWidget, name: str) -> QPushButton:
    """The only button that can be seen whose name begins so."""
    QApplication.processEvents()
    seen = [each for each in widget.findChildren(QPushButton) if each.isVisible()]
    found = [each for each in seen if each.accessibleName().startswith(name)]
    assert len(found) == 1, [each.accessibleName() for each in seen]
    return found[0]


def click(widget: QWidget, name: str) -> None:
    """Press it."""
    QTest.mouseClick(button(widget, name), Qt.MouseButton.LeftButton)


def entries(widget: QWidget) -> dict[str, ExpertListItem]:
    """The lines that can be seen, by their names, from top to bottom."""
    QApplication.processEvents()
    seen = [each for each in widget.findChildren(ExpertListItem) if each.isVisible()]
    seen.sort(key=lambda each: each.mapToGlobal(each.rect().topLeft()).y())
    return {each.title.full_text(): each for each in seen}
