"""The files and results that a plan may use, under the names an LLM knows them by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath, PureWindowsPath

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.shown import one_line

_any_file = re.compile(
    r"\W*(?:the |my |your |this |that |given |attached |input )*"
    r"(?:image|picture|photo|audio|recording|video|table|document|text|file|attachment|input)"
    r"(?:\.\w{2,4}| file)?\W*",
    re.IGNORECASE,
)
"""Words that name no file in particular."""


class Named:
    """What a context holds, by unique names; nothing else is a file to a plan."""

    def __init__(self, context: Context) -> None:
        self.attached = tuple(dict.fromkeys(context.attachments))
        self._by_name: dict[str, Artifact] = {}
        for artifact in self.attached:
            self._by_name[self._unused(_title(artifact))] = artifact
        for resource in context.resources:
            if resource.artifact not in self.attached:
                self._by_name[self._unused(resource.name)] = resource.artifact
        # Names whatever their case, and earlier files by their own names: the newest of a name.
        titles = {_title(item).casefold(): item for item in self._by_name.values() if item.path}
        self._folded = titles | {name.casefold(): item for name, item in self}

    def __iter__(self) -> Iterator[tuple[str, Artifact]]:
        """Name and artifact: those of this request, then those of earlier turns, oldest first."""
        return iter(self._by_name.items())

    def find(self, name: str, kinds: Iterable[Kind]) -> Artifact | None:
        """What a name means for a port of these kinds, or None.

        A path counts for its last part. "The image" is the only image that was attached.
        """
        bare = name.strip().strip("\"'`<>[]“”‘’").strip()
        for version in (bare, PureWindowsPath(bare).name, PurePosixPath(bare).name):
            if artifact := self._by_name.get(version) or self._folded.get(version.casefold()):
                return artifact
        fitting = [item for item in self.attached if item.kind in set(kinds)]
        if len(fitting) == 1 and _any_file.fullmatch(bare):
            return fitting[0]
        return None

    def listed(self, kinds: Iterable[Kind]) -> list[str]:
        """The names of what a port of these kinds takes."""
        return [name for name, artifact in self if artifact.kind in set(kinds)]

    def _unused(self, name: str) -> str:
        count, unused = 1, name
        while unused in self._by_name:
            count += 1
            unused = f"{name} ({count})"
        return unused


def _title(artifact: Artifact) -> str:
    """A file's name on one line; a text has no name of its own, only its kind."""
    return one_line(artifact.title) if artifact.path or artifact.name else str(artifact.kind)
