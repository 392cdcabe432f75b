"""The whole road of a spoken request on its real libraries: a voice into a real microphone, words
while it speaks, a plan, an answer that is heard, and silence when somebody wants it.

Of all of it only the loudspeaker is a null sink.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from jarvis_desktop.app.application import Application
from jarvis_desktop.app.build import build
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.speech import Loudness, Partial, TalkEvent, Transcript, Unheard
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.paths import Paths
from jarvis_desktop.settings import Settings, SpeechSettings
from tests.fakes import FakeFrontend
from tests.sound import SoundServer
from tests.synthetic_speech import NEURAL, speak

pytestmark = [pytest.mark.sound, pytest.mark.asyncio(loop_scope="module")]

ASKED = "Hey JARVIS, what time is it?"
LOUD = 0.02


@dataclass
class Room:
    """Where somebody talks with the application, as a window would let them."""

    app: Application
    server: SoundServer
    folder: Path
    partials: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    answering: asyncio.Task[Turn] | None = None
    hears: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def barge_in(self) -> None:
        if self.answering:
            self.answering.cancel()

    def show(self, event: TalkEvent) -> None:
        match event:
            case Partial():
                self.partials.append(event.text)
            case Unheard():
                self.reasons.append(event.reason)
            case Loudness():
                self.hears = True
        self._changed.set()

    def heard(self, transcript: Transcript) -> None:
        request = Request(heard=transcript, speak=True, folder=self.folder)
        self.answering = asyncio.create_task(self.app.assistant.handle(request, FakeFrontend()))
        self.answering.add_done_callback(self._answered)
        self._changed.set()

    def _answered(self, answering: asyncio.Task[Turn]) -> None:
        self.answering = None
        if not answering.cancelled():
            self.turns.append(answering.result())
        self._changed.set()

    async def until(self, true: Callable[[], object]) -> None:
        async with asyncio.timeout(60):
            while not true():
                self._changed.clear()
                await self._changed.wait()

    async def say(self, text: str) -> None:
        """Hold the key and speak."""
        self.hears = False
        self.app.talk.press()
        await self.until(lambda: self.hears)
        audio = speak(text, self.folder / "said.wav", voice=NEURAL, after=0.4)
        await asyncio.to_thread(self.server.say_into_microphone(audio).wait)
        self.app.talk.release()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(
    tmp_path_factory: pytest.TempPathFactory, _sound_server_of_the_module: SoundServer
) -> AsyncIterator[Room]:
    server, root = _sound_server_of_the_module, tmp_path_factory.mktemp("house")
    paths = Paths(root / "config", root / "data", root / "cache", root / "logs")
    speech = SpeechSettings(key="", key_way="hold", language="en")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OLLAMA_HOST", "127.0.0.1:9")
        for name, value in server.environment.items():
            patch.setenv(name, value)
        app = build(Settings(processes=2, speech=speech), paths)
        room = Room(app, server, root)
        app.talk.front = room
        await app.recogniser.warm()
        yield room
        await app.close()
    assert app.microphone.state == "closed"


async def test_a_spoken_request_is_answered_aloud(room: Room) -> None:
    ear = room.server.listening()
    await room.say(ASKED)
    await room.until(lambda: room.turns or room.reasons)
    (turn,) = room.turns
    assert (turn.text, turn.heard_by) == (ASKED, "whisper")
    assert turn.status is Status.DONE
    assert turn.reply.startswith("It is ")
    assert room.partials, "nothing was shown while it was being said"
    assert np.abs(ear.samples).max() > LOUD, "the answer was not heard"


async def test_the_key_silences_an_answer_and_listens_to_the_next_request(room: Room) -> None:
    room.turns.clear()
    ear = room.server.listening()
    long = "One more word and another one, and then some more. " * 20
    room.heard(Transcript(f'say "{long}"', "whisper", "en"))
    await asyncio.to_thread(ear.wait_for, lambda samples: np.abs(samples).max(initial=0) > LOUD)
    await room.say(ASKED)
    await room.until(lambda: room.turns or room.reasons)
    (turn,) = room.turns
    assert turn.text == ASKED


async def test_silence_makes_no_turn_and_says_why(room: Room) -> None:
    room.turns.clear()
    room.hears = False
    room.app.talk.press()
    await room.until(lambda: room.hears)
    room.app.talk.release()
    await room.until(lambda: room.reasons)
    assert "no sound" in room.reasons.pop()
    assert room.turns == []
