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
from collections.abc import AsyncGenerator, Mapping, Set
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import Message, Prompt, Think
from jarvis_desktop.llm.http import (
    DEFAULT_TIMEOUTS,
    Post,
    RequestRejectedError,
    Server,
    ServerTimeouts,
    Sleep,
    broken_off,
    cut_short,
    failed,
    refusal,
    sentences,
    stranger,
)
from jarvis_desktop.llm.profile import assumed_ability, parameters_in
from jarvis_desktop.llm.request import Thinking, pictures, room, sendable
from jarvis_desktop.platform.api_keys import ApiKey

OPTIONAL = (
    "response_format",
    "temperature",
    "max_tokens",
    "chat_template_kwargs",
    "reasoning_effort",
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


class OpenAICompatibleLLM:
    """One LLM of such a server.

    `window` is in tokens, as the protocol does not state it; `parameters` is their number, 0 if it
    is not known.
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
        self.enforces_schema = False
        self._key = key or ApiKey()
        self._patience = patience
        self._sleep = sleep
        self._thinking = Thinking(name)
        self._refused: set[str] = set()

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """Return the answer in pieces; raises the errors of the port."""
        pieces = self._pieces(await self._body(prompt))
        async with aclosing(self._thinking.removed(pieces, hold=prompt.schema is not None)) as said:
            async for piece in said:
                yield piece

    async def _body(self, prompt: Prompt) -> dict[str, Any]:
        prompt = sendable(prompt)
        space = room(prompt, self.window, name=self.name, sees=self.sees, think=prompt.think)
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [
                {"role": each.role, "content": await _content(each)} for each in prompt.messages
            ],
            "stream": True,
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
        return body

    async def _pieces(self, body: Mapping[str, Any]) -> AsyncGenerator[str, None]:
        key = await _checked(self._key)
        post = Post(self._server, "/chat/completions", self.name, self._patience, key, self._sleep)
        without, never = set(self._refused), set[str]()
        while True:
            sent = _without(without, body)
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
        """The text of the server-sent events."""
        reason = None
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
                choice = _choice(post, data)
                delta = choice.get("delta")
                if isinstance(delta, dict) and isinstance(delta.get("content"), str):
                    yield delta["content"]
                # Token counts follow, and not every server ends with [DONE].
                reason = choice.get("finish_reason") or reason
        if reason is None:
            raise broken_off(self._server)
        if reason == "length":
            raise cut_short(self.name)


def server_at(base_url: str) -> Server:
    """Return the server at an address; "/v1" is appended if it has no path."""
    plain = base_url.rstrip("/")
    try:
        has_path = bool(urlsplit(plain).path)
    except ValueError:  # Server raises it in a sentence
        has_path = True
    return Server(
        program="The LLM server",
        kind="an OpenAI-compatible server",
        address=plain if has_path else f"{plain}/v1",
        start="Start it, or look at the address.",
        obtain="Choose one of the LLMs that it lists; most addresses end in /v1.",
    )


async def listed(
    base_url: str, *, key: ApiKey | None = None, timeout: float = 10.0
) -> tuple[ServedLLM, ...]:
    """Return a server's LLMs, sorted by name. Raises UnavailableError, ExpertError."""
    server = server_at(base_url)
    key = key or ApiKey()
    secret = await _checked(key)
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    with sentences(server):
        async with server.client(ServerTimeouts(first=timeout)) as client, asyncio.timeout(timeout):
            response = await client.get("/models", headers=headers)
        if response.status_code != 200:
            key.forget()
            raise refusal(server, response.status_code, "")
        found = response.json()
        entries = found.get("data") if isinstance(found, dict) else None
        if not isinstance(entries, list):
            raise stranger(server)
        llms = [_served(each) for each in entries if isinstance(each, dict)]
        return tuple(sorted((llm for llm in llms if llm), key=lambda llm: llm.name))


def _served(entry: Mapping[str, Any]) -> ServedLLM | None:
    """An entry of the list; None if it has no name."""
    name, meta = entry.get("id"), entry.get("meta")
    if not isinstance(name, str):
        return None
    # llama.cpp adds `meta`.
    parameters = meta.get("n_params") if isinstance(meta, dict) else 0
    return ServedLLM(name, parameters if isinstance(parameters, int) else 0)


async def _checked(key: ApiKey) -> str:
    """The key. Raises UnavailableError, without quoting it, if no header can hold it."""
    secret = (await key.get()).strip()
    if not (secret.isascii() and secret.isprintable()):
        key.forget()
        raise UnavailableError(
            tr("The key for the LLM server has characters that no key has."),
            hint=tr("Set it again."),
        )
    return secret


async def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.text
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.text}]
    for path, data in zip(message.images, await pictures(message), strict=True):
        kind = mimetypes.guess_type(path.name)[0] or "image/png"
        parts.append({"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}})
    return parts


def _without(names: Set[str], body: Mapping[str, Any]) -> dict[str, Any]:
    """The body without the omitted parameters."""
    kept = {key: value for key, value in body.items() if key not in names}
    if "max_tokens" in names:
        kept["max_completion_tokens"] = body["max_tokens"]  # OpenAI's new name
    return kept


def _unknown(said: str, sent: Mapping[str, Any]) -> set[str]:
    """The optional parameters that the server's message rejects."""
    named = {each for each in OPTIONAL if each in sent and each in said}
    if not named and "response_format" in sent and re.search("schema|grammar|format", said, re.I):
        return {"response_format"}
    return named


def _choice(post: Post, data: str) -> Mapping[str, Any]:
    """The only choice of a chunk, or nothing. Raises ExpertError if it is an error."""
    try:
        chunk = json.loads(data)
    except ValueError as error:
        # `transformers serve` does not escape the quotes in its errors.
        raise failed(post.server, post.without_key(data)) from error
    if not isinstance(chunk, dict) or chunk.get("error"):
        raise failed(post.server, post.without_key(data))
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}
