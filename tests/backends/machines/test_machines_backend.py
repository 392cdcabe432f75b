"""Experts on another machine over real sockets: pairing, calls, machines that go away or lie."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from jarvis_desktop.backends.machines import backend as client
from jarvis_desktop.backends.machines import pairing, wire
from jarvis_desktop.backends.machines.machines import Machine, place_of
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.context import current_draft
from jarvis_desktop.core.errors import (
    ExpertError,
    Fault,
    InputError,
    JarvisError,
    UnavailableError,
)
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.task import Call, Port, Report, TaskOption, TaskType
from jarvis_desktop.server.paired import PairedComputers
from jarvis_desktop.tasks.definition import Definition
from tests.machines import Box, Desk, box, keyring_in_memory, started

ANY = (Kind.TEXT, Kind.IMAGE)
PAINT = TaskType(
    "paint",
    "",
    (Port("image", (Kind.IMAGE,)), Port("prompt", (Kind.TEXT,), required=False, many=True)),
    ANY,
    (TaskOption("strength", "", 0.5), TaskOption("seed", "", 1)),
)
DEFINITIONS = {"paint": Definition(PAINT)}
Does = Callable[[Call, Report], Awaitable[Sequence[Artifact]]]


@dataclass
class Working:
    """A backend that does what a test says."""

    does: Does
    name: str = "local"
    lane: str = "local"

    def question(self, call: Call) -> str:
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        return await self.does(call, report)


async def paint(call: Call, report: Report) -> Sequence[Artifact]:
    report(0.5, "half")
    current_draft.get()("red")
    picture = call.workdir / "made.png"
    picture.write_bytes(call.file("image").read_bytes()[::-1])
    words = f"{call.texts('prompt')} {call.options} {call.file('image').name}"
    return [text_artifact(words), Artifact(Kind.IMAGE, path=picture, name="Red: cat.png")]


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    with keyring_in_memory(monkeypatch) as found:
        yield found


@pytest.fixture(autouse=True)
def quick_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a code costs is paid by the tests of other files."""
    monkeypatch.setattr(pairing, "COST", 2)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path / "desk", DEFINITIONS)
    yield desk
    await desk.settled()


def at(tmp_path: Path, does: Does = paint, name: str = "box") -> Box:
    return box(tmp_path / name, Working(does), DEFINITIONS, "paint")


def call(tmp_path: Path, content: bytes = b"abc" * 400_000) -> Call:
    folder = tmp_path / "call"
    folder.mkdir(exist_ok=True)
    picture = tmp_path / "cat.PNG"
    picture.write_bytes(content)
    given = {
        "image": (Artifact(Kind.IMAGE, path=picture, name="../cat"),),
        "prompt": (text_artifact("one\ntwo"), text_artifact("ü")),
    }
    return Call("paint", given, {"strength": 1, "seed": 7}, folder)


async def test_a_picture_travels_there_and_back(desk: Desk, tmp_path: Path) -> None:
    machine, news = at(tmp_path), list[tuple[float | None, str]]()
    pieces: list[str] = []
    async with started(machine):
        paired = await desk.pair(machine)
        assert [each.id for each in paired.experts] == ["expert-paint"]
        (candidate,) = desk.backend.candidates("paint")
        assert (candidate.provider, candidate.remote, candidate.own) == ("box", True, True)
        before = current_draft.set(pieces.append)
        words, picture = await desk.run(
            call(tmp_path), lambda share, told: news.append((share, told))
        )
        current_draft.reset(before)
    assert words.text == "('one\\ntwo', 'ü') {'strength': 1.0, 'seed': 7} 1.png"
    assert picture.path
    assert picture.path.read_bytes() == b"cba" * 400_000
    assert picture.name == "Red: cat.png"
    assert (0.5, "half") in news
    assert pieces == ["red"]
    assert not list((tmp_path / "box" / "store" / "work").iterdir())
    assert machine.service.busy == 0


