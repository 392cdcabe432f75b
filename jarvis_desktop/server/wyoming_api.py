"""Wyoming, the protocol of Home Assistant's voice satellites: hear, speak, and answer a sentence.

The protocol has neither authentication nor encryption, by design: every computer that reaches the
port can ask for everything that the user can ask for. So it listens on this computer alone unless
asked otherwise. The library's events are used, and read here: its own reader takes any amount of
memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import wave
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event, Eventable, async_write_event
from wyoming.handle import Handled, NotHandled
from wyoming.info import (
    AsrModel,
    AsrProgram,
    Attribution,
    Describe,
    HandleModel,
    HandleProgram,
    Info,
    TtsProgram,
    TtsVoice,
)
from wyoming.ping import Ping, Pong
from wyoming.tts import Synthesize

from jarvis_desktop import __version__
from jarvis_desktop.app.experts import whisper_folder
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.server.turns import ApiFrontend, Said, running_turn
from jarvis_desktop.text.languages import NAMES

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

log = logging.getLogger(__name__)

PORT = 10300
AT_ONCE = 32
"""Connections; further ones are closed."""
MAX_LINE = 65_536
MAX_DATA = 1_000_000
"""Bytes of the JSON of an event."""
MAX_PAYLOAD = 1_000_000
MAX_SOUND = 64_000_000
"""Bytes of one recording: half an hour at 16 kHz."""
IDLE_S = 300.0
"""Seconds without an event after which a connection is closed."""
MAX_RATE = 192_000
FRAMES = 4096
"""Samples of a chunk of speech."""
CONVERSATIONS, TURNS = 32, 20
"""How many conversations, and how much of each, are remembered for "it" and "the first one"."""


@dataclass
class WyomingService:
    """What all connections share."""

    app: Application
    connections: int = 0
    said: OrderedDict[str, list[Said]] = field(default_factory=OrderedDict)
    """The last turns of each conversation, by the id that the client chose."""

    async def serve(self, listening: socket.socket) -> None:
        """Serve until cancelled."""
        running: set[asyncio.Task[None]] = set()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if self.connections >= AT_ONCE:
                writer.close()
                return
            self.connections += 1
            task = asyncio.create_task(_Connection(self, reader, writer).run())
            running.add(task)
            task.add_done_callback(running.discard)
            task.add_done_callback(lambda _: self._ended())

        server = await asyncio.start_server(connected, sock=listening, limit=MAX_LINE)
        try:
            async with server:
                await server.serve_forever()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _ended(self) -> None:
        self.connections -= 1

    def info(self) -> Info:
        """Return what is offered here."""
        about: dict[str, Any] = {
            "name": "jarvis-desktop",
            "attribution": Attribution("JARVIS Desktop", ""),
            "installed": True,
            "version": __version__,
        }
        app, speech = self.app, self.app.current.settings.speech
        codes = [code for code in NAMES if len(code) == 2]
        heard = [speech.language] if speech.language else codes
        if whisper_folder(app.experts, app.weights, named=speech.recogniser) is None:
            heard = ["en"]  # the shipped one
        return Info(
            asr=[
                AsrProgram(
                    **about,
                    description="The recogniser of JARVIS",
                    models=[AsrModel(**about, description="", languages=heard)],
                )
            ],
            tts=[
                TtsProgram(
                    **about,
                    description="The voice of JARVIS",
                    voices=[TtsVoice(**about, description="", languages=codes)],
                )
            ],
            handle=[
                HandleProgram(
                    **about,
                    description="JARVIS, with its plans and experts",
                    models=[HandleModel(**about, description="", languages=codes)],
                )
            ],
        )

    async def answer(self, text: str, conversation: str) -> tuple[bool, str]:
        """Answer a sentence; return whether it was done, and the words. Raises JarvisError."""
        before = self.said.pop(conversation, []) if conversation else []
        frontend = ApiFrontend()
        said = [*before, Said("user", text)]
        async with running_turn(self.app, said, frontend) as (task, _):
            turn = await task
        words = turn.reply or " ".join(turn.notes)
        if frontend.refused:
            refusal = tr("That needs a yes, and nobody can be asked here.")
            words = f"{words} {refusal}".strip()
        if conversation:
            self.said[conversation] = [*said, Said("assistant", words)][-TURNS:]
            while len(self.said) > CONVERSATIONS:
                self.said.popitem(last=False)
        return turn.status in (Status.DONE, Status.PARTLY), words


@dataclass
class _Connection:
    """One client."""

    service: WyomingService
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    _sound: wave.Wave_write | None = None
    _file: Path | None = None
    _bytes: int = 0

    async def run(self) -> None:
        """Answer events until the client goes away, or sends something else than events."""
        try:
            with TemporaryDirectory(prefix="jarvis-wyoming-") as folder:
                self._file = Path(folder) / "said.wav"
                while True:
                    async with asyncio.timeout(IDLE_S):
                        event = await read_event(self.reader)
                    if event is None:
                        break
                    if not await self._until_gone(event):
                        break
        except (OSError, EOFError, TimeoutError):
            pass  # the client has gone away
        finally:
            self._forget()
            self.writer.close()
            with contextlib.suppress(OSError):
                await self.writer.wait_closed()

    async def _until_gone(self, event: Event) -> bool:
        """Answer an event; return whether to go on. An error is the answer to what is wrong."""
        try:
            await self._take(event)
        except InputError as error:
            await self._write(Error(str(error), "input"))
        except JarvisError as error:
            await self._write(Error(str(error), error.kind or "failed"))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, wave.Error):
            await self._write(Error("The event is not valid.", "invalid"))
            return False
        except (OSError, EOFError):
            raise
        except Exception as error:  # noqa: BLE001 - one request must not end the others
            log.error("A request over Wyoming failed: %s", frames(error))
            await self._write(Error("Something went wrong inside JARVIS itself.", "internal"))
        return True

    async def _take(self, event: Event) -> None:
        if Describe.is_type(event.type):
            await self._write(self.service.info())
        elif Ping.is_type(event.type):
            await self._write(Pong(_text(event.data.get("text") or "")))
        elif Transcribe.is_type(event.type):
            self._forget()
        elif AudioStart.is_type(event.type):
            self._start(AudioStart.from_event(event))
        elif AudioChunk.is_type(event.type):
            await self._add(AudioChunk.from_event(event))
        elif AudioStop.is_type(event.type):
            await self._heard()
        elif Synthesize.is_type(event.type):
            await self._speak(_text(event.data["text"]))
        elif Transcript.is_type(event.type):
            await self._answer(event)
        # Others are of newer versions, or for other services: the protocol wants them ignored.

    def _start(self, start: AudioStart) -> None:
        self._forget()
        if not (
            isinstance(start.rate, int)
            and 1000 <= start.rate <= MAX_RATE
            and start.width in (1, 2, 3, 4)
            and start.channels in (1, 2)
        ):
            raise InputError("Sound has 1000 to 192000 samples a second, in one or two channels.")
        self._sound = wave.open(str(self._file), "wb")  # noqa: SIM115 - until the end of the sound
        self._sound.setnchannels(start.channels)
        self._sound.setsampwidth(start.width)
        self._sound.setframerate(start.rate)

    async def _add(self, chunk: AudioChunk) -> None:
        if self._sound is None:  # some clients leave the start out
            self._start(AudioStart(chunk.rate, chunk.width, chunk.channels))
        assert self._sound is not None
        self._bytes += len(chunk.audio)
        if self._bytes > MAX_SOUND:
            self._forget()
            raise InputError("The recording is too long.")
        await asyncio.to_thread(self._sound.writeframes, chunk.audio)

    async def _heard(self) -> None:
        if self._sound is None or self._file is None:
            raise InputError("There is no recording that ends here.")
        self._sound.close()
        self._sound, self._bytes = None, 0
        try:
            heard = await self._while_there(
                partial(self.service.app.recogniser.transcribe, self._file, _nothing)
            )
            await self._write(Transcript(heard.text, language=heard.language or None))
        except InputError:
            await self._write(Transcript(""))  # nothing was said
        finally:
            self._forget()

    async def _speak(self, text: str) -> None:
        with TemporaryDirectory(prefix="jarvis-wyoming-") as folder:
            path = Path(folder) / "speech.wav"
            await self._while_there(lambda: self.service.app.voice.synthesise(text, path))
            with wave.open(str(path), "rb") as sound:
                form = sound.getframerate(), sound.getsampwidth(), sound.getnchannels()
                await self._write(AudioStart(*form))
                while piece := sound.readframes(FRAMES):
                    await self._write(AudioChunk(*form, piece))
                await self._write(AudioStop())

    async def _answer(self, event: Event) -> None:
        text, context = _text(event.data["text"]), event.data.get("context")
        known = context if isinstance(context, dict) else {}
        conversation = str(known.get("conversation_id") or "")[:100]
        if not text.strip():
            await self._write(NotHandled("", context=context))
            return
        done, words = await self._while_there(lambda: self.service.answer(text, conversation))
        answer = Handled if done else NotHandled
        await self._write(answer(words, context=context))

    async def _while_there(self, work: Callable[[], Any]) -> Any:
        """Do some work, and end it if the client goes away. Clients send
        nothing while they wait for an answer."""
        task = asyncio.ensure_future(work())
        gone = asyncio.ensure_future(self._gone())
        try:
            await asyncio.wait([task, gone], return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise EOFError
            return await task
        finally:
            for each in (task, gone):
                each.cancel()
            await asyncio.wait([task, gone])

    async def _gone(self) -> None:
        while not (self.reader.at_eof() or self.writer.is_closing()):  # noqa: ASYNC110
            await asyncio.sleep(0.25)

    async def _write(self, answer: Eventable) -> None:
        await async_write_event(answer.event(), self.writer)

    def _forget(self) -> None:
        if self._sound is not None:
            with contextlib.suppress(OSError, wave.Error):
                self._sound.close()
        self._sound, self._bytes = None, 0
        if self._file is not None:
            self._file.unlink(missing_ok=True)


async def read_event(reader: asyncio.StreamReader) -> Event | None:
    """Return the next event; None at the end, or if it is not valid or too large."""
    try:
        line = await reader.readline()
        if not line:
            return None
        header = json.loads(line)
        sizes = [header.get(name) or 0 for name in ("data_length", "payload_length")]
        data = header.get("data") or {}
        wrong = not isinstance(header["type"], str) or not isinstance(data, dict)
        if wrong or not all(isinstance(size, int) for size in sizes):
            return None
        if not (0 <= sizes[0] <= MAX_DATA and 0 <= sizes[1] <= MAX_PAYLOAD):
            return None
        if sizes[0]:
            data |= json.loads(await reader.readexactly(sizes[0]))
        payload = await reader.readexactly(sizes[1]) if sizes[1] else None
        return Event(header["type"], data, payload)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _nothing(fraction: float | None, words: str) -> None:
    """Progress is not shown."""
