"""Reading the Hub's list from a real server, in a real child process."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import Fault, StorageError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.experts.hub.database import HubIndexWriter, SyncState
from jarvis_desktop.experts.hub.entry import HubQuery
from jarvis_desktop.experts.hub.index import HubIndex
from jarvis_desktop.experts.hub.sync import HubRefresh
from jarvis_desktop.process.child import Child
from tests.experts.hub.listed import item
from tests.hub import COMMIT, Hub, running_hub

TASK = "text-classification"
SHIPPED = Expert("known", TASK, repo="org/known", files=("*.json", "*.safetensors"))


class Told:
    """Keeps what was told of the progress."""

    def __init__(self) -> None:
        self.said: list[tuple[float | None, str]] = []

    def __call__(self, fraction: float | None, words: str) -> None:
        self.said.append((fraction, words))


def repos(path: Path, task: str = TASK) -> set[str]:
    index = HubIndex(path)
    found = {each.entry.repo for each in index.search(HubQuery(tasks=(task,), limit=10_000))}
    index.close()
    return found


def state(path: Path, task: str = TASK) -> SyncState:
    with HubIndexWriter(path) as writer:
        return writer.state(task)


def refresh(path: Path, hub: Hub, **settings) -> HubRefresh:
    return HubRefresh(path, **{"endpoint": hub.address, "pause": 0.0, "patience": 20.0, **settings})


def many(count: int, **more) -> list[dict[str, object]]:
    return [item(f"org/e{number}", downloads=10_000 - number, **more) for number in range(count)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "hub.db"


async def test_the_lists_are_read_whole_and_then_only_what_changed(path):
    told = Told()
    listed = [*many(120), item("org/other", "translation"), item("org/none", "fill-mask")]
    with running_hub(listed=listed, longest_page=250) as hub:
        done = await refresh(path, hub).run((TASK, "translation"), told)
        assert (done.read, done.fresh) == (121, 121)
        assert repos(path) == {f"org/e{number}" for number in range(120)}
        assert repos(path, "translation") == {"org/other"}
        assert not repos(path, "fill-mask")
        assert {request["sort"][0] for request in hub.asked} == {"downloads"}
        first = len(hub.asked)
        for each in listed:
            each["lastModified"] = "2020-01-01T00:00:00.000Z"
        listed[5]["likes"] = 77
        listed[5]["lastModified"] = "2999-01-01T00:00:00.000Z"
        listed.append(item("org/new", lastModified="2999-01-01T00:00:00.000Z"))
        done = await refresh(path, hub).run((TASK,), told)
        assert [request["sort"][0] for request in hub.asked[first:]] == ["lastModified"] * 2
        assert done.fresh == 1
    index = HubIndex(path)
    assert {each.repo: each.likes for each in map(index.find, ("org/e5", "org/e6")) if each} == {
        "org/e5": 77,
        "org/e6": 3,
    }
    index.close()
    fractions = [fraction for fraction, _ in told.said if fraction is not None]
    assert all(0 <= fraction <= 1 for fraction in fractions)
    assert any("120 read, 120 of them new" in words for _, words in told.said)


async def test_it_says_who_it_is_asks_for_what_it_needs_and_never_follows_an_address(path):
    with running_hub(listed=many(7), longest_page=10) as hub:
        await refresh(path, hub).run((TASK,), Told())
        assert all(agent.startswith("jarvis-desktop/") for agent in hub.agents)
        fields = set(hub.asked[0]["expand"])
        assert {"sha", "safetensors", "gated", "inferenceProviderMapping", "cardData"} <= fields
        assert [request["limit"][0] for request in hub.asked] == ["100", "25", "10"]
    assert len(repos(path)) == 7


async def test_what_disappeared_from_the_hub_is_dropped_when_the_list_is_read_whole(path):
    with running_hub(listed=many(8)) as hub:
        await refresh(path, hub).run((TASK,), Told())
        del hub.listed[3]
        await refresh(path, hub).run((TASK,), Told())
        assert len(repos(path)) == 8
        await refresh(path, hub).run((TASK,), Told(), whole=True)
        assert repos(path) == {f"org/e{number}" for number in range(8)} - {"org/e3"}
        hub.listed.clear()  # nobody withdraws everything at once: it is the Hub that is ill
        await refresh(path, hub).run((TASK,), Told(), whole=True)
        assert len(repos(path)) == 7


async def test_a_repository_that_changed_its_task_is_there_once(path):
    with running_hub(listed=[item("org/a"), item("org/b", "translation")]) as hub:
        await refresh(path, hub).run((TASK, "translation"), Told())
        hub.listed[0]["pipeline_tag"] = "translation"
        await refresh(path, hub).run((TASK, "translation"), Told(), whole=True)
    assert not repos(path)
    assert repos(path, "translation") == {"org/a", "org/b"}


async def test_a_busy_hub_is_left_alone_and_asked_again(path):
    told = Told()
    busy = (429, {"Retry-After": "0"}, b"{}")
    with running_hub(listed=many(3), answers=[busy, busy, (503, {}, b"")]) as hub:
        await refresh(path, hub).run((TASK,), told)
        assert len(hub.asked) == 4
    assert len(repos(path)) == 3
    assert any("asks to wait" in words for _, words in told.said)


async def test_a_hub_that_stays_busy_ends_it_with_a_sentence(path):
    with running_hub(answers=[(429, {"Retry-After": "0"}, b"{}")] * 9) as hub:
        with pytest.raises(UnavailableError) as caught:
            await refresh(path, hub).run((TASK,), Told())
        assert len(hub.asked) == 5
    assert caught.value.retryable
    assert caught.value.fault is Fault.BUSY


async def test_pages_that_break_off_are_asked_for_again(path):
    with running_hub(listed=many(3), cut_lists=2) as hub:
        await refresh(path, hub).run((TASK,), Told())
        assert len(hub.asked) == 3
    assert len(repos(path)) == 3


async def test_a_network_that_is_gone_is_told(path):
    nowhere = Hub(address="http://127.0.0.1:9")
    with pytest.raises(UnavailableError, match="cannot be reached") as caught:
        await refresh(path, nowhere).run((TASK,), Told())
    assert caught.value.retryable
    assert caught.value.fault is Fault.NETWORK


async def test_a_silent_hub_is_not_waited_for(path):
    with (
        running_hub(hold_list=0) as hub,
        pytest.raises(UnavailableError, match="no answer within") as caught,
    ):
        await refresh(path, hub, patience=0.05).run((TASK,), Told())
    assert caught.value.fault is Fault.TIMEOUT


@pytest.mark.parametrize(
    "body", [b"<html>Log in</html>", b'{"error": 1}', b"[" * 200_000, b"\xff\xfe", b""]
)
async def test_whoever_answers_in_place_of_the_hub_is_told(path, body):
    with (
        running_hub(answers=[(200, {}, body)]) as hub,
        pytest.raises(UnavailableError, match="does not answer like") as caught,
    ):
        await refresh(path, hub).run((TASK,), Told())
    assert not caught.value.retryable


async def test_a_page_beyond_all_bounds_is_asked_for_in_smaller_ones(path):
    vast = b"[" + b" " * (17 << 20) + b"]"
    with running_hub(listed=many(3), answers=[(200, {}, vast)]) as hub:
        await refresh(path, hub).run((TASK,), Told())
        limits = [int(request["limit"][0]) for request in hub.asked]
    assert limits == [100, 25]
    assert len(repos(path)) == 3


async def test_a_hub_that_gives_no_page_at_all_is_told(path):
    with (
        running_hub(longest_page=1) as hub,
        pytest.raises(UnavailableError, match=f"no list of experts for {TASK}"),
    ):
        await refresh(path, hub).run((TASK,), Told())


async def test_a_list_without_an_end_is_given_up(path):
    again = {"Link": '<http://127.0.0.1:9/x?cursor=same>; rel="next"'}
    page = b'[{"id": "org/a", "pipeline_tag": "text-classification"}]'
    with running_hub(answers=[(200, again, page)] * 50) as hub:
        done = await refresh(path, hub).run((TASK,), Told())
        assert len(hub.asked) == 2
    assert done.read == 2


async def test_hostile_items_are_left_out_and_the_rest_is_kept(path):
    hostile = [
        "text", 7, None, [[]], {"id": 5}, {"id": "../../x"}, {"id": "org/x\u202e"},
        {**item("org/huge"), "tags": ["x" * 10_000] * 1000, "downloads": "many"},
        {**item("org/odd"), "safetensors": {"parameters": {"F32": -5}}, "gated": {}},
    ]  # fmt: skip
    with running_hub(listed=[*hostile, *many(2)]) as hub:
        done = await refresh(path, hub).run((TASK,), Told())
    assert done.read == 4
    assert repos(path) == {"org/e0", "org/e1", "org/huge", "org/odd"}


async def test_a_cancelled_refresh_keeps_what_arrived_and_goes_on_from_there(path):
    with running_hub(listed=many(40), longest_page=10, hold_list=4) as hub:
        running = asyncio.create_task(refresh(path, hub).run((TASK,), Told()))
        assert await asyncio.to_thread(hub.held.wait, 60)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        kept = repos(path)
        assert 0 < len(kept) < 40
        assert state(path).cursor
        hub.hold_list, asked = -1, len(hub.asked)
        await refresh(path, hub).run((TASK,), Told())
        assert hub.asked[asked + 2]["cursor"] == [str(len(kept))]
    assert len(repos(path)) == 40
    assert state(path).cursor == ""


async def test_a_place_in_the_list_that_the_hub_forgot_is_begun_anew(path):
    with running_hub(listed=many(40)) as hub:
        with HubIndexWriter(path) as writer:
            began = writer.state(TASK)
            writer.keep((), replace(began, sort="downloads", cursor="forgotten", position=7))
        await refresh(path, hub).run((TASK,), Told())
        assert ("cursor" in hub.asked[0], "cursor" in hub.asked[-1]) == (True, False)
    assert len(repos(path)) == 40


async def test_a_killed_reader_leaves_whole_pages(path, monkeypatch):
    pids: list[int] = []
    call = Child.call

    async def noted(self: Child, *args: object, **settings) -> object:
        await self.start()
        pids.append(self.pid or 0)
        return await call(self, *args, **settings)

    monkeypatch.setattr(Child, "call", noted)
    with running_hub(listed=many(40), longest_page=10, hold_list=4) as hub:
        running = asyncio.create_task(refresh(path, hub).run((TASK,), Told()))
        assert await asyncio.to_thread(hub.held.wait, 60)
        hub.hold_list = -1
        os.kill(pids[-1], signal.SIGKILL)
        await running  # a fresh process goes on
        assert len(set(pids)) == 2
    assert len(repos(path)) == 40


async def test_a_damaged_index_is_begun_anew(path):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database" * 1000)
    with running_hub(listed=many(2)) as hub:
        await refresh(path, hub).run((TASK,), Told())
    assert len(repos(path)) == 2


async def test_a_disk_that_takes_nothing_is_told(tmp_path):
    (tmp_path / "file").touch()
    with (
        running_hub(listed=many(2)) as hub,
        pytest.raises(StorageError, match="cannot be written: "),
    ):
        await refresh(tmp_path / "file" / "hub.db", hub).run((TASK,), Told())


async def test_two_refreshes_at_once_are_one_too_many(path):
    with running_hub(listed=many(40), longest_page=10, hold_list=3) as hub:
        running = asyncio.create_task(refresh(path, hub).run((TASK,), Told()))
        assert await asyncio.to_thread(hub.held.wait, 60)
        with pytest.raises(UnavailableError, match="already being read"):
            await refresh(path, hub).run((TASK,), Told())
        running.cancel()
        await asyncio.wait([running])


async def test_shipped_experts_are_checked_once_a_week(path):
    repo = {"config.json": b"{}", "model.safetensors": b"w" * 3_000_000, "README.md": b"x" * 9999}
    gone = replace(SHIPPED, id="gone", repo="org/gone")
    moved = replace(SHIPPED, id="moved", repo="org/old")
    facts = item("org/known", gated="manual", sha=COMMIT)
    facts["inferenceProviderMapping"] = {"fal-ai": {"status": "live", "providerId": "x"}}
    with running_hub(
        repos={"org/known": repo, "org/new": repo}, listed=[facts], moved={"org/old": "org/new"}
    ) as hub:
        done = await refresh(path, hub).run((), Told(), shipped=(SHIPPED, gone, moved))
        index = HubIndex(path)
        checks = index.checks()
        index.close()
        asked = len(hub.requests)
        again = await refresh(path, hub).run((), Told(), shipped=(SHIPPED, gone), known=checks)
        assert (again.checks, len(hub.requests)) == ((), asked)
    assert [each.complaint for each in done.checks] == [
        "",
        "no longer on the Hub",
        "now called org/new on the Hub",
    ]
    found = checks["org/known"]
    assert (found.sha, found.download_mb, found.licence) == (COMMIT, 3, "mit")
    assert (found.gated, found.providers) == (True, ("fal-ai",))


async def test_summaries_are_read_for_their_meaning_where_that_is_not_known(path):
    read: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        read.extend(texts)
        return [[float(len(text)), 1.0, -2.0] for text in texts]

    listed = [*many(20), item("org/unsafe", tags=["gguf"])]
    with running_hub(listed=listed) as hub:
        await refresh(path, hub, embed=embed).run((TASK,), Told())
        assert len(read) == 20
        assert read[0] == "e0. bert. "
        read.clear()
        listed[3]["tags"].append("sentiment")
        await refresh(path, hub, embed=embed).run((TASK,), Told(), whole=True)
        assert read == ["e3. bert sentiment. "]


async def test_pipelines_of_which_the_list_gives_no_size_are_measured(path):
    bare = item("org/painter", "text-to-image", library_name="diffusers", safetensors=None)
    files = {"model_index.json": b"{}", "unet/a.fp16.safetensors": b"w" * 2_000_000}
    with running_hub(listed=[bare], repos={"org/painter": files}) as hub:
        await refresh(path, hub).run(("text-to-image",), Told())
    index = HubIndex(path)
    found = index.find("org/painter")
    index.close()
    assert found
    assert (found.weights_mb, found.runs) == (2, True)
