"""A world for the page of experts and LLMs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.engine import EngineThread
from jarvis_desktop.ui.widgets.theme import Theme
from tests.ui.experts.scene import World


@pytest.fixture
def world(qtbot: QtBot, theme: Theme, engine: EngineThread, tmp_path: Path) -> Iterator[World]:
    world = World(qtbot, engine, tmp_path)
    yield world
    world.close()
