"""The gate and the replicas of a cluster, with calls of Python instead of Ray between them."""

from __future__ import annotations

import asyncio
import io
import os
import pickle
import signal
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jarvis_desktop.backends.machines import wire
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.context import current_draft
from jarvis_desktop.core.errors import ExpertError, Fault, InputError, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.task import Call, Port, Report, TaskType
from jarvis_desktop.paths import user_paths
from jarvis_desktop.server import cluster, ray_cluster
from jarvis_desktop.server.cluster import (
    ClusterGate,
    ExpertReplica,
    GateTerms,
    ParcelledCall,
    ReplicaBackend,
    ReplicaLost,
    card_share,
)
from jarvis_desktop.server.http_server import listen
from jarvis_desktop.server.paired import self_signed
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.tasks.definition import Definition
from tests.machines import Desk, keyring_in_memory

PAINT = TaskType(
    "paint",
    "",
    (Port("image", (Kind.IMAGE,)), Port("prompt", (Kind.TEXT,), required=False)),
    (Kind.TEXT, Kind.IMAGE),
)
EXPERT = Expert("brush", "paint")
OFFER = Candidate(EXPERT, "local", heavy=True)


class Painting:
    """A backend that turns pictures around."""

    name = "local"
    lane = "local"

    def __init__(self, trouble: Exception | None = None) -> None:
        self.trouble = trouble
        self.experts: list[str] = []
        self.sizes: list[int] = []
        self.waits = asyncio.Event()
        self.cancelled = 0

    def question(self, call: Call) -> str:
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        self.experts.append(candidate.expert.id)
        if self.trouble:
            raise self.trouble
        if call.texts("prompt") == ("wait",):
            self.waits.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled += 1
        report(0.5, "half")
        current_draft.get()("red")
        made = call.workdir / "made.png"
        made.write_bytes(call.file("image").read_bytes()[::-1])
        return [text_artifact(call.file("image").suffix), Artifact(Kind.IMAGE, path=made)]

    async def run_batch(
        self, candidate: Candidate, calls: Sequence[Call], report: Report
    ) -> Sequence[Sequence[Artifact]]:
        self.sizes.append(len(calls))
        if any(call.texts("prompt") == ("bad",) for call in calls):
            raise InputError("There is no picture.")
        return [await self.run(candidate, call, report) for call in calls]


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


def call(tmp_path: Path, prompt: str = "") -> Call:
    folder = tmp_path / "call"
    folder.mkdir(parents=True)
    picture = tmp_path / "cat.png"
    picture.write_bytes(b"abc" * 100_000)
    given = {"image": (Artifact(Kind.IMAGE, path=picture),), "prompt": (text_artifact(prompt),)}
    return Call("paint", given, {}, folder)


def nothing(share: float | None, words: str) -> None:
    pass


async def test_a_call_travels_to_a_replica_and_back(tmp_path: Path, store: FileStore) -> None:
    replica = ExpertReplica(Painting(), [EXPERT], store)
    news: list[tuple[float | None, str]] = []
    drafts: list[str] = []
    before = current_draft.set(drafts.append)
    asked = call(tmp_path)
    words, picture = await ReplicaBackend(replica.run).run(
        OFFER, asked, lambda share, told: news.append((share, told))
    )
    current_draft.reset(before)
    assert words.text == ".png"
    assert picture.path
    assert picture.path.parent == asked.workdir / "results"
    assert picture.path.read_bytes() == b"cba" * 100_000
    assert picture.name == "made.png"
    assert news == [(0.5, "half")]
    assert drafts == ["red"]
    assert not list((tmp_path / "store" / "work").iterdir())


async def test_a_call_is_repeated_if_its_replica_goes_away(
    tmp_path: Path, store: FileStore
) -> None:
    replica = ExpertReplica(Painting(), [EXPERT], store)
    tries: list[str] = []

    async def ask(asked: ParcelledCall) -> AsyncGenerator[dict[str, Any]]:
        tries.append(asked.expert)
        yield {"progress": [0.1, "begun"]}
        if len(tries) == 1:
            raise ReplicaLost
        if len(tries) > 2:
            async for each in replica.run(asked):
                yield each
        # the second ends without an answer

    _, picture = await ReplicaBackend(ask).run(OFFER, call(tmp_path), nothing)
    assert picture.path
    assert tries == ["brush"] * 3


