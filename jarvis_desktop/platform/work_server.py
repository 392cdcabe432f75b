"""Servers with OpenAI's protocol that do one kind of work each, such as transcription.

Their addresses are in the settings, their keys in the keyring. Each sends what it is for to its
address alone, and only in the modes that allow it; a redirect is never followed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from jarvis_desktop.core.errors import Fault, JarvisError, UnavailableError
from jarvis_desktop.core.expert import BY_ADDRESS, Candidate, Expert
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.platform.api_keys import ApiKey, origin, secret
from jarvis_desktop.platform.http import (
    Post,
    Server,
    ServerTimeouts,
    model_entries,
    openai_address,
    sendable_key,
)
from jarvis_desktop.process.network_guard import is_near

CONNECT_S = 3.0
MAX_NAME_CHARS = 200
AVOIDED_S = 60.0
"""How long a server that did not answer is not asked about what cannot wait."""


class Work(StrEnum):
    """The kinds of work."""

    TRANSCRIPTION = "transcription"
    SPEECH = "speech"
    IMAGES = "images"

    @property
    def usual_model(self) -> str:
        """The name by which most servers know one for this work, whatever they run."""
        return _USUAL[self]


_USUAL = {Work.TRANSCRIPTION: "whisper-1", Work.SPEECH: "tts-1", Work.IMAGES: "gpt-image-1"}
_WORDS = {
    Work.TRANSCRIPTION: ("whisper", "transcri", "asr", "parakeet", "canary", "voxtral"),
    Work.SPEECH: ("tts", "kokoro", "piper", "speech", "voice", "orpheus", "chatterbox"),
    Work.IMAGES: ("image", "diffusion", "dall", "flux", "sdxl", "sd-"),
}
"""Parts of the names of models for each kind of work."""
_SENT = {
    Work.TRANSCRIPTION: (
        mark("What you say, and recordings to transcribe, are sent to {host}."),
        mark("Recordings to transcribe are sent to {host}, and nothing that you say."),
    ),
    Work.SPEECH: (mark("Answers and texts to be spoken are sent to {host}."),) * 2,
    Work.IMAGES: (
        mark("Descriptions of pictures, and pictures that are to be changed, are sent to {host}."),
    )
    * 2,
}


@dataclass(frozen=True, slots=True)
class WorkAddress:
    """Who does it, by the settings."""

    address: str = ""
    """As the user typed it; "" if nobody does."""
    model: str = ""
    """The server's name; "" for the usual one."""
    voice: str = ""
    """The server's name of the voice; "" for the usual one."""
    spoken: bool = True
    """Whether it is also for what the user says."""


