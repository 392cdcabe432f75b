"""The Ollama of this computer, or of another: whether it runs, which LLMs it has, and new ones."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.llm.failures import absent, broken_off, refusal, sentences, stranger
from jarvis_desktop.llm.server import Server

if TYPE_CHECKING:
    import ollama

LOOPBACK = "http://127.0.0.1:11434"
CLOUD = (":cloud", "-cloud")
"""How names end of LLMs that Ollama only passes on to its makers' computers."""
SMALLEST = 1_000_000
"""Bytes. Less is no LLM, but the reference to one in the cloud, whatever its name is."""
PULL_SILENCE = 120.0
"""Seconds; Ollama says nothing while it computes the digest of what it fetched."""

Answer = TypeVar("Answer")
Counted = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class InstalledLLM:
    """One LLM that Ollama lists."""

    name: str
    size: int = 0
    """In bytes; 0 where Ollama does not say."""
    digest: str = ""
    context_length: int = 0
    """The most tokens it was made for; 0 where nobody asked, or Ollama does not say."""
    capabilities: frozenset[str] = frozenset()
    """Such as "completion", "vision", "thinking"."""
    family: str = ""
    """How it is built, such as "qwen3" or "gptoss"."""
    parameters: str = ""
    """How many numbers it is made of, such as "4.7B"."""
    quantisation: str = ""
    """How they are kept, such as "Q4_K_M"."""

    @property
    def is_local(self) -> bool:
        """Whether it runs where Ollama runs; Ollama offers others under the same address."""
        return not self.name.endswith(CLOUD) and not 0 < self.size < SMALLEST

    def is_called(self, name: str) -> bool:
        """Whether Ollama means this one by that name."""
        return name in (self.name, self.name.removesuffix(":latest"))


@dataclass(frozen=True, slots=True)
class OllamaStatus:
    """What was found; where it does not run, `reason` says so in a sentence."""

    running: bool
    llms: tuple[InstalledLLM, ...] = ()
    reason: str = ""


class OllamaServer:
    """Speaks with one Ollama.

    Without a host it is the one on this computer: at the port of OLLAMA_HOST where that names
    this computer, else at Ollama's own. A host has the form of OLLAMA_HOST: a name, an address
    with a port, or a URL.
    """

    def __init__(self, host: str = "", *, patience: float = 10.0) -> None:
        self.server = Server(
            program="Ollama",
            kind="Ollama",
            address=_address(host) if host else _here(),
            start="Start it, or install it from https://ollama.com/download.",
            obtain="Fetch it with: ollama pull {name}",
        )
        self._patience = patience
        self._looked_up: dict[str, InstalledLLM] = {}
        """By digest, which changes with anything that could be asked about."""

    async def status(self, *, timeout: float = 2.0) -> OllamaStatus:
        """Whether Ollama answers within `timeout` seconds in all, and what it lists."""
        try:
            return OllamaStatus(True, await self._listed(timeout))
        except JarvisError as error:
            return OllamaStatus(False, reason=error.message)

    async def installed(self) -> tuple[InstalledLLM, ...]:
        """All LLMs by name, with what they can do. Raises UnavailableError, ExpertError."""
        listed = await self._listed(self._patience)
        asked = (self._with_details(each) for each in listed)
        found = await asyncio.gather(*asked, return_exceptions=True)
        return tuple(map(_unless_broken, listed, found))

    async def find(self, name: str) -> InstalledLLM:
        """The LLM of that name. Raises UnavailableError that says how to get it."""
        for each in await self._listed(self._patience):
            if each.is_called(name):
                return await self._with_details(each)
        raise refusal(self.server, 404, "", name=name)

    async def pull(self, name: str, report: Report, *, counted: Counted = lambda *_: None) -> None:
        """Fetch an LLM; the fraction is that of the bytes of all its layers.

        `counted` is told how many of them are here, and how many there are. Cancelling stops the
        download; what arrived is kept by Ollama for the next time.
        Raises UnavailableError with Ollama's own reason.
        """
        import ollama

        layers: dict[str, tuple[int, int]] = {}
        with sentences(self.server):
            try:
                async with self._client(PULL_SILENCE) as client:
                    steps = cast(Any, await client.pull(name, stream=True))
                    async with aclosing(steps):
                        async for step in steps:
                            if step.digest and step.total:
                                layers[step.digest] = (step.completed or 0, step.total)
                            have, total = _counted(layers)
                            if total:
                                counted(min(have, total), total)
                            report(*_so_far(have, total, step.status or ""))
                            if step.status == "success":
                                return
            except ollama.ResponseError as error:
                raise _not_pulled(name, error.error) from error
            except (AttributeError, TypeError, ValueError) as error:
                raise stranger(self.server) from error
        raise broken_off(self.server)

    async def unload(self, name: str) -> None:
        """Let Ollama give back the memory of an LLM at once; the next prompt loads it again.

        Raises UnavailableError, ExpertError.
        """
        await self._ask(lambda client: client.generate(name, keep_alive=0), name=name)

    async def remove(self, name: str) -> None:
        """Delete an LLM from the disk. Raises UnavailableError, ExpertError."""
        await self._ask(lambda client: client.delete(name), name=name)

    async def in_memory(self, *, timeout: float = 2.0) -> Mapping[str, tuple[int, int]]:
        """By name, what each LLM that is loaded takes in all, and of the graphics card; in bytes.

        Raises UnavailableError, ExpertError.
        """
        loaded = await self._ask(lambda client: client.ps(), timeout=timeout)
        return {
            each.model: (int(each.size or 0), int(each.size_vram or 0))
            for each in loaded.models
            if each.model
        }

    async def _listed(self, timeout: float) -> tuple[InstalledLLM, ...]:
        listed = await self._ask(lambda client: client.list(), timeout=timeout)
        found = [
            InstalledLLM(
                each.model,
                int(each.size or 0),
                each.digest or "",
                parameters=(each.details and each.details.parameter_size) or "",
                quantisation=(each.details and each.details.quantization_level) or "",
            )
            for each in listed.models
            if each.model
        ]
        return tuple(sorted(found, key=lambda llm: llm.name))

    async def _with_details(self, llm: InstalledLLM) -> InstalledLLM:
        if not llm.is_local:
            return llm  # Ollama would have to ask its makers.
        key = llm.digest or llm.name
        if key not in self._looked_up:
            shown = await self._ask(lambda client: client.show(llm.name), name=llm.name)
            facts = shown.modelinfo or {}
            length = facts.get(f"{facts.get('general.architecture')}.context_length")
            self._looked_up[key] = replace(
                llm,
                context_length=length if isinstance(length, int) else 0,
                capabilities=frozenset(shown.capabilities or ()),
                family=(shown.details and shown.details.family) or "",
            )
        # Several names may stand for the same LLM.
        return replace(self._looked_up[key], name=llm.name)

    async def _ask(
        self,
        question: Callable[[ollama.AsyncClient], Awaitable[Answer]],
        *,
        name: str = "",
        timeout: float = 0,
    ) -> Answer:
        """One question with one answer, within `timeout` seconds in all (0: the usual time)."""
        timeout = timeout or self._patience
        if await self._is_refused(timeout):
            raise absent(self.server)
        import ollama

        with sentences(self.server):
            try:
                async with self._client(timeout) as client, asyncio.timeout(timeout):
                    return await question(client)
            except ollama.ResponseError as error:
                raise refusal(self.server, error.status_code, error.error, name=name) from error
            except (TypeError, AttributeError) as error:
                # JSON of another form than the client expects.
                raise stranger(self.server) from error

    async def _is_refused(self, timeout: float) -> bool:
        """Whether nobody listens at an address of this computer.

        Told without Ollama's client and all that it brings along, 10 MB that a window at rest
        mostly needs for nothing else.
        """
        if self.server.remote or "ollama" in sys.modules:
            return False
        try:
            address = urlsplit(self.server.address)
            async with asyncio.timeout(timeout):
                _, writer = await asyncio.open_connection(address.hostname, address.port or 80)
            writer.close()
        except ConnectionRefusedError:
            return True
        except (OSError, ValueError):  # the client says best what is wrong
            return False
        return False

    def _client(self, timeout: float) -> ollama.AsyncClient:
        import ollama

        return ollama.AsyncClient(
            self.server.address,
            timeout=timeout,
            # A proxy of the environment knows nothing of this computer's own addresses.
            trust_env=self.server.remote,
            follow_redirects=False,
        )


