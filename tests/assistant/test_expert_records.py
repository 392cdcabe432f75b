"""What the executor tells of the experts it ran."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jarvis_desktop.assistant.execution.executor import Executor
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.expert import Candidate, Expert, Selection
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Call, Report, Task
from tests.fakes import FakeBackend, FakeFrontend, FakeStore, FakeTrackRecord
from tests.types import CLOCK, SHORTEN

FIRST = Candidate(Expert("first", "any"), "builtin")
SECOND = Candidate(Expert("second", "any"), "builtin")


class Failing:
    """A backend whose expert fails, and one whose input is wrong."""

    name = "builtin"
    lane = "cpu"

    def question(self, call: Call) -> str:
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        if candidate is FIRST:
            raise ExpertError("It broke.")
        raise InputError("x.png is no picture.")


async def test_every_call_is_told_to_the_track_record(tmp_path: Path) -> None:
    record, frontend, store = FakeTrackRecord(), FakeFrontend(), FakeStore(tmp_path / "store")

    async def run(backend: object, plan: Plan, *candidates: Candidate) -> None:
        executor = Executor({"builtin": backend}, store, lanes={"cpu": 1}, record=record)  # type: ignore[dict-item]
        await executor.run(
            plan,
            [Selection(0, candidates, "")],
            show=frontend.show,
            confirm=frontend.confirm,
        )

    works = FakeBackend(lane="cpu", does=lambda candidate, call: [text_artifact("x")])
    await run(works, Plan((Task(0, SHORTEN, {"text": "a"}),)), SECOND)
    assert record.noted == [("second", "summarization", True)]
    assert record.seconds[0] >= 0

    record.noted.clear()
    await run(Failing(), Plan((Task(0, CLOCK),)), FIRST, SECOND)
    assert record.noted == [("first", "clock", False)]

    record.noted.clear()
    far = Candidate(Expert("first", "any"), "builtin", remote=True, provider="fal-ai")
    await run(works, Plan((Task(0, SHORTEN, {"text": "a"}),)), far)
    assert record.noted == [("first@fal-ai", "summarization", True)]

    record.noted.clear()
    skill = FakeBackend(does=lambda candidate, call: [text_artifact("x")])
    await run(skill, Plan((Task(0, CLOCK),)), FIRST)
    assert record.noted == []
