from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.errors import StorageError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.placement import MB
from jarvis_desktop.experts.weights import InstalledWeights, Weights, displaced, lock_folder
from jarvis_desktop.process.model_files import MARKER
from tests.hub import Hub, running_hub
from tests.safetensors import weights_of

KB = 1000


def installed(name: str, size: int, used: float) -> InstalledWeights:
    return InstalledWeights(name, f"someone/{name}", "", size, Path(name), used)


THREE = (installed("old", 30, 1.0), installed("new", 40, 9.0), installed("middle", 20, 5.0))


@pytest.mark.parametrize(
    ("size", "budget", "spared", "gone"),
    [
        (10, 0, (), []),  # no limit
        (10, 100, (), []),  # just fits
        (11, 100, (), ["old"]),
        (40, 100, (), ["old"]),
        (41, 100, (), ["old", "middle"]),
        (100, 100, (), ["old", "middle", "new"]),
        (11, 100, ("old",), ["middle"]),
    ],
)
def test_what_was_not_used_for_longest_goes_first(size, budget, spared, gone):
    found = displaced("x", size, installed=THREE, taken=90, budget=budget, spared=spared)
    assert [item.id for item in found] == gone


def test_what_is_left_of_fetches_that_were_given_up_goes_before_any_expert():
    left = replace(installed("left", 10, 99.0), whole=False)
    for size, gone in ((10, ["left"]), (11, ["left", "old"])):
        found = displaced("x", size, installed=(*THREE, left), taken=100, budget=100)
        assert [item.id for item in found] == gone


@pytest.mark.parametrize(
    ("size", "spared", "stays"),
    [(101, (), "in all."), (71, ("new",), "of which 40 MB must stay.")],
)
def test_what_can_never_fit_is_refused_with_the_sizes(size, spared, stays):
    three = [replace(item, size=item.size * MB) for item in THREE]
    with pytest.raises(UnavailableError, match=f"x takes {size} MB") as caught:
        displaced("x", size * MB, installed=three, taken=90 * MB, budget=100 * MB, spared=spared)
    assert caught.value.message.endswith(stays)
    assert "disk_budget_gb" in caught.value.hint


EXPERTS = [
    Expert(f"e{number}", "fill-mask", repo=f"someone/e{number}", files=("*.safetensors",))
    for number in range(4)
]
FILES = {"model.safetensors": weights_of(80 * KB)}


def nothing(fraction: float | None, words: str) -> None:
    pass


@pytest.fixture
def notes():
    said: list[str] = []
    token = current_note.set(said.append)
    yield said
    current_note.reset(token)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def hub_of(*experts: Expert) -> dict[str, dict[str, bytes]]:
    return {item.repo: FILES for item in experts}


def weights_at(tmp_path: Path, hub: Hub, **settings) -> Weights:
    return Weights(tmp_path / "experts", endpoint=hub.address, **settings)


async def test_the_budget_is_kept_and_what_is_deleted_is_said(tmp_path, notes):
    with running_hub(repos=hub_of(*EXPERTS)) as hub:
        weights = weights_at(tmp_path, hub, budget=200 * KB)
        for number, expert in enumerate(EXPERTS[:2]):
            folder = await weights.fetch(expert, nothing)
            os.utime(folder / MARKER, (number, number))
        weights.used(EXPERTS[0])  # now the other one was not used for longest
        await weights.fetch(EXPERTS[2], nothing)
        assert [item.id for item in weights.installed()] == ["e0", "e2"]
        assert len(notes) == 1
        assert notes[0].startswith("e1 (80 kB) was deleted")
        assert "room for e2" in notes[0]
        assert size_of(tmp_path / "experts") <= 200 * KB