class WorkServer:
    """The server for one kind of work. `choice` returns it by the current settings."""

    def __init__(
        self,
        work: Work | str,
        choice: Callable[[], WorkAddress],
        policy: Policy,
        *,
        key: Callable[[str], str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.work = work
        self._choice = choice
        self._policy = policy
        self._key_for = key or _kept_key
        self._clock = clock
        self._keys: dict[str, ApiKey] = {}
        self._avoided = ("", 0.0)
        """The address that did not answer, and until when it is avoided."""
        self._calls: set[asyncio.Task[bytes]] = set()

    @property
    def chosen(self) -> WorkAddress:
        """The one of the settings."""
        return self._choice()

    @property
    def model(self) -> str:
        """The model to ask for."""
        return self.chosen.model or _USUAL[Work(self.work)]

    @property
    def server(self) -> Server:
        """What is at the address. Raises UnavailableError if there is none, or it is unusable."""
        if not self.chosen.address:
            raise UnavailableError(tr("The settings name no server for this."))
        return Server(
            program=tr("The server"),
            kind="an OpenAI-compatible server",
            address=openai_address(self.chosen.address),
            start=tr("Start it, or look at the address."),
            obtain=tr("Choose one of the models that it lists; most addresses end in /v1."),
            wanted=tr("what it was asked for"),
        )

    def candidate(self, task: str) -> Candidate:
        """Return it as what does a task. Raises UnavailableError."""
        server = self.server
        return Candidate(
            Expert(self.model, task),
            BY_ADDRESS,
            remote=server.remote,
            provider=server.host,
            near=server.remote and is_near(urlsplit(server.address).hostname or ""),
        )

    def objection(self) -> UnavailableError | None:
        """Why it cannot be asked now; None if nothing is known against it."""
        try:
            candidate = self.candidate("")
        except UnavailableError as error:
            return error
        if self._policy.allows(candidate):
            return None
        hint = tr("Choose another mode, or a server on this computer.")
        if candidate.near and self._policy.allows_downloads:
            hint = tr("Allow your own network in it: jarvis-desktop machines local on.")
        return UnavailableError(
            tr(
                "The mode “{mode}” sends nothing to {host}.",
                mode=self._policy.mode.called,
                host=candidate.provider,
            ),
            hint=hint,
            fault=Fault.NETWORK,
        )

    @property
    def is_at_hand(self) -> bool:
        """Whether it may be asked about what cannot wait: it is set, allowed, and answered the last
        time."""
        if not self.chosen.address or self.objection():
            return False
        address, until = self._avoided
        return address != self.chosen.address or self._clock() >= until

    def sent(self) -> str:
        """What is sent where, in sentences. Raises UnavailableError."""
        also, alone = _SENT[Work(self.work)]
        return self._sent(also if self.chosen.spoken else alone)

    def _sent(self, about: str, **values: str) -> str:
        """What is sent where; `about` is marked, and names the {host}."""
        server, candidate = self.server, self.candidate("")
        if not server.remote:
            return tr("It runs on this computer: nothing leaves it.")
        words = tr(about, host=server.host, **values)
        if server.address.startswith("http:"):
            words += " " + (
                tr("It is not encrypted.")
                if candidate.near
                else tr("It is not encrypted, so anybody on the way can read it: use https://.")
            )
        return words

    async def models(self) -> tuple[str, ...]:
        """Return the names of its models, those for this work first. Raises JarvisError."""
        self._check()
        entries = await model_entries(self.server, self._key)
        ids = (each["id"] for each in entries)
        names = [name for name in ids if name.isprintable() and len(name) <= MAX_NAME_CHARS]
        return tuple(sorted(names, key=lambda name: not self.fits(name)))

    def fits(self, model: str) -> bool:
        """Whether the name of a model sounds like this work."""
        return any(word in model.lower() for word in _WORDS[Work(self.work)])

    async def ask(self, path: str, *, most: int, seconds: float, **content: Any) -> bytes:
        """Return an answer of at most `most` bytes within `seconds`; see `Post.whole`.

        Raises JarvisError, also when the mode changes and forbids it.
        """
        self._check()
        call = asyncio.ensure_future(self._ask(path, most, seconds, content))
        self._calls.add(call)
        try:
            return await call
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current and current.cancelling():
                raise
            raise self.objection() or UnavailableError(tr("It was stopped.")) from None
        finally:
            self._calls.discard(call)

    async def _ask(self, path: str, most: int, seconds: float, content: dict[str, Any]) -> bytes:
        server, address = self.server, self.chosen.address
        patience = ServerTimeouts(connect=CONNECT_S, first=seconds, between=seconds)
        key = await sendable_key(self._key, server)
        try:
            answer = await Post(server, path, self.model, patience, key).whole(most, **content)
        except JarvisError as error:
            if error.fault in (Fault.NETWORK, Fault.TIMEOUT):
                self._avoided = address, self._clock() + AVOIDED_S
            if error.fault is Fault.KEY:
                self.forget_keys()
            raise
        self._avoided = "", 0.0
        return answer

    def forget_keys(self) -> None:
        """Look the key up again at the next call: it has changed, or was refused."""
        self._keys.clear()

    def withdraw(self) -> None:
        """Cancel what the mode does not allow now."""
        if self.objection():
            for call in self._calls:
                call.cancel()

    def _check(self) -> None:
        if objection := self.objection():
            raise objection

    @property
    def _key(self) -> ApiKey:
        address = self.chosen.address
        return self._keys.setdefault(address, ApiKey(partial(self._key_for, address)))


def _kept_key(address: str) -> str:
    """Return the key in the keyring; that of the environment is for the LLM service alone."""
    return secret(origin(address))
