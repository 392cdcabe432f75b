"""A server on loopback that speaks OpenAI's protocol, for tests, with its bad days."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.line_server import Answer, LineHandler, LineServer, running


@dataclass
class OpenAIServer(LineServer):
    """What it has. `address` is its origin; its endpoints are under /v1."""

    llms: Sequence[str] = ("tiny", "another")
    metadata: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What the list says of an LLM besides its name."""
    listing: Answer | None = None
    """What /v1/models answers instead of the list."""
    unknown: dict[str, str] = field(default_factory=dict)
    """Parameter: what the server says, with status 400, when it is sent."""
    enforces_schema: bool = False
    """Whether an answer that a schema fully determines is given."""
    others: dict[str, object] = field(default_factory=dict)
    """What paths besides those of the protocol answer, such as /props."""
    timings: dict[str, float] | None = None
    """llama.cpp's measurements at the end of an answer."""
    cached: int = 0
    """The tokens of its usage that were in the cache."""
    says_done: bool = True
    """Whether the last event is [DONE]."""
    says_reason: bool = True
    """Whether a chunk says why the answer ended."""


@contextmanager
def running_openai_server(**settings: Any) -> Iterator[OpenAIServer]:
    """A server that listens on a free port of 127.0.0.1."""
    with running(OpenAIServer(**settings), _Handler) as served:
        yield served


class _Handler(LineHandler):
    served: OpenAIServer
    content_type = "text/event-stream"
    usage = False

    def do_GET(self) -> None:
        self.take()
        if self.path != "/v1/models":
            found = self.served.others.get(self.path)
            body = found if isinstance(found, bytes) else json.dumps(found or {"error": "none"})
            return self.send(
                body if isinstance(body, bytes) else body.encode(), 200 if found else 404
            )
        if self.served.listing:
            return self.stream(self.served.listing)
        entries = [
            {"id": name, "object": "model", **self.served.metadata.get(name, {})}
            for name in self.served.llms
        ]
        return self.send(json.dumps({"object": "list", "data": entries}).encode())

    def do_POST(self) -> None:
        body = self.take()
        assert self.path == "/v1/chat/completions"
        self.served.asked.append(body)
        for name, words in self.served.unknown.items():
            if name in body:
                return self.send(json.dumps({"error": {"message": words}}).encode(), 400)
        if self.served.enforces_schema and (only := _only_answer(body)):
            return self.stream(Answer([only]))
        self.usage = "stream_options" in body
        return self.stream(self.served.next_answer())

    def line(self, text: str) -> None:
        super().line(text if text.startswith((":", "event")) else f"data: {text}\n")

    def piece(self, text: str) -> str:
        return _chunk({"content": text})

    def thought(self, text: str) -> str:
        return _chunk({"reasoning_content": text, "content": None})

    def error_line(self, text: str) -> str:
        return json.dumps({"error": {"message": text, "type": "server_error"}})

    def last_lines(self) -> Sequence[str]:
        end = [_chunk({}, self.served.ends_by)] if self.served.says_reason else []
        if self.usage:
            details = {"cached_tokens": self.served.cached}
            usage = {"prompt_tokens": 30, "completion_tokens": 2, "prompt_tokens_details": details}
            timings = {"timings": self.served.timings} if self.served.timings else {}
            end.append(json.dumps({"choices": [], "usage": usage, **timings}))
        return [*end, "[DONE]"] if self.served.says_done else end


def _only_answer(body: dict[str, Any]) -> str:
    """The only answer that the request's schema allows; "" if there are more."""
    form = body.get("response_format")
    properties = form["json_schema"]["schema"].get("properties", {}) if form else {}
    words = {name: each.get("enum", ()) for name, each in properties.items()}
    if not words or any(len(each) != 1 for each in words.values()):
        return ""
    return json.dumps({name: each[0] for name, each in words.items()})


def _chunk(delta: dict[str, Any], reason: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return json.dumps({"object": "chat.completion.chunk", "choices": [choice]})
