"""What tests of agent mode share besides `scripted`."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.paths import shipped
from tests.fakes import FakeFrontend


@pytest.fixture
def frontend() -> FakeFrontend:
    return FakeFrontend()


@pytest.fixture
def prompts() -> Prompts:
    return Prompts(shipped("resources", "prompts"))
