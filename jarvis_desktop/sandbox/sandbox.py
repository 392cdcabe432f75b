"""Chooses what shuts code in on this computer, and begins sessions in it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from jarvis_desktop.core.code import CodeSession, Protection
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.sandbox import probing
from jarvis_desktop.sandbox.bare import Bare
from jarvis_desktop.sandbox.collecting import Take
from jarvis_desktop.sandbox.driving import WITHOUT_PYTHON, Means
from jarvis_desktop.sandbox.profile import Launcher, Limits
from jarvis_desktop.sandbox.proxy import Check, Find, Proxy, Traffic
from jarvis_desktop.sandbox.session import Session
from jarvis_desktop.sandbox.supervisor import Bounds


class OsSandbox:
    """Implements Sandbox with what the operating system offers."""

    def __init__(
        self,
        *,
        packages: Path,
        find: Find,
        check: Check,
        network: Callable[[], bool] = lambda: True,
        limits: Limits | None = None,
        bounds: Bounds | None = None,
        take: Take | None = None,
        traffic: Traffic | None = None,
        launchers: Sequence[Launcher] | None = None,
        choose: Callable[[Path, tuple[Launcher, ...]], Protection] = probing.choose,
    ) -> None:
        """`packages` is the folder of installed packages. `find` gives the addresses of a host,
        `check` the one of them to connect to, or refuses. Where `network` says no, no host is
        reached, whatever a session names. `choose` tells the best of the `launchers` by trying them
        with an interpreter, which takes time; where none works, "none"."""
        self._launchers = tuple(probing.launchers() if launchers is None else launchers)
        self._packages = packages
        self._find = find
        self._check = check
        self._network = network
        self._limits = limits or Limits()
        self._bounds = bounds or Bounds()
        self._take = take or Take()
        self._traffic = traffic or Traffic()
        self._choose = choose
        self._chosen: asyncio.Future[Protection] | None = None

    async def protection(self) -> Protection:
        """See Sandbox."""
        python = interpreter()
        if python is None:
            return Protection("none", False, WITHOUT_PYTHON)
        if self._chosen is None:
            trial = asyncio.to_thread(self._choose, python, self._launchers)
            self._chosen = asyncio.ensure_future(trial)
        # Whoever waits may be cancelled; the trial goes on for the next one.
        return await asyncio.shield(self._chosen)

    def session(
        self,
        folder: Path,
        *,
        protection: Protection,
        files: Mapping[str, Path],
        hosts: Collection[str] = (),
        library: Path | None = None,
    ) -> CodeSession:
        """See Sandbox."""
        named = tuple(hosts)

        def proxy() -> Proxy:
            return Proxy(
                named,
                find=self._find,
                check=self._check,
                network=self._network,
                traffic=self._traffic,
            )

        means = Means(
            launcher=self._launcher(protection),
            python=interpreter(),
            files=files,  # what is added to it later is copied in as well
            library=library,
            packages=self._packages,
            proxy=proxy,
            limits=self._limits,
            bounds=self._bounds,
            take=self._take,
        )
        return Session(folder, means)

    def _launcher(self, protection: Protection) -> Launcher:
        """What was chosen, and nothing less. Only who asks for none gets none."""
        if not protection.sandboxed:
            return Bare()
        for launcher in self._launchers:
            if launcher.name == protection.name:
                return launcher
        raise UnavailableError(
            tr("The sandbox {name} is not here.", name=protection.name),
            hint=tr("Start the application again."),
        )


def interpreter() -> Path | None:
    """The Python that this one was made from, without its packages; None in a built application,
    which has none that could be started."""
    if getattr(sys, "frozen", False):
        return None
    return Path(getattr(sys, "_base_executable", None) or sys.executable)
