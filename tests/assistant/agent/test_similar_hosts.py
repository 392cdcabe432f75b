"""What a person is told of a host that code wants to reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.code import CodeOutcome, Ending
from jarvis_desktop.core.goal import CodeTerms
from tests.assistant.agent.workplace import Workplace
from tests.fakes import FakeFrontend


@pytest.fixture
def place(tmp_path: Path, frontend: FakeFrontend) -> Workplace:
    return Workplace(tmp_path, frontend, code=CodeTerms.SANDBOXED)


@pytest.mark.parametrize(
    ("host", "whose"),
    [
        ("127.0.0.1:8000", " (this computer)"),
        ("localhost", " (this computer)"),
        ("192.168.1.4:80", " (a computer on your own network)"),
        ("8.8.8.8:53", ""),
    ],
)
async def test_a_host_near_by_is_told_as_such(place: Workplace, host: str, whose: str) -> None:
    place.sandbox.does = lambda script, to: CodeOutcome(Ending.ERROR, refused_hosts=(host,))
    await place.run(place.goal_run(), "fetch()")
    assert place.frontend.questions == [
        f"The code wanted to reach {host}{whose}, which is not allowed. Allow it for this goal?"
    ]
