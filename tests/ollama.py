"""An Ollama on loopback, for tests: what of its protocol is used here, with its bad days.

The forms of its answers are those of Ollama 0.33.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.line_server import Answer, LineHandler, LineServer, running


@dataclass(frozen=True)
class Shown:
    """One LLM that it has."""

    size: int = 3_400_000_000
    digest: str = "a1"
    context_length: int = 32768
    capabilities: Sequence[str] = ("completion", "tools")
    family: str = "qwen3"
    parameters: str = ""
    broken: bool = False
    """/api/show fails."""


@dataclass
class Ollama(LineServer):
    """What it has. `address` is its host."""

    llms: dict[str, Shown] = field(default_factory=lambda: {"qwen3.5:4b": Shown()})
    pulls: Sequence[dict[str, Any]] = ({"status": "success"},)
    """The lines of the next pull."""
    pull_holds: bool = False
    """The pull falls silent after its lines."""
    shown: list[str] = field(default_factory=list)
    """What /api/show was asked for."""
    unloaded: list[str] = field(default_factory=list)
    loaded: dict[str, tuple[int, int]] = field(default_factory=dict)
    """What is in memory: bytes in all, and those on the graphics card."""
    lingers: int = 0
    """How often an unloaded one is still listed as being in memory."""
    meeting: threading.Barrier | None = None
    """As many /api/show as it has parties are answered only when all of them are there."""


@contextmanager
def running_ollama(**settings: Any) -> Iterator[Ollama]:
    """An Ollama that listens on a free port of 127.0.0.1."""
    with running(Ollama(**settings), _Handler) as served:
        yield served


def layer(digest: str, completed: int | None, total: int) -> dict[str, Any]:
    """A line of a pull."""
    step = {"status": f"pulling {digest}", "digest": f"sha256:{digest}", "total": total}
    return step if completed is None else {**step, "completed": completed}


class _Handler(LineHandler):
    served: Ollama

    def do_GET(self) -> None:
        self.take()
        if self.path == "/api/ps":
            return self._in_memory()
        models = [
            {
                "name": name,
                "model": name,
                "size": shown.size,
                "digest": shown.digest,
                "details": {"family": shown.family, "parameter_size": shown.parameters},
            }
            for name, shown in self.served.llms.items()
        ]
        return self.send(json.dumps({"models": models}).encode())

    def do_POST(self) -> None:
        body = self.take()
        if self.path == "/api/pull":
            return self._pull()
        shown = self.served.llms.get(body["model"])
        if self.path == "/api/show":
            self.served.shown.append(body["model"])
            if self.served.meeting:
                self.served.meeting.wait(timeout=60)
        if shown is None:
            error = {"error": f"model '{body['model']}' not found"}
            return self.send(json.dumps(error).encode(), 404)
        if self.path == "/api/show":
            return self._show(shown)
        if self.path == "/api/generate":
            assert body["keep_alive"] == 0
            self.served.unloaded.append(body["model"])
            gone = {"model": body["model"], "response": "", "done": True, "done_reason": "unload"}
            return self.send(json.dumps(gone).encode())
        self.served.asked.append(body)
        return self.stream(self.served.next_answer())

    def do_DELETE(self) -> None:
        body = self.take()
        if self.served.llms.pop(body["model"], None) is None:
            return self.send(b'{"error":"model not found"}', 404)
        return self.send(b"")

    def _in_memory(self) -> None:
        if self.served.lingers and self.served.unloaded:
            self.served.lingers -= 1
        elif not self.served.lingers:
            for name in self.served.unloaded:
                self.served.loaded.pop(name, None)
        models = [
            {"name": name, "model": name, "size": size, "size_vram": graphics}
            for name, (size, graphics) in self.served.loaded.items()
        ]
        self.send(json.dumps({"models": models}).encode())

    def _show(self, shown: Shown) -> None:
        if shown.broken:
            return self.send(b'{"error":"unable to read the manifest"}', 500)
        info: dict[str, object] = {"general.architecture": shown.family}
        if shown.context_length:
            info[f"{shown.family}.context_length"] = shown.context_length
        answer = {
            "details": {"family": shown.family, "format": "gguf"},
            "model_info": info,
            "capabilities": list(shown.capabilities),
        }
        return self.send(json.dumps(answer).encode())

    def _pull(self) -> None:
        lines = [json.dumps(step) for step in self.served.pulls]
        self.stream(Answer(lines=lines, ends="silent" if self.served.pull_holds else "cut"))

    def piece(self, text: str) -> str:
        return self._chunk({"role": "assistant", "content": text})

    def thought(self, text: str) -> str:
        return self._chunk({"role": "assistant", "content": "", "thinking": text})

    def last_lines(self) -> Sequence[str]:
        last = {
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": self.served.ends_by,
            "total_duration": 5_000_000_000,
            "load_duration": 1_000_000_000,
            "prompt_eval_count": 30,
            "prompt_eval_duration": 500_000_000,
            "eval_count": 2,
            "eval_duration": 250_000_000,
        }
        return [json.dumps(last)]

    def _chunk(self, message: dict[str, str]) -> str:
        return json.dumps({"model": "qwen3.5:4b", "message": message, "done": False})
