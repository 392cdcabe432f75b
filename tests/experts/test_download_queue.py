"""What a plan needs comes through the list of downloads, where a person can pause and cancel it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import GivenUpError, InputError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.experts.downloads import Downloads, DownloadState, QueuedFetcher
from tests.experts.test_downloads import FakeRoad, made, states, until

BASE = Expert("base", "image-to-text", download_mb=1)
OWN = Expert("own", "image-to-text", download_mb=1, base=BASE)
KEY = ("expert", "own")


class Disk:
    """Weights that are where the road brought them."""

    def __init__(self, road: FakeRoad) -> None:
        self._road = road
        self.spared: list[tuple[str, ...]] = []

    def missing(self, expert: Expert) -> Sequence[Expert]:
        here = {name for name, bytes in self._road.arrived.items() if bytes == 100}
        return [each for each in (expert.base, expert) if each and each.id not in here]

    def displaced(self, expert: Expert, *, spared: Sequence[str] = ()) -> Sequence[str]:
        return tuple(spared)

    @contextmanager
    def sparing(self, names: Sequence[str]) -> Iterator[None]:
        self.spared.append(tuple(names))
        yield

    async def fetch(self, expert: Expert, report: object, **more: object) -> Path:
        assert not self.missing(expert)
        return Path(expert.id)


class Scene:
    """A list, and somebody who waits for an expert."""

    def __init__(self, road: FakeRoad, folder: Path) -> None:
        self.may = True
        self.downloads: Downloads = made(road, folder, allowed=lambda: self.may)
        self.disk = Disk(road)
        self.fetcher = QueuedFetcher(self.disk, lambda: self.downloads)  # type: ignore[arg-type]
        self.told: list[tuple[float | None, str]] = []

    def begin(self) -> asyncio.Task[Path]:
        def report(fraction: float | None, words: str) -> None:
            self.told.append((fraction, words))

        return asyncio.create_task(self.fetcher.fetch(OWN, report, spared=("other",)))


@pytest.fixture
def road() -> FakeRoad:
    return FakeRoad()


@pytest.fixture
def scene(road: FakeRoad, tmp_path: Path) -> Scene:
    road.let("base")
    return Scene(road, tmp_path)


async def test_it_stands_in_the_list_and_both_tell_how_far_it_is(scene, road):
    waiting = scene.begin()
    await until(lambda: road.begun == ["base", "own"])
    assert states(scene.downloads) == {"base": DownloadState.DONE, "own": DownloadState.FETCHING}
    assert scene.told[-1][0] == scene.downloads.listed[1].fraction == 0.5
    assert scene.told[-1][1].startswith("Downloading own: ")
    road.let("own")
    assert await waiting == Path("own")
    assert scene.disk.spared == [("other",)]
    assert scene.fetcher.missing(OWN) == []
    assert scene.fetcher.displaced(OWN, spared=("it",)) == ("it",)


async def test_while_it_is_paused_it_is_waited_for(scene, road):
    waiting = scene.begin()
    await until(lambda: "own" in road.begun)
    scene.downloads.pause(KEY)
    await until(lambda: scene.told[-1] == (0.5, "The download of own is paused."))
    assert not waiting.done()
    road.let("own")
    scene.downloads.resume(KEY)
    assert await waiting == Path("own")


@pytest.mark.parametrize("paused", [True, False])
async def test_when_it_is_cancelled_whoever_waits_hears_of_it(scene, road, paused):
    waiting = scene.begin()
    await until(lambda: "own" in road.begun)
    if paused:
        scene.downloads.pause(KEY)
        await until(lambda: scene.told[-1][1] == "The download of own is paused.")
    await scene.downloads.drop(KEY)
    with pytest.raises(GivenUpError, match="You stopped the download of own"):
        await waiting
    assert "own" not in states(scene.downloads)


async def test_who_is_stopped_leaves_it_paused(scene, road):
    waiting = scene.begin()
    await until(lambda: "own" in road.begun)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert states(scene.downloads)["own"] is DownloadState.PAUSED


async def test_what_the_person_fetches_anyway_goes_on_without_who_waited(scene, road):
    scene.downloads.add(*KEY)
    waiting = scene.begin()
    await until(lambda: scene.told and "own" in road.begun)
    other = scene.begin()
    await until(lambda: len(scene.disk.spared) == 2)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert states(scene.downloads)["own"] is DownloadState.FETCHING
    road.let("own")
    assert await other == Path("own")


async def test_in_the_offline_mode_nobody_waits_for_what_is_paused(scene, road):
    waiting = scene.begin()
    await until(lambda: "own" in road.begun)
    scene.downloads.pause(KEY)
    await until(lambda: scene.told[-1][1] == "The download of own is paused.")
    scene.may = False
    scene.downloads.mode_changed()
    with pytest.raises(InputError, match="offline"):
        await waiting