async def test_an_unknown_computer_gets_nothing(desk: Desk, tmp_path: Path) -> None:
    machine = at(tmp_path)
    async with started(machine):
        trust = Machine(
            "x", "127.0.0.1", machine.port, ssl.DER_cert_to_PEM_cert(machine.certificate)
        )
        async with httpx.AsyncClient(
            base_url=trust.base, verify=trust.trust(), timeout=60
        ) as stranger:
            for key in ("", "Bearer", "Bearer wrong", "Basic x"):
                told = {"Authorization": key} if key else {}
                assert (await stranger.get(wire.STATE, headers=told)).status_code == 401
                assert (await stranger.post(wire.RUN, headers=told)).status_code == 401
            origin = {"Origin": "https://127.0.0.1"}
            assert (await stranger.get(wire.PAIRING, headers=origin)).status_code == 403
            assert (await stranger.get(wire.PAIRING)).status_code == 409
        with pytest.raises(UnavailableError, match="shows no pairing code now"):
            await desk.backend.pair(machine.address, "AAAA-AAAA")


async def test_a_code_is_for_three_tries_and_one_computer(desk: Desk, tmp_path: Path) -> None:
    machine = at(tmp_path)
    async with started(machine):
        code = machine.show_code()
        for _ in range(pairing.TRIES):
            with pytest.raises(UnavailableError, match="code is wrong"):
                await desk.backend.pair(machine.address, "0000-0000")
        with pytest.raises(UnavailableError, match="shows no pairing code"):
            await desk.backend.pair(machine.address, code)
        assert not machine.service.computers.all()
        code = machine.show_code()
        await desk.backend.pair(machine.address, code.lower().replace("-", " "))
        with pytest.raises(UnavailableError, match="shows no pairing code"):
            await desk.backend.pair(machine.address, code)
    assert len(machine.service.computers.all()) == 1
    with pytest.raises(InputError, match="eight letters and digits"):
        await desk.backend.pair(machine.address, "12345")
    with pytest.raises(InputError, match="is not the address"):
        await desk.backend.pair("a b:x", code)
    with pytest.raises(UnavailableError, match="cannot be reached"):
        await desk.backend.pair(machine.address, code)


