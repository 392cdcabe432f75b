"""What every Backend promises, run over the fake and the real ones alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest

from jarvis_desktop.assistant.prompts import Template
from jarvis_desktop.backends.builtin import BuiltinBackend, SkillBackend
from jarvis_desktop.backends.by_address import AddressBackend, ServedTask
from jarvis_desktop.backends.inference_api.backend import ApiBackend
from jarvis_desktop.backends.llm import LLMBackend, LLMMethod
from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.backends.local.gpu_probe import GpuProbe
from jarvis_desktop.backends.machines.backend import MachinesBackend
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.llm import Prompt
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import Backend
from jarvis_desktop.core.task import Call, Report, TaskType
from jarvis_desktop.platform.api_keys import ApiKey
from jarvis_desktop.platform.work_server import Work, WorkAddress, WorkServer
from jarvis_desktop.storage.web_fetch import checked
from jarvis_desktop.tasks.definition import Definition, Services
from tests.backends import methods
from tests.backends.inference_api.ways import REPO, SERVED, WAYS
from tests.backends.misbehaving import Folder, start
from tests.fakes import FakeBackend, FakeLLM, FakeLLMs
from tests.machines import Desk, box, keyring_in_memory, started
from tests.router import running_router

LANES = {"local", "cpu", "llm", "network", "machines", "instant"}


def nothing(fraction: float | None, words: str) -> None:
    pass


async def shout(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    await asyncio.sleep(0)
    return [text_artifact(call.text("text").upper())]


async def refuse(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    raise InputError("x.png is not a picture.", hint="Give another.")


def skill(name: str, way: Any) -> Definition:
    return Definition(TaskType(name, "", (), (Kind.TEXT,)), skill=way)


def fake(candidate: Candidate, call: Call) -> list[Artifact]:
    if call.task == "refuse":
        raise InputError("x.png is not a picture.", hint="Give another.")
    return [text_artifact(call.text("text").upper())]


class Templates:
    """A prompt for every task."""

    def template(self, name: str) -> Template:
        return Template(name, "1", "{{instruction}} {{mark}}" if name == "task" else name)


class Obliging(FakeLLM):
    """Says what the instruction of each task makes one expect."""

    async def stream(self, prompt: Prompt) -> AsyncIterator[str]:
        refusal = InputError("x.png is not a picture.", hint="Give another.")
        self.answers = (refusal if "refuse" in prompt.messages[0].text else "HELLO",)
        async for piece in super().stream(prompt):
            yield piece


@pytest.fixture(params=["builtin", "skill", "llm", "local", "api", "machine", "server", "fake"])
async def backend(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Backend]:
    if request.param == "builtin":
        builtin = BuiltinBackend(methods.BY_NAME, width=1, registry=methods.__name__)
        yield builtin
        await builtin.close()
    elif request.param == "skill":
        ways = {"shout": skill("shout", shout), "refuse": skill("refuse", refuse)}
        yield SkillBackend(ways, Services(*(None,) * 10))  # type: ignore[arg-type]
    elif request.param == "server":
        services = Services(*(None,) * 10)  # type: ignore[arg-type]
        choice = WorkAddress("127.0.0.1:9")
        server = WorkServer(Work.TRANSCRIPTION, lambda: choice, Policy())
        served_tasks = {
            "shout": ServedTask(server, shout, services),
            "refuse": ServedTask(server, refuse, services),
        }
        yield AddressBackend(methods.BY_NAME, served_tasks)
    elif request.param == "llm":
        prompted = {"shout": LLMMethod(), "refuse": LLMMethod()}
        yield LLMBackend(FakeLLMs(Obliging()), Templates(), methods.BY_NAME, ways=prompted)
    elif request.param == "local":
        loaders = {"shout": "any:shout", "refuse": "any:refuse"}
        monkeypatch.setattr("jarvis_desktop.backends.local.backend.LOADERS", loaders)
        folder, probe = Folder(tmp_path / "expert"), GpuProbe(signs=lambda: False)
        local = LocalBackend(methods.BY_NAME, folder, probe=probe, start=start)
        yield local
        await local.close()
    elif request.param == "api":
        with running_router(served=SERVED) as router:
            key, via = ApiKey(lambda: "hf_key"), router.address
            api = ApiBackend(methods.BY_NAME, check=checked, key=key, via=via, ways=WAYS)
            yield api
            await api.close()
    elif request.param == "machine":
        desk = Desk(tmp_path / "desk", methods.BY_NAME)
        with keyring_in_memory(monkeypatch):
            served = FakeBackend(does=fake)
            there = box(tmp_path / "box", served, methods.BY_NAME, "shout", "refuse")
            async with started(there):
                await desk.pair(there)
                yield desk.backend
                await desk.settled()
    else:
        yield FakeBackend(does=fake)


def call(task: str, workdir: Path) -> Call:
    return Call(task, {"text": (text_artifact("hello"),)}, {}, workdir)


def candidate(backend: Backend, task: str) -> Candidate:
    if isinstance(backend, MachinesBackend):
        return backend.candidates(task)[0]
    return Candidate(Expert(f"{backend.name}/{task}", task, repo=REPO), backend.name)


def test_it_has_a_name_and_a_lane(backend: Backend) -> None:
    assert backend.name
    assert backend.lane in LANES


def test_what_needs_no_question_asks_none(backend: Backend, tmp_path: Path) -> None:
    assert backend.question(call("shout", tmp_path)) == ""


async def test_a_call_gives_artifacts(backend: Backend, tmp_path: Path) -> None:
    (result,) = await backend.run(candidate(backend, "shout"), call("shout", tmp_path), nothing)
    assert result == text_artifact("HELLO")


async def test_a_refusal_is_an_error_for_the_person(backend: Backend, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        await backend.run(candidate(backend, "refuse"), call("refuse", tmp_path), nothing)
    assert caught.value.message == "x.png is not a picture."
    assert caught.value.hint == "Give another."


async def test_cancelling_ends_a_call(backend: Backend, tmp_path: Path) -> None:
    running = asyncio.create_task(
        backend.run(candidate(backend, "shout"), call("shout", tmp_path), nothing)
    )
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    # And the next one works.
    (result,) = await backend.run(candidate(backend, "shout"), call("shout", tmp_path), nothing)
    assert result.text == "HELLO"
