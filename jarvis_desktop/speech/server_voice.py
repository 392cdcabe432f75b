"""Speech by a server with OpenAI's protocol; the local voice is the fallback."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import Voice
from jarvis_desktop.platform.http import Server, unusable
from jarvis_desktop.platform.work_server import WorkServer
from jarvis_desktop.speech.voices import engine
from jarvis_desktop.speech.voices.engine import CHARACTERS_PER_SECOND, USUAL_RATE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PATH = "/audio/speech"
INSTEAD = mark("This computer’s voice speaks instead.")
USUAL_VOICE = "alloy"
"""Most servers know it, whatever they speak with."""
START_S = 10.0
"""Seconds to wait, in addition to the time that speaking the text aloud takes."""
MAX_SOUND_BYTES = 64_000_000
MIN_PACE, MAX_PACE = 0.25, 4.0  # of the protocol
PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE  # formats of a WAV
RATES = range(8_000, 192_001)


class ServerVoice:
    """Speaks by the server alone. `manner` returns the rate in words a minute and the volume, 0 to
    1."""

    def __init__(self, server: WorkServer, manner: Callable[[], tuple[float, float]]) -> None:
        self.server = server
        self._manner = manner

    async def synthesise(self, text: str, to: Path, *, pace: float = 1.0) -> Path:
        """Speak a text to a WAV file; see the port."""
        if not any(map(str.isalnum, text)):
            raise UnavailableError(tr("There is nothing to say."))
        rate, volume = self._manner()
        speed = round(min(max(pace * rate / USUAL_RATE, MIN_PACE), MAX_PACE), 2)
        wish = {
            "model": self.server.model,
            "voice": self.server.chosen.voice or USUAL_VOICE,
            "input": text,
            "response_format": "wav",
            "speed": speed,
        }
        seconds = START_S + len(text) / CHARACTERS_PER_SECOND
        sound = await self.server.ask(PATH, most=MAX_SOUND_BYTES, seconds=seconds, json=wish)
        await asyncio.to_thread(_keep, sound, to, volume, self.server.server)
        return to


class VoiceWithServer:
    """Speaks by a server, and by the local voice if no server is set or allowed, or if it fails.

    `tell` receives the reason once, on the loop.
    """

    def __init__(
        self, there: ServerVoice, local: Voice, tell: Callable[[JarvisError], None]
    ) -> None:
        self._there = there
        self._local = local
        self._tell = tell
        self._told = ""

    async def synthesise(self, text: str, to: Path, *, pace: float = 1.0) -> Path:
        """Speak a text to a WAV file; see the port."""
        if self._there.server.is_at_hand and any(map(str.isalnum, text)):
            try:
                await self._there.synthesise(text, to, pace=pace)
            except JarvisError as error:
                if error.message != self._told:
                    self._told = error.message
                    words = f"{error.message.rstrip('.')}. {tr(INSTEAD)}"
                    self._tell(UnavailableError(words, hint=error.hint))
            else:
                self._told = ""
                return to
        return await self._local.synthesise(text, to, pace=pace)


def _keep(sound: bytes, to: Path, volume: float, server: Server) -> None:
    """Write what a server sent as WAV, of which nothing is trusted. Raises ExpertError."""
    try:
        samples, rate = _samples(sound)
    except (ValueError, struct.error) as error:
        raise unusable(server) from error
    engine.write(samples, rate, to, volume)


def _samples(sound: bytes) -> tuple[NDArray[np.float32], int]:
    """The samples of a WAV as one channel, and its rate. Raises ValueError, struct.error.

    The length of a part is not believed: servers that write while they speak do not know it.
    """
    import numpy as np

    if sound[:4] != b"RIFF" or sound[8:12] != b"WAVE":
        raise ValueError
    at, form, channels, rate, bits = 12, 0, 0, 0, 0
    while True:
        name, size = struct.unpack_from("<4sI", sound, at)
        at += 8
        if name == b"data":
            break
        if name == b"fmt ":
            form, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", sound, at)
            if form == EXTENSIBLE:
                (form,) = struct.unpack_from("<H", sound, at + 24)
        at += size + size % 2
    kinds = {(PCM, 16): ("<i2", 32768.0), (FLOAT, 32): ("<f4", 1.0)}
    if (form, bits) not in kinds or channels not in (1, 2) or rate not in RATES:
        raise ValueError
    kind, full = kinds[form, bits]
    data = sound[at : at + size] if size else sound[at:]
    data = data[: len(data) // (channels * bits // 8) * (channels * bits // 8)]
    samples = np.frombuffer(data, kind).reshape(-1, channels)
    return samples.mean(axis=1, dtype=np.float32) / np.float32(full), rate
