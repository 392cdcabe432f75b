"""The backend around the calls: the key, the providers, and that nobody else sees the key."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from jarvis_desktop.backends.inference_api.backend import ApiBackend
from jarvis_desktop.backends.inference_api.tasks import API_TASKS, ApiJob, price_of
from jarvis_desktop.core.context import current_account
from jarvis_desktop.core.errors import Fault, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert, Spent
from jarvis_desktop.core.task import Call
from jarvis_desktop.platform.api_keys import ApiKey
from jarvis_desktop.storage.web_fetch import checked
from tests.backends.inference_api.desk import BY_NAME, KEY, Desk
from tests.router import Day, Router

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Ring:
    """A keyring whose key may change."""

    key = ""
    asked = 0

    def get(self) -> str:
        self.asked += 1
        return self.key


@pytest.fixture
def ring() -> Ring:
    return Ring()


@pytest_asyncio.fixture(loop_scope="module")
async def other(ring: Ring, router: Router) -> AsyncIterator[ApiBackend]:
    backend = ApiBackend(BY_NAME, check=checked, key=ApiKey(ring.get), via=router.address)
    yield backend
    await backend.close()


def served(*providers: str, task: str = "summarization") -> Expert:
    return Expert("tiny", task, repo="org/x", providers=providers)


async def test_each_provider_is_a_candidate_three_at_most(backend: ApiBackend) -> None:
    def names(expert: Expert, which: ApiBackend = backend) -> list[str]:
        return [item.provider for item in which.candidates(expert)]

    assert names(served("a", "b")) == ["a", "b", "auto"]
    assert names(served("a", "b", "c", "d")) == ["a", "b", "c"]
    assert names(served("auto")) == ["auto"]
    assert names(served()) == []
    assert names(served("a", task="depth-estimation")) == []
    only = ApiBackend(BY_NAME, check=checked, key=ApiKey(), provider="b")
    assert names(served("a", "b"), only) == ["b"]
    assert names(served("a"), only) == ["b"]  # who selects says that it is not served


async def test_without_a_key_nothing_is_asked_and_it_is_said(
    other: ApiBackend, ring: Ring, tmp_path: Path
) -> None:
    call = Call("summarization", {}, {}, tmp_path)
    with pytest.raises(UnavailableError, match="no key for the Hugging Face Hub") as caught:
        await other.run(Candidate(served("a"), "api", remote=True), call, lambda *_: None)
    assert caught.value.fault is Fault.KEY
    assert caught.value.hint == "Set one with: jarvis-desktop experts key set."
    assert (await other.objection()).endswith("experts key set.")
    with pytest.raises(UnavailableError, match="no key"):
        await other.account()
    assert not other.processes
    assert ring.asked <= 2  # a keyring that is locked must not ask at every turn


async def test_a_key_that_comes_later_is_found(
    other: ApiBackend, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await other.objection()
    ring.key = KEY
    monkeypatch.setattr("jarvis_desktop.backends.inference_api.backend.KEY_RETRY_S", 0.0)
    assert await other.objection() == ""


async def test_a_key_that_was_refused_is_looked_up_anew(desk: Desk) -> None:
    asked: list[str] = []

    def ask() -> str:
        asked.append("once")
        return KEY

    desk.backend._key, before = ApiKey(ask), desk.backend._key
    try:
        desk.router.days.append(Day(401))
        with pytest.raises(JarvisError, match="refused the key"):
            await desk.ask("summarization", text="Bern is old.")
        await desk.ask("summarization", text="Bern is old.")
    finally:
        desk.backend._key = before
    assert asked == ["once", "once"]


async def test_whose_key_it_is(desk: Desk) -> None:
    account = await desk.backend.account()
    assert (account.name, account.may_call) == ("ada", True)
    token = desk.router.account["auth"]["accessToken"]
    token["fineGrained"]["global"] = ["discussion.write"]
    assert (await desk.backend.account()).may_call is False
    del token["fineGrained"], token["role"]
    assert (await desk.backend.account()).may_call is None
    token["role"] = "read"
    assert (await desk.backend.account()).may_call is True
    desk.router.hub_days.append(Day(200, body=b'{"name":"ada"}'))
    with pytest.raises(JarvisError, match="cannot be used") as caught:
        await desk.backend.account()
    assert caught.value.fault is Fault.ANSWER
    desk.router.hub_days.append(Day(401, body=b'{"error":"Invalid credentials"}'))
    with pytest.raises(UnavailableError, match="The Hugging Face Hub refused the key"):
        await desk.backend.account()


async def test_what_cannot_be_asked_is_said(backend: ApiBackend, tmp_path: Path) -> None:
    call = Call("depth-estimation", {}, {}, tmp_path)
    with pytest.raises(UnavailableError, match="cannot be asked for this"):
        await backend.run(Candidate(served("a"), "api", remote=True), call, lambda *_: None)


@pytest.fixture
def everything_logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG):
        yield caplog


async def test_the_key_is_seen_by_nobody_but_the_services(
    desk: Desk, everything_logged: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a service says back is data: it may hold the key that it was shown.
    shown = f"bad key {KEY}".encode()
    said = []
    for status in (400, 401, 422, 500, 503):
        desk.router.days.append(Day(status, body=b'{"error": "%s"}' % shown))
        with pytest.raises(JarvisError) as caught:
            await desk.ask("summarization", text="Bern is old.")
        said.append(f"{caught.value} {vars(caught.value)} {caught.value!r}")
    await desk.ask("summarization", text="Bern is old.")
    assert any("Bearer " + KEY in headers.get("authorization", "") for _, _, headers in
               desk.router.requests)  # fmt: skip
    assert KEY not in " ".join(said)
    assert KEY not in everything_logged.text
    assert KEY not in " ".join(desk.reports)
    (pid,) = desk.backend.processes
    for name in ("cmdline", "environ"):
        assert KEY.encode() not in Path(f"/proc/{pid}/{name}").read_bytes()
    assert KEY not in os.environ.values()
    way = API_TASKS["summarization"]
    job = ApiJob(served("a"), "a", Call("summarization", {}, {}, Path()), way, 1.0, KEY)
    assert KEY not in repr(job)


async def test_every_way_leads_to_a_function() -> None:
    from importlib import import_module

    for way in API_TASKS.values():
        for place in filter(None, (way.run, way.chat)):
            module, _, name = place.partition(":")
            assert callable(getattr(import_module(module), name))
    assert set(API_TASKS) <= set(BY_NAME)


async def test_it_is_told_how_often_somebody_was_asked_and_what_they_tell_of_the_price(
    desk: Desk,
) -> None:
    told: list[Spent] = []
    token = current_account.set(told.append)
    try:
        await desk.ask("summarization", text="A long story.")
        await desk.ask("text-generation", service="conversational", prompt="Say it.")
    finally:
        current_account.reset(token)
    assert told == [Spent(1), Spent(1, 42, 0.0003)]


@pytest.mark.parametrize(
    "usage",
    [None, "free", {}, {"total_tokens": -1, "estimated_cost": -1.0}, {"estimated_cost": 1e9},
     {"total_tokens": "9", "estimated_cost": "0.1"}, {"estimated_cost": float("nan")}],
)  # fmt: skip
async def test_a_price_that_makes_no_sense_is_none(usage: object) -> None:
    assert price_of(usage) == Spent()
