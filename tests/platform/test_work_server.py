"""A server of the settings is asked only where the mode allows it, and never believed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError, UnavailableError
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.platform.work_server import Work, WorkAddress, WorkServer
from tests.line_server import Answer
from tests.machines import keyring_in_memory
from tests.work_server import json_answer, running_work_server

KEY = "a-key-that-is-long-enough"


def made(address: str, mode: Mode = Mode.LOCAL, *, own: bool = False, **more: Any) -> WorkServer:
    policy = Policy(mode, own_machines=own)
    options: dict[str, Any] = {"key": lambda address: KEY} | more
    return WorkServer(Work.TRANSCRIPTION, lambda: WorkAddress(address), policy, **options)


def ask(server: WorkServer, *, most: int = 1000, seconds: float = 20) -> Any:
    return server.ask("/audio/transcriptions", most=most, seconds=seconds, json={})


@pytest.mark.parametrize(
    ("address", "mode", "own", "allowed"),
    [
        ("127.0.0.1:8000", Mode.OFFLINE, False, True),
        ("localhost:8000", Mode.LOCAL, False, True),
        ("192.168.1.5:8000", Mode.LOCAL, False, False),
        ("192.168.1.5:8000", Mode.LOCAL, True, True),
        ("box.local", Mode.LOCAL, True, True),
        ("192.168.1.5:8000", Mode.OFFLINE, True, False),
        ("192.168.1.5:8000", Mode.HYBRID, False, True),
        ("api.example.com", Mode.LOCAL, True, False),
        ("api.example.com", Mode.LITE, False, True),
    ],
)
def test_where_the_modes_allow_a_server(address: str, mode: Mode, own: bool, allowed: bool) -> None:
    server = made(address, mode, own=own)
    assert (server.objection() is None) is allowed
    assert server.is_at_hand is allowed
    if not allowed:
        with pytest.raises(UnavailableError, match="sends nothing to"):
            asyncio.run(ask(server))


def test_what_is_not_set_is_not_asked() -> None:
    server = made("")
    assert not server.is_at_hand
    assert "name no server" in str(server.objection())
    assert "not usable" in str(made("http://:0").objection())


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("127.0.0.1:8000", "It runs on this computer: nothing leaves it."),
        ("192.168.1.5:8000", "sent to 192.168.1.5:8000. It is not encrypted."),
        ("http://api.example.com", "anybody on the way can read it: use https://."),
        ("api.example.com", "What you say, and recordings to transcribe, are sent to api.example"),
    ],
)
def test_what_is_sent_where_is_said(address: str, words: str) -> None:
    said = made(address).sent()
    assert words in said
    assert ("encrypted" in said) is (words.find("encrypted") > 0 or "use https" in words)


def test_it_is_told_that_what_is_said_is_not_sent() -> None:
    choice = WorkAddress("192.168.1.5", spoken=False)
    server = WorkServer(Work.TRANSCRIPTION, lambda: choice, Policy())
    assert server.sent().startswith("Recordings to transcribe are sent to 192.168.1.5, and nothing")


async def test_its_models_are_listed_those_for_the_work_first() -> None:
    with running_work_server() as served:
        server = made(served.address)
        assert await server.models() == ("faster-whisper-small", "phi-4")
        (request,) = served.requests
        assert request[0] == "GET /v1/models"
        assert request[1]["authorization"] == f"Bearer {KEY}"


async def test_the_key_of_the_environment_is_not_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_LLM_KEY", "sk-of-the-llm-service")
    with keyring_in_memory(monkeypatch) as kept, running_work_server(json_answer({})) as served:
        server = made(served.address, key=None)
        await ask(server)
        assert "authorization" not in served.requests[-1][1]
        kept[served.address] = KEY
        server.forget_keys()
        await ask(server)
        assert served.requests[-1][1]["authorization"] == f"Bearer {KEY}"


async def test_a_name_that_controls_a_terminal_is_not_listed() -> None:
    with running_work_server() as served:
        served.models = ("\x1b[2J", "x" * 201, "tts-1")
        assert await made(served.address).models() == ("tts-1",)


BAD: list[tuple[Answer, Fault, str]] = [
    (Answer(status=401, error=f"wrong key {KEY}"), Fault.KEY, "refused the key"),
    (Answer(status=404, error="no"), Fault.GONE, "does not have whisper-1"),
    (Answer(status=500, error=f"boom {KEY}"), Fault.BUSY, "failed: boom …"),
    (Answer(body=b"x" * 1001), Fault.ANSWER, "has more than"),
    (Answer(status=500, body=b"x" * 3_000_000), Fault.BUSY, "failed: x"),
    (Answer(ends="killed"), Fault.NETWORK, "broke off"),
]


@pytest.mark.parametrize(("answer", "fault", "words"), BAD)
async def test_a_bad_answer_is_one_sentence(answer: Answer, fault: Fault, words: str) -> None:
    with running_work_server(answer) as served:
        with pytest.raises(JarvisError, match=words) as caught:
            await ask(made(served.address))
        assert caught.value.fault is fault
        assert KEY not in str(caught.value)


async def test_the_key_does_not_follow_to_another_host() -> None:
    with running_work_server(json_answer({})) as other:
        elsewhere = {"Location": f"{other.address}/v1/audio/transcriptions"}
        moved = Answer(status=307, body=b"", headers=elsewhere)
        words = "is not an OpenAI-compatible server"
        with running_work_server(moved) as served, pytest.raises(UnavailableError, match=words):
            await ask(made(served.address))
        assert other.requests == []


async def test_a_silent_server_is_left_alone_for_a_while() -> None:
    now = 0.0
    with running_work_server(Answer(ends="silent"), json_answer({})) as served:
        server = made(served.address, clock=lambda: now)
        with pytest.raises(ExpertError, match="does not answer"):
            await ask(server, seconds=0.2)
        assert not server.is_at_hand
        now = 61.0
        assert server.is_at_hand
        assert await ask(server) == b"{}"


async def test_nobody_is_there() -> None:
    with running_work_server() as served:
        address = served.address
    server = made(address)
    with pytest.raises(UnavailableError, match="does not run at"):
        await ask(server)
    assert not server.is_at_hand


async def within(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


async def test_a_change_of_the_mode_ends_what_runs() -> None:
    policy = Policy(Mode.HYBRID)
    with running_work_server(Answer(ends="silent")) as served:
        choice = WorkAddress(served.address)
        server = WorkServer(Work.TRANSCRIPTION, lambda: choice, policy, key=lambda address: "")
        call = asyncio.create_task(ask(server, seconds=60))
        async with asyncio.timeout(20):
            await within(lambda: bool(served.requests))
            server.withdraw()
            assert not call.done()  # it is on this computer, which every mode allows
            choice = WorkAddress("api.example.com")
            policy.mode = Mode.OFFLINE
            server.withdraw()
            with pytest.raises(UnavailableError, match=r"sends nothing to api\.example\.com"):
                await call


async def test_a_call_is_cancelled_with_who_waits_for_it() -> None:
    with running_work_server(Answer(ends="silent")) as served:
        call = asyncio.create_task(ask(made(served.address), seconds=60))
        async with asyncio.timeout(20):
            await within(lambda: bool(served.requests))
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
