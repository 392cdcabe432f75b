"""Ollama: its server, its LLMs, and the program on this computer.

Answers are read over its HTTP interface, because its Python client cannot send `truncate` and
`shift`; without them Ollama silently cuts prompts.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from jarvis_desktop.core.context import current_usage
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import Prompt, Think, Usage
from jarvis_desktop.core.task import Report
from jarvis_desktop.llm.profile import assumed_ability, parameters_in
from jarvis_desktop.llm.request import Thinking, pictures, room, sendable
from jarvis_desktop.platform.http import (
    DEFAULT_TIMEOUTS,
    Post,
    Server,
    ServerTimeouts,
    Sleep,
    absent,
    broken_off,
    certificates,
    cut_short,
    failed,
    refusal,
    sentences,
    stranger,
)

if TYPE_CHECKING:
    import ollama


LOOPBACK = "http://127.0.0.1:11434"
CLOUD_SUFFIXES = (":cloud", "-cloud")
"""The endings of names of LLMs that Ollama passes on to the cloud."""
MIN_LLM_BYTES = 1_000_000
"""In bytes; anything smaller is a reference to an LLM in the cloud."""
PULL_TIMEOUT_S = 120.0
"""In seconds; Ollama is silent while it computes the digest of a download."""

Answer = TypeVar("Answer")
Counted = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class InstalledLLM:
    """One LLM that Ollama lists."""

    name: str
    size: int = 0
    """In bytes; 0 if not known."""
    digest: str = ""
    context_length: int = 0
    """In tokens; 0 if not known."""
    capabilities: frozenset[str] = frozenset()
    """Such as "completion", "vision", "thinking"."""
    family: str = ""
    """Its architecture, such as "qwen3" or "gptoss"."""
    parameters: str = ""
    """Their number, such as "4.7B"."""
    quantisation: str = ""
    """Such as "Q4_K_M"."""

    @property
    def is_local(self) -> bool:
        """Whether it runs where Ollama runs, and not in the cloud."""
        return not self.name.endswith(CLOUD_SUFFIXES) and not 0 < self.size < MIN_LLM_BYTES

    def is_called(self, name: str) -> bool:
        """Whether that is Ollama's name for it."""
        return name in (self.name, self.name.removesuffix(":latest"))


@dataclass(frozen=True, slots=True)
class OllamaStatus:
    """What Ollama has; `reason` says in a sentence why it does not run."""

    running: bool
    llms: tuple[InstalledLLM, ...] = ()
    reason: str = ""


