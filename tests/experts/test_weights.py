from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError, StorageError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.task import Report
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.process.model_files import MARKER
from tests.hub import COMMIT, Hub, running_hub
from tests.safetensors import weights_of

WEIGHTS = weights_of(700_000)
FILES = {
    "config.json": b'{"model_type": "whisper"}',
    "model.safetensors": WEIGHTS,
    "pytorch_model.bin": b"a pickle" * 500,
    "nested/vocabulary.txt": b"a\nb\n",
    "README.md": b"not wanted",
}
EXPERT = Expert(
    "small-one",
    "text-generation",
    repo="someone/small-one",
    files=("*.json", "*.safetensors", "*.bin", "*.txt"),
)


def reports() -> tuple[list[tuple[float | None, str]], Report]:
    seen: list[tuple[float | None, str]] = []
    return seen, lambda fraction, words: seen.append((fraction, words))


def nothing(fraction: float | None, words: str) -> None:
    pass


def make(tmp_path: Path, hub: Hub, **settings) -> Weights:
    return Weights(tmp_path / "experts", endpoint=hub.address, **settings)


async def test_a_fetch_brings_the_needed_files_without_pickles_and_is_then_installed(tmp_path):
    seen, report = reports()
    with running_hub(repos={EXPERT.repo: FILES}) as hub:
        weights = make(tmp_path, hub)
        assert weights.installed() == ()
        folder = await weights.fetch(EXPERT, report)
        assert weights.folder(EXPERT) == folder
        asked = [path for method, path, _ in hub.requests if method == "GET"]
        await weights.fetch(EXPERT, report)  # it is there: nothing is asked for
        assert asked == [path for method, path, _ in hub.requests if method == "GET"]
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert names == {"config.json", "model.safetensors", "nested/vocabulary.txt", MARKER}
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    (found,) = weights.installed()
    assert (found.id, found.repo, found.revision) == ("small-one", "someone/small-one", COMMIT)
    assert found.size == len(WEIGHTS) + 25 + 4
    fractions = [fraction for fraction, _ in seen if fraction is not None]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert seen[-1][1] == "700 of 700 kB (file 3 of 3)"
    # One listing, one request a file, nothing besides.
    assert len(asked) == 4


async def test_a_pinned_revision_is_the_one_asked_for(tmp_path):
    pinned = replace(EXPERT, revision=COMMIT)
    with running_hub(repos={EXPERT.repo: FILES}) as hub:
        await make(tmp_path, hub).fetch(pinned, nothing)
        assert hub.requests[0][1] == f"/api/models/someone/small-one/revision/{COMMIT}"
        assert all(COMMIT in path for _, path, _ in hub.requests)


async def test_a_body_that_breaks_off_is_gone_on_with(tmp_path):
    with running_hub(repos={EXPERT.repo: FILES}, cut={"model.safetensors": 300_000}) as hub:
        folder = await make(tmp_path, hub).fetch(EXPERT, nothing)
        first, second = hub.ranges("model.safetensors")
    assert first == ""
    assert 0 < int(second.removeprefix("bytes=").removesuffix("-")) <= 300_000
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS


async def test_a_server_without_ranges_is_read_from_the_beginning(tmp_path):
    with running_hub(
        repos={EXPERT.repo: FILES}, cut={"model.safetensors": 300_000}, no_ranges=True
    ) as hub:
        folder = await make(tmp_path, hub).fetch(EXPERT, nothing)
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS


async def test_a_cancelled_fetch_is_not_installed_and_the_next_one_goes_on(tmp_path):
    with running_hub(repos={EXPERT.repo: FILES}, hold={"model.safetensors": 400_000}) as hub:
        weights = make(tmp_path, hub)
        running = asyncio.create_task(weights.fetch(EXPERT, nothing))
        assert await asyncio.to_thread(hub.held.wait, 30)
        while weights.partial(EXPERT) < 250_000:
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert weights.installed() == ()
        assert weights.folder(EXPERT) is None
        folder = await weights.fetch(EXPERT, nothing)
        begin = int(hub.ranges("model.safetensors")[-1].removeprefix("bytes=").removesuffix("-"))
    assert begin >= 250_000
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert weights.partial(EXPERT) == 0


