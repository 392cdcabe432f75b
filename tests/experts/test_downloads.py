"""The list of downloads: its order, pausing and going on, failures, and what a restart finds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.experts.downloads import (
    RESERVE_BYTES,
    Download,
    DownloadReport,
    Downloads,
    DownloadState,
    in_words,
)

MB = 1_000_000


@dataclass
class FakeRoad:
    """Fetches what the test lets through."""

    sizes: dict[str, int] = field(default_factory=dict)
    arrived: dict[str, int] = field(default_factory=dict)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    error: Exception | None = None
    room: int = 0
    begun: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    async def fetch(self, name: str, told: DownloadReport) -> None:
        self.begun.append(name)
        told(None, 0)
        size = self.sizes.get(name, 100)
        self.arrived[name] = max(self.arrived.get(name, 0), size // 2)
        told(self.arrived[name] / size, size)
        await self.gates.setdefault(name, asyncio.Event()).wait()
        if self.error:
            raise self.error
        told(1.0, size)
        self.arrived[name] = size

    async def measure(self, name: str) -> tuple[int, int]:
        if name == "unknown":
            raise InputError("There is no expert unknown.")
        return self.sizes.get(name, 100), self.arrived.get(name, 0)

    async def free(self) -> int:
        return self.room

    async def drop(self, name: str) -> None:
        self.dropped.append(name)
        self.arrived.pop(name, None)

    def let(self, *names: str) -> None:
        for name in names:
            self.gates.setdefault(name, asyncio.Event()).set()


@pytest.fixture
def road() -> FakeRoad:
    return FakeRoad()


def made(road: FakeRoad, folder: Path, **settings) -> Downloads:
    return Downloads({"expert": road, "llm": road}, kept=folder / "downloads.json", **settings)


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0)


def states(downloads: Downloads) -> dict[str, DownloadState]:
    return {each.name: each.state for each in downloads.listed}


def kept(folder: Path) -> list[str]:
    return [each["name"] for each in json.loads((folder / "downloads.json").read_text("utf-8"))]


async def test_a_few_are_fetched_at_once_and_the_others_wait_their_turn(road, tmp_path):
    done: list[Download] = []
    downloads = made(road, tmp_path, on_done=done.append)
    for name in ("a", "b", "c"):
        downloads.add("expert", name)
    await until(lambda: road.begun == ["a", "b"])
    assert list(states(downloads).values()) == [
        DownloadState.FETCHING,
        DownloadState.FETCHING,
        DownloadState.WAITING,
    ]
    road.let("b")
    await until(lambda: "c" in road.begun)
    road.let("a", "c")
    await until(lambda: set(states(downloads).values()) == {DownloadState.DONE})
    assert [each.name for each in done] == ["b", "a", "c"]
    assert downloads.listed[0].have == downloads.listed[0].size == 100
    downloads.clear()
    assert downloads.listed == ()


async def test_one_is_paused_and_gone_on_with(road, tmp_path):
    downloads = made(road, tmp_path)
    downloads.add("expert", "a")
    await until(lambda: downloads.listed[0].have == 50)
    assert (downloads.listed[0].fraction, downloads.listed[0].asking) == (0.5, False)
    downloads.pause(("expert", "a"))
    (paused,) = downloads.listed
    assert (paused.state, paused.have, paused.speed) == (DownloadState.PAUSED, 50, 0.0)
    downloads.pause(("expert", "a"))  # a second time is no mistake
    downloads.resume(("expert", "a"))  # before its task has ended
    road.let("a")
    await until(lambda: states(downloads) == {"a": DownloadState.DONE})
    downloads.resume(("expert", "nobody knows it"))


async def test_while_one_is_paused_the_next_is_fetched(road, tmp_path):
    downloads = made(road, tmp_path, width=1)
    downloads.add("expert", "a")
    downloads.add("expert", "b")
    await until(lambda: road.begun == ["a"])
    downloads.pause(("expert", "a"))
    await until(lambda: road.begun == ["a", "b"])
    downloads.pause(("expert", "b"))
    downloads.resume(("expert", "b"))
    assert states(downloads) == {"a": DownloadState.PAUSED, "b": DownloadState.WAITING}
    road.let("b")
    await until(lambda: states(downloads)["b"] is DownloadState.DONE)


async def test_what_is_in_line_is_not_put_there_twice_and_what_is_done_may_be_again(road, tmp_path):
    downloads = made(road, tmp_path)
    road.let("a")
    downloads.add("expert", "a")
    downloads.add("expert", "a")
    await until(lambda: states(downloads) == {"a": DownloadState.DONE})
    assert road.begun == ["a"]
    downloads.add("expert", "a")
    await until(lambda: road.begun == ["a", "a"])
    assert len(downloads.listed) == 1


async def test_one_that_is_dropped_leaves_the_list_and_the_disk(road, tmp_path):
    downloads = made(road, tmp_path)
    downloads.add("llm", "a")
    await until(lambda: road.arrived)
    await downloads.drop(("llm", "a"))
    assert (downloads.listed, road.dropped, road.arrived) == ((), ["a"], {})
    await downloads.drop(("llm", "a"))
    road.let("b")
    downloads.add("llm", "b")
    await until(lambda: states(downloads) == {"b": DownloadState.DONE})
    await downloads.drop(("llm", "b"))
    assert (downloads.listed, road.dropped) == ((), ["a"])  # what is done stays on the disk


async def test_a_failure_says_why_and_is_tried_again(road, tmp_path):
    downloads = made(road, tmp_path)
    road.error = UnavailableError("The Hub cannot be reached.", hint="Look at the network.")
    road.let("a")
    downloads.add("expert", "a")
    await until(lambda: states(downloads) == {"a": DownloadState.FAILED})
    assert downloads.listed[0].reason == "The Hub cannot be reached. Look at the network."
    assert downloads.listed[0].have == 50
    road.error = None
    downloads.resume(("expert", "a"))
    await until(lambda: states(downloads) == {"a": DownloadState.DONE})
    assert downloads.listed[0].reason == ""


async def test_one_that_fails_while_it_is_stopped_is_paused(tmp_path):
    class Breaking(FakeRoad):
        async def fetch(self, name: str, told: DownloadReport) -> None:
            try:
                await super().fetch(name, told)
            except asyncio.CancelledError:
                raise UnavailableError("It broke off.") from None

    road = Breaking()
    downloads = made(road, tmp_path)
    downloads.add("expert", "a")
    await until(lambda: road.arrived)
    downloads.pause(("expert", "a"))
    await downloads.close()
    assert states(downloads) == {"a": DownloadState.PAUSED}


async def test_what_nobody_foresaw_is_a_failure_too(road, tmp_path, caplog):
    downloads = made(road, tmp_path)
    road.error = KeyError("surprise")
    road.let("a")
    downloads.add("expert", "a")
    await until(lambda: states(downloads) == {"a": DownloadState.FAILED})
    assert "inside JARVIS" in downloads.listed[0].reason
    assert "failed unexpectedly" in caplog.text
    caplog.clear()


async def test_what_the_disk_has_no_room_for_is_refused_before_it_is_asked_for(road, tmp_path):
    road.sizes, road.room = {"a": 60 * MB, "b": 60 * MB}, RESERVE_BYTES + 80 * MB
    downloads = made(road, tmp_path)
    downloads.add("expert", "a")
    downloads.add("expert", "b")
    await until(lambda: DownloadState.FAILED in states(downloads).values())
    (failed,) = [each for each in downloads.listed if each.state is DownloadState.FAILED]
    assert "are needed, and 580 MB are free" in failed.reason
    assert len(road.begun) == 1
    road.room = 0  # a disk that says nothing keeps nobody from trying
    downloads.resume(failed.key)
    await until(lambda: len(road.begun) == 2)
    await downloads.close()


async def test_offline_nothing_is_put_in_line(road, tmp_path):
    downloads = made(road, tmp_path, allowed=lambda: False)
    with pytest.raises(InputError, match="offline"):
        downloads.add("expert", "a")
    assert downloads.listed == ()


async def test_who_watches_is_told_of_every_change(road, tmp_path):
    downloads = made(road, tmp_path)
    seen: list[tuple[Download, ...]] = []
    downloads.watch(seen.append)
    assert seen == [()]
    road.let("a")
    downloads.add("expert", "a", size=1000)
    assert seen[-1][0].size == 1000
    await until(lambda: seen[-1][0].state is DownloadState.DONE)


async def test_how_far_it_is_is_told_a_few_times_a_second(road, tmp_path, monkeypatch):
    monkeypatch.setattr("jarvis_desktop.experts.downloads.PROGRESS_INTERVAL_S", 0.001)
    downloads = made(road, tmp_path)
    seen: list[int] = []
    downloads.watch(lambda listed: seen.extend(each.have for each in listed))
    downloads.add("expert", "a")
    await until(lambda: 50 in seen)
    await downloads.close()


async def test_somebody_who_waits_for_one_gets_it_before_those_in_line(road, tmp_path):
    downloads = made(road, tmp_path, width=1)
    downloads.add("expert", "a")
    words: list[str] = []
    waiting = asyncio.create_task(
        downloads.fetch("expert", "b", lambda _, said: words.append(said))
    )
    await until(lambda: road.begun == ["a", "b"])
    road.let("b")
    await waiting
    assert words[0] == "asking what there is"
    await downloads.close()


async def test_somebody_who_waits_hears_why_it_failed(road, tmp_path):
    downloads = made(road, tmp_path)
    road.error = UnavailableError("No.")
    road.let("a")
    with pytest.raises(UnavailableError, match="No"):
        await downloads.fetch("expert", "a", lambda *_: None)


async def test_who_stops_waiting_pauses_it_and_a_pause_ends_the_waiting(road, tmp_path):
    downloads = made(road, tmp_path)
    waiting = asyncio.create_task(downloads.fetch("expert", "a", lambda *_: None))
    await until(lambda: road.arrived)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert states(downloads) == {"a": DownloadState.PAUSED}
    again = asyncio.create_task(downloads.fetch("expert", "a", lambda *_: None))
    await until(lambda: len(road.begun) == 2)
    downloads.pause(("expert", "a"))
    with pytest.raises(asyncio.CancelledError):
        await again


async def test_a_restart_finds_what_was_not_done_as_paused(road, tmp_path):
    downloads = made(road, tmp_path)
    await downloads.restore()
    road.let("done")
    for name in ("done", "a", "b", "unknown"):
        downloads.add("expert", name)
    await until(lambda: states(downloads)["done"] is DownloadState.DONE)
    await downloads.close()
    assert kept(tmp_path) == ["a", "b", "unknown"]
    again = made(road, tmp_path)
    await again.restore()
    await again.restore()
    assert states(again) == {"a": DownloadState.PAUSED, "b": DownloadState.PAUSED}
    assert (again.listed[0].have, again.listed[0].size) == (50, 100)
    road.let("a")
    again.resume(("expert", "a"))
    await until(lambda: states(again)["a"] is DownloadState.DONE)
    await again.close()
    assert kept(tmp_path) == ["b"]


async def test_a_failure_is_remembered_with_its_reason(road, tmp_path):
    downloads = made(road, tmp_path)
    await downloads.restore()
    road.error = UnavailableError("No.")
    road.let("a")
    downloads.add("llm", "a")
    await until(lambda: states(downloads) == {"a": DownloadState.FAILED})
    await downloads.close()
    again = made(road, tmp_path)
    await again.restore()
    assert [(each.state, each.reason) for each in again.listed] == [(DownloadState.FAILED, "No.")]


@pytest.mark.parametrize(
    "text", ["", "{", "[1, {}]", '{"a": 1}', '[{"kind": "film", "name": "x", "reason": ""}]', "\0"]
)
async def test_a_list_that_cannot_be_read_is_begun_anew(road, tmp_path, text):
    (tmp_path / "downloads.json").write_text(text, "utf-8")
    downloads = made(road, tmp_path)
    await downloads.restore()
    assert downloads.listed == ()


async def test_who_never_takes_up_the_list_leaves_it_alone(road, tmp_path):
    downloads = made(road, tmp_path)
    downloads.add("expert", "a")
    await downloads.close()
    assert not (tmp_path / "downloads.json").exists()


async def test_a_disk_that_keeps_no_list_stops_no_download(road, tmp_path):
    (tmp_path / "downloads.json.new").mkdir()
    downloads = made(road, tmp_path)
    await downloads.restore()
    road.let("a")
    downloads.add("expert", "a")
    await until(lambda: states(downloads) == {"a": DownloadState.DONE})


def test_how_far_one_is_in_words():
    half = Download(
        "expert", "a", DownloadState.FETCHING, 4000 * MB, 1000 * MB, 10.0 * MB, asking=False
    )
    assert in_words(half) == "1.0 GB of 4.0 GB, 10.0 MB/s, 5 min left"
    assert half.seconds_left == 300
    slow = Download("expert", "a", DownloadState.PAUSED, 100 * MB, 50 * MB, asking=False)
    assert (in_words(slow), slow.seconds_left) == ("50 MB of 100 MB", None)
    assert Download("llm", "a").fraction is None
