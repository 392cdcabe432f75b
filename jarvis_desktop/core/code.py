"""Code that an LLM wrote: what runs it, what a person says to it, the library of what is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from jarvis_desktop.core.artifact import Artifact

LIBRARY = "library"
"""The name by which scripts import the code library: `from library import download_prices`."""


@dataclass(frozen=True, slots=True)
class Script:
    """A Python script. What was agreed to is known by its hash, so that nothing else can run."""

    source: str

    @property
    def sha256(self) -> str:
        """Of its bytes in UTF-8."""
        return hashlib.sha256(self.source.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Protection:
    """What keeps a script from the rest of the computer."""

    name: str
    """"bubblewrap", "Landlock", "sandbox-exec", "AppContainer"; "none" where there is nothing."""
    sandboxed: bool
    why: str = ""
    """Where it is "none": the reason, and what would help; else what a stronger one would need."""


class Ending(StrEnum):
    """How a run ended."""

    DONE = "done"
    ERROR = "error"
    """The script raised."""
    TIMEOUT = "timeout"
    MEMORY = "memory"
    LIMIT = "limit"
    """It wrote too much, or began too many processes."""
    CRASHED = "crashed"
    """Its process ended of itself."""


@dataclass(frozen=True, slots=True)
class CodeOutcome:
    """What came of a run. All of it is the script's own word, that is, data."""

    ending: Ending
    printed: str = ""
    """What it wrote, both streams in order; cut in the middle where that was much."""
    value: str = ""
    """The value of its last expression, as Python writes it; "" for None."""
    error: str = ""
    """The traceback, from the script's first line on, or a sentence for the other endings."""
    missing: str = ""
    """The module it could not import because it is not installed."""
    made: tuple[Artifact, ...] = ()
    """The files that are new or changed, figures and tables: copies in the folder given."""
    left_out: tuple[str, ...] = ()
    """What was not taken of what it left, a sentence each: a link, a device, too large."""
    refused_hosts: tuple[str, ...] = ()
    """Hosts that it wanted to reach and may not, as HOST:PORT."""
    fresh: bool = True
    """Whether the session began with this run, so that no variable of earlier ones was there."""
    seconds: float = 0.0


class CodeSession(Protocol):
    """A Python that keeps its variables from script to script, in a sandbox."""

    async def run(
        self,
        script: Script,
        *,
        approved: str,
        to: Path,
        timeout: float,
        report: Callable[[str], None],
    ) -> CodeOutcome:
        """Run a script; what it makes is copied into the folder `to`.

        `approved` is the hash of what was agreed to: raises InputError where the script is another
        one, and nothing runs. `report` is told what it prints as it does. `timeout` in seconds.
        Raises UnavailableError where there is no sandbox any more, ExpertError where its process
        cannot be started. Cancelling kills all that the script began, within a second.
        """
        ...

    async def close(self) -> None:
        """End the session and all its processes."""
        ...


class Sandbox(Protocol):
    """Where code runs, shut off from the computer and from the network."""

    async def protection(self) -> Protection:
        """The best there is here, found by trying it; the answer is kept."""
        ...

    def session(
        self,
        folder: Path,
        *,
        protection: Protection,
        files: Mapping[str, Path],
        hosts: Collection[str] = (),
        library: Path | None = None,
    ) -> CodeSession:
        """A session that works in `folder`, which is its own and stays; begun at its first run.

        `files` are copied in, under these names; those that are added to the mapping later, before
        the next run. `hosts` (HOST or HOST:PORT) are the only ones it reaches, through a proxy of
        ours. `library` is a folder that holds the package `library`. With a protection that is
        "none" no variable is kept from run to run.
        """
        ...


class Packages(Protocol):
    """The Python packages that scripts may use: an environment of their own."""

    def missing(self, source: str) -> Sequence[str]:
        """The distributions to install so that a script's imports are found, as far as known."""
        ...

    async def install(self, names: Sequence[str], report: Callable[[str], None]) -> None:
        """Install them. Raises InputError for what is no package name, UnavailableError with the
        reason. Nothing of a package runs while it is installed. Cancelling stops it."""
        ...


class Allow(StrEnum):
    """What a person says to code."""

    ONCE = "once"
    GOAL = "goal"
    """This, and what follows for the same goal."""
    NO = "no"


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """Code that a person is asked about."""

    source: str
    purpose: str
    """In a sentence, in the LLM's words."""
    protection: Protection
    hosts: tuple[str, ...] = ()
    """What it may reach."""
    saves: str = ""
    """The name of the library's function that this would be kept as; "" where it is to run."""
    tests: str = ""
    """How its tests went, for a function."""
    replaces: str = ""
    """The source of the function that it would take the place of."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to it."""

    allow: Allow
    source: str
    """The code as it may run: as it was shown, or as the person edited it."""
    comment: str = ""
    """What the coder is to know."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A function before it is in the library: one that may be imported by its name."""

    name: str
    source: str
    """A module that defines it, with its imports, types and docstring."""
    tests: str = ""
    """A module of functions `test_...`, which imports it from the library."""
    packages: tuple[str, ...] = ()
    """Distributions it needs."""

    @property
    def sha256(self) -> str:
        """Of all of it: what a person agrees to."""
        parts = (self.name, self.source, self.tests, *sorted(self.packages))
        whole = "\0".join(str(len(part)) + "\0" + part for part in parts)
        return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the library."""

    draft: Draft
    signature: str
    """`download_prices(symbol: str, days: int = 30) -> pandas.DataFrame`"""
    summary: str
    """The first line of its docstring."""
    version: int
    approved: datetime
    used: int = 0
    """How often a script imported it."""

    @property
    def name(self) -> str:
        """Under which it is imported."""
        return self.draft.name


class Library(Protocol):
    """Functions that were tested and agreed to. What was changed behind its back is refused."""

    def list(self) -> Sequence[Function]:
        """All, by name. Those whose files were changed are left out; `damaged` tells them."""
        ...

    def search(self, words: str, most: int) -> Sequence[Function]:
        """Those nearest in meaning to the words, the nearest first."""
        ...

    def get(self, name: str) -> Function:
        """One. Raises InputError where there is none, StorageError where it was changed."""
        ...

    def versions(self, name: str) -> Sequence[Function]:
        """All that were ever agreed to of that name, the newest first."""
        ...

    def save(self, draft: Draft, *, approved: str) -> Function:
        """Keep a function, as the next version where there is one of that name.

        `approved` is the hash of the draft that was agreed to. Raises InputError where it is
        another one, or where the name, the syntax or the size will not do.
        """
        ...

    def used(self, names: Collection[str]) -> None:
        """Count a use of each."""
        ...

    def remove(self, name: str) -> None:
        """Remove one with all its versions. Raises InputError where there is none."""
        ...

    def lay_out(self, to: Path) -> Sequence[str]:
        """Write the package `library` into a folder, from checked bytes; gives what was refused,
        a sentence each."""
        ...

    def damaged(self) -> Sequence[str]:
        """What is refused now, a sentence each."""
        ...
