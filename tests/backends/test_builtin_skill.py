from __future__ import annotations

import asyncio
import logging

import pytest

from jarvis_desktop.backends.builtin import SkillBackend
from jarvis_desktop.core.artifact import Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.task import Call, TaskType
from jarvis_desktop.tasks.definition import Definition, Services

SERVICES = Services(*(None,) * 10)  # type: ignore[arg-type]
CANDIDATE = Candidate(Expert("skill/x", "x"), "skill")


def nothing(fraction: float | None, words: str) -> None:
    pass


def backend(skill, **extra) -> SkillBackend:
    return SkillBackend(
        {"x": Definition(TaskType("x", "", (), (Kind.TEXT,)), skill=skill, **extra)}, SERVICES
    )


def call(tmp_path) -> Call:
    return Call("x", {}, {}, tmp_path)


async def test_a_skill_gets_the_call_and_the_services(tmp_path):
    async def skill(given, report, services):
        report(0.5, "half")
        assert services is SERVICES
        return [text_artifact(given.task)]

    seen = []
    (result,) = await backend(skill).run(
        CANDIDATE, call(tmp_path), lambda fraction, words: seen.append(words)
    )
    assert (result.text, seen) == ("x", ["half"])


async def test_a_refusal_passes_as_it_is(tmp_path):
    async def skill(given, report, services):
        raise InputError("No.", hint="Ask again.")

    with pytest.raises(InputError, match="No"):
        await backend(skill).run(CANDIDATE, call(tmp_path), nothing)


async def test_a_fault_is_one_line_for_the_person_and_its_frames_are_in_the_log(tmp_path, caplog):
    async def skill(given, report, services):
        raise KeyError("two\nlines")

    with caplog.at_level(logging.INFO), pytest.raises(ExpertError) as caught:
        await backend(skill).run(CANDIDATE, call(tmp_path), nothing)
    assert caught.value.message == r"x failed: KeyError: 'two\nlines'."
    (record,) = caplog.records
    assert record.levelno == logging.INFO
    assert record.exc_info is None
    assert "KeyError" in caplog.text
    assert "test_builtin_skill.py" in caplog.text
    assert "lines" not in caplog.text


async def test_cancelling_passes(tmp_path):
    async def skill(given, report, services):
        await asyncio.Event().wait()

    running = asyncio.create_task(backend(skill).run(CANDIDATE, call(tmp_path), nothing))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_an_empty_result_is_a_failed_call(tmp_path):
    async def skill(given, report, services):
        return [text_artifact("  ")]

    with pytest.raises(ExpertError, match="empty text"):
        await backend(skill).run(CANDIDATE, call(tmp_path), nothing)


async def test_a_task_without_a_skill_is_said_to_have_none(tmp_path):
    with pytest.raises(UnavailableError, match="no skill for x"):
        await backend(None).run(CANDIDATE, call(tmp_path), nothing)


def test_a_question_is_the_definitions(tmp_path):
    assert backend(None).question(call(tmp_path)) == ""
    assert backend(None, question=lambda call: "Sure?").question(call(tmp_path)) == "Sure?"
