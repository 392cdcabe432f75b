"""The requests that show whether an LLM can plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_desktop.app.plan_check import PlanningCheck, load_requests
from jarvis_desktop.assistant.planning.llm_planner import LlmPlanner
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import ExpertError, JarvisError, UnavailableError
from jarvis_desktop.core.llm import Ability
from jarvis_desktop.paths import shipped
from jarvis_desktop.tasks.registry import INVENTORY
from tests.fakes import FakeLLM

FILE = shipped("resources", "prompts", "plan_check.json")
NAMES = {task_type.name for task_type in INVENTORY}


def plan(*tasks: str, **args: str) -> str:
    """An answer with these tasks, the first on the file and each other on the one before."""
    steps = []
    for id, (task, port) in enumerate(name.split(":") for name in tasks):
        given = args["file"] if id == 0 else f"<GENERATED>-{id - 1}"
        steps.append({"task": task, "id": id, "args": {port: given}})
    return json.dumps({"direct": False, "plan": steps})


REQUESTS = [
    {
        "request": "Tell me the gist of this report in Spanish",
        "files": {"report.pdf": "document"},
        "tasks": [["summarization", "translation"]],
    },
    {"request": "Make this greener", "files": {"a.png": "image"}, "tasks": [["image-to-image"]]},
]
SUMMARY = plan(
    "document-to-text:document", "summarization:text", "translation:text", file="report.pdf"
)
GREENER = json.dumps(
    {
        "direct": False,
        "plan": [
            {"task": "image-to-image", "id": 0, "args": {"image": "a.png", "prompt": "greener"}}
        ],
    }
)


async def outcomes(folder: Path, answers: Sequence[str | JarvisError]) -> list[bool]:
    file = folder / "requests.json"
    file.write_text(json.dumps(REQUESTS))
    prompts = Prompts(shipped("resources", "prompts"), folder / "none")
    check = PlanningCheck(
        file,
        lambda llms, fallback: LlmPlanner(
            llms, prompts, fallback=fallback, runnable=lambda task_type, llm: True
        ),
        INVENTORY,
    )
    llm = FakeLLM(answers, window=32768, ability=Ability.ANSWERS)
    return [right async for right in check(llm)]


def test_the_shipped_requests_can_be_planned():
    requests = load_requests(FILE)
    assert len(requests) == 10
    for asked in requests:
        assert asked.tasks
        assert all(tasks <= NAMES for tasks in asked.tasks)
        assert all(Kind(kind) for kind in asked.files.values())


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([SUMMARY, GREENER], [True, True]),
        (["I cannot."], [False, False]),
        ([ExpertError("Its answer is too long."), GREENER], [False, True]),
    ],
)
async def test_a_plan_with_the_right_tasks_is_right(tmp_path: Path, answers, expected):

    assert await outcomes(tmp_path, answers) == expected


async def test_an_llm_that_is_gone_has_planned_nothing_wrong(tmp_path: Path):
    with pytest.raises(UnavailableError):
        await outcomes(tmp_path, [UnavailableError("It does not run.")])