def _here() -> str:
    """The address of the Ollama on this computer."""
    named = os.environ.get("OLLAMA_HOST", "").strip()
    # A server is told to listen everywhere by this name; it is asked at one place.
    named = re.sub(r"^((?:http://)?)0\.0\.0\.0(?=[:/]|$)", r"\g<1>127.0.0.1", named)
    if re.match(r"(?:http://)?(?:127(?:\.\d+){3}|localhost|\[::1\])(?::\d+)?/?$", named):
        return _address(named)
    return LOOPBACK


def _address(host: str) -> str:
    """The URL that a host in the form of OLLAMA_HOST means."""
    if "://" in host:
        return host
    has_port = re.search(r":\d+$", host.partition("/")[0])
    return f"http://{host}" if has_port else f"http://{host}:11434"


def _unless_broken(listed: InstalledLLM, found: InstalledLLM | BaseException) -> InstalledLLM:
    """One LLM that Ollama cannot show does not hide the others."""
    if isinstance(found, JarvisError):
        return listed
    if isinstance(found, BaseException):
        raise found
    return found


def _counted(layers: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """The bytes that are here, and those of all layers."""
    return sum(have for have, _ in layers.values()), sum(total for _, total in layers.values())


def _so_far(have: int, total: int, doing: str) -> tuple[float | None, str]:
    if not total:
        return None, one_line(doing)
    return min(1.0, have / total), f"{have / 1e6:.0f} of {total / 1e6:.0f} MB"


def _not_pulled(name: str, reason: str) -> UnavailableError:
    if "file does not exist" in reason:
        return UnavailableError(
            tr("Ollama's library has no {name}.", name=one_line(name)),
            hint=tr("See https://ollama.com/library."),
        )
    return UnavailableError(
        tr(
            "{name} could not be fetched: {reason}.",
            name=one_line(name),
            reason=one_line(reason, limit=200).rstrip("."),
        ),
        hint=tr("What arrived is kept. Look at the network and the disk, and try again."),
    )
