"""LLMs of servers with OpenAI's protocol.

Examples are LM Studio, llama.cpp, vLLM, `transformers serve`, OpenAI and Hugging Face's router.
huggingface_hub's InferenceClient (2.4) is not used. It writes a schema in a form that only
text-generation-inference knows, sends the saved Hugging Face token to any address, and refuses this
computer's own addresses if HF_HUB_OFFLINE is set.
"""

from __future__ import annotations

import asyncio
import json
import mimetypes
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Set
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jarvis_desktop.core.context import current_usage
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import Message, MessageRole, Prompt, Think, Usage
from jarvis_desktop.llm.profile import assumed_ability, parameters_in
from jarvis_desktop.llm.request import Thinking, pictures, room, sendable
from jarvis_desktop.platform.api_keys import ApiKey
from jarvis_desktop.platform.http import (
    DEFAULT_TIMEOUTS,
    Post,
    RequestRejectedError,
    Server,
    ServerTimeouts,
    Sleep,
    authorization,
    broken_off,
    cut_short,
    failed,
    model_entries,
    openai_address,
    sendable_key,
    sentences,
    stranger,
)

if TYPE_CHECKING:
    import httpx

OPTIONAL = (
    "response_format",
    "temperature",
    "max_tokens",
    "chat_template_kwargs",
    "reasoning_effort",
    "stream_options",
)
"""Parameters that a server may not know and that can be omitted."""


UNKNOWN = re.compile(
    r"unknown|unsupported|not support|unexpected|unrecogni[sz]ed|not permitted|instead of", re.I
)
"""How servers say that they never accept a parameter."""


@dataclass(frozen=True, slots=True)
class ServedLLM:
    """An LLM that a server lists."""

    name: str
    parameters: int = 0
    """Their number; 0 if the server does not state it."""
    window: int = 0
    """The context that it was loaded with, in tokens; 0 if the server does not state it."""
    enforces_schema: bool | None = None
    """Whether the server enforces JSON schemas; None if that is not known."""
    digest: str = ""
    """Tells different weights of the same name apart, if the server allows that."""


UNLIKELY_WORD = "vexillum-42"
SCHEMA_PROBE = Prompt(
    (Message(MessageRole.USER, 'Say hello in the form {"word": "hello"}.'),),
    schema={
        "type": "object",
        "properties": {"word": {"type": "string", "enum": [UNLIKELY_WORD]}},
        "required": ["word"],
    },
    longest=32,
)
"""Only a server that enforces the schema answers it with that word."""


