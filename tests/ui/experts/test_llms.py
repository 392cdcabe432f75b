"""The LLMs on the page: which one is used and why, those that are here, those that could be."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.experts.downloads import DownloadState
from jarvis_desktop.llm import ollama as ollama_program
from jarvis_desktop.llm.choice import LLMChoice, LLMPreference
from jarvis_desktop.llm.shipped import GB, Computer, load
from jarvis_desktop.paths import shipped
from tests.line_server import Answer
from tests.ollama import Ollama, Shown, layer, running_ollama
from tests.openai_server import running_openai_server
from tests.ui.experts.scene import World, button, click, entries, said

WRITER = Expert(
    "qwen2.5-1.5b", "text-generation", download_mb=3100, licence="Apache-2.0", files=("*",)
)
TWO = {
    "qwen3.5:4b": Shown(),
    "gemma3:12b": Shown(8_100_000_000, "b", 131072, ("completion", "vision", "thinking"), "gemma3"),
}


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ollama]:
    monkeypatch.setattr(ollama_program, "command", lambda: [])
    with running_ollama(llms=dict(TWO)) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        yield server


def choice(
    wanted: LLMPreference | None = None, mode: Mode = Mode.LOCAL, memory: int = 16
) -> LLMChoice:
    return LLMChoice(
        wanted or LLMPreference(),
        Policy(mode),
        on_disk=lambda: (),
        shipped=load(shipped("models", "llms.toml")),
        room=lambda: Computer(memory * GB, 0, 100 * GB),
    )


def opened(
    world: World, wanted: LLMPreference | None = None, mode: Mode = Mode.LOCAL, memory: int = 16
):
    llms = choice(wanted, mode, memory)
    return world.open("llms", llms=llms, mode=mode, experts=(WRITER,)).llms


def test_the_one_in_use_is_named_with_the_reason(world: World, ollama: Ollama) -> None:
    ollama.loaded["qwen3.5:4b"] = (4_200_000_000, 0)
    part = opened(world)
    assert said(part.state).startswith(
        "qwen3.5:4b is used\nOllama runs it. It is the best for this computer of those that are"
    )
    shown = entries(part.here)
    assert list(shown) == ["qwen3.5:4b", "gemma3:12b"]
    assert "Used\nOllama\nIn memory, 4.2 GB" in said(shown["qwen3.5:4b"])
    assert "3.4 GB · context 32,768 tokens · licence Apache-2.0" in said(shown["qwen3.5:4b"])
    assert "sees pictures · can reason first" in said(shown["gemma3:12b"])
    page = world.pages[0]
    assert "LLM 4.2 GB" in said(page.gauges)


def test_another_one_is_used_from_now_on(world: World, ollama: Ollama) -> None:
    part = opened(world)
    click(part, "Use gemma3:12b")
    world.qtbot.waitUntil(lambda: bool(world.app.adopted))
    assert world.app.adopted[-1].llm.id == "gemma3:12b"
    assert world.app.adopted[-1].llm.provider == "ollama"
    assert 'id = "gemma3:12b"' in world.app.paths.settings.read_text("utf-8")


def test_what_was_chosen_can_be_left_to_jarvis_again(world: World, ollama: Ollama) -> None:
    part = opened(world, LLMPreference("ollama", "gemma3:12b"))
    assert "gemma3:12b is used\nOllama runs it. You chose it." in said(part.state)
    click(part.state, "Choose automatically")
    world.qtbot.waitUntil(lambda: bool(world.app.adopted))
    assert world.app.adopted[-1].llm.provider == "auto"


def test_one_is_tried_and_its_answer_comes_with_figures(world: World, ollama: Ollama) -> None:
    said_of_itself = ("I ", "can ", "plan ", "and ", "\x1b[31mwrite.")
    ollama.answers = [Answer(said_of_itself), Answer(['{"sum": 5}'])]
    part = opened(world)
    entry = entries(part.here)["qwen3.5:4b"]
    click(entry, "Test qwen3.5:4b")
    world.settle(world.pages[0])
    text = entry.answer.toPlainText()
    assert text.startswith("I can plan and �[31mwrite.")
    assert "first word after" in text
    assert "plans 3 of 4, 8 tokens a second" in text
    world.qtbot.waitUntil(lambda: "plans 3 of 4, 8 tokens a second" in said(entry))


def test_another_than_the_one_in_use_is_tried_too(world: World, ollama: Ollama) -> None:
    part = opened(world)
    click(part, "Test gemma3:12b")
    world.settle(world.pages[0])
    assert ollama.asked[-1]["model"] == "gemma3:12b"
    assert "Yes." in entries(part.here)["gemma3:12b"].answer.toPlainText()
    assert "qwen3.5:4b is used" in said(part.state)


def test_a_test_can_be_stopped_and_one_that_fails_says_why(world: World, ollama: Ollama) -> None:
    ollama.answers = [Answer(ends="silent"), Answer(ends="error", error="out of memory")]
    part = opened(world)
    entry = entries(part.here)["qwen3.5:4b"]
    click(entry, "Test qwen3.5:4b")
    assert "Loading it into memory" in entry.answer.toPlainText()
    assert ollama.silent.acquire(timeout=60)
    click(entry, "Test qwen3.5:4b")
    world.settle(world.pages[0])
    assert "It was stopped." in said(entry)
    click(entry, "Test qwen3.5:4b")
    world.settle(world.pages[0])
    assert "memory" in said(entry.trouble) or "memory" in entry.trouble.text()


def test_one_is_fetched_by_its_button_and_shown_when_it_is_here(
    world: World, ollama: Ollama
) -> None:
    ollama.llms.clear()
    ollama.pulls = [layer("a", 1_000_000_000, 4_000_000_000)]
    ollama.pull_holds = True
    part = opened(world)
    assert "Ollama runs, but has no LLM that can be used" in said(part.state)
    click(part.state, "Download the one that fits")
    downloads = world.app.expert_manager.downloads
    world.qtbot.waitUntil(
        lambda: (
            [(each.name, each.have) for each in downloads.listed] == [("qwen3.5:4b", 1_000_000_000)]
        ),
    )
    world.qtbot.waitUntil(lambda: "Downloading" in [b.text() for b in buttons(part)])
    world.engine.call(downloads.pause, ("llm", "qwen3.5:4b"))
    world.qtbot.waitUntil(lambda: downloads.listed[0].state is DownloadState.PAUSED)
    world.qtbot.waitUntil(lambda: "Paused" in [b.text() for b in buttons(part)])
    click(part, "Show the download of qwen3.5:4b")
    assert world.pages[0].downloads.isVisible()
    world.pages[0].show_part("llms")
    assert downloads.listed[0].fraction == 0.25
    ollama.pulls, ollama.pull_holds = [{"status": "success"}], False
    ollama.llms["qwen3.5:4b"] = Shown()
    world.engine.call(downloads.resume, ("llm", "qwen3.5:4b"))
    world.qtbot.waitUntil(lambda: "qwen3.5:4b is used" in said(part.state))


def buttons(part):
    from PySide6.QtWidgets import QPushButton

    return part.findChildren(QPushButton)


def test_any_other_is_fetched_by_its_name(world: World, ollama: Ollama) -> None:
    part = opened(world)
    assert not part.pull.isEnabled()
    QTest.keyClicks(part.name, "llama3.2:1b")
    QTest.keyClick(part.name, Qt.Key.Key_Return)
    page = world.pages[0]
    assert page.downloads.isVisible()
    world.qtbot.waitUntil(
        lambda: [each.name for each in world.app.expert_manager.downloads.listed] == ["llama3.2:1b"]
    )
    assert part.name.text() == ""


def test_one_is_removed(world: World, ollama: Ollama) -> None:
    part = opened(world)
    entry = entries(part.here)["qwen3.5:4b"]
    click(entry, "Remove qwen3.5:4b")
    assert "another available one is used instead" in said(entry)
    click(entry, "Remove it")
    world.qtbot.waitUntil(lambda: "gemma3:12b is used" in said(part.state))
    assert list(ollama.llms) == ["gemma3:12b"]


def test_where_removing_fails_the_line_says_why(world: World, ollama: Ollama) -> None:
    part = opened(world)
    entry = entries(part.here)["gemma3:12b"]
    del ollama.llms["gemma3:12b"]
    click(entry, "Remove gemma3:12b")
    click(entry, "Remove it")
    world.qtbot.waitUntil(lambda: "gemma3:12b" not in entries(part.here))


def test_without_ollama_the_way_to_it_is_shown_and_what_runs_without(
    world: World, ollama: Ollama, monkeypatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    visited: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", visited.append)
    part = opened(world)
    assert "There is no LLM yet" in said(part.state)
    click(part.state, "Get Ollama")
    assert visited == [QUrl("https://ollama.com/download")]
    assert list(entries(part.more)) == ["qwen2.5-1.5b"]
    assert "about 3.1 GB · needs 7.5 GB of memory" in said(part.more)
    assert not part.by_name.isVisible()
    click(part.more, "Download qwen2.5-1.5b, about 3.1 GB")
    world.qtbot.waitUntil(lambda: [each.id for each in world.weights.fetched] == ["qwen2.5-1.5b"])


def test_an_ollama_that_does_not_run_is_started(world: World, ollama: Ollama, monkeypatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    monkeypatch.setattr(ollama_program, "command", lambda: ["ollama", "serve"])
    begun = []

    def begin(words: list[str], **settings: object) -> None:
        begun.append(words)
        from jarvis_desktop.llm.ollama import OllamaServer

        world.app.llms.ollama = OllamaServer(ollama.address)

    monkeypatch.setattr(subprocess, "Popen", begin)
    part = opened(world)
    assert "Ollama is installed, but does not run." in said(part.state)
    click(part.state, "Start Ollama")
    world.qtbot.waitUntil(lambda: "qwen3.5:4b is used" in said(part.state))
    assert begun == [["ollama", "serve"]]


def test_one_that_cannot_be_started_says_why(world: World, ollama: Ollama, monkeypatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    monkeypatch.setattr(ollama_program, "command", lambda: ["/nowhere/ollama", "serve"])
    part = opened(world)
    click(part.state, "Start Ollama")
    world.settle(world.pages[0])
    assert "could not be started: no such file" in said(part.state)


@pytest.mark.parametrize(
    ("wanted", "title"),
    [
        (LLMPreference("none"), "No LLM is used"),
        (LLMPreference("ollama", "llama9"), "llama9 cannot be used"),
        (LLMPreference("openai", "x", "http://127.0.0.1:9/v1"), "x cannot be used"),
        (LLMPreference("openai"), "The LLM that you chose cannot be used"),
    ],
)
def test_one_that_is_not_there_can_be_given_up(
    world: World, ollama: Ollama, wanted: LLMPreference, title: str
) -> None:
    part = opened(world, wanted)
    assert said(part.state).startswith(title)
    assert button(part.state, "Choose automatically").isEnabled()


def test_offline_nothing_is_fetched(world: World, ollama: Ollama) -> None:
    part = opened(world, mode=Mode.OFFLINE)
    assert not part.by_name.isVisible()
    assert "In the mode “offline” nothing is downloaded." in said(part.more)
    assert all(not each.isEnabled() for each in buttons(part.more) if each.text() == "Download")


def test_what_the_cloud_runs_says_so(world: World, ollama: Ollama) -> None:
    ollama.llms["big:cloud"] = Shown(size=400)
    part = opened(world)
    assert "Ollama’s cloud" in said(entries(part.here)["big:cloud"])


def test_a_small_computer_is_offered_small_ones(world: World, ollama: Ollama) -> None:
    ollama.llms.clear()
    part = opened(world, memory=2)
    assert list(entries(part.more)) == ["smollm2:360m"]
    assert "Recommended" in said(part.more)


def test_a_server_is_added_by_its_address(world: World, ollama: Ollama) -> None:
    with running_openai_server(llms=("qwen3-8b", "nomic-embed", "gpt-oss")) as server:
        form = opened(world).server
        form.address.setText(server.address)
        click(form, "Show its LLMs")
        world.qtbot.waitUntil(lambda: list(entries(form)) == ["gpt-oss", "qwen3-8b"])
        click(form, "Use qwen3-8b")
        world.qtbot.waitUntil(lambda: bool(world.app.adopted))
        wanted = world.app.adopted[-1].llm
        assert (wanted.provider, wanted.id, wanted.address) == (
            "openai",
            "qwen3-8b",
            server.address,
        )
        assert not form.list.isVisible()


def test_the_others_of_a_server_can_be_chosen_and_tested(world: World, ollama: Ollama) -> None:
    with running_openai_server(llms=("a", "b"), answers=[Answer(["Yes", " I", " can."])] * 9) as it:
        part = opened(world, LLMPreference("openai", "a", it.address))
        world.qtbot.waitUntil(lambda: list(entries(part.here))[:2] == ["a", "b"])
        click(part.here, "Test b")
        world.settle(world.pages[0])
        assert "Yes I can." in entries(part.here)["b"].answer.toPlainText()
        assert {asked["model"] for asked in it.asked} == {"b"}, "not the one in use"
        click(part.here, "Use b")
        world.qtbot.waitUntil(lambda: bool(world.app.adopted))
        assert world.app.adopted[-1].llm.id == "b"


def test_a_server_that_is_not_there_says_so(world: World, ollama: Ollama) -> None:
    form = opened(world).server
    form.address.setText("http://127.0.0.1:9")
    QTest.keyClick(form.address, Qt.Key.Key_Return)
    world.qtbot.waitUntil(form.trouble.isVisible)
    assert "does not run at 127.0.0.1:9" in said(form)
    assert not form.state.isVisible()
