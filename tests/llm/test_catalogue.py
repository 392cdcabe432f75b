"""All LLMs there are, and trying one."""

from __future__ import annotations

import shutil
import sys
from collections.abc import AsyncGenerator

import pytest

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.llm import Prompt
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.llm import ollama as ollama_program
from jarvis_desktop.llm.catalogue import (
    KnownLLM,
    LLMTrial,
    OllamaDownloader,
    list_llms,
    settings_for,
    try_llm,
)
from jarvis_desktop.llm.choice import LLMChoice, LLMPreference
from jarvis_desktop.llm.shipped import GB, Computer, load
from jarvis_desktop.paths import shipped
from tests.fakes import FakeLLM
from tests.ollama import Shown, layer, running_ollama

LLMS = load(shipped("models", "llms.toml"))
WRITER = Expert("qwen2.5-1.5b", "text-generation", "Writes.", download_mb=3100)
OTHER = Expert("my-own", "text-generation", "Mine.", download_mb=10)


def choice(
    wanted: LLMPreference | None = None, *disk: Expert, mode: Mode = Mode.LOCAL
) -> LLMChoice:
    return LLMChoice(
        wanted or LLMPreference(),
        Policy(mode),
        on_disk=lambda: [(each, shipped("models")) for each in disk],
        shipped=LLMS,
        room=lambda: Computer(16 * GB, 0, 100 * GB),
    )


async def test_what_is_here_and_what_could_be(monkeypatch):
    with running_ollama() as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.address)
        ollama.llms["mine:7b"] = Shown(9_000_000_000, "m")
        ollama.loaded["mine:7b"] = (5_000_000_000, 1)
        found = await list_llms(choice(None, WRITER, OTHER), experts=(WRITER,))
    known = {each.id: each for each in found.known}
    assert (found.used and found.used.name, found.installed) == ("qwen3.5:4b", True)
    used = known["qwen3.5-4b"]
    assert (used.used, used.where, used.name, used.size) == (
        *(True, "ollama", "qwen3.5:4b"),
        3_400_000_000,
    )
    assert (known["mine:7b"].loaded, known["mine:7b"].used) == (5_000_000_000, False)
    here = known["qwen2.5-1.5b"]
    assert (here.where, here.name, here.size) == ("transformers", "qwen2.5-1.5b", 3_100_000_000)
    assert here.without_ollama == WRITER
    assert (known["my-own"].where, known["my-own"].expert) == ("transformers", OTHER)
    away = known["smollm2-360m"]
    assert (away.where, away.name, away.size) == ("", "smollm2:360m", 726_000_000)


async def test_without_ollama_it_is_said_whether_it_is_installed():
    found = await list_llms(choice(), program=lambda: True)
    assert (found.used, found.installed, found.ollama.running) == (None, True, False)
    assert not (await list_llms(choice())).installed


async def test_one_of_a_service_is_listed_too(monkeypatch):
    wanted = LLMPreference("openai", "far", "https://llm.example.org/v1")
    found = await list_llms(choice(wanted, mode=Mode.HYBRID))
    assert found.known[-1] == KnownLLM("far", "openai", used=True)
    assert (found.known[-1].name, found.known[-1].size) == ("far", 0)


async def test_an_ollama_that_ends_meanwhile_keeps_what_it_listed(monkeypatch):
    with running_ollama() as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.address)
        llms = choice()
        await llms.current()

        async def gone(*args: object, **settings: object) -> None:
            raise ExpertError("It is gone.")

        monkeypatch.setattr(llms.ollama, "installed", gone)
        monkeypatch.setattr(llms.ollama, "in_memory", gone)
        found = await list_llms(llms)
    assert next(each for each in found.known if each.used).loaded == 0


async def test_what_the_settings_say_for_a_wish(monkeypatch):
    with running_ollama() as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.address)
        llms = choice(None, OTHER)
        assert await settings_for(llms, "none") == {"provider": "none"}
        assert await settings_for(llms, "auto") == {"provider": "auto", "id": "", "address": ""}
        assert (await settings_for(llms, "qwen3.5-4b"))["id"] == "qwen3.5:4b"
        assert (await settings_for(llms, "my-own"))["provider"] == "transformers"
        with pytest.raises(InputError, match="There is no LLM nothing"):
            await settings_for(llms, "nothing")


async def test_a_trial_counts_what_comes():
    times = iter([0.0, 1.0, 1.5, 2.0, 2.0])
    seen: list[LLMTrial] = []

    class InPieces(FakeLLM):
        async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
            for piece in ("One ", "two ", "three."):
                yield piece

    done = await try_llm(InPieces(), seen.append, clock=lambda: next(times))
    assert (done.words, done.first, done.whole, done.tokens) == ("One two three.", 1.0, 2.0, 3)
    assert done.speed == 2.0
    assert [each.words for each in seen] == ["One ", "One two ", "One two three."]
    assert LLMTrial("x", 1.0, 1.0, 1).speed == 0


async def test_another_choice_over_the_same_computer(monkeypatch):
    with running_ollama() as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.address)
        ollama.llms["mine:7b"] = Shown()
        llms = choice()
        other = llms.alike(LLMPreference("ollama", "mine:7b"))
        first, second = await llms.current(), await other.current()
        await other.close()
    assert (first and first.name, second and second.name) == ("qwen3.5:4b", "mine:7b")


async def test_the_road_of_ollama(monkeypatch):
    told: list[tuple[float | None, int]] = []
    with running_ollama(pulls=[layer("a", 50, 200), layer("b", 30, 200)]) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.address)
        ollama.pulls = (*ollama.pulls, {"status": "success"})
        llms = choice()
        road = OllamaDownloader(llms)
        assert await road.measure("qwen3.5:4b") == (3_400_000_000, 0)
        assert await road.measure("unheard-of") == (0, 0)
        assert await road.free() == 100 * GB
        await road.fetch("qwen3.5:4b", lambda *far: told.append(far))
        assert told == [(None, 0), (0.25, 200), (0.2, 400), (0.2, 400)]
        assert await road.measure("qwen3.5:4b") == (400, 80)
        await road.drop("qwen3.5:4b")
        assert await road.measure("qwen3.5:4b") == (3_400_000_000, 0)
    elsewhere = OllamaDownloader(choice(LLMPreference("ollama", "", "http://10.0.0.9:11434")))
    assert await elsewhere.free() == 0


async def test_one_is_removed_from_ollama(monkeypatch):
    with running_ollama() as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.address)
        await choice().ollama.remove("qwen3.5:4b")
        assert ollama.llms == {}


@pytest.mark.parametrize(
    ("system", "there", "words"),
    [
        ("linux", "/usr/bin/ollama", ["/usr/bin/ollama", "serve"]),
        ("linux", None, []),
        ("darwin", None, ["/usr/bin/open", "-a"]),
        ("win32", None, ["ollama app.exe"]),
    ],
)
def test_where_the_program_is(monkeypatch, tmp_path, system, there, words):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(shutil, "which", lambda name: there)
    if system == "darwin":
        monkeypatch.setattr(ollama_program, "MAC_APP", tmp_path)
        words = [*words, str(tmp_path)]
    if system == "win32":
        program = tmp_path / "Programs" / "Ollama" / "ollama app.exe"
        program.parent.mkdir(parents=True)
        program.touch()
        monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
        words = [str(program)]
    assert ollama_program.command() == words


def test_what_is_not_installed_cannot_be_started(monkeypatch):
    monkeypatch.setattr(ollama_program, "command", list)
    with pytest.raises(Exception, match="not installed"):
        ollama_program.start()