async def test_one_at_work_is_never_deleted(tmp_path, notes):
    with running_hub(repos=hub_of(*EXPERTS)) as hub:
        weights = weights_at(tmp_path, hub, budget=200 * KB, busy=lambda: {"e0", "e1"})
        for expert in EXPERTS[:2]:
            await weights.fetch(expert, nothing)
        with pytest.raises(UnavailableError, match="of the disk in all"):
            await weights.fetch(EXPERTS[2], nothing)
        assert [item.id for item in weights.installed()] == ["e0", "e1"]
        assert not notes


async def test_one_that_is_needed_besides_is_never_deleted(tmp_path):
    with running_hub(repos=hub_of(*EXPERTS)) as hub:
        weights = weights_at(tmp_path, hub, budget=200 * KB)
        for number, expert in enumerate(EXPERTS[:2]):
            folder = await weights.fetch(expert, nothing)
            os.utime(folder / MARKER, (number, number))
        listed = replace(EXPERTS[2], download_mb=1)
        larger = weights_at(tmp_path, hub, budget=1100 * KB)
        assert larger.displaced(listed) == ("e0",)
        assert larger.displaced(listed, spared={"e0"}) == ("e1",)
        await weights.fetch(EXPERTS[2], nothing, spared={"e0"})
        assert [item.id for item in weights.installed()] == ["e0", "e2"]


async def test_two_fetches_at_once_stay_within_the_budget_together(tmp_path):
    with running_hub(repos=hub_of(*EXPERTS), hold={"model.safetensors": 40 * KB}) as hub:
        weights = weights_at(tmp_path, hub, budget=150 * KB)
        first = asyncio.create_task(weights.fetch(EXPERTS[0], nothing))
        assert await asyncio.to_thread(hub.held.wait, 30)
        with pytest.raises(UnavailableError, match="of the disk in all"):
            await weights.fetch(EXPERTS[1], nothing)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        await weights.fetch(EXPERTS[0], nothing)
        assert [item.id for item in weights.installed()] == ["e0"]


def left_behind(tmp_path: Path, name: str) -> Path:
    part = tmp_path / "experts" / f"{name}.part"
    part.mkdir(parents=True)
    (part / "model.safetensors.incomplete").write_bytes(bytes(70 * KB))
    return part


async def test_a_fetch_that_was_given_up_makes_way_and_that_is_said(tmp_path, notes):
    part = left_behind(tmp_path, "e1")
    with running_hub(repos=hub_of(*EXPERTS)) as hub:
        weights = weights_at(tmp_path, hub, budget=200 * KB)
        await weights.fetch(EXPERTS[0], nothing)
        assert part.exists()  # there is room
        await weights.fetch(EXPERTS[2], nothing)
    assert not part.exists()
    assert [item.id for item in weights.installed()] == ["e0", "e2"]
    assert notes == [
        f"What had arrived of e1 ({readable_size(70_000)}) was deleted from the disk to make room "
        "for e2; its fetch was given up."
    ]


async def test_it_is_not_among_those_that_are_asked_about(tmp_path):
    part = left_behind(tmp_path, "e1")
    weights = Weights(tmp_path / "experts", budget=1050 * KB)
    assert weights.displaced(replace(EXPERTS[0], download_mb=1)) == ()
    with lock_folder(part, "e1"), pytest.raises(UnavailableError, match="of the disk in all"):
        weights.displaced(replace(EXPERTS[0], download_mb=1))


async def test_a_fetch_that_runs_keeps_what_arrived(tmp_path):
    with running_hub(repos=hub_of(*EXPERTS), hold={"model.safetensors": 70 * KB}) as hub:
        weights, other = (weights_at(tmp_path, hub, budget=100 * KB) for _ in range(2))
        running = asyncio.create_task(weights.fetch(EXPERTS[0], nothing))
        assert await asyncio.to_thread(hub.held.wait, 30)
        for one in (weights, other):  # of this process, and as of another one
            with pytest.raises(UnavailableError, match="of the disk in all"):
                await one.fetch(EXPERTS[1], nothing)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await other.fetch(EXPERTS[1], nothing)
    assert [item.id for item in other.installed()] == ["e1"]
    assert not weights.partial(EXPERTS[0])


