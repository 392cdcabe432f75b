"""Plans to draw and to edit, and a controller that writes down what is asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.events import (
    ExpertsSelected,
    PlanAccepted,
    TaskFinished,
    TaskStarted,
    TurnFinished,
)
from jarvis_desktop.core.expert import Candidate, Expert, Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Port, Ref, Task, TaskOption, TaskType
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.engine import EngineThread, Outcome, Then
from jarvis_desktop.ui.pending_turn import Rerun
from jarvis_desktop.ui.plan.controller import PlanController
from jarvis_desktop.ui.plan.list_view import step_menu
from jarvis_desktop.ui.plan.plan_view import PlanView
from jarvis_desktop.ui.plan.task_card import TaskCard
from jarvis_desktop.ui.session import WindowSession
from tests.ui import scene
from tests.ui.scene import NOW, READ, SAY, SUM, candidate, done, failed

DRAW = TaskType(
    "text-to-image",
    "Paints a picture.",
    (Port("prompt", (Kind.TEXT,)),),
    (Kind.IMAGE,),
    (
        TaskOption("style", "How it looks.", "photo", choices=("photo", "sketch")),
        TaskOption("seed", "Where chance begins.", 0),
        TaskOption("strength", "How strong.", 0.5),
        TaskOption("sharp", "Whether it is sharp.", False),
        TaskOption("avoid", "What is left out.", ""),
    ),
)
COMPARE = TaskType(
    "sentence-similarity",
    "Says how similar two texts are.",
    (Port("text_1", (Kind.TEXT,)), Port("text_2", (Kind.TEXT,), required=False)),
    (Kind.TEXT,),
)
SAVE = TaskType(
    "save-file",
    "Saves results.",
    (Port("content", (Kind.TEXT, Kind.IMAGE, Kind.AUDIO), many=True),),
    (Kind.TEXT,),
    (TaskOption("name", "", ""),),
)
CLOCK = TaskType("clock", "Tells the time.", (), (Kind.TEXT,))
LISTEN = TaskType(
    "audio-classification", "Says what a sound is.", (Port("audio", (Kind.AUDIO,)),), (Kind.TEXT,)
)
INVENTORY = (READ, SUM, SAY, DRAW, COMPARE, SAVE, CLOCK, LISTEN)

LARGE = Candidate(Expert("reader-large", "image-to-text", download_mb=1330), "local")
FAR = Candidate(
    Expert("reader-far", "image-to-text", providers=("nearby",)),
    "api",
    remote=True,
    provider="nearby",
)


class FakePlanController(PlanController):
    """Knows experts, and answers when the test lets it."""

    def __init__(self, engine: EngineThread, settings: Path) -> None:
        super().__init__(
            WindowSession(engine), QSettings(str(settings), QSettings.Format.IniFormat)
        )
        self.live: set[str] = set()
        """The ids of turns that run."""
        self.experts: Outcome = Outcome([LARGE, FAR])
        self.revisions: list[tuple[Plan, str, Then]] = []
        self.changes: list[tuple[Plan, Then]] = []
        self.afresh: list[frozenset[int]] = []
        """What was to be done once more with each of the changes."""
        self.again: list[Rerun] = []
        self.file = Path("/nowhere/other.png")

    @property
    def inventory(self) -> Sequence[TaskType]:
        return INVENTORY

    def runs(self, turn: Turn) -> bool:
        return turn.id in self.live

    def ask_experts(self, task: Task, then: Then) -> None:
        then(self.experts)

    def revise(self, plan: Plan, words: str, then: Then) -> None:
        self.revisions.append((plan, words, then))

    def change(self, again: Rerun, then: Then) -> None:
        self.changes.append((again.plan, then))
        self.afresh.append(again.afresh)

    def run_again(self, again: Rerun) -> None:
        self.again.append(again)

    def choose_file(self, asker: object, then: object) -> None:
        then(self.file)  # type: ignore[operator]


def letter(path: Path = Path("/nowhere/letter.png")) -> Artifact:
    return Artifact(Kind.IMAGE, path=path, name=path.name)


def diamond() -> Plan:
    """Read a letter, sum it up and paint it, and save both."""
    return Plan(
        (
            Task(0, READ, {"image": letter()}),
            Task(1, SUM, {"text": Ref(0), "sentences": 2}),
            Task(2, DRAW, {"prompt": Ref(0)}),
            Task(3, SAVE, {"content": (Ref(1), Ref(2))}),
        )
    )


def turn_of(plan: Plan) -> Turn:
    """It has just begun."""
    turn = Turn("t", NOW, "Do it", attachments=(letter(),))
    return turn.apply(PlanAccepted(plan)).apply(ExpertsSelected(scene.selections(plan)))


def half_done(plan: Plan) -> Turn:
    """The first step is done, the second runs."""
    turn = turn_of(plan).apply(TaskFinished(done(0, scene.text("Dear Sir"))))
    return turn.apply(TaskStarted(1, candidate("first")))


def ended(plan: Plan) -> Turn:
    """All is done but the third step."""
    turn = turn_of(plan)
    for task in plan:
        result = (
            failed(task.id, "It needs 2 GB of memory.")
            if task.id == 2
            else TaskResult(3, Status.SKIPPED, reason="It needs the picture.")
            if task.id == 3
            else done(task.id, scene.text(f"Words {task.id}"))
        )
        turn = turn.apply(TaskFinished(result))
    return turn.apply(TurnFinished(Status.PARTLY, NOW))


def all_done(plan: Plan) -> Turn:
    """Every step gave something."""
    turn = turn_of(plan)
    for task in plan:
        turn = turn.apply(TaskFinished(done(task.id, scene.text(f"Words {task.id}"))))
    return turn.apply(TurnFinished(Status.DONE, NOW))


def shown(
    qtbot: QtBot, controller: PlanController | None, turn: Turn, *, width: int = 780
) -> PlanView:
    """The plan of a turn on the screen."""
    actions = Actions()
    actions.plans = controller
    view = PlanView(actions)
    actions.setParent(view)
    qtbot.addWidget(view)
    view.resize(width, 600)
    view.show()
    view.activateWindow()
    view.draw(turn)
    QApplication.processEvents()
    return view


def cards(view: PlanView) -> dict[int, TaskCard]:
    """The cards of a view that shows a graph."""
    assert view.graph is not None
    return view.graph.cards


def redrawn(view: PlanView, turn: Turn) -> None:
    """Draw a turn as the window does: each time it is another object."""
    view.draw(replace(turn))
    QApplication.processEvents()


def chosen(menu: QMenu, *words: str) -> None:
    """Choose from a menu and those below it, by the beginnings of the words."""
    for word in words[:-1]:
        action = next(item for item in menu.actions() if item.text().startswith(word))
        below = action.menu()
        assert isinstance(below, QMenu)
        menu = below
        menu.aboutToShow.emit()
    next(item for item in menu.actions() if item.text().startswith(words[-1])).trigger()


def menu_of(view: PlanView, task_id: int) -> QMenu:
    return step_menu(view.editor, task_id, view, open_step=lambda: view.open_step(task_id))
