"""Updates: looks for a newer version, downloads it, and installs it if that is possible.

Looking is off at first. It fetches one file, at most once a day by itself, and nothing in offline
mode. Nothing is replaced before the file that replaces it was checked.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_desktop import __version__
from jarvis_desktop.app.installation import Installation, installation, replace
from jarvis_desktop.app.release import Release, ReleaseChannel, not_saved, order, this_system
from jarvis_desktop.core.errors import InputError, JarvisError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.task import Report
from jarvis_desktop.experts.weights import MIN_BYTES_PER_S, lock_folder
from jarvis_desktop.paths import replace_text
from jarvis_desktop.process.child import Child

WORKER = "jarvis_desktop.app.update_worker:serve"
STATE = "state.json"
DAY_S = 24 * 60 * 60.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DownloadedUpdate:
    """The file of a newer version, downloaded and checked."""

    version: str
    path: Path
    command: str
    """What the user runs to install it; "" if `install` does."""


class Updates:
    """Newer versions of this program.

    `folder` is for downloads, `channel` the place of releases, `online` says whether the mode
    allows downloads, and `patience` is the timeout of requests in seconds.
    """

    def __init__(
        self,
        folder: Path,
        channel: ReleaseChannel,
        *,
        online: Callable[[], bool],
        own: Installation | None = None,
        version: str = __version__,
        system: str = "",
        patience: float = 10.0,
        reserve: int = 500 * MB,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._channel = channel
        self._online = online
        self.own = own or installation()
        self.version = version
        self._system = system or this_system()
        self._patience = patience
        self._reserve = reserve
        self._clock = clock

    @property
    def known_place(self) -> bool:
        """Whether there is a place of releases."""
        return self._channel.usable

    async def look(self) -> Release | None:
        """Return a newer release; None if this version is the newest one. Raises JarvisError."""
        if not self.known_place:
            raise UnavailableError(
                tr("This build of JARVIS Desktop knows no place of releases."),
                hint=self.own.advice()
                if self.own.package is None
                else tr("Get the new version where you got this one."),
            )
        if not self._online():
            raise InputError(
                tr("The mode is “offline”, so nothing is fetched."), hint=tr("Change the mode.")
            )
        # Noted before, so that a server that fails is not asked again and again.
        await asyncio.to_thread(self._note, "")
        child = self._child()
        try:
            release: Release = await child.call("look", timeout=6 * self._patience + 30)
        finally:
            await child.close()
        newer = order(release.version) > order(self.version)
        await asyncio.to_thread(self._note, release.version if newer else "")
        return release if newer else None

    async def look_daily(self) -> str:
        """Look if a day has passed since the last time; return the newer version, or ""."""
        if not (self.known_place and self._online()):
            return ""
        state = await asyncio.to_thread(self._state)
        seen = str(state.get("version", ""))
        if 0 <= self._clock() - float(state.get("looked", 0)) < DAY_S:
            return ""
        try:
            release = await self.look()
        except JarvisError as error:
            log.info("No release was found: %s", error.message)
            return ""
        return release.version if release and release.version != seen else ""

    async def fetch(self, release: Release, report: Report) -> DownloadedUpdate:
        """Download and check what updates this copy. Raises JarvisError; an interrupted download
        is resumed by the next one."""
        if self.own.package is None:
            raise UnavailableError(
                tr("This copy is not updated by a download."), hint=self.own.advice()
            )
        if not self._online():
            raise InputError(
                tr("The mode is “offline”, so nothing is fetched."), hint=tr("Change the mode.")
            )
        file = release.file_for(self.own.package, self._system)
        if order(release.version) <= order(self.version):
            raise UnavailableError(tr("Version {version} is not newer.", version=release.version))
        child = self._child()
        try:
            with lock_folder(self._folder / "download", "JARVIS Desktop"):
                limit = 600 + file.size / MIN_BYTES_PER_S
                path: Path = await child.call(
                    "fetch", release.version, file, timeout=limit, report=report
                )
                await asyncio.to_thread(self._keep_only, path)
        except OSError as error:
            raise not_saved(error) from error
        finally:
            await child.close()
        command = "" if self.own.updates_itself else self.own.advice(path)
        return DownloadedUpdate(release.version, path, command)

    def install(self, update: DownloadedUpdate, report: Callable[[str], None]) -> None:
        """Replace this copy. Blocks for long; import nothing afterwards, since the files are those
        of the other version. Raises JarvisError, and the copy is then as it was."""
        if not self.own.updates_itself:
            raise UnavailableError(tr("It is installed with: {command}", command=update.command))
        with lock_folder(self._folder / "install", "JARVIS Desktop"):
            replace(self.own, update.path, update.version, report=report)

    def _child(self) -> Child:
        return Child(
            WORKER,
            *(self._channel, self._folder, self._patience, self._reserve),
            name="update",
            network=True,
        )

    def _keep_only(self, path: Path) -> None:
        """Remove earlier downloads, but not the lock or the state."""
        for old in self._folder.iterdir():
            if old != path and old.suffix in (".whl", ".deb", ".gz", ".incomplete"):
                with suppress(OSError):
                    old.unlink()

    def _state(self) -> dict[str, Any]:
        try:
            told = json.loads((self._folder / STATE).read_text("utf-8"))
            return {"looked": float(told["looked"]), "version": str(told["version"])}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def _note(self, version: str) -> None:
        state = {"looked": self._clock(), "version": version or self._state().get("version", "")}
        try:
            replace_text(self._folder / STATE, json.dumps(state))
        except OSError as error:
            raise not_saved(error) from error