async def test_what_was_kept_of_another_commit_is_read_anew(tmp_path):
    part = tmp_path / "experts" / "small-one.part" / "model.safetensors.incomplete"
    part.parent.mkdir(parents=True)
    part.write_bytes(bytes(100_000))
    with running_hub(repos={EXPERT.repo: FILES}) as hub:
        folder = await make(tmp_path, hub).fetch(EXPERT, nothing)
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS


async def test_a_cut_between_the_last_byte_and_the_digest_is_gone_on_with(tmp_path):
    part = tmp_path / "experts" / "small-one.part" / "model.safetensors.incomplete"
    part.parent.mkdir(parents=True)
    part.write_bytes(WEIGHTS)
    with running_hub(repos={EXPERT.repo: FILES}) as hub:
        folder = await make(tmp_path, hub).fetch(EXPERT, nothing)
        assert not hub.ranges("model.safetensors")  # it was here already
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS


async def test_a_cut_between_marker_and_rename_is_settled_without_the_network(tmp_path):
    with running_hub(repos={EXPERT.repo: FILES}) as hub:
        weights = make(tmp_path, hub)
        folder = await weights.fetch(EXPERT, nothing)
        folder.rename(folder.with_name("small-one.part"))
        assert weights.installed() == ()
        hub.status = 500
        assert await weights.fetch(EXPERT, nothing) == folder


async def refusal(weights: Weights, expert: Expert = EXPERT) -> UnavailableError:
    with pytest.raises(UnavailableError) as caught:
        await weights.fetch(expert, nothing)
    assert caught.value.message.endswith(".")
    assert caught.value.hint
    assert weights.installed() == ()
    return caught.value


async def test_a_repository_that_is_not_there_is_named(tmp_path):
    with running_hub() as hub:
        error = await refusal(make(tmp_path, hub))
    assert "no repository someone/small-one" in error.message


async def test_a_gated_repository_says_where_its_terms_are(tmp_path):
    with running_hub(repos={EXPERT.repo: FILES}, gated={EXPERT.repo}) as hub:
        error = await refusal(make(tmp_path, hub))
        assert f"{hub.address}/someone/small-one" in error.hint
    assert "terms were accepted" in error.message


@pytest.mark.parametrize(("status", "retryable"), [(401, False), (404, False), (503, True)])
async def test_a_refusal_gives_the_status_or_the_missing_repository(tmp_path, status, retryable):
    with running_hub(status=status) as hub:
        error = await refusal(make(tmp_path, hub))
    assert "someone/small-one" in error.message
    assert error.retryable is retryable


async def test_a_hub_that_is_not_there_is_said_at_once(tmp_path):
    with running_hub() as hub:
        pass
    error = await refusal(make(tmp_path, hub))
    assert "cannot be reached" in error.message
    assert error.retryable


async def test_a_login_page_in_place_of_the_hub_is_recognised(tmp_path):
    with running_hub(page=True) as hub:
        error = await refusal(make(tmp_path, hub))
    assert "does not answer like" in error.message


async def test_a_silent_hub_is_not_waited_for(tmp_path):
    with running_hub(repos={EXPERT.repo: FILES}, hang={"listing"}) as hub:
        error = await refusal(make(tmp_path, hub, patience=0.3))
    assert "gave no answer" in error.message


async def test_a_file_that_never_comes_ends_after_three_tries(tmp_path):
    with running_hub(repos={EXPERT.repo: FILES}, cut_always={"model.safetensors"}) as hub:
        error = await refusal(make(tmp_path, hub))
        assert len(hub.ranges("model.safetensors")) == 3
    assert "broke off at model.safetensors" in error.message
    assert error.retryable