class OpenAICompatibleLLM:
    """One LLM of such a server.

    `window` is in tokens. `parameters` is their number, 0 if it is not known. If it is not known
    whether the server enforces schemas, that is probed before the first prompt with a schema, and
    `on_probe` gets the result.
    """

    provider = "openai"

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        key: ApiKey | None = None,
        window: int = 8192,
        sees: bool = False,
        parameters: int = 0,
        enforces_schema: bool | None = None,
        on_probe: Callable[[bool], None] = lambda enforced: None,
        patience: ServerTimeouts = DEFAULT_TIMEOUTS,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.name = name
        self._server = server_at(base_url)
        self.remote = self._server.remote
        self.window = window
        self.sees = sees
        parameters = parameters or parameters_in(name)
        self.ability = assumed_ability(parameters, remote=self.remote)
        self._enforces = enforces_schema
        self._on_probe = on_probe
        self._probing = asyncio.Lock()
        self._key = key or ApiKey()
        self._patience = patience
        self._sleep = sleep
        self._thinking = Thinking(name)
        self._refused: set[str] = set()

    @property
    def enforces_schema(self) -> bool:
        """Whether it is known that the server enforces schemas."""
        return self._enforces is True

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """Return the answer in pieces; raises the errors of the port."""
        if prompt.schema is not None:
            await self.probe_schema()
        pieces = self._pieces(prompt)
        async with aclosing(self._thinking.removed(pieces, hold=prompt.schema is not None)) as said:
            async for piece in said:
                yield piece

    async def probe_schema(self) -> bool:
        """Return whether the server enforces schemas; it is asked if that is not known.

        Raises the errors of the port.
        """
        async with self._probing:
            if self._enforces is None:
                self._enforces = await self._obeys_schema()
                self._on_probe(self._enforces)
            return self._enforces

    async def _obeys_schema(self) -> bool:
        try:
            async with aclosing(self._pieces(SCHEMA_PROBE, probing=True)) as pieces:
                said = "".join([piece async for piece in pieces])
            return bool(json.loads(said) == {"word": UNLIKELY_WORD})
        except (RequestRejectedError, ValueError):
            return False
        except ExpertError as error:
            if error.fault is Fault.ANSWER:  # it wrote on
                return False
            raise

    async def _body(
        self, prompt: Prompt, without: Set[str], *, schema_in_text: bool
    ) -> dict[str, Any]:
        """The body without the omitted parameters."""
        prompt = sendable(prompt, schema_in_text=schema_in_text)
        space = room(prompt, self.window, name=self.name, sees=self.sees, think=prompt.think)
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [
                {"role": each.role, "content": await _content(each)} for each in prompt.messages
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": space.written,
            "temperature": prompt.temperature,
        }
        if prompt.schema is not None:
            form = {"name": "answer", "schema": prompt.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if prompt.think is not Think.OFF:
            body["reasoning_effort"] = prompt.think.value
        if not self.remote:
            # For llama.cpp and vLLM, whose LLMs otherwise think as long as they like.
            body["chat_template_kwargs"] = {"enable_thinking": prompt.think is not Think.OFF}
        kept = {key: value for key, value in body.items() if key not in without}
        if "max_tokens" in without:
            kept["max_completion_tokens"] = body["max_tokens"]  # OpenAI's new name
        return kept

    async def _pieces(self, prompt: Prompt, *, probing: bool = False) -> AsyncGenerator[str, None]:
        key = await sendable_key(self._key, self._server)
        post = Post(self._server, "/chat/completions", self.name, self._patience, key, self._sleep)
        without, never = set(self._refused), set[str]()
        while True:
            enforced = self.enforces_schema and "response_format" not in without
            sent = await self._body(prompt, without, schema_in_text=not (enforced or probing))
            try:
                async with aclosing(self._read(post, sent)) as pieces:
                    async for piece in pieces:
                        yield piece
                self._refused |= never
                return
            except RequestRejectedError as error:
                # It can only come before the first piece.
                unknown = _unknown(error.body, sent)
                if not unknown:
                    raise
                without |= unknown
                if UNKNOWN.search(error.body):
                    never |= unknown
            except UnavailableError:
                self._key.forget()
                raise

    async def _read(self, post: Post, body: Mapping[str, Any]) -> AsyncGenerator[str, None]:
        """The text of the server-sent events. The usage is reported at their end."""
        reason, counts = None, dict[str, Any]()
        begun = first = time.monotonic()
        async with aclosing(post.lines(body)) as lines:
            async for line in lines:
                field, _, data = line.partition(":")
                if field not in ("data", "", "event", "id", "retry"):
                    raise stranger(self._server)
                if field != "data":
                    continue
                if data.strip() == "[DONE]":
                    reason = reason or "stop"
                    break
                chunk = _chunk(post, data)
                choice = _choice(chunk)
                delta = choice.get("delta")
                if isinstance(delta, dict) and isinstance(delta.get("content"), str):
                    if first == begun:
                        first = time.monotonic()
                    yield delta["content"]
                # Token counts follow, and not every server ends with [DONE].
                reason = choice.get("finish_reason") or reason
                counts |= {key: chunk[key] for key in ("usage", "timings") if chunk.get(key)}
        if usage := _usage(counts, reading_s=first - begun, writing_s=time.monotonic() - first):
            current_usage.get()(usage)
        if reason is None:
            raise broken_off(self._server)
        if reason == "length":
            raise cut_short(self.name)


def server_at(base_url: str) -> Server:
    """Return the server at an address as users type it; see `openai_address`."""
    return Server(
        program=tr("The LLM server"),
        kind="an OpenAI-compatible server",
        address=openai_address(base_url),
        start=tr("Start it, or look at the address."),
        obtain=tr("Choose one of the LLMs that it lists; most addresses end in /v1."),
    )


async def listed(
    base_url: str, *, key: ApiKey | None = None, timeout: float = 10.0
) -> tuple[ServedLLM, ...]:
    """Return a server's LLMs, sorted by name. Raises UnavailableError, ExpertError."""
    entries = await model_entries(server_at(base_url), key or ApiKey(), timeout=timeout)
    return tuple(map(_served, entries))


def _served(entry: Mapping[str, Any]) -> ServedLLM:
    """An entry of the list, with what llama.cpp (`meta`), vLLM and SGLang add to it."""
    if meta := _object(entry.get("meta")):
        digest = "-".join(str(meta.get(name)) for name in ("n_params", "size", "ftype"))
        parameters, window = _count(meta.get("n_params")), _count(meta.get("n_ctx"))
        return ServedLLM(entry["id"], parameters, window, True if window else None, digest)
    window = _count(entry.get("max_model_len"))
    return ServedLLM(entry["id"], window=window, enforces_schema=True if window else None)


async def described(
    base_url: str, llm: ServedLLM, *, key: ApiKey | None = None, timeout: float = 5.0
) -> ServedLLM:
    """Return the LLM with what llama.cpp and LM Studio state elsewhere than in the list.

    An LLM of another server, or one that does not answer, is returned as it is.
    """
    server = server_at(base_url)
    with suppress(JarvisError), sentences(server):
        headers = authorization(await sendable_key(key or ApiKey(), server))
        root = urlsplit(server.address)._replace(path="", query="").geturl()
        async with server.client(ServerTimeouts(first=timeout)) as client, asyncio.timeout(timeout):
            properties = await _asked(client, f"{root}/props", headers)
            if window := _count(
                _object(properties.get("default_generation_settings")).get("n_ctx")
            ):
                return replace(llm, window=window, enforces_schema=True)
            listing = await _asked(client, f"{root}/api/v0/models", headers)
        entries = listing.get("data")
        for each in map(_object, entries if isinstance(entries, list) else ()):
            if each.get("id") == llm.name and "state" in each:
                window = _count(each.get("loaded_context_length"))
                return replace(llm, window=window, enforces_schema=True)
    return llm


async def _asked(client: httpx.AsyncClient, url: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """The JSON object at a URL; an empty one if there is something else or nothing."""
    try:
        return _object((await client.get(url, headers=headers)).json())
    except ValueError:
        return {}


def _object(value: object) -> dict[str, Any]:
    """A JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    """A number of tokens or parameters; 0 for anything else."""
    return value if isinstance(value, int) and value > 0 else 0


def _seconds(value: object) -> float:
    """Seconds from milliseconds; 0 for anything that is not a number."""
    return value / 1000 if isinstance(value, int | float) else 0.0


def _usage(counts: Mapping[str, Any], *, reading_s: float, writing_s: float) -> Usage | None:
    """The usage by the chunks' fields; the seconds are used if the server states none."""
    if timings := _object(counts.get("timings")):  # of llama.cpp
        read, cached, written = (
            _count(timings.get(name)) for name in ("prompt_n", "cache_n", "predicted_n")
        )
        return Usage(
            read,
            cached,
            written,
            _seconds(timings.get("prompt_ms")),
            _seconds(timings.get("predicted_ms")),
        )
    if usage := _object(counts.get("usage")):
        details = _object(usage.get("prompt_tokens_details"))
        cached = _count(details.get("cached_tokens"))
        read = max(0, _count(usage.get("prompt_tokens")) - cached)
        written = _count(usage.get("completion_tokens"))
        return Usage(read, cached, written, reading_s, writing_s)
    return None


async def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.text
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.text}]
    for path, data in zip(message.images, await pictures(message), strict=True):
        kind = mimetypes.guess_type(path.name)[0] or "image/png"
        parts.append({"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}})
    return parts


def _unknown(said: str, sent: Mapping[str, Any]) -> set[str]:
    """The optional parameters that the server's message rejects."""
    named = {each for each in OPTIONAL if each in sent and each in said}
    if not named and "response_format" in sent and re.search("schema|grammar|format", said, re.I):
        return {"response_format"}
    return named


def _chunk(post: Post, data: str) -> dict[str, Any]:
    """A chunk of the answer. Raises ExpertError if it is an error."""
    try:
        chunk = json.loads(data)
    except ValueError as error:
        # `transformers serve` does not escape the quotes in its errors.
        raise failed(post.server, post.without_key(data)) from error
    if not isinstance(chunk, dict) or chunk.get("error"):
        raise failed(post.server, post.without_key(data))
    return chunk


def _choice(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    """The only choice of a chunk, or nothing."""
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}
