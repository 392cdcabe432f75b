"""What the window says goes through `tr`: in a made-up language nothing of it is in usual letters
but data - names of files, experts and devices, and the person's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from gettext import NullTranslations
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from jarvis_desktop import paths
from jarvis_desktop.app import health_checks, help_pages
from jarvis_desktop.app.health_checks import Finding, HealthCheck
from jarvis_desktop.core import i18n
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.events import (
    ExpertsSelected,
    Noted,
    PlanAccepted,
    ReplyChunk,
    TaskFinished,
    TaskProgress,
    TaskStarted,
)
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Status, TaskResult
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.turn import Request
from jarvis_desktop.storage.file_inspection import InspectedFile
from jarvis_desktop.tasks.registry import DEFINITIONS
from jarvis_desktop.ui.conversation.turn_view import TurnView
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.navigation import PLACES
from jarvis_desktop.ui.plan.descriptions import card_states
from jarvis_desktop.ui.welcome import EXAMPLES
from tests.ui import scene
from tests.ui.pseudo import Pseudo, untranslated
from tests.ui.scene import FakeApp, Shown

OWN = "Read this to me JARVIS Desktop LLM LLMs Hugging Face Ollama"
"""What the person said, and proper names."""
NAMES = "letter png first second builtin provider api whisper tiny en"
DATA = f"{OWN} {NAMES} {' '.join(map(str, EXAMPLES))}"


@pytest.fixture(autouse=True)
def pseudo() -> Iterator[None]:
    """Everything is said in the made-up language."""
    i18n.set_catalogue(Pseudo())
    yield
    i18n.set_catalogue(NullTranslations())


@pytest.fixture
def pseudo_help(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Pages of the help in the made-up language; returns the code in them, which stays as it is."""
    codes = []
    folder = tmp_path / "resources" / "help" / Pseudo.CODE
    folder.mkdir(parents=True)
    for page in paths.shipped("resources", "help").glob("*.md"):
        parts = re.split(r"(```.*?```|`[^`]*`)", page.read_text("utf-8"), flags=re.DOTALL)
        codes += parts[1::2]
        parts[::2] = [Pseudo().gettext(text) for text in parts[::2]]
        (folder / page.name).write_text("".join(parts), "utf-8")
    monkeypatch.setattr(help_pages, "shipped", tmp_path.joinpath)
    return " ".join(codes)


async def work(request: Request, shown: Shown) -> Status:
    """A turn in which something is done, something failed and something was left out."""
    plan = scene.three_steps(Path("/elsewhere/letter.png"))
    remote = Candidate(Expert("second", "image-to-text"), "api", remote=True, provider="provider")
    for event in (
        PlanAccepted(plan),
        ExpertsSelected(scene.selections(plan)),
        TaskStarted(0, scene.candidate("first")),
        TaskProgress(0, 0.5, ""),
        Noted(tr("The plan was not accepted, so nothing was done.")),
        TaskFinished(
            TaskResult(
                0,
                Status.DONE,
                (scene.text("12 34"),),
                (
                    Attempt(remote, 1.0, tr("It was stopped.")),
                    Attempt(Candidate(Expert("first", "image-to-text"), "builtin"), 0.5),
                ),
            )
        ),
        TaskFinished(scene.failed(1, tr("It was stopped."))),
        TaskFinished(TaskResult(2, Status.SKIPPED)),
        ReplyChunk("12 34"),
    ):
        shown.show(event)
    return Status.PARTLY


async def _found(app: object) -> Sequence[Finding]:
    return (Finding("talk key", "limited", tr("It was stopped."), tr("Update its driver.")),)


def test_letters_that_were_never_given_to_tr_are_found(qtbot: QtBot) -> None:
    said, unsaid, data = QLabel(tr("Settings")), QLabel("Settings"), QLabel("letter.png")
    for label in (said, unsaid, data):
        qtbot.addWidget(label)
    assert not untranslated(said, "")
    assert untranslated(unsaid, "")
    assert not untranslated(data, "letter png")


def test_a_turn_is_translated(window: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    app.assistant.script = work
    window.send(Request("Read this to me"))
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    qtbot.waitUntil(lambda: not window.session.busy)
    window.conversation.draw_now()
    (view,) = window.conversation.views()
    assert isinstance(view, TurnView)
    assert untranslated(window, DATA) == []
    turn = app.assistant.turns[0]
    assert turn.plan
    spoken = " ".join(step.spoken for step in card_states(turn.plan, turn))
    label = QLabel(spoken, window)
    assert untranslated(label, DATA) == []


@pytest.mark.parametrize("place", [place.name for place in PLACES])
def test_a_page_is_translated(
    window: MainWindow, place: str, monkeypatch: pytest.MonkeyPatch, pseudo_help: str
) -> None:
    monkeypatch.setattr(
        health_checks, "CHECKS", (HealthCheck("SQLite", _found), HealthCheck("talk key", _found))
    )
    window.places.go(place)
    QTest.qWait(50)
    page = window.places.page(place)
    known = f"{DATA} {pseudo_help}" if place == "help" else DATA
    assert untranslated(page, known) == []


def test_the_first_start_is_translated(window: MainWindow) -> None:
    window.begin_first_start()
    assert window.first
    assert untranslated(window.first, DATA) == []
    window.first.skip()


def test_what_is_attached_is_translated(window: MainWindow, tmp_path: Path) -> None:
    for kind in Kind:
        file = tmp_path / f"{kind.value}.bin"
        file.write_bytes(b"12345")
        window.composer.attached._attach([InspectedFile(file, kind, 5)])
    known = f"{DATA} bin {' '.join(Kind)}"
    assert untranslated(window.composer, known) == []


def test_a_step_is_called_in_the_chosen_language() -> None:
    for task in (item.type for item in DEFINITIONS):
        assert task.called == Pseudo().gettext(task.label), task.name
