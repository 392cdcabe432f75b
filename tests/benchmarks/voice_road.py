"""The whole road of a spoken request: from the key's release to the first sound of the answer.

    python -m tests.benchmarks.voice_road [--few]

Real parts throughout on a PulseAudio of its own: espeak-ng speaks into the microphone, the shipped
recogniser hears it, the application plans and answers, its voice is heard at the monitor. Only the
LLM is scripted: a server on loopback that speaks OpenAI's protocol, 20 tokens a second. Own
overhead is what is left of the time without what the recogniser takes after the release, and
without the time in which the LLM wrote what the first sentence needs.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from jarvis_desktop.app.application import Application
from jarvis_desktop.app.build import build
from jarvis_desktop.assistant.talk.talk import Talk
from jarvis_desktop.core.speech import Hearing, Loudness, Partial, TalkEvent, Transcript, Unheard
from jarvis_desktop.core.turn import Request
from jarvis_desktop.paths import user_paths
from jarvis_desktop.settings import LLMSettings, Settings, SpeechSettings
from jarvis_desktop.speech.recogniser import LocalRecogniser
from tests.benchmarks.voice_output import Ear, Row, footprint, spread
from tests.fakes import FakeFrontend
from tests.line_server import Answer
from tests.openai_server import OpenAIServer, running_openai_server
from tests.sound import SoundServer, start_server
from tests.synthetic_speech import speak

ASKED = "what time is it"
CHAT = "why is the sky blue"
SECONDS_A_TOKEN = 1 / 20
STORY = tuple(
    f" {word}" for word in "It scatters blue light most. The rest of it goes straight on.".split()
)


class Recogniser:
    """The real one, and how long it takes from the end of what was said."""

    def __init__(self) -> None:
        self.real = LocalRecogniser(language="en")
        self.took = 0.0

    def hear(self, show: Callable[[Partial], None]) -> Hearing:
        hearing = self.real.hear(show)
        finish = hearing.finish

        async def timed() -> Transcript:
            begun = time.monotonic()
            try:
                return await finish()
            finally:
                self.took = time.monotonic() - begun

        hearing.finish = timed  # type: ignore[method-assign]
        return hearing


class Person:
    """Speaks, and hears the answer."""

    def __init__(self, app: Application, server: SoundServer, ear: Ear) -> None:
        self.app, self.server, self.ear = app, server, ear
        self.recogniser = Recogniser()
        self.talk = Talk(
            app.microphone,
            self.recogniser,  # type: ignore[arg-type]
            way="hold",
            use="conversation",
            hush=app.speech.hush,
        )
        self.talk.front = self
        self._news: asyncio.Queue[Transcript | Unheard] = asyncio.Queue()
        self._open = asyncio.Event()

    def barge_in(self) -> None:
        self.app.assistant.silence()

    def show(self, event: TalkEvent) -> None:
        if isinstance(event, Loudness):
            self._open.set()
        elif isinstance(event, Unheard):
            self._news.put_nowait(event)

    def heard(self, transcript: Transcript) -> None:
        self._news.put_nowait(transcript)

    async def says(self, audio: Path) -> tuple[float, float, Transcript]:
        """When the key was let go, when the words were there, and what they were."""
        self._open.clear()
        self.talk.press()
        await self._open.wait()
        speaking = self.server.say_into_microphone(audio)
        await asyncio.to_thread(speaking.wait)
        await asyncio.sleep(0.25)  # people let go a little after their last word
        released = time.monotonic()
        self.talk.release()
        news = await self._news.get()
        assert isinstance(news, Transcript), news
        return released, time.monotonic(), news

    async def hears(self, heard: Transcript, *, to_the_end: bool = False) -> float:
        """When the first sound of the answer came."""
        request = Request(heard=heard, speak=True)
        begun = time.monotonic()
        answering = asyncio.create_task(self.app.assistant.handle(request, FakeFrontend()))
        first = await self.ear.first(begun)
        if not to_the_end:
            self.app.assistant.silence()
        await answering
        return first


@asynccontextmanager
async def persons(server: SoundServer, settings: Settings) -> AsyncIterator[Person]:
    """One with a warm application."""
    app = build(settings, user_paths())
    person = Person(app, server, Ear(server))
    try:
        await app.start()
        await person.recogniser.real.warm()
        yield person
    finally:
        await person.talk.close()
        await person.recogniser.real.close()
        await app.close()


def settings_with(llm: LLMSettings) -> Settings:
    """Nothing is fetched, and no key of the desktop is taken."""
    return Settings(speech=SpeechSettings(key=""), llm=llm)


async def without_llm(person: Person, audio: Path, count: int) -> list[Row]:
    """A request that the application answers itself."""
    own, whole = [], []
    await person.hears((await person.says(audio))[2], to_the_end=True)  # the first one of all
    for _ in range(count):
        released, _, heard = await person.says(audio)
        first = await person.hears(heard)
        whole.append(first - released)
        own.append(first - released - person.recogniser.took)
    return [
        (
            f"release -> first sound, recognition excluded, {count} times",
            spread(own, 0.5, 0.95),
            "p95 60 ms",
        ),
        ("release -> first sound, all of it", spread(whole, 0.5, 0.95), ""),
    ]


async def with_llm(person: Person, llm: OpenAIServer, audio: Path, count: int) -> list[Row]:
    """A request that the LLM answers, 20 tokens a second."""
    story = Answer(STORY, seconds_a_piece=SECONDS_A_TOKEN)  # no plan is asked for
    own = []
    for _ in range(count):
        llm.answers[:] = [story, story]
        llm.began.clear()
        llm.sent.clear()
        released, _, _ = await person.says(audio)
        first = await person.hears(Transcript(CHAT, "whisper", "en"))
        writing = [at for at, piece in llm.sent if piece.endswith(".")]
        own.append(first - released - person.recogniser.took - (writing[0] - llm.began[-1]))
    return [
        (
            f"the same with an LLM, its first sentence excluded, {count} times",
            spread(own, 0.5, 0.95),
            "p95 60 ms and the synthesis",
        )
    ]


async def soak(person: Person, audio: Path, count: int) -> list[Row]:
    """Memory and threads over many turns."""
    before: tuple[int, int] = (0, 0)
    for number in range(count):
        if number == count // 10:
            before = footprint(os.getpid())
        _, _, heard = await person.says(audio)
        await person.hears(heard)
    after = footprint(os.getpid())
    return [
        (
            f"{count} spoken turns, this process",
            f"{(after[0] - before[0]) / 1024:+.1f} MiB, {after[1] - before[1]:+d} threads",
            "+5 MiB, +0",
        )
    ]


async def table(*, few: bool = False, turns: int = 0) -> list[Row]:
    """All rows."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, running_openai_server() as llm:
        os.environ["JARVIS_DESKTOP_HOME"] = f"{folder}/home"
        audio = speak(ASKED, Path(folder) / "asked.wav")
        server = start_server()
        os.environ.update(server.environment)
        try:
            none = settings_with(LLMSettings(provider="none"))
            async with persons(server, none) as person:
                rows += await without_llm(person, audio, 5 if few else 40)
                if turns:
                    rows += await soak(person, audio, turns)
            scripted = LLMSettings(provider="openai", id="tiny", address=f"{llm.address}/v1")
            async with persons(server, settings_with(scripted)) as person:
                rows += await with_llm(person, llm, audio, 3 if few else 15)
        finally:
            server.stop()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--turns", type=int, default=0, help="of the soak")
    args = parser.parse_args()
    for what, figure, limit in asyncio.run(table(few=args.few, turns=args.turns)):
        print(f"{what:64} {figure:44} {limit}")


if __name__ == "__main__":
    main()