class OllamaServer:
    """Talks to one Ollama server.

    Without a host it is the one on this computer: at the port of OLLAMA_HOST if that names this
    computer, else at the default one. A host has the form of OLLAMA_HOST: a name, an address with a
    port, or a URL.
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
        """By digest, which changes with the LLM."""

    async def status(self, *, timeout: float = 2.0) -> OllamaStatus:
        """Return whether Ollama answers within `timeout` seconds in all, and its LLMs."""
        try:
            return OllamaStatus(True, await self._listed(timeout))
        except JarvisError as error:
            return OllamaStatus(False, reason=error.message)

    async def installed(self) -> tuple[InstalledLLM, ...]:
        """Return all LLMs with their abilities, by name. Raises UnavailableError, ExpertError."""
        listed = await self._listed(self._patience)
        asked = (self._with_details(each) for each in listed)
        found = await asyncio.gather(*asked, return_exceptions=True)
        return tuple(map(_unless_broken, listed, found))

    async def find(self, name: str) -> InstalledLLM:
        """Return the LLM of that name. Raises UnavailableError that says how to get it."""
        for each in await self._listed(self._patience):
            if each.is_called(name):
                return await self._with_details(each)
        raise refusal(self.server, 404, "", name=name)

    async def pull(self, name: str, report: Report, *, counted: Counted = lambda *_: None) -> None:
        """Download an LLM; the fraction is that of the bytes of all layers.

        `counted` gets the bytes that arrived and their total. Cancelling stops the download; Ollama
        keeps what arrived. Raises UnavailableError with Ollama's reason.
        """
        import ollama

        layers: dict[str, tuple[int, int]] = {}
        with sentences(self.server):
            try:
                async with self._client(PULL_TIMEOUT_S) as client:
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
        """Unload an LLM from memory; the next prompt loads it again.

        Raises UnavailableError, ExpertError.
        """
        await self._ask(lambda client: client.generate(name, keep_alive=0), name=name)

    async def remove(self, name: str) -> None:
        """Delete an LLM from the disk. Raises UnavailableError, ExpertError."""
        await self._ask(lambda client: client.delete(name), name=name)

    async def in_memory(self, *, timeout: float = 2.0) -> Mapping[str, tuple[int, int]]:
        """Return the memory of each loaded LLM by name, in all and on the graphics card, in bytes.

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
            return llm  # Ollama would have to ask the cloud.
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
        # Several names may refer to the same LLM.
        return replace(self._looked_up[key], name=llm.name)

    async def _ask(
        self,
        question: Callable[[ollama.AsyncClient], Awaitable[Answer]],
        *,
        name: str = "",
        timeout: float = 0,
    ) -> Answer:
        """The answer to one request, within `timeout` seconds in all (0: the default)."""
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
                # JSON in another form than the client expects.
                raise stranger(self.server) from error

    async def _is_refused(self, timeout: float) -> bool:
        """Whether nothing listens at an address of this computer.

        Checked without Ollama's client, which takes 10 MB that an idle window does not need.
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
        except (OSError, ValueError):  # the client reports the problem best
            return False
        return False

    def _client(self, timeout: float) -> ollama.AsyncClient:
        import ollama

        return ollama.AsyncClient(
            self.server.address,
            timeout=timeout,
            # A proxy of the environment cannot reach this computer's own addresses.
            trust_env=self.server.remote,
            verify=certificates(self.server.remote),
            follow_redirects=False,
        )


def _here() -> str:
    """The address of Ollama on this computer."""
    named = os.environ.get("OLLAMA_HOST", "").strip()
    # This address means that a server listens everywhere; it is asked at one of them.
    named = re.sub(r"^((?:http://)?)0\.0\.0\.0(?=[:/]|$)", r"\g<1>127.0.0.1", named)
    if re.match(r"(?:http://)?(?:127(?:\.\d+){3}|localhost|\[::1\])(?::\d+)?/?$", named):
        return _address(named)
    return LOOPBACK


def _address(host: str) -> str:
    """The URL for a host in the form of OLLAMA_HOST."""
    if "://" in host:
        return host
    has_port = re.search(r":\d+$", host.partition("/")[0])
    return f"http://{host}" if has_port else f"http://{host}:11434"


def _unless_broken(listed: InstalledLLM, found: InstalledLLM | BaseException) -> InstalledLLM:
    """An LLM that Ollama cannot show must not hide the others."""
    if isinstance(found, JarvisError):
        return listed
    if isinstance(found, BaseException):
        raise found
    return found


def _counted(layers: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """The bytes that arrived and the total of all layers."""
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
        hint=tr(
            "The part already downloaded is kept. Check the network and the disk, and try again."
        ),
    )


CONTEXT_STEP = 4096
"""Contexts are multiples of it, so that Ollama need not reload the LLM for each prompt."""


class OllamaLLM:
    """One LLM of an Ollama server.

    `most_context` bounds the context in tokens, because its memory is taken at once: about 1 GB for
    8,192 tokens of an LLM with four billion parameters. It stays in memory for `keep_alive` seconds
    after an answer.
    """

    provider = "ollama"

    def __init__(
        self,
        llm: InstalledLLM,
        server: Server,
        *,
        most_context: int = 8192,
        keep_alive: float = 600,
        patience: ServerTimeouts = DEFAULT_TIMEOUTS,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.name = llm.name
        self.remote = server.remote or not llm.is_local
        self.window = min(most_context, llm.context_length or most_context)
        self.sees = "vision" in llm.capabilities
        parameters = parameters_in(llm.parameters) or parameters_in(llm.name)
        self.ability = assumed_ability(parameters, remote=self.remote)
        self._thinks = "thinking" in llm.capabilities
        self._thinks_always = llm.family.replace("-", "") == "gptoss"
        # The cloud ignores `format`, and so does Ollama for the form in which gpt-oss thinks.
        self.enforces_schema = llm.is_local and not self._thinks_always
        self._keep_alive = keep_alive
        self._server = server
        self._post = Post(server, "/api/chat", llm.name, patience, sleep=sleep)
        self._thinking = Thinking(llm.name)
        self._context = 0

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """Return the answer in pieces; raises the errors of the port."""
        pieces = self._pieces(await self._body(prompt))
        async with aclosing(self._thinking.removed(pieces, hold=prompt.schema is not None)) as said:
            async for piece in said:
                yield piece

    async def _body(self, prompt: Prompt) -> dict[str, Any]:
        prompt = sendable(prompt, schema_in_text=not self.enforces_schema)
        think = Think.LOW if self._thinks_always and prompt.think is Think.OFF else prompt.think
        if not self._thinks:
            think = Think.OFF
        space = room(prompt, self.window, name=self.name, sees=self.sees, think=think)
        # It only grows: with any other context, even a smaller one, Ollama reloads the LLM.
        self._context = max(
            self._context, min(self.window, -(-space.whole // CONTEXT_STEP) * CONTEXT_STEP)
        )
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [
                {"role": each.role, "content": each.text}
                | ({"images": await pictures(each)} if each.images else {})
                for each in prompt.messages
            ],
            "stream": True,
            "truncate": False,
            "shift": False,
            "keep_alive": self._keep_alive,
            "options": {
                "num_ctx": self._context,
                "num_predict": space.written,
                "temperature": prompt.temperature,
            },
        }
        if prompt.schema is not None:
            body["format"] = prompt.schema
        if self._thinks:
            body["think"] = think.value if self._thinks_always else think is not Think.OFF
        return body

    async def _pieces(self, body: dict[str, Any]) -> AsyncGenerator[str, None]:
        """What the LLM writes, without the reasoning that Ollama recognises."""
        async with aclosing(self._post.lines(body)) as lines:
            async for line in lines:
                chunk = self._read(line)
                if chunk.get("error"):
                    raise failed(self._server, chunk["error"])
                message = chunk.get("message")
                if isinstance(message, dict) and isinstance(message.get("content"), str):
                    yield message["content"]
                if chunk.get("done"):
                    current_usage.get()(_usage(chunk))
                    if chunk.get("done_reason") == "length":
                        raise cut_short(self.name)
                    return
        raise broken_off(self._server)

    def _read(self, line: str) -> dict[str, Any]:
        try:
            chunk = json.loads(line)
        except ValueError as error:
            raise stranger(self._server) from error
        if not isinstance(chunk, dict):
            raise stranger(self._server)
        return chunk


def _usage(chunk: Mapping[str, Any]) -> Usage:
    """What the last chunk reports; the tokens in the cache are among those that were read."""
    read, written, reading, writing = (
        value if isinstance(value := chunk.get(name), int) else 0
        for name in ("prompt_eval_count", "eval_count", "prompt_eval_duration", "eval_duration")
    )
    return Usage(read, 0, written, reading / 1e9, writing / 1e9)


MAC_APP = Path("/Applications/Ollama.app")


def command() -> list[str]:
    """Return the command that starts it; [] if it is not installed. Reads the disk."""
    if sys.platform == "darwin" and MAC_APP.exists():
        return ["/usr/bin/open", "-a", str(MAC_APP)]
    if sys.platform == "win32":
        program = Path(os.environ.get("LOCALAPPDATA", ""), "Programs", "Ollama", "ollama app.exe")
        if program.exists():
            return [str(program)]
    found = shutil.which("ollama")
    return [found, "serve"] if found else []


def start() -> None:
    """Start it; it continues after JARVIS ends. Raises UnavailableError."""
    words = command()
    if not words:
        raise UnavailableError(
            tr("Ollama is not installed."), hint=tr("Get it from https://ollama.com/download.")
        )
    try:
        subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise UnavailableError(
            tr(
                "Ollama could not be started: {reason}.",
                reason=(error.strerror or str(error)).lower(),
            ),
            hint=tr("Start it as you usually do."),
        ) from error
