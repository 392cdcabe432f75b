"""What flows between a person and the experts: a text or a file, and its kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Kind(StrEnum):
    """The kinds of content that ports accept."""

    TEXT = "text"
    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"
    TABLE = "table"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Artifact:
    """A text, or a file given by its path. It crosses process borders by path, never by content."""

    kind: Kind
    text: str | None = None
    path: Path | None = None
    name: str = ""
    """What a person calls it: the name of the file they gave, or of the one they asked for."""
    made_by: int | None = None
    """Id of the task that made it; None where the person gave it."""
    source: Path | None = field(default=None, compare=False, repr=False)
    """Where the person's own file lies that this is a copy of, while that is known; not kept."""

    def __post_init__(self) -> None:
        if (self.text is None) == (self.path is None):
            raise ValueError("an artifact has either a text or a path")

    @property
    def title(self) -> str:
        """A short name for messages: the file's name, or the beginning of the text."""
        if self.name:
            return self.name
        if self.path is not None:
            return self.path.name
        words = " ".join((self.text or "").split())
        return words if len(words) <= 40 else words[:39] + "…"


def text_artifact(text: str, *, made_by: int | None = None) -> Artifact:
    """An artifact that holds a text."""
    return Artifact(Kind.TEXT, text=text, made_by=made_by)
