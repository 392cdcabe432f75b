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

    def do_GET(self) -> None:
        self.take()
        assert self.path == "/v1/models"
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
        usage = json.dumps({"choices": [], "usage": {"total_tokens": 9}})
        end = [_chunk({}, self.served.ends_by), usage] if self.served.says_reason else [usage]
        return [*end, "[DONE]"] if self.served.says_done else end


def _chunk(delta: dict[str, Any], reason: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return json.dumps({"object": "chat.completion.chunk", "choices": [choice]})
