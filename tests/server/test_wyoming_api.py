"""Home Assistant's protocol, spoken by the client of the library itself, and by nobody's."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import wave
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.handle import Handled, NotHandled
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import Synthesize

from jarvis_desktop.app.build import build
from jarvis_desktop.cli.main import main
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.paths import user_paths
from jarvis_desktop.server import wyoming_api
from jarvis_desktop.server.http_server import listen
from jarvis_desktop.server.wyoming_api import WyomingService
from jarvis_desktop.settings import Settings
from tests.fake_voice import write_wav


class Ears:
    """A recogniser that says how long a recording is."""

    async def transcribe(self, audio: Path, report: object) -> Any:
        with wave.open(str(audio)) as sound:
            if not sound.getnframes():
                raise InputError("Nothing is said.")
            seconds = sound.getnframes() / sound.getframerate()
            return SimpleNamespace(text=f"{seconds:.1f} {sound.getnchannels()}", language="en")


class Mouth:
    """A voice that hangs, fails, or speaks."""

    def __init__(self) -> None:
        self.hangs, self.ended = asyncio.Event(), asyncio.Event()

    async def synthesise(self, text: str, to: Path, *, pace: float = 1.0) -> Path:
        if text == "fail":
            raise UnavailableError("There is no voice.")
        if text == "slip":
            raise ZeroDivisionError("/home/secret")
        if text == "hang":
            self.hangs.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.ended.set()
        write_wav(to)
        return to


class Satellite:
    """A connection of the library's client."""

    def __init__(self, port: int, service: WyomingService) -> None:
        self.port, self.service = port, service

    def client(self) -> AsyncTcpClient:
        return AsyncTcpClient("127.0.0.1", self.port)

    async def ask(self, *events: Any) -> Event:
        async with self.client() as client:
            for event in events:
                await client.write_event(event.event())
            answer: Event | None = await client.read_event()
        assert answer
        return answer


@pytest.fixture
async def satellite() -> AsyncIterator[Satellite]:
    app = build(Settings(processes=1), user_paths())
    app.recogniser, app.voice = Ears(), Mouth()  # type: ignore[assignment]
    service = WyomingService(app)
    with listen("127.0.0.1", 0) as listening:
        server = asyncio.create_task(service.serve(listening))
        yield Satellite(listening.getsockname()[1], service)
        server.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await server
    assert service.connections == 0
    app.voice = SimpleNamespace(close=None)  # type: ignore[assignment]
    await app.close()


async def test_what_it_offers(satellite: Satellite) -> None:
    info = Info.from_event(await satellite.ask(Describe()))
    assert [len(each) for each in (info.asr, info.tts, info.handle)] == [1, 1, 1]
    assert info.asr[0].models[0].languages == ["en"]
    assert {"en", "de"} <= set(info.tts[0].voices[0].languages)
    assert Pong.from_event(await satellite.ask(Ping("x"))).text == "x"


async def test_speech_becomes_text(satellite: Satellite) -> None:
    chunks = [AudioChunk(16000, 2, 1, bytes(16000)) for _ in range(4)]
    for begin in ([Transcribe(), AudioStart(16000, 2, 1)], []):
        answer = await satellite.ask(*begin, *chunks, AudioStop())
        heard = Transcript.from_event(answer)
        assert (heard.text, heard.language) == ("2.0 1", "en")
    silent = await satellite.ask(Transcribe(), AudioStart(8000, 2, 2), AudioStop())
    assert Transcript.from_event(silent).text == ""


async def test_text_becomes_speech(satellite: Satellite) -> None:
    async with satellite.client() as client:
        await client.write_event(Synthesize("Hello").event())
        events: list[Event] = []
        while not events or not AudioStop.is_type(events[-1].type):
            event = await client.read_event()
            assert event
            events.append(event)
    start = AudioStart.from_event(events[0])
    assert (start.width, start.channels) == (2, 1)
    assert sum(len(AudioChunk.from_event(each).audio) for each in events[1:-1])