async def test_a_call_whose_replicas_all_go_away_fails_with_a_reason(tmp_path: Path) -> None:
    async def ask(asked: ParcelledCall) -> AsyncGenerator[dict[str, Any]]:
        raise ReplicaLost
        yield {}

    with pytest.raises(ExpertError, match="brush stopped unexpectedly") as caught:
        await ReplicaBackend(ask).run(OFFER, call(tmp_path), nothing)
    assert caught.value.retryable
    assert caught.value.fault is Fault.CRASH


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (InputError("cat.png is empty.", hint="Give another."), "cat.png is empty"),
        (ValueError("secret"), "Something went wrong inside JARVIS"),
        (asyncio.CancelledError(), "Something went wrong inside JARVIS"),
    ],
)
async def test_the_errors_of_experts_arrive(
    tmp_path: Path,
    store: FileStore,
    trouble: Exception,
    words: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    replica = ExpertReplica(Painting(trouble), [EXPERT], store)
    with pytest.raises(JarvisError, match=words) as caught:
        await ReplicaBackend(replica.run).run(OFFER, call(tmp_path), nothing)
    assert "secret" not in str(caught.value)
    caplog.clear()  # what was unexpected is logged there


async def test_nobody_waits_for_ever(tmp_path: Path) -> None:
    async def ask(asked: ParcelledCall) -> AsyncGenerator[dict[str, Any]]:
        await asyncio.Event().wait()
        yield {}

    asked = call(tmp_path)
    with pytest.raises(ExpertError, match="brush did not answer in time") as caught:
        await ReplicaBackend(ask, time_limit=-10.0).run(OFFER, asked, nothing)
    assert caught.value.retryable


async def test_what_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(asked: ParcelledCall) -> AsyncGenerator[dict[str, Any]]:
        raise AssertionError
        yield {}

    monkeypatch.setattr(cluster, "MAX_PARCEL", 1000)
    with pytest.raises(ExpertError, match=r"cat\.png is too large"):
        await ReplicaBackend(ask).run(OFFER, call(tmp_path), nothing)


async def test_cancelling_ends_the_work(tmp_path: Path, store: FileStore) -> None:
    backend = Painting()
    running = asyncio.create_task(
        ReplicaBackend(ExpertReplica(backend, [EXPERT], store).run).run(
            OFFER, call(tmp_path, "wait"), nothing
        )
    )
    await backend.waits.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert backend.cancelled == 1
    assert not list((tmp_path / "store" / "work").iterdir())


async def test_calls_are_taken_together_and_fail_alone(tmp_path: Path, store: FileStore) -> None:
    backend = Painting()
    other = Expert("pen", "paint")
    replica = ExpertReplica(backend, [EXPERT, other], store)
    parcelled: list[ParcelledCall] = []

    async def ask(asked: ParcelledCall) -> AsyncGenerator[dict[str, Any]]:
        parcelled.append(asked)
        raise ReplicaLost
        yield {}

    for number, prompt in enumerate(("one", "bad", "three")):
        with pytest.raises(ExpertError):
            await ReplicaBackend(ask).run(OFFER, call(tmp_path / str(number), prompt), nothing)
    first, bad, third = parcelled[:: cluster.TRIES]
    answers = await replica.run_batch([first, bad, replace(third, expert="pen"), third])
    assert ["results" in each for each in answers] == [True, False, True, True]
    assert "no picture" in str(answers[1]["error"])
    assert sorted(backend.sizes) == [1, 1, 1, 1, 3]
    assert backend.experts.count("pen") == 1
    assert not list((tmp_path / "store" / "work").iterdir())


@pytest.fixture
async def gate(tmp_path: Path, store: FileStore) -> AsyncIterator[ClusterGate]:
    key, certificate = self_signed()
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
    terms = GateTerms("127.0.0.1", port, key, certificate, tmp_path / "paired", f"127.0.0.1:{port}")
    replica = ExpertReplica(Painting(), [EXPERT], FileStore(tmp_path / "there"))
    gate = ClusterGate(terms, replica.run, [OFFER], {"paint": PAINT}, store)
    await gate.check_health()
    yield gate
    await gate.close()


async def test_a_cluster_is_a_machine_that_can_be_paired(
    gate: ClusterGate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with keyring_in_memory(monkeypatch) as kept:
        desk = Desk(tmp_path / "desk", {"paint": Definition(PAINT)})
        machine = await desk.backend.pair(gate.terms.place, await gate.pairing_code(), name="box")
        assert [each.id for each in machine.experts] == ["brush"]
        _, picture = await desk.run(call(tmp_path))
        assert picture.path
        assert picture.path.read_bytes() == b"cba" * 100_000
        await desk.settled()
        kept["machine:box"] = "wrong"
        with pytest.raises(JarvisError, match="does not know this computer"):
            await desk.run(call(tmp_path / "again"))
        await desk.settled()
    await gate.check_health()


async def test_a_gate_lets_in_nobody_else(gate: ClusterGate) -> None:
    import httpx

    base = f"https://{gate.terms.place}"
    async with httpx.AsyncClient(base_url=base, verify=False) as stranger:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic x"}):
            for path in (wire.STATE, wire.RUN, "/-/routes", "/-/healthz", "/"):
                answer = await stranger.get(path, headers=headers)
                assert answer.status_code == 401


async def test_a_gate_that_does_not_listen_is_unhealthy(gate: ClusterGate) -> None:
    await gate.close()
    with pytest.raises(ConnectionError):
        await gate.check_health()


def test_which_part_of_a_card_an_expert_needs() -> None:
    gigabyte = 1_000_000_000
    small = Expert("small", "paint", memory_mb=1_000, memory_half_mb=700)
    large = Expert("large", "paint", memory_mb=60_000)
    assert card_share(small, 0) == 1.0
    assert card_share(small, 8 * gigabyte) == 0.15
    assert card_share(small, 80 * gigabyte) == 0.05
    assert card_share(large, 8 * gigabyte) == 1.0
    assert card_share(Expert("unknown", "paint"), 8 * gigabyte) == 1.0


def test_the_state_is_for_its_owner_and_ends_with_its_process() -> None:
    state = ray_cluster.ClusterState(user_paths())
    assert state.read() == {}
    state.write(address="10.0.0.5:6379", place="box:8766", token="secret")
    assert state.read()["place"] == "box:8766"
    if os.name != "nt":
        assert state.path.stat().st_mode & 0o077 == 0
    state.write(place="box:8766")
    with pytest.raises(UnavailableError, match="starting again"):
        ray_cluster.status(state.read())
    state.write(pid=1, place="box:8766")
    assert state.read() == {}  # nobody has its lock
    with state.lock:
        assert ray_cluster.ClusterState(user_paths()).read()["pid"] == 1
    state.path.write_text("[")
    assert state.read() == {}
    assert ray_cluster.deployed_name("a/b") == "jarvis-expert-a--b"


@pytest.fixture
def supervised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ray_cluster.ClusterState:
    """What the process that keeps a cluster alive finds; it does not wait."""
    gate = GateTerms("127.0.0.1", 1, "", "", tmp_path, "box:1")
    given = io.BytesIO(pickle.dumps(ray_cluster.ClusterTerms(gate, ())))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=given))
    monkeypatch.setattr(sys, "argv", ["-c"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    return ray_cluster.ClusterState(user_paths())


def test_a_cluster_that_has_ended_is_started_again(
    supervised: ray_cluster.ClusterState, monkeypatch: pytest.MonkeyPatch
) -> None:
    states: list[dict[str, Any]] = []

    def hold(terms: ray_cluster.ClusterTerms) -> None:
        states.append(supervised.read())
        if len(states) == 1:
            supervised.write(pid=os.getpid(), address="127.0.0.1:1", place="box:1")
        if len(states) == 3:
            raise SystemExit(0)

    monkeypatch.setattr(ray_cluster, "_hold_once", hold)
    with pytest.raises(SystemExit, match="0"):
        ray_cluster.run()
    assert states == [{}, *[{"pid": os.getpid(), "place": "box:1"}] * 2]
    assert not supervised.path.exists()
    assert not supervised.has_process()


def test_a_cluster_that_never_ran_is_not(
    supervised: ray_cluster.ClusterState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_cluster, "_hold_once", lambda terms: None)
    with pytest.raises(SystemExit, match="1"):
        ray_cluster.run()
