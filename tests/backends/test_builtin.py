from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from types import MappingProxyType

import pytest

from jarvis_desktop.backends.builtin import BuiltinBackend
from jarvis_desktop.backends.result_checks import seconds_for
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.task import Call
from tests.backends import methods


def nothing(fraction: float | None, words: str) -> None:
    pass


def call(task: str, workdir: Path, text: str = "hello") -> Call:
    # The executor may well give mappings that do not pickle.
    return Call(task, MappingProxyType({"text": (text_artifact(text),)}), {}, workdir)


def make(**settings) -> BuiltinBackend:
    return BuiltinBackend(
        methods.BY_NAME, registry=methods.__name__, **{"width": 2, "time_limit": 60.0, **settings}
    )


@pytest.fixture
async def backend() -> AsyncIterator[BuiltinBackend]:
    backend = make()
    yield backend
    await backend.close()


async def run(backend: BuiltinBackend, task: str, workdir: Path, text: str = "hello", **extra):
    candidate = Candidate(Expert(f"builtin/{task}", task), "builtin")
    return await backend.run(candidate, call(task, workdir, text), extra.get("report", nothing))


async def test_a_method_runs_in_a_process_of_its_own_and_tells_how_far_it_is(backend, tmp_path):
    seen = []
    (result,) = await run(
        backend, "shout", tmp_path, report=lambda fraction, words: seen.append((fraction, words))
    )
    assert result.text == "HELLO"
    assert seen == [(0.5, "half")]
    assert backend.processes
    assert os.getpid() not in backend.processes


async def test_a_process_is_used_again(backend, tmp_path):
    (first,) = await run(backend, "pid", tmp_path)
    (second,) = await run(backend, "pid", tmp_path)
    assert first == second
    assert backend.processes == (int(first.text),)


async def test_two_calls_run_at_the_same_time(backend, tmp_path):
    first, second = await asyncio.gather(
        run(backend, "meet", tmp_path, "a b"), run(backend, "meet", tmp_path, "b a")
    )
    assert (first[0].text, second[0].text) == ("a", "b")
    assert len(backend.processes) == 2


async def test_a_warm_process_waits_for_the_first_call(backend, tmp_path):
    await backend.warm()
    (there,) = backend.processes
    await backend.warm()
    (used,) = await run(backend, "pid", tmp_path)
    assert int(used.text) == there


@pytest.mark.parametrize(
    ("task", "text", "sentence"),
    [
        ("nothing", "", "nothing gave no result."),
        ("odd", "", "odd gave something that is not a result."),
        ("shout", "", "shout gave an empty text."),
        ("write", "", "write wrote an empty file out.png."),
        ("forget", "", "forget did not write its file forgotten.png."),
        ("link", "", "link did not write its file link.png."),
        ("wrong", "", "wrong gave text, which it does not promise."),
    ],
)
async def test_a_result_that_is_not_what_was_promised_is_a_failed_call(
    backend, tmp_path, task, text, sentence
):
    with pytest.raises(ExpertError) as caught:
        await run(backend, task, tmp_path, text)
    assert caught.value.message == sentence


async def test_a_file_is_given_by_its_path(backend, tmp_path):
    (result,) = await run(backend, "write", tmp_path, "pixels")
    assert result.kind is Kind.IMAGE
    assert result.path.read_bytes() == b"pixels"


async def test_a_refusal_arrives_as_it_was_said(backend, tmp_path):
    with pytest.raises(InputError) as caught:
        await run(backend, "refuse", tmp_path)
    assert (caught.value.message, caught.value.hint) == ("x.png is not a picture.", "Give another.")


@pytest.mark.parametrize(
    ("task", "words"),
    [("crash", "exit code 7"), ("fail", "ZeroDivisionError: by zero")],
)
async def test_a_crash_is_a_failed_call_and_the_next_one_works(backend, tmp_path, task, words):
    with pytest.raises(ExpertError, match=words):
        await run(backend, task, tmp_path)
    (result,) = await run(backend, "shout", tmp_path)
    assert result.text == "HELLO"


async def test_a_hang_ends_with_its_time_and_only_its_own_process(tmp_path):
    backend = make(time_limit=4.0)
    try:
        started = asyncio.Event()
        hanging = asyncio.create_task(
            run(backend, "hang", tmp_path, report=lambda fraction, words: started.set())
        )
        await started.wait()
        (other,) = await run(backend, "pid", tmp_path)
        with pytest.raises(ExpertError, match="gave no answer within 4 seconds"):
            await hanging
        assert list(backend.processes) == [int(other.text)]
    finally:
        await backend.close()


async def test_cancelling_ends_the_work_itself(backend, tmp_path):
    started = asyncio.Event()
    seen = []

    def report(fraction, words):
        seen.append(int(words))
        started.set()

    task = asyncio.create_task(run(backend, "hang", tmp_path, report=report))
    await started.wait()
    assert backend.processes == (seen[0],)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert backend.processes == ()
    async with asyncio.timeout(60):
        while Path(f"/proc/{seen[0]}").exists():
            await asyncio.sleep(0.01)


async def test_a_memory_bomb_is_a_failed_call(tmp_path):
    backend = make(memory=1 << 30)
    try:
        with pytest.raises(ExpertError) as caught:
            await run(backend, "bomb", tmp_path)
        assert caught.value.message == "bomb needed more than 1 GB of memory."
    finally:
        await backend.close()


async def test_a_process_that_keeps_much_memory_is_ended_after_its_call(tmp_path):
    backend = make(keep=60 << 20)
    try:
        await run(backend, "hoard", tmp_path)
        assert backend.processes == ()
    finally:
        await backend.close()


async def test_an_idle_process_is_ended(tmp_path):
    backend = make(idle=0.05)
    try:
        await run(backend, "shout", tmp_path)
        async with asyncio.timeout(60):
            while backend.processes:
                await asyncio.sleep(0.01)
        (result,) = await run(backend, "shout", tmp_path)
        assert result.text == "HELLO"
    finally:
        await backend.close()


async def test_closing_ends_running_calls_too(backend, tmp_path):
    started = asyncio.Event()
    task = asyncio.create_task(
        run(backend, "hang", tmp_path, report=lambda fraction, words: started.set())
    )
    await started.wait()
    (pid,) = backend.processes
    await backend.close()
    assert backend.processes == ()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(ExpertError, match="stopped unexpectedly"):
        await task
    assert backend.processes == ()


async def test_a_task_without_a_method_is_said_to_have_none(backend, tmp_path):
    for task in ("undone", "unheard-of"):
        with pytest.raises(UnavailableError, match=f"no built-in way to do {task}"):
            await run(backend, task, tmp_path)
    assert backend.processes == ()


def test_a_question_is_the_definitions(tmp_path):
    assert make().question(call("delete", tmp_path)) == "Delete it?"
    assert make().question(call("shout", tmp_path)) == ""


def test_large_inputs_get_more_time(tmp_path):
    film = tmp_path / "film.mp4"
    film.touch()
    os.truncate(film, 50_000_000)
    inputs = {
        "text": (text_artifact("x" * 1_000_000),),
        "video": (Artifact(Kind.VIDEO, path=film),),
    }
    assert seconds_for(Call("x", inputs, {}, tmp_path), 120) == pytest.approx(222)