async def test_a_sentence_is_answered_in_its_conversation(satellite: Satellite) -> None:
    def sentence(text: str, conversation: str = "") -> Transcript:
        return Transcript(text, context={"conversation_id": conversation})

    first = Handled.from_event(await satellite.ask(sentence("What is 3 plus 4?", "a")))
    assert first.text
    assert "7" in first.text
    assert first.context == {"conversation_id": "a"}
    assert [each.role for each in satellite.service.said["a"]] == ["user", "assistant"]
    refused = NotHandled.from_event(await satellite.ask(sentence("Open my Downloads folder")))
    assert refused.text
    assert "a yes" in refused.text
    assert list(satellite.service.said) == ["a"]
    assert NotHandled.is_type((await satellite.ask(sentence(" "))).type)


async def test_errors_are_answers(
    satellite: Satellite, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = Error.from_event(await satellite.ask(Synthesize("fail")))
    assert failed.text == "There is no voice."
    slipped = Error.from_event(await satellite.ask(Synthesize("slip")))
    assert "inside JARVIS" in slipped.text
    assert "secret" not in caplog.text
    caplog.clear()
    assert "no recording" in Error.from_event(await satellite.ask(AudioStop())).text
    odd = await satellite.ask(AudioStart(16000, 2, 9))
    assert "one or two channels" in Error.from_event(odd).text
    monkeypatch.setattr(wyoming_api, "MAX_SOUND", 100)
    long = await satellite.ask(AudioStart(16000, 2, 1), AudioChunk(16000, 2, 1, bytes(200)))
    assert "too long" in Error.from_event(long).text


async def test_who_goes_away_ends_the_work(satellite: Satellite) -> None:
    mouth = satellite.service.app.voice
    assert isinstance(mouth, Mouth)
    async with satellite.client() as client:
        await client.write_event(Synthesize("hang").event())
        await mouth.hangs.wait()
    await mouth.ended.wait()


BAD = [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\xff\xfe\n",
    b"[]\n",
    b"{}\n",
    b"[" * 60_000 + b"\n",
    b"x" * 100_000,
    b'{"type": 5}\n',
    b'{"type": "ping", "data": [1]}\n',
    b'{"type": "ping", "data_length": 4000000000}\n',
    b'{"type": "ping", "payload_length": -1}\n',
    b'{"type": "ping", "data_length": 3}\n[1]',
    b'{"type": "ping", "data_length": 9}\n{}',
    b'{"type": "synthesize"}\n',
    b'{"type": "synthesize", "data": {"text": 5}}\n',
    b'{"type": "audio-start", "data": {"rate": "x"}}\n',
    b'{"type": "audio-chunk", "data": {"rate": 1e400, "width": 2, "channels": 1}}\n',
    b'{"type": "transcript", "data": {"text": null}}\n',
    b'{"type": "unknown"}\n',
]


@pytest.mark.parametrize("sent", BAD)
async def test_hostile_bytes_end_the_connection(satellite: Satellite, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", satellite.port)
    writer.write(sent)
    writer.write_eof()
    with contextlib.suppress(ConnectionResetError):
        answer = await reader.read()
        if answer:
            assert json.loads(answer.splitlines()[0])["type"] == "error"
    writer.close()
    assert Pong.is_type((await satellite.ask(Ping())).type)


async def test_too_many_connections(satellite: Satellite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wyoming_api, "AT_ONCE", 1)
    async with satellite.client() as client:
        await client.write_event(Ping().event())
        assert await client.read_event()
        reader, writer = await asyncio.open_connection("127.0.0.1", satellite.port)
        assert await reader.read() == b""
        writer.close()


def test_the_port_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--wyoming", "70000"]) == 1
    assert "no port 70000" in capsys.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", "--wyoming", str(taken.getsockname()[1])]) == 1
    assert "another program uses it" in capsys.readouterr().err
