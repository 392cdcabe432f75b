"""A server on loopback that transcribes, speaks and paints by OpenAI's protocol, as scripted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.line_server import Answer, LineHandler, LineServer, running


@dataclass
class ScriptedServer(LineServer):
    """What it answers is in `answers`; `bodies` is what it was sent."""

    models: Sequence[str] = ("phi-4", "faster-whisper-small")
    bodies: list[bytes] = field(default_factory=list)

    def form(self, at: int = -1) -> dict[str, str]:
        """The text fields of a form that was sent."""
        found: dict[str, str] = {}
        for part in self.bodies[at].split(b"\r\n--")[:-1]:
            head, _, value = part.partition(b"\r\n\r\n")
            if b"filename" not in head:
                name = head.split(b'name="')[1].split(b'"')[0].decode()
                found[name] = ", ".join(filter(None, (found.get(name), value.decode())))
        return found


def json_answer(document: Any) -> Answer:
    return Answer(body=json.dumps(document).encode())


@contextmanager
def running_work_server(
    *answers: Answer, kind: type[ScriptedServer] = ScriptedServer
) -> Iterator[ScriptedServer]:
    """One that listens on a free port of 127.0.0.1."""
    with running(kind(list(answers)), _Handler) as served:
        yield served


class _Handler(LineHandler):
    served: ScriptedServer
    content_type = "application/json"

    def do_GET(self) -> None:
        self.take()
        self.send(json.dumps({"data": [{"id": name} for name in self.served.models]}).encode())

    def do_POST(self) -> None:
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.served.requests.append((f"POST {self.path}", headers))
        self.served.bodies.append(self.rfile.read(int(headers["content-length"])))
        self.stream(self.served.next_answer())
