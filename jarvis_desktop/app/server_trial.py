"""Tries the server of a kind of work with something of our own, and measures how long it takes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.platform.work_server import Work

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

SENTENCE = mark("This is how I sound. The answer to six times seven is forty-two.")


@dataclass(frozen=True, slots=True)
class ServerTrial:
    """What came of it."""

    seconds: float
    words: str
    """What the server did, in a sentence."""


async def try_server(app: Application, work: Work) -> ServerTrial:
    """Let the server do its work once. Nothing of the user is sent. Raises JarvisError."""
    server = app.servers[work]
    if objection := server.objection():
        raise objection
    with TemporaryDirectory(prefix="jarvis-server-") as folder:
        path = Path(folder) / "sentence.wav"
        await app.voice.synthesise(tr(SENTENCE), path)
        began = time.monotonic()
        heard = await app.speech.transcriber.transcribe(path, lambda fraction, words: None)
        return ServerTrial(time.monotonic() - began, tr("It heard: “{text}”", text=heard.text))
