"""The window's LLM: which one is used, the offer where there is none, and the fetching of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.turn import Request
from jarvis_desktop.llm import ollama as ollama_server
from jarvis_desktop.llm.catalogue import OFFLINE, OLLAMA_URL, LLMInventory
from jarvis_desktop.llm.choice import LLMChoice, LLMPreference, Provider
from jarvis_desktop.llm.ollama import OllamaStatus
from jarvis_desktop.llm.shipped import GB, Computer, load
from jarvis_desktop.paths import shipped
from jarvis_desktop.ui.engine import EngineThread
from jarvis_desktop.ui.experts.controller import described
from jarvis_desktop.ui.experts.llm_status import LLMNotice, said_of
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets.theme import Theme
from tests.fake_fetcher import FakeFetcher
from tests.fakes import FakeLLM
from tests.ollama import Ollama, Shown, layer, running_ollama
from tests.ui.scene import HOSTILE, FakeApp

WRITER = Expert("qwen2.5-1.5b", "text-generation", download_mb=3100, licence="Apache-2.0")


class Fetching(FakeFetcher):
    """What it fetched is on the disk."""

    async def fetch(self, expert: Expert, report, *, spared=()) -> Path:
        path = await super().fetch(expert, report)
        report(None, "almost there")
        return path


@dataclass
class World:
    """A window over an Ollama on loopback and a disk without an LLM."""

    qtbot: QtBot
    engine: EngineThread
    folder: Path
    ollama: Ollama
    memory: int = 16
    windows: list[MainWindow] = field(default_factory=list)
    weights: Fetching = field(default_factory=Fetching)

    def open(
        self,
        *,
        mode: Mode = Mode.LOCAL,
        provider: Provider = "auto",
        id: str = "",
        address: str = "",
    ) -> MainWindow:
        """The window as at the start of the application."""
        llms = LLMChoice(
            LLMPreference(provider, id, address),
            Policy(mode),
            on_disk=lambda: [(item, Path(item.id)) for item in self.weights.fetched],
            shipped=load(shipped("models", "llms.toml")),
            room=lambda: Computer(self.memory * GB, 0, 100 * GB),
        )
        app = FakeApp(
            llms=llms, weights=self.weights, experts=(WRITER,), mode=mode, policy=Policy(mode)
        )
        window = MainWindow(WindowSession(self.engine), self.folder / "window.ini")
        self.qtbot.addWidget(window)
        self.windows.append(window)
        window.show()
        with self.qtbot.waitSignal(window.llms.looked):
            window.session.start(app.build)
        return window


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ollama]:
    with running_ollama(llms={}) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        yield server


@pytest.fixture
def world(
    qtbot: QtBot, theme: Theme, engine: EngineThread, ollama: Ollama, tmp_path: Path
) -> Iterator[World]:
    world = World(qtbot, engine, tmp_path, ollama)
    yield world
    for window in world.windows:
        window.talker.cancel()
        engine.submit(window.session.close_app()).result(60)


@pytest.fixture
def no_ollama(ollama: Ollama, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")


def words(notice: LLMNotice) -> str:
    labels = [item.text() for item in notice.findChildren(QLabel) if item.isVisible()]
    return "\n".join(filter(None, labels)).replace("\u200b", "")


def button(notice: LLMNotice, name: str) -> QPushButton:
    QApplication.processEvents()  # Qt shows what was added to a layout a moment later
    found = [
        item
        for item in notice.findChildren(QPushButton)
        if item.accessibleName().startswith(name) and item.isVisible()
    ]
    assert len(found) == 1, [item.accessibleName() for item in notice.findChildren(QPushButton)]
    return found[0]


def click(notice: LLMNotice, name: str) -> None:
    QTest.mouseClick(button(notice, name), Qt.MouseButton.LeftButton)


def test_the_header_names_the_llm_that_is_used(world: World) -> None:
    world.ollama.llms["qwen3.5:4b"] = Shown()
    window = world.open()
    assert window.header.llm.text() == "qwen3.5:4b (Ollama)"
    assert window.header.llm.accessibleName() == "LLM: qwen3.5:4b (Ollama)"
    assert not window.llm_notice.isVisible()
    QTest.mouseClick(window.header.llm, Qt.MouseButton.LeftButton)
    assert window.banner.message.text() == "qwen3.5:4b is used, which Ollama runs."
    window.resize(500, 600)
    assert window.header.llm.text() == ""
    window.resize(1100, 600)
    assert window.header.llm.text() == "qwen3.5:4b (Ollama)"


def test_what_is_wanted_while_it_is_looked_is_told_afterwards(world: World) -> None:
    world.ollama.llms["qwen3.5:4b"] = Shown()
    watch = world.open().llms
    told: list[bool] = []
    watch.looked.connect(lambda look: told.append(look.wanted))
    watch.look()
    watch.look(wanted=True)
    world.qtbot.waitUntil(lambda: told == [False, True])


def test_without_one_an_llm_is_offered_once(world: World) -> None:
    window = world.open()
    notice = window.llm_notice
    assert window.header.llm.text() == "No LLM"
    assert notice.isVisible()
    said = words(notice)
    assert "qwen3.5:4b" in said
    assert "about 3.4 GB · licence Apache-2.0 · plans and answers" in said
    click(notice, "Not now")
    assert not notice.isVisible()
    window.close()
    again = world.open()
    assert not again.llm_notice.isVisible()
    assert again.header.llm.accessibleName() == "No LLM"
    with world.qtbot.waitSignal(again.llms.looked):
        QTest.mouseClick(again.header.llm, Qt.MouseButton.LeftButton)
    assert again.llm_notice.isVisible()


def test_the_offer_makes_room_for_a_conversation(world: World) -> None:
    window = world.open()
    assert window.llm_notice.isVisible()
    window.send(Request("What is 15 percent of 240?"))
    assert not window.llm_notice.isVisible()


def test_nobody_is_told_who_wants_none(world: World) -> None:
    window = world.open(provider="none")
    assert not window.llm_notice.isVisible()
    with world.qtbot.waitSignal(window.llms.looked):
        QTest.mouseClick(window.header.llm, Qt.MouseButton.LeftButton)
    assert window.banner.message.text() == "The settings say that no LLM is used."


def test_a_chosen_server_that_is_gone_is_told_with_the_one_step(world: World) -> None:
    window = world.open(provider="openai", address="http://127.0.0.1:9/v1")
    notice = window.llm_notice
    assert notice.isVisible()
    assert "The LLM server does not run at 127.0.0.1:9." in words(notice)
    window.session.send(Request("hello"))
    world.qtbot.waitUntil(notice.isHidden)
    world.qtbot.waitUntil(notice.isVisible)  # it was missed
    click(notice, "Choose another")
    assert window.places.here == "experts"
    window.places.back()
    click(notice, "Not now")
    with world.qtbot.waitSignal(window.llms.looked):
        window.llms.look()
    assert not notice.isVisible()
    with world.qtbot.waitSignal(window.llms.looked):
        window.llms.look(wanted=True)
    assert notice.isVisible()


def test_it_is_fetched_through_ollama_and_used(world: World) -> None:
    window = world.open()
    notice = window.llm_notice
    button(notice, "Download qwen3.5:4b, about 3.4 GB").setFocus()
    world.ollama.llms["qwen3.5:4b"] = Shown()
    with world.qtbot.waitSignal(window.llms.fetched):
        click(notice, "Download")
        assert words(notice) == "Downloading qwen3.5:4b\nThe download begins…"
    assert not notice.isVisible()
    assert window.banner.message.text() == "qwen3.5:4b (Ollama) is ready. It is used now."
    world.qtbot.waitUntil(lambda: window.header.llm.text() == "qwen3.5:4b (Ollama)")


def test_progress_is_shown_and_the_fetching_can_be_cancelled(world: World) -> None:
    window = world.open()
    notice = window.llm_notice
    world.ollama.pulls = [layer("a", 1_000_000_000, 4_000_000_000)]
    world.ollama.pull_holds = True
    click(notice, "Download")
    world.qtbot.waitUntil(lambda: notice.words.text().startswith("1.0 GB of 4.0 GB"))
    assert notice.progress.value() == 25
    assert notice.progress.isVisible()
    window.send(Request("What is 15 percent of 240?"))
    assert notice.isVisible()
    window.llms.fetch(None)  # type: ignore[arg-type]  # another one has to wait
    click(notice, "Cancel")
    world.qtbot.waitUntil(lambda: not window.llms.fetching)
    assert "What arrived is kept" in notice.trouble.text()
    assert button(notice, "Download").isVisible()
    assert not notice.progress.isVisible()


def test_a_download_that_fails_says_why_and_can_be_tried_again(world: World) -> None:
    window = world.open()
    world.ollama.pulls = [{"error": "no space left on device"}]
    with world.qtbot.waitSignal(window.llms.fetched):
        click(window.llm_notice, "Download")
    assert "no space left on device" in window.llm_notice.trouble.text()
    assert button(window.llm_notice, "Download").isEnabled()


def test_one_that_was_fetched_and_cannot_be_used_says_so(world: World) -> None:
    window = world.open()
    with world.qtbot.waitSignal(window.llms.fetched):
        click(window.llm_notice, "Download")
    assert window.llm_notice.trouble.text() == "qwen3.5:4b was fetched, but cannot be used."


@pytest.mark.usefixtures("no_ollama")
def test_without_ollama_one_is_offered_for_the_disk(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = world.open()
    notice = window.llm_notice
    said = words(notice)
    assert "qwen3.5:4b" in said
    assert "qwen2.5-1.5b" in said
    assert "about 3.1 GB" in said
    click(notice, "Use a server…")
    assert window.places.here == "experts"
    window.places.back()
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    click(notice, "Get Ollama")
    assert opened == [QUrl(OLLAMA_URL)]
    with world.qtbot.waitSignal(window.llms.fetched):
        click(notice, "Download qwen2.5-1.5b")
    assert world.weights.fetched == [WRITER]
    assert (
        window.banner.message.text() == "qwen2.5-1.5b (on this computer) is ready. It is used now."
    )


@pytest.mark.usefixtures("no_ollama")
def test_the_tab_key_goes_through_the_notice_from_top_to_bottom(world: World) -> None:
    window = world.open()
    window.activateWindow()
    window.llm_notice.later.setFocus()
    seen = []
    for _ in range(3):
        focused = window.focusWidget()
        assert focused
        seen.append(focused.accessibleName())
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    assert seen == ["Not now", "Get Ollama", "Download qwen2.5-1.5b, about 3.1 GB"]


@pytest.mark.usefixtures("no_ollama")
def test_a_disk_that_fails_is_told(world: World) -> None:
    window = world.open()
    world.weights.error = UnavailableError("The Hub cannot be reached.", hint="Try again later.")
    with world.qtbot.waitSignal(window.llms.fetched):
        click(window.llm_notice, "Download")
    assert window.llm_notice.trouble.text() == "The Hub cannot be reached. Try again later."


@pytest.mark.usefixtures("no_ollama")
def test_ollama_that_was_installed_meanwhile_is_found_when_the_window_comes_back(
    world: World, ollama: Ollama, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = world.open()
    assert button(window.llm_notice, "Get Ollama").isVisible()
    window.session.app.llms.ollama = ollama_server.OllamaServer(ollama.address)  # type: ignore[union-attr]
    monkeypatch.setattr(window, "isActiveWindow", lambda: True)
    with world.qtbot.waitSignal(window.llms.looked):
        QApplication.sendEvent(window, QEvent(QEvent.Type.ActivationChange))
    assert button(window.llm_notice, "Download qwen3.5:4b").isVisible()
    ollama.llms["qwen3.5:4b"] = Shown()
    with world.qtbot.waitSignal(window.llms.looked):
        QApplication.sendEvent(window, QEvent(QEvent.Type.ActivationChange))
    assert not window.llm_notice.isVisible()
    assert window.header.llm.text() == "qwen3.5:4b (Ollama)"


def test_offline_nothing_is_offered_and_the_note_says_so(world: World) -> None:
    notice = world.open(mode=Mode.OFFLINE).llm_notice
    assert OFFLINE in words(notice)
    assert [item.text() for item in notice.findChildren(QPushButton) if item.isVisible()] == [
        "Use a server…",
        "Not now",
    ]


@pytest.mark.usefixtures("no_ollama")
@pytest.mark.parametrize(
    ("provider", "id", "memory", "mode", "buttons"),
    [
        ("ollama", "", 16, Mode.LOCAL, ["Not now", "Get Ollama"]),
        ("transformers", "", 16, Mode.LOCAL, ["Not now", "Download"]),
        ("auto", "", 16, Mode.LITE, ["Not now", "Get Ollama"]),
        ("auto", "llama", 16, Mode.LOCAL, ["Not now"]),
        ("auto", "", 1, Mode.LOCAL, ["Not now"]),
    ],
)
def test_only_what_would_be_used_is_offered(
    world: World, provider: Provider, id: str, memory: int, mode: Mode, buttons: list[str]
) -> None:
    world.memory = memory
    notice = world.open(provider=provider, id=id, mode=mode).llm_notice
    shown = [b.text() for b in notice.findChildren(QPushButton) if b.isVisible()]
    assert shown == ["Use a server…", *buttons]


@pytest.mark.parametrize("provider", ["openai", "auto"])
@pytest.mark.parametrize("address", ["127.0.0.1:8080", ""])
def test_where_the_llm_of_a_server_runs_is_told(address: str, provider: Provider) -> None:
    state = LLMInventory(
        known=(),
        used=FakeLLM(provider="openai"),
        reason="",
        wanted=LLMPreference(provider, "coder", address),
        ollama=OllamaStatus(running=False),
        installed=False,
        computer=Computer(16 * GB, 0, 0),
    )
    told = f"It runs at {address}." if address else "It runs on a server."
    assert said_of(state, may_fetch=True).message == f"{told} You chose it."


def test_a_foreign_name_is_only_text(world: World) -> None:
    window = world.open(provider="none")
    for hostile in HOSTILE:
        used = described(FakeLLM(name=hostile, provider="openai"))
        window.header.show_llm(used, hostile)
        window.header.explained.emit(hostile)
        assert not GuiQt.mightBeRichText(window.header.llm.toolTip())
        assert window.minimumSizeHint().width() <= 800


def test_every_button_of_the_notice_has_a_name_and_the_keyboard(world: World) -> None:
    for item in world.open().llm_notice.findChildren(QPushButton):
        assert item.accessibleName()
        assert item.focusPolicy() & Qt.FocusPolicy.TabFocus
