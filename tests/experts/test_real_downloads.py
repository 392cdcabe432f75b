"""Downloads from a Hub on loopback: paused, cut off, killed, damaged, and a disk that is full."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.experts.downloads import Downloads, DownloadState, ExpertDownloader, Key
from jarvis_desktop.experts.weights import Weights
from tests.hub import Hub, running_hub
from tests.safetensors import weights_of

WEIGHTS = weights_of(3_000_000)
NAME = "model.safetensors"
EXPERT = Expert("one", "translation", repo="a/one", files=("*",), download_mb=3)
KEY: Key = ("expert", "one")
REPOS = {EXPERT.repo: {NAME: WEIGHTS, "config.json": b"{}"}}


def made(hub: Hub, folder: Path) -> tuple[Downloads, Weights]:
    weights = Weights(folder / "experts", endpoint=hub.address, patience=5.0, reserve=0)
    road = ExpertDownloader(weights, find=lambda name: EXPERT, free=lambda: 10**12)
    return Downloads({"expert": road}, kept=folder / "downloads.json"), weights


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.01)


async def whole(downloads: Downloads, weights: Weights) -> None:
    """It comes to its end, and is what the Hub has."""
    await until(lambda: not downloads.listed[0].under_way)
    assert downloads.listed[0].state is DownloadState.DONE, downloads.listed[0].reason
    folder = weights.folder(EXPERT)
    assert folder
    assert (folder / NAME).read_bytes() == WEIGHTS


async def test_one_that_was_paused_goes_on_where_it_was(tmp_path):
    with running_hub(repos=REPOS, hold={NAME: 2_000_000}) as hub:
        downloads, weights = made(hub, tmp_path)
        downloads.add("expert", "one")
        await until(lambda: weights.partial(EXPERT) > 1_000_000)
        await until(lambda: downloads.listed[0].have > 0)
        downloads.pause(KEY)
        await until(lambda: not weights.coming(EXPERT))
        downloads.resume(KEY)
        await whole(downloads, weights)
        first, second = hub.ranges(NAME)
    assert first == ""
    assert int(second.removeprefix("bytes=").removesuffix("-")) > 1_000_000
    assert downloads.listed[0].size == len(WEIGHTS) + 2


async def test_one_that_is_dropped_leaves_nothing(tmp_path):
    with running_hub(repos=REPOS, hold={NAME: 2_000_000}) as hub:
        downloads, weights = made(hub, tmp_path)
        downloads.add("expert", "one")
        await until(lambda: weights.partial(EXPERT) > 1_000_000)
        await downloads.drop(KEY)
    assert (downloads.listed, weights.taken()) == ((), 0)


async def test_one_whose_server_broke_off_for_good_says_so_and_is_gone_on_with(tmp_path):
    with running_hub(repos=REPOS, cut_always={NAME}) as hub:
        downloads, weights = made(hub, tmp_path)
        downloads.add("expert", "one")
        await until(lambda: downloads.listed[0].state is DownloadState.FAILED)
        assert "broke off" in downloads.listed[0].reason
        hub.cut_always.clear()
        downloads.resume(KEY)
        await whole(downloads, weights)


async def test_one_that_arrived_damaged_is_never_taken(tmp_path):
    with running_hub(repos=REPOS, damage={NAME}) as hub:
        downloads, weights = made(hub, tmp_path)
        downloads.add("expert", "one")
        await until(lambda: downloads.listed[0].state is DownloadState.FAILED)
        assert "does not match its digest" in downloads.listed[0].reason
        assert weights.installed() == ()
        hub.damage.clear()
        downloads.resume(KEY)
        await whole(downloads, weights)


async def test_a_disk_that_cannot_keep_it_is_said(tmp_path):
    (tmp_path / "experts").write_text("a file where the folder should be")
    with running_hub(repos=REPOS) as hub:
        downloads, _ = made(hub, tmp_path)
        downloads.add("expert", "one")
        await until(lambda: downloads.listed[0].state is DownloadState.FAILED)
    assert "could not be saved" in downloads.listed[0].reason


KILLED = """
import asyncio, sys
from pathlib import Path
from tests.experts.test_real_downloads import made
from tests.hub import Hub

async def main():
    downloads, _ = made(Hub(address=sys.argv[1]), Path(sys.argv[2]))
    await downloads.restore()
    downloads.add("expert", "one")
    await asyncio.sleep(60)

if __name__ == "__main__":
    asyncio.run(main())
"""


async def test_after_kill_9_it_is_paused_and_goes_on_where_it_was(tmp_path):
    script = tmp_path / "killed.py"
    script.write_text(KILLED, "utf-8")
    with running_hub(repos=REPOS, hold={NAME: 2_000_000}) as hub:
        command = [sys.executable, str(script), hub.address, str(tmp_path)]
        root = Path(__file__).resolve().parents[2]
        process = subprocess.Popen(command, env={"PYTHONPATH": str(root)})
        _, weights = made(hub, tmp_path)
        try:
            await until(lambda: weights.partial(EXPERT) > 1_000_000)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(60)
        downloads, weights = made(hub, tmp_path)
        await downloads.restore()
        (left,) = downloads.listed
        assert (left.state, left.have > 1_000_000) == (DownloadState.PAUSED, True)
        await until(lambda: _is_free(weights))  # its child ends with it, a moment later
        downloads.resume(KEY)
        await whole(downloads, weights)
        assert hub.ranges(NAME)[-1].startswith("bytes=")


def _is_free(weights: Weights) -> bool:
    from jarvis_desktop.experts.weights import is_locked

    return not is_locked(weights._partial(EXPERT))


async def test_what_was_kept_is_deleted_only_where_nobody_goes_on_with_it(tmp_path):
    with running_hub(repos=REPOS, hold={NAME: 2_000_000}) as hub:
        downloads, weights = made(hub, tmp_path)
        assert weights.discard(EXPERT) == 0
        downloads.add("expert", "one")
        await until(lambda: weights.partial(EXPERT) > 1_000_000)
        with pytest.raises(UnavailableError, match="being downloaded"):
            weights.discard(EXPERT)
        await downloads.close()


def test_one_at_work_is_not_removed(tmp_path):
    weights = Weights(tmp_path, busy=lambda: {"one"})
    with pytest.raises(InputError, match="is running"):
        weights.remove(EXPERT)
    assert weights.at_work == {"one"}
    shutil.rmtree(tmp_path)
    assert weights.taken() == 0


async def test_offline_by_environment_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with running_hub(repos=REPOS) as hub:
        _, weights = made(hub, tmp_path)
        with pytest.raises(UnavailableError, match="HF_HUB_OFFLINE"):
            await weights.fetch(EXPERT, lambda fraction, words: None)
        assert hub.requests == []