async def test_a_file_of_the_wrong_size_is_refused(tmp_path):
    with running_hub(repos={EXPERT.repo: FILES}, short={"model.safetensors"}) as hub:
        error = await refusal(make(tmp_path, hub))
    assert "should have 700001 bytes" in error.message


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
async def test_one_changed_byte_is_found(tmp_path, name):
    with running_hub(repos={EXPERT.repo: FILES}, damage={name}) as hub:
        error = await refusal(make(tmp_path, hub))
    assert f"{name} of someone/small-one arrived damaged" in error.message


async def test_too_little_room_on_the_disk_is_said_before_anything_is_read(tmp_path):
    with running_hub(repos={EXPERT.repo: FILES}) as hub:
        error = await refusal(make(tmp_path, hub, reserve=10**18))
        assert len(hub.requests) == 1
    assert "not enough room" in error.message


async def test_a_repository_without_usable_weights_is_refused(tmp_path):
    with running_hub(repos={EXPERT.repo: {"config.json": b"{}"}}) as hub:
        error = await refusal(make(tmp_path, hub))
    assert "no weights" in error.message


@pytest.mark.parametrize("name", ["../out.json", "/out.json", "a\\out.json", "c:out.json"])
async def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path, name):
    with running_hub(repos={EXPERT.repo: FILES | {name: b"{}"}}) as hub:
        await refusal(make(tmp_path, hub))
    assert [path.name for path in tmp_path.rglob("*out.json")] == []


async def test_a_file_that_was_cut_afterwards_is_not_taken_for_installed(tmp_path):
    with running_hub(repos={EXPERT.repo: FILES}) as hub:
        weights = make(tmp_path, hub)
        folder = await weights.fetch(EXPERT, nothing)
        os.truncate(folder / "model.safetensors", 10)
        assert weights.folder(EXPERT) is None
        await weights.fetch(EXPERT, nothing)
        assert (folder / "model.safetensors").read_bytes() == WEIGHTS


@pytest.mark.parametrize(
    "marker", ["", "[]", "{}", '{"files": {"a": 1}}', '{"files": {"gone": {"size": 1}}}']
)
def test_a_broken_marker_is_no_installed_expert(tmp_path, marker):
    folder = tmp_path / "small-one"
    folder.mkdir()
    (folder / MARKER).write_text(marker)
    assert Weights(tmp_path).installed() == ()


async def test_files_are_taken_from_a_folder_with_no_network(tmp_path):
    stick = tmp_path / "stick"
    for name, body in FILES.items():
        (stick / name).parent.mkdir(parents=True, exist_ok=True)
        (stick / name).write_bytes(body)
    weights = Weights(tmp_path / "experts", endpoint="http://127.0.0.1:1")
    folder = await weights.import_folder(EXPERT, stick)
    assert weights.folder(EXPERT) == folder
    assert set(json.loads((folder / MARKER).read_text())["files"]) == {
        "config.json",
        "model.safetensors",
        "nested/vocabulary.txt",
    }


async def test_a_folder_without_the_weights_is_refused_by_name(tmp_path):
    (tmp_path / "empty").mkdir()
    weights = Weights(tmp_path / "experts")
    with pytest.raises(InputError, match="holds no weights of small-one"):
        await weights.import_folder(EXPERT, tmp_path / "empty")
    with pytest.raises(InputError, match="There is no folder"):
        await weights.import_folder(EXPERT, tmp_path / "nowhere")
    assert weights.installed() == ()


async def test_removing_frees_the_room_and_says_how_much(tmp_path):
    with running_hub(repos={EXPERT.repo: FILES}) as hub:
        weights = make(tmp_path, hub)
        folder = await weights.fetch(EXPERT, nothing)
    assert weights.remove(EXPERT) > len(WEIGHTS)
    assert not folder.exists()
    assert weights.installed() == ()
    with pytest.raises(InputError, match="small-one is not on this computer"):
        weights.remove(EXPERT)


