"""Tries the server of a kind of work with something of our own, and measures how long it takes."""

from __future__ import annotations

import time
import wave
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.platform.work_server import Work

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

SENTENCE = mark("This is how I sound. The answer to six times seven is forty-two.")

UNTRIED = mark("No picture was painted.")


@dataclass(frozen=True, slots=True)
class ServerTrial:
    """The result of a trial."""

    seconds: float
    words: str
    """What the server did, in a sentence."""


async def try_server(app: Application, work: Work) -> ServerTrial:
    """Let the server do its work once. Nothing of the user is sent. Raises JarvisError."""
    server = app.servers[work]
    if objection := server.objection():
        raise objection
    with TemporaryDirectory(prefix="jarvis-server-") as folder:
        path, began = Path(folder) / "sentence.wav", time.monotonic()
        if work is Work.IMAGES:  # painting takes minutes, and may cost money
            names = await server.models()
            words = tr("It lists {count}.", count=len(names))
            return ServerTrial(time.monotonic() - began, f"{words} {tr(UNTRIED)}")
        if work is Work.SPEECH:
            await app.speech.server_voice.synthesise(tr(SENTENCE), path)
            took = time.monotonic() - began
            with wave.open(str(path)) as sound:
                seconds = sound.getnframes() / sound.getframerate()
            words = tr("It spoke for {seconds} seconds.", seconds=f"{seconds:.1f}")
            return ServerTrial(took, words)
        await app.voice.synthesise(tr(SENTENCE), path)
        began = time.monotonic()
        heard = await app.speech.transcriber.transcribe(path, lambda fraction, words: None)
        return ServerTrial(time.monotonic() - began, tr("It heard: “{text}”", text=heard.text))
