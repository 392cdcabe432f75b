"""Changed settings hold at once: the mode above all, in this process and in those it started."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from jarvis_desktop.app import build
from jarvis_desktop.app.application import Application, changed_settings
from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert, Spent
from jarvis_desktop.core.goal import CodeTerms, GoalLimits
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.task import Call
from jarvis_desktop.experts.downloads import DownloadState
from jarvis_desktop.network_settings import NetworkSettings
from jarvis_desktop.paths import user_paths
from jarvis_desktop.process import network_guard
from jarvis_desktop.process.child import Child, end_outward
from jarvis_desktop.settings import (
    AgentSettings,
    ApiSettings,
    ExpertSettings,
    LLMSettings,
    PlannerSettings,
    Settings,
    SpeechSettings,
)

ANYWHERE = Expert("painter", "text-to-image", repo="a/b", providers=("groq",))


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = dict(os.environ)
    yield
    network_guard.apply_policy(offline=False)
    network_guard.use_proxy("")
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    built = build.build(Settings(), user_paths())
    yield built
    await built.close()


async def test_what_left_for_want_of_work_is_fetched_back_when_somebody_begins(
    app: Application,
) -> None:
    app.wake()
    assert len(app._background) == 1  # the LLM's beginning; nothing has left
    tasks = tuple(app.inventory.values())
    await asyncio.to_thread(app.scorer.warm, tasks)
    assert app.apart._loop
    app.apart._loop.call_soon_threadsafe(app.apart._leave)
    while not app.apart.left:
        await asyncio.sleep(0.001)
    app.wake()
    await asyncio.gather(*app._background)
    assert not app.apart.left


def test_what_differs_is_named() -> None:
    other = Settings(mode=Mode.LITE, processes=3, speech=SpeechSettings(rate=200, pause=2))
    assert changed_settings(Settings(), other) == {
        "mode",
        "processes",
        "speech.rate",
        "speech.pause",
    }
    assert changed_settings(other, other) == frozenset()


async def test_each_table_is_taken_up(app: Application) -> None:
    wanted = Settings(
        processes=3,
        planner=PlannerSettings(kind="embedded"),
        llm=LLMSettings(provider="none"),
        experts=ExpertSettings(
            denied_licences=("*",), disk_budget_gb=1, ask_above_mb=7, memory_budget_mb=9, gated=True
        ),
        api=ApiSettings(provider="groq"),
        agent=AgentSettings(
            rounds=3, minutes=2, tokens=10_000, repairs=1, ask_plan="never",
            code=CodeTerms.SANDBOXED,
        ),
        speech=SpeechSettings(wake_word="hey_jarvis", hands_free=False, recogniser="whisper-tiny"),
    )  # fmt: skip
    assert await app.adopt(wanted) == {"processes", "speech.wake_word"}
    assert app.settings == wanted
    assert app.planner._planner is app.planner.planners["embedded"]
    assert await app.llms.current() is None
    assert "no LLM" in app.llms.reason
    fitting = app.selector.fitting
    assert (fitting.gated, fitting.licences.allow("MIT")) == (True, False)
    assert app.hub_policy().denied_licences == ("*",)
    assert app.weights.budget == fitting.room().disk_budget == 1_000_000_000
    assert app.local.budget == fitting.room().budget == 9_000_000
    assert app.acquirer.ask_above_mb == 7
    assert [each.provider for each in app.api.candidates(ANYWHERE)] == ["groq"]
    agent = app.agent_mode()
    assert agent.agent.limits == GoalLimits(3, 120.0, 10_000, 1)
    assert (agent.writer.ask_plan, agent.approvals.code_terms) == ("never", CodeTerms.SANDBOXED)
    assert app.speech.asking_aloud() is None
    assert await app.adopt(wanted) == frozenset()


async def asked_by_api(app: Application) -> str:
    """Why an expert behind the API was not asked."""
    (candidate, *_) = app.api.candidates(ANYWHERE)
    with pytest.raises((UnavailableError, ExpertError)) as caught:
        await app.api.run(candidate, Call("text-to-image", {}, {}, Path()), lambda *_: None)
    return caught.value.message


async def test_what_offline_refuses_runs_in_hybrid_and_the_reverse(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    async def ask(*args: object, **more: object) -> tuple[tuple[()], Spent]:
        sent.append("request")
        return (), Spent()

    async def key() -> str:
        return "hf_key"

    monkeypatch.setattr(app.api, "_ask", ask)
    monkeypatch.setattr(app.api, "_known_key", key)
    remote = Candidate(ANYWHERE, "api", remote=True)
    for mode in (Mode.OFFLINE, Mode.HYBRID, Mode.LOCAL, Mode.LITE, Mode.OFFLINE):
        await app.adopt(Settings(mode=mode))
        may = mode in (Mode.HYBRID, Mode.LITE)
        assert app.mode is app.policy.mode is mode
        assert app.selector._policy.allows(remote) is may
        assert app.intake._online() is (mode is not Mode.OFFLINE)
        assert app.sandbox.network() is (mode is not Mode.OFFLINE)
        sent.clear()
        told = await asked_by_api(app)
        assert bool(sent) is may
        assert may or told == f"The mode “{mode}” sends nothing to other computers."


def reaches() -> bool:
    """Whether this process may look a name up, which nobody is asked."""
    try:
        network_guard._check("socket.getaddrinfo", ("files.example", 443, 0, 0, 0))
    except socket.gaierror:
        return False
    return True


async def test_the_process_itself_goes_offline_and_comes_back(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSFORMERS_OFFLINE", "mine")
    for _ in range(2):
        await app.adopt(Settings(mode=Mode.OFFLINE))
        await app.adopt(Settings(mode=Mode.OFFLINE, processes=2))
        assert not reaches()
        assert os.environ["HF_HUB_OFFLINE"] == os.environ[network_guard.OFFLINE] == "1"
        await app.adopt(Settings(mode=Mode.LOCAL))
        assert reaches()
        assert "HF_HUB_OFFLINE" not in os.environ
        assert network_guard.OFFLINE not in os.environ
        assert os.environ["TRANSFORMERS_OFFLINE"] == "mine"


async def test_downloads_wait_where_nothing_may_be_fetched_any_more(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*args: object, **more: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(app.expert_manager.downloads._downloaders["llm"], "fetch", never)
    monkeypatch.setattr(app.expert_manager.downloads._downloaders["llm"], "measure", never)
    app.expert_manager.pull("tiny:1b")
    await app.adopt(Settings(mode=Mode.LOCAL, processes=2))
    assert app.expert_manager.downloads.listed[0].under_way
    await app.adopt(Settings(mode=Mode.OFFLINE))
    assert app.expert_manager.downloads.listed[0].state is DownloadState.PAUSED


async def test_what_is_asked_elsewhere_ends_where_that_is_allowed_no_more(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    await app.adopt(Settings(mode=Mode.HYBRID))
    children: list[Child] = []

    def make() -> Child:
        children.append(Child("tests.app.test_changed_settings:hangs", name="service"))
        return children[-1]

    monkeypatch.setattr(app.api._pool, "_make", make)
    asked = asyncio.create_task(app.api._ask(seconds=60))
    while not (children and children[0].pid):
        await asyncio.sleep(0.01)
    await app.adopt(Settings(mode=Mode.HYBRID, processes=2))
    assert children[0].pid
    await app.adopt(Settings(mode=Mode.LOCAL))
    with pytest.raises(ExpertError, match="“local” sends nothing to other computers"):
        await asked


def looks_up() -> object:
    """What a child does that reaches out."""

    def handle(report: object, host: str) -> str:
        try:
            network_guard._check("socket.getaddrinfo", (host, 1, 0, 0, 0))
        except socket.gaierror as error:
            return str(error)
        return os.environ.get("HTTPS_PROXY", "") + "!"

    return handle


LOOKS_UP = "tests.app.test_changed_settings:looks_up"


async def test_a_process_that_reaches_out_is_started_anew_under_the_new_rules(
    app: Application,
) -> None:
    outward = Child(LOOKS_UP, name="outward", network=True)
    inward = Child(LOOKS_UP, name="inward")
    try:
        assert await outward.call("files.example", timeout=100) == "!"
        await inward.start()
        before, kept = outward.pid, inward.pid
        await app.adopt(Settings(mode=Mode.OFFLINE))
        assert outward.pid is None
        assert inward.pid == kept
        assert "offline" in await outward.call("files.example", timeout=100)
        await app.adopt(Settings(mode=Mode.HYBRID))
        assert await outward.call("files.example", timeout=100) == "!"
        assert before != outward.pid
        there = NetworkSettings(proxy="http://proxy:3128")
        await app.adopt(Settings(mode=Mode.HYBRID, network=there))
        assert await outward.call("files.example", timeout=100) == "http://proxy:3128!"
    finally:
        await outward.close()
        await inward.close()


def hangs() -> object:
    import time

    return lambda report: time.sleep(60)


async def test_what_is_under_way_there_ends_with_the_reason() -> None:
    child = Child("tests.app.test_changed_settings:hangs", name="outward", network=True)
    try:
        call = asyncio.create_task(child.call(timeout=60))
        while child.pid is None:
            await asyncio.sleep(0.01)
        end_outward("The mode is “offline” now.")
        with pytest.raises(ExpertError, match="The mode is “offline” now"):
            await call
    finally:
        await child.close()


def test_children_that_need_the_sound_server_reach_it_and_nothing_else() -> None:
    code = """
from jarvis_desktop.process import network_guard
cut = []
network_guard.cut_off = lambda: cut.append(1)
network_guard.apply_child_policy(network=False, services=True)
import socket
try:
    socket.create_connection(("198.51.100.1", 80), 0.1)
except OSError as error:
    print(cut, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[] [Errno")
    assert "offline" in done.stdout


def test_a_proxy_is_told_by_the_environment_and_taken_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("https_proxy", "http://mine:1")
    monkeypatch.setenv("no_proxy", "intra.example")
    monkeypatch.delenv("HTTPS_PROXY", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    network_guard.use_proxy("http://proxy:3128")
    assert os.environ["https_proxy"] == os.environ["HTTP_PROXY"] == "http://proxy:3128"
    assert os.environ["no_proxy"] == "intra.example,localhost,127.0.0.1,::1"
    network_guard.use_proxy("http://other:3128")
    assert os.environ["HTTPS_PROXY"] == "http://other:3128"
    network_guard.use_proxy("")
    assert os.environ["https_proxy"] == "http://mine:1"
    assert os.environ["no_proxy"] == "intra.example"
    assert "HTTPS_PROXY" not in os.environ
    assert "NO_PROXY" not in os.environ