async def relay(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, to: int, seen: list[bytes]
) -> None:
    """Somebody in between, who reads everything."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    back: asyncio.StreamWriter | None = None
    both: list[asyncio.Task[None]] = []

    async def pass_on(one: asyncio.StreamReader, other: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await one.read(65536):
                seen.append(data)
                other.write(data)

    try:
        there, back = await asyncio.open_connection("127.0.0.1", to, ssl=context)
        both += [asyncio.create_task(pass_on(*each)) for each in ((reader, back), (there, writer))]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        writer.transport.abort()
        if back:
            back.transport.abort()
        for one in both:
            one.cancel()
        await asyncio.gather(*both, return_exceptions=True)


@pytest.fixture
async def between(
    tmp_path: Path,
) -> AsyncIterator[Callable[[int], Awaitable[tuple[int, list[bytes]]]]]:
    servers: list[asyncio.Server] = []
    relays: list[asyncio.Task[None]] = []

    async def start(to: int) -> tuple[int, list[bytes]]:
        seen: list[bytes] = []
        encrypted, _ = PairedComputers(tmp_path / "spy").encryption()
        server = await asyncio.start_server(
            lambda one, other: relays.append(asyncio.create_task(relay(one, other, to, seen))),
            "127.0.0.1",
            0,
            ssl=encrypted,
        )
        servers.append(server)
        return server.sockets[0].getsockname()[1], seen

    yield start
    for each in servers:
        each.close()
    for one in relays:
        one.cancel()
    await asyncio.gather(*relays, return_exceptions=True)


async def test_somebody_in_between_learns_no_token(
    desk: Desk, tmp_path: Path, between: Callable[[int], Awaitable[tuple[int, list[bytes]]]]
) -> None:
    machine = at(tmp_path)
    async with started(machine):
        port, seen = await between(machine.port)
        with pytest.raises(UnavailableError, match="another computer answers in between"):
            await desk.backend.pair(f"127.0.0.1:{port}", machine.show_code())
    assert any(b'"proof"' in data for data in seen)  # it was really there
    assert not any(b"token" in data for data in seen)
    assert not machine.service.computers.all()
    assert not desk.backend.machines.all()


async def test_a_machine_that_only_claims_to_know_the_code(desk: Desk, tmp_path: Path) -> None:
    machine = at(tmp_path)
    code = machine.show_code()
    assert machine.service.pairing
    machine.service.pairing.answer = lambda nonce, given: b"x" * 32  # type: ignore[method-assign]
    async with started(machine):
        with pytest.raises(UnavailableError, match="is not jarvis-desktop serve"):
            await desk.backend.pair(machine.address, code)
    assert not desk.backend.machines.all()


async def test_another_certificate_later_gets_nothing(
    desk: Desk, tmp_path: Path, between: Callable[[int], Awaitable[tuple[int, list[bytes]]]]
) -> None:
    machine = at(tmp_path)
    async with started(machine):
        paired = await desk.pair(machine)
        port, seen = await between(machine.port)
        moved = Machine("box", "127.0.0.1", port, paired.certificate, paired.experts)
        desk.backend.machines.add(moved, "secret-token")
        with pytest.raises(UnavailableError, match="another certificate") as caught:
            await desk.run(call(tmp_path))
    assert caught.value.fault is Fault.KEY
    assert not seen


async def test_a_computer_that_was_removed_there(desk: Desk, tmp_path: Path) -> None:
    machine = at(tmp_path)
    async with started(machine):
        await desk.pair(machine)
        (name,) = machine.service.computers.all()
        machine.service.computers.remove(name)
        with pytest.raises(UnavailableError, match="does not know this computer") as caught:
            await desk.run(call(tmp_path))
        (state,) = [await desk.backend.look(each) for each in desk.backend.machines.all()]
    assert caught.value.fault is Fault.KEY
    assert "does not know this computer" in state.trouble


async def test_the_cable_is_cut_in_the_middle(desk: Desk, tmp_path: Path) -> None:
    reached, ended = asyncio.Event(), asyncio.Event()

    async def hang(call: Call, report: Report) -> Sequence[Artifact]:
        reached.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    weak, strong = at(tmp_path, hang, "weak"), at(tmp_path, name="strong")
    async with started(weak, strong):
        await desk.pair(weak, "weak")
        await desk.pair(strong, "strong")
        (candidate,) = desk.backend.candidates("paint")
        assert candidate.provider == "strong, weak"
        desk.backend._lanes["strong"].avoided = float("inf")
        running = asyncio.create_task(desk.run(call(tmp_path)))
        await reached.wait()
        await weak.stop()
        with pytest.raises(ExpertError, match="weak broke off") as caught:
            await running
        assert (caught.value.fault, caught.value.retryable) == (Fault.NETWORK, True)
        await ended.wait()
        desk.backend._lanes["strong"].avoided = 0.0
        assert len(await desk.run(call(tmp_path))) == 2  # the other one does it
        (tmp_path / "call" / "results").rename(tmp_path / "first")
        desk.backend._lanes["weak"].avoided, desk.backend._lanes["strong"].running = 0.0, 1
        desk.backend._lanes["strong"].width = 2
        assert len(await desk.run(call(tmp_path))) == 2  # also when nothing listens at the first


async def test_a_machine_that_falls_silent(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk", DEFINITIONS, silence=0.2)

    async def hang(call: Call, report: Report) -> Sequence[Artifact]:
        await asyncio.Event().wait()
        raise AssertionError

    machine = at(tmp_path, hang)
    async with started(machine):
        await desk.pair(machine)
        with pytest.raises(ExpertError, match="did not answer in time") as caught:
            await desk.run(call(tmp_path))
        assert caught.value.fault is Fault.NETWORK
    await desk.settled()


async def test_who_still_works_says_so(desk: Desk, tmp_path: Path) -> None:
    beats: list[object] = []

    async def slow(call: Call, report: Report) -> Sequence[Artifact]:
        while len(beats) < 3:
            await asyncio.sleep(0)
        return await paint(call, report)

    machine = at(tmp_path, slow)
    machine.service.heartbeat = 0.0
    wait = wire.line
    async with started(machine):
        await desk.pair(machine)

        def counted(**document: object) -> bytes:
            beats.append(document)
            return wait(**document)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("jarvis_desktop.server.experts_api.wire.line", counted)
            assert len(await desk.run(call(tmp_path))) == 2
    assert {} in beats


async def test_cancelling_ends_the_work_there(desk: Desk, tmp_path: Path) -> None:
    reached, ended = asyncio.Event(), asyncio.Event()

    async def hang(call: Call, report: Report) -> Sequence[Artifact]:
        reached.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    machine = at(tmp_path, hang)
    async with started(machine):
        await desk.pair(machine)
        running = asyncio.create_task(desk.run(call(tmp_path)))
        await reached.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await ended.wait()
        # The same when the mode forbids it from now on.
        reached.clear()
        ended.clear()
        (tmp_path / "call" / "results").rmdir()
        running = asyncio.create_task(desk.run(call(tmp_path)))
        await reached.wait()
        desk.policy.mode = Mode.OFFLINE
        desk.backend.withdraw()
        with pytest.raises(UnavailableError, match="“offline” sends nothing"):
            await running
        await ended.wait()


@pytest.mark.parametrize("mode", [Mode.OFFLINE, Mode.LOCAL])
async def test_what_the_mode_forbids_sends_no_packet(
    desk: Desk, tmp_path: Path, mode: Mode
) -> None:
    machine = at(tmp_path)
    async with started(machine):
        await desk.pair(machine)
    desk.policy.mode, desk.policy.own_machines = mode, mode is Mode.OFFLINE
    with socket.create_server(("127.0.0.1", machine.port)) as listening:
        listening.setblocking(False)
        (candidate,) = desk.backend.candidates("paint")
        assert not desk.policy.allows(candidate)
        with pytest.raises(UnavailableError, match="sends nothing to your other machines"):
            await desk.run(call(tmp_path))
        if mode is Mode.OFFLINE:
            (state,) = [await desk.backend.look(each) for each in desk.backend.machines.all()]
            assert "sends nothing" in state.trouble
            with pytest.raises(UnavailableError, match="sends nothing"):
                await desk.backend.pair(machine.address, "AAAA-AAAA")
        with pytest.raises(BlockingIOError):
            listening.accept()


async def test_two_calls_go_to_two_machines(desk: Desk, tmp_path: Path) -> None:
    both, where = asyncio.Barrier(2), []

    def meet(name: str) -> Does:
        async def work(call: Call, report: Report) -> Sequence[Artifact]:
            where.append(name)
            if len(where) <= 2:
                await both.wait()
            return await paint(call, report)

        return work

    one, two = at(tmp_path, meet("one"), "one"), at(tmp_path, meet("two"), "two")
    async with started(one, two):
        await desk.pair(one, "one")
        await desk.pair(two, "two")
        calls = [call(tmp_path) for _ in range(3)]
        folders = [tmp_path / name for name in "abc"]
        for folder in folders:
            folder.mkdir()
        calls = [
            Call(each.task, each.inputs, each.options, folder)
            for each, folder in zip(calls, folders, strict=True)
        ]
        made = await asyncio.gather(*map(desk.run, calls))
    assert all(len(each) == 2 for each in made)
    assert set(where[:2]) == {"one", "two"}
    assert len(where) == 3


async def test_errors_keep_their_meaning(
    desk: Desk, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    raised: list[Exception] = [
        InputError("cat.png is not a picture.", hint="Give another."),
        UnavailableError("It needs torch.", fault=Fault.GONE),
        ExpertError("Out of memory.", fault=Fault.MEMORY, retryable=True),
        ZeroDivisionError("/home/secret"),
    ]

    async def fail(call: Call, report: Report) -> Sequence[Artifact]:
        raise raised[0]

    machine, found = at(tmp_path, fail), []
    async with started(machine):
        await desk.pair(machine)
        while raised:
            with pytest.raises(JarvisError) as caught:
                await desk.run(call(tmp_path))
            found.append(caught.value)
            raised.pop(0)
    assert "secret" not in caplog.text
    caplog.clear()
    assert [str(each) for each in found] == [
        "cat.png is not a picture. Give another.",
        "box: It needs torch.",
        "box: Out of memory.",
        "box: Something went wrong inside JARVIS itself there.",
    ]
    assert [type(each) for each in found[:3]] == [InputError, UnavailableError, ExpertError]
    assert (found[2].fault, found[2].retryable) == (Fault.MEMORY, True)


def bad_call(inputs: object, options: object = None, rest: bytes = b"x") -> bytes:
    told = {"expert": "expert-paint", "task": "paint", "inputs": inputs, "options": options or {}}
    return json.dumps(told).encode() + b"\n" + rest


PICTURE = {"kind": "image", "size": 1}
BAD_CALLS = [
    b"",
    b"\n",
    b"\xff\xfe\n",
    b"[]\n",
    b'{"expert": "expert-paint", "task": "delete"}\n',
    b'{"expert": "other", "task": "paint"}\n',
    bad_call({}),
    bad_call({"image": [{"kind": "text", "text": "x"}]}),
    bad_call({"image": [{"kind": "image", "size": 9}]}),
    bad_call({"image": [{"kind": "image", "size": -1}]}),
    bad_call({"image": [PICTURE | {"suffix": "/../../x"}]}),
    bad_call({"image": [PICTURE], "other": []}),
    bad_call({"image": [PICTURE]}, {"seed": "x"}),
    bad_call({"image": [{"kind": "image", "size": 4_000_000_000}] * 2}),
]


async def test_hostile_calls_are_refused_with_a_reason(desk: Desk, tmp_path: Path) -> None:
    machine = at(tmp_path)
    async with started(machine):
        paired = await desk.pair(machine)
        token = desk.backend.machines.token(paired)
        told = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(
            base_url=paired.base, verify=paired.trust(), headers=told, timeout=60
        ) as known:
            for body in BAD_CALLS:
                answer = await known.post(wire.RUN, content=body)
                error = wire.WireError.model_validate(answer.json()["error"])
                assert answer.status_code == 200
                assert error.message
                assert str(tmp_path) not in answer.text
            assert (await known.get("/other")).status_code == 404
            assert (await known.put(wire.RUN)).status_code == 405
            machine.show_code()
            for body in (b"", b"{}", b'{"nonce": "x", "proof": ""}', b"[" * 5000):
                assert (await known.post(wire.PAIRING, content=body)).status_code == 400
            machine.service.busy = 99
            assert (await known.post(wire.RUN, content=BAD_CALLS[0])).status_code == 503
            machine.service.busy = 0
    assert not list((tmp_path / "box" / "store" / "work").iterdir())


async def test_a_client_that_goes_away_while_it_sends(desk: Desk, tmp_path: Path) -> None:
    machine = at(tmp_path)
    async with started(machine):
        paired = await desk.pair(machine)
        key = desk.backend.machines.token(paired)
        for path, sent in ((wire.RUN, b'{"expert"'), (wire.PAIRING, b"{")):
            _, writer = await asyncio.open_connection("127.0.0.1", machine.port, ssl=paired.trust())
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
            writer.write(f"{head}Content-Length: 100\r\n\r\n".encode() + sent)
            await writer.drain()
            while path == wire.RUN and not machine.service.busy:
                await asyncio.sleep(0)
            writer.close()
        while machine.service.busy:
            await asyncio.sleep(0)
        assert len(await desk.run(call(tmp_path))) == 2
    assert not list((tmp_path / "box" / "store" / "work").iterdir())


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\n",
        b"{}\n",
        b'{"results": [{"kind": "image", "size": 10}]}\nabc',
        b'{"results": [{"kind": "image", "size": 3, "suffix": "../x"}]}\nabc',
        b'{"results": [{"kind": "video", "text": "x"}]}\n',
        b'{"results": []}\n',
        b'{"results": [{"kind": "text", "text": " "}]}\n',
        b"x" * (1 << 16),
    ],
)
async def test_hostile_answers_are_failed_attempts(
    desk: Desk, tmp_path: Path, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.responses import Response

    from jarvis_desktop.server import experts_api

    monkeypatch.setattr(experts_api, "_WorkResponse", lambda work, media_type: Response(answer))
    machine = at(tmp_path)
    async with started(machine):
        await desk.pair(machine)
        with pytest.raises(JarvisError):
            await desk.run(call(tmp_path))
    assert not (tmp_path / "x").exists()


async def test_what_a_machine_offers_is_seen_again(desk: Desk, tmp_path: Path) -> None:
    machine = at(tmp_path)
    offered = machine.service.offers()
    machine.service.offers = lambda: []
    async with started(machine):
        await desk.pair(machine)
        assert not desk.backend.candidates("paint")
        machine.service.offers = lambda: offered
        desk.backend._known_until = 0.0
        assert not desk.backend.candidates("paint")  # it is being asked meanwhile
        await asyncio.gather(*desk.backend._background)
        (candidate,) = desk.backend.candidates("paint")
        machine.service.offers = lambda: []
        with pytest.raises(UnavailableError, match="box does not have expert-paint any longer"):
            await desk.backend.run(candidate, call(tmp_path), lambda share, words: None)
    await desk.backend.close()


def test_addresses_as_they_are_typed() -> None:
    assert place_of("192.168.1.20") == ("192.168.1.20", wire.PORT)
    assert place_of("https://desk.local:9/") == ("desk.local", 9)
    assert place_of("[fe80::1]:9") == ("fe80::1", 9)
    assert client.own_name()