async def test_a_disk_that_refuses_the_last_step_is_told_and_it_can_be_gone_on_with(
    tmp_path, monkeypatch
):
    def refused(self: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    with running_hub(repos={EXPERT.repo: FILES}) as hub:
        weights = make(tmp_path, hub)
        monkeypatch.setattr(Path, "replace", refused)
        for _ in range(2):  # the second time nothing is left to fetch
            with pytest.raises(StorageError) as caught:
                await weights.fetch(EXPERT, nothing)
            assert caught.value.message == "small-one could not be saved: no space left on device."
            assert caught.value.hint
        monkeypatch.undo()
        asked = len(hub.requests)
        folder = await weights.fetch(EXPERT, nothing)
        assert len(hub.requests) == asked
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS


@pytest.mark.parametrize("bytes_left", [5, 100, len(WEIGHTS) - 1])
async def test_weights_that_are_cut_off_are_not_taken(tmp_path, bytes_left):
    (tmp_path / "stick").mkdir()
    (tmp_path / "stick" / "model.safetensors").write_bytes(WEIGHTS[:bytes_left])
    weights = Weights(tmp_path / "experts")
    with pytest.raises(UnavailableError, match=r"model\.safetensors of small-one are damaged"):
        await weights.import_folder(EXPERT, tmp_path / "stick")
    assert not weights.installed()
    assert not weights.partial(EXPERT)


async def test_a_damaged_file_of_the_hub_is_no_expert(tmp_path):
    with running_hub(repos={EXPERT.repo: {**FILES, "model.safetensors": WEIGHTS[:9000]}}) as hub:
        with pytest.raises(UnavailableError, match="are damaged or truncated"):
            await make(tmp_path, hub).fetch(EXPERT, nothing)
        assert not make(tmp_path, hub).installed()


async def test_an_import_that_the_disk_refuses_is_told(tmp_path, monkeypatch):
    def refused(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Used by another process")

    (tmp_path / "stick").mkdir()
    (tmp_path / "stick" / "model.safetensors").write_bytes(WEIGHTS)
    weights = Weights(tmp_path / "experts")
    old = tmp_path / "experts" / "small-one"
    old.mkdir(parents=True)
    monkeypatch.setattr(shutil, "rmtree", refused)
    with pytest.raises(StorageError, match="could not be saved: used by another process"):
        await weights.import_folder(EXPERT, tmp_path / "stick")


async def test_a_place_where_no_folder_can_be_is_told(tmp_path):
    (tmp_path / "file").touch()
    weights = Weights(tmp_path / "file" / "experts")
    assert weights.installed() == ()
    with pytest.raises(StorageError, match="could not be saved: not a directory"):
        await weights.fetch(EXPERT, nothing)


async def test_the_servers_protocol_is_the_one_the_library_speaks(tmp_path):
    """The loopback Hub itself, by the library's own download."""
    from huggingface_hub import snapshot_download

    with running_hub(repos={EXPERT.repo: FILES}) as hub:
        folder = await asyncio.to_thread(
            snapshot_download,
            EXPERT.repo,
            cache_dir=tmp_path / "cache",
            endpoint=hub.address,
            token=False,
        )
    assert (Path(folder) / "model.safetensors").read_bytes() == WEIGHTS
    shutil.rmtree(tmp_path / "cache")


async def test_an_expert_without_what_runs_it_is_not_whole(tmp_path):
    runner: Expert | None = Expert("torch", "", download_mb=300)
    with running_hub(repos={EXPERT.repo: FILES}) as hub:
        weights = make(tmp_path, hub, lacking=lambda expert: runner, budget=10_000_000)
        assert weights.missing(EXPERT) == (runner, EXPERT)
        assert weights.displaced(EXPERT) == ()  # what runs it is kept elsewhere
        folder = await weights.fetch(EXPERT, nothing)
        assert weights.folder(EXPERT) is None
        assert weights.missing(EXPERT) == (runner,)
        runner = None
        assert weights.folder(EXPERT) == folder