async def test_what_another_process_fetches_costs_no_expert(tmp_path, notes):
    with running_hub(repos=hub_of(*EXPERTS)) as hub:
        weights = weights_at(tmp_path, hub, budget=100 * KB)
        await weights.fetch(EXPERTS[0], nothing)
        with (
            lock_folder(tmp_path / "experts" / "e1.part", "e1"),
            pytest.raises(UnavailableError, match="e1 is already being downloaded"),
        ):
            await weights.fetch(EXPERTS[1], nothing)
        assert [item.id for item in weights.installed()] == ["e0"]
        await weights.fetch(EXPERTS[1], nothing)
    assert [item.id for item in weights.installed()] == ["e1"]
    assert len(notes) == 1


async def test_one_that_somebody_deletes_while_it_arrives_is_told(tmp_path):
    upper = replace(EXPERTS[1], base=EXPERTS[0])
    with running_hub(repos=hub_of(*EXPERTS)) as hub:
        weights = weights_at(tmp_path, hub)

        def report(fraction: float | None, words: str) -> None:
            if words == f"Asking for {upper.repo}":
                weights.remove(EXPERTS[0])

        with pytest.raises(StorageError, match="no longer complete on the disk"):
            await weights.fetch(upper, report)


async def test_what_would_be_deleted_is_known_before(tmp_path):
    with running_hub(repos=hub_of(*EXPERTS)) as hub:
        weights = weights_at(tmp_path, hub, budget=1100 * KB)
        await weights.fetch(EXPERTS[0], nothing)
        small, large = replace(EXPERTS[1], download_mb=1), replace(EXPERTS[1], download_mb=2)
        assert weights.displaced(small) == ()
        assert weights_at(tmp_path, hub).displaced(large) == ()
        with pytest.raises(UnavailableError):
            weights.displaced(large)


async def test_a_folder_is_taken_in_within_the_budget_too(tmp_path, notes):
    source = tmp_path / "stick"
    source.mkdir()
    (source / "model.safetensors").write_bytes(FILES["model.safetensors"])
    weights = Weights(tmp_path / "experts", budget=100 * KB)
    await weights.import_folder(EXPERTS[0], source)
    await weights.import_folder(EXPERTS[1], source)
    assert [item.id for item in weights.installed()] == ["e1"]
    assert len(notes) == 1


async def test_an_expert_comes_with_its_base_and_is_there_only_with_it(tmp_path):
    base, upper = EXPERTS[0], replace(EXPERTS[1], base=EXPERTS[0])
    with running_hub(repos=hub_of(base, upper)) as hub:
        weights = weights_at(tmp_path, hub, budget=200 * KB)
        folder = await weights.fetch(upper, nothing)
        assert folder.name == "e1"
        assert weights.folder(base) is not None
        weights.remove(base)
        assert weights.folder(upper) is None
        asked = len(hub.requests)
        assert await weights.fetch(upper, nothing) == folder
        assert not [each for each in hub.requests[asked:] if "e1" in each[1]]


PICKLED = {"pytorch_model.bin": b"not really one" * 100}


async def test_a_pickle_is_fetched_only_where_it_was_agreed_to(tmp_path):
    expert = replace(EXPERTS[0], files=("*.safetensors", "*.bin"))
    with running_hub(repos={expert.repo: PICKLED}) as hub:
        weights = weights_at(tmp_path, hub)
        with pytest.raises(UnavailableError, match="only there as a pickle") as caught:
            await weights.fetch(expert, nothing)
        assert "--pickle" in caught.value.hint
        assert not [each for each in hub.requests if each[1].endswith(".bin")]


async def test_a_pickle_of_a_folder_is_taken_only_where_it_was_agreed_to(tmp_path):
    expert = replace(EXPERTS[0], files=("*.bin",))
    source = tmp_path / "stick"
    source.mkdir()
    (source / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(UnavailableError, match="only there as a pickle"):
        await Weights(tmp_path / "experts").import_folder(expert, source)
