"""A controller for the views of plans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.engine import EngineThread
from jarvis_desktop.ui.plan.plan_view import PlanView
from tests.ui.plan.plan_scene import (
    FakePlanController,
    all_done,
    diamond,
    half_done,
    shown,
    turn_of,
)


@pytest.fixture
def controller(engine: EngineThread, theme: object, tmp_path: Path) -> Iterator[FakePlanController]:
    controller = FakePlanController(engine, tmp_path / "window.ini")
    yield controller
    controller.deleteLater()


@pytest.fixture
def before(qtbot: QtBot, controller: FakePlanController) -> PlanView:
    """A plan that waits to be approved."""
    view = shown(qtbot, controller, turn_of(diamond()))
    view.review(True)
    return view


@pytest.fixture
def during(qtbot: QtBot, controller: FakePlanController) -> PlanView:
    """A plan of which the first step is done and the second runs."""
    controller.live.add("t")
    return shown(qtbot, controller, half_done(diamond()))


@pytest.fixture
def after(qtbot: QtBot, controller: FakePlanController) -> PlanView:
    """A plan that has ended."""
    return shown(qtbot, controller, all_done(diamond()))
