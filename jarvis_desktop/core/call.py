"""One call of an expert: a task with its inputs resolved. Crosses process borders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Value
from jarvis_desktop.core.wording import tr

Report = Callable[[float | None, str], None]
"""Tells how far a call is: a fraction from 0 to 1 (None where unknown) and a few words."""


@dataclass(frozen=True, slots=True)
class Call:
    """What an expert gets: per port the artifacts that arrived, per option its value."""

    task: str
    inputs: Mapping[str, tuple[Artifact, ...]]
    options: Mapping[str, Value]
    workdir: Path
    """An existing folder for the files the expert makes; swept when the call is over."""
    folder: Path | None = None
    """Where the person wants results with a name of their own; no plan can set it."""
    seconds: float | None = None
    """How long it may take by what is known of its expert; None where too little is known."""

    @property
    def size(self) -> int:
        """How much there is to work on: bytes of files, and characters of texts."""
        size = 0
        for items in self.inputs.values():
            for item in items:
                if item.path is not None and item.path.is_file():
                    size += item.path.stat().st_size
                size += len(item.text or "")
        return size

    def text(self, port: str) -> str:
        """The text that arrived at a port, several joined by blank lines; "" where none did."""
        return "\n\n".join(item.text or "" for item in self.inputs.get(port, ()))

    def texts(self, port: str) -> tuple[str, ...]:
        """The texts that arrived at a port."""
        return tuple(item.text or "" for item in self.inputs.get(port, ()))

    def file(self, port: str) -> Path:
        """Where the one file lies that arrived at a port. Raises InputError where there is none."""
        path = self.artifact(port).path
        assert path is not None
        return path

    def artifact(self, port: str) -> Artifact:
        """The one file that arrived at a port. Raises InputError where there is none."""
        for item in self.inputs.get(port, ()):
            if item.path is not None:
                return item
        raise InputError(tr("{task} needs a file as its {port}.", task=self.task, port=port))

    def title(self, port: str) -> str:
        """What a person calls the input of a port."""
        return next((item.title for item in self.inputs.get(port, ())), port)

    def number(self, option: str) -> float:
        """A numeric option."""
        return float(self.options[option])

    def words(self, option: str) -> str:
        """A text option."""
        return str(self.options[option])
