"""Addresses that the user set for single tasks, each of which speaks the Inference API's protocol:
Hugging Face's Inference Endpoints, and servers such as TGI and TEI.

A file names them by their tasks; their keys are in the keyring. They get what the API backend sends
to a provider. The key of the Hugging Face Hub is never sent to them.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError, JarvisError, StorageError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.paths import save_json
from jarvis_desktop.platform.http import Server, absent, sendable_key
from jarvis_desktop.platform.work_server import CONNECT_S, WorkAddress, WorkServer
from jarvis_desktop.process.network_guard import web_address


class EndpointServer(WorkServer):
    """What does one task at its address."""

    def __init__(
        self,
        task: str,
        choice: Callable[[], WorkAddress],
        policy: Policy,
        *,
        key: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__(task, choice, policy, key=key)
        self.task = task

    @property
    def model(self) -> str:
        """What stands in plans: the endpoint has one model, and does not say which."""
        return self.server.host

    @property
    def server(self) -> Server:
        """What is at the address. Raises UnavailableError if it is unusable."""
        return Server(
            program=tr("The server"),
            kind=tr("an endpoint of the Inference API"),
            address=web_address(self.chosen.address),
            start=tr("Start it, or look at the address."),
            obtain="",
        )

    def sent(self) -> str:
        """What is sent where, in sentences."""
        return self._sent(mark("What the task {task} works on is sent to {host}."), task=self.task)

    async def key(self) -> str:
        """Return the key for its address, "" if there is none. Raises UnavailableError."""
        return await sendable_key(self._key, self.server)

    async def reach(self) -> float:
        """Return the seconds until it takes a connection; nothing is sent. Raises JarvisError."""
        self._check()
        parts, began = urlsplit(self.server.address), time.monotonic()
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            async with asyncio.timeout(CONNECT_S):
                _, writer = await asyncio.open_connection(parts.hostname, port)
        except (OSError, TimeoutError) as error:
            raise absent(self.server) from error
        writer.transport.abort()
        return time.monotonic() - began


class Endpoints:
    """The file of the addresses. `tasks` are those that the API knows how to ask for."""

    def __init__(
        self,
        path: Path,
        policy: Policy,
        tasks: Collection[str],
        *,
        key: Callable[[str], str] | None = None,
    ) -> None:
        self._path = path
        self._policy = policy
        self.tasks = tasks
        self._key = key
        self._servers: dict[str, EndpointServer] = {}

    def all(self) -> dict[str, str]:
        """Return the addresses by their tasks. Raises StorageError."""
        try:
            found = json.loads(self._path.read_text("utf-8"))
            return {str(task): str(address) for task, address in sorted(found.items())}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, AttributeError) as error:
            raise StorageError(
                tr("The list of endpoints {path} cannot be read.", path=self._path),
                hint=tr("Delete it, and set them again: jarvis-desktop servers use TASK URL."),
            ) from error

    def server(self, task: str) -> EndpointServer | None:
        """Return what does a task, if an address is set for it. An unreadable file counts as
        empty."""
        if not self._address(task):
            return None
        made = EndpointServer(
            task, lambda: WorkAddress(self._address(task)), self._policy, key=self._key
        )
        return self._servers.setdefault(task, made)

    def find(self, task: str) -> EndpointServer:
        """Return what does a task. Raises JarvisError."""
        if task in self.all() and (found := self.server(task)):
            return found
        raise InputError(tr("No server is set for {task}.", task=one_line(task)))

    def set(self, task: str, address: str) -> EndpointServer:
        """Save the address for a task. Raises JarvisError."""
        if task not in self.tasks:
            raise InputError(
                tr("“{task}” is no kind of work that a server can do.", task=one_line(task)),
                hint=tr("It is one of: {names}.", names=", ".join(sorted(self.tasks))),
            )
        address = web_address(address)
        _ = EndpointServer(task, lambda: WorkAddress(address), self._policy).server  # refuses it
        save_json(self._path, {**self.all(), task: address})
        return self.find(task)

    def remove(self, task: str) -> None:
        """Forget the address for a task. Raises JarvisError."""
        self.find(task)
        save_json(self._path, {key: each for key, each in self.all().items() if key != task})

    def _address(self, task: str) -> str:
        with suppress(JarvisError):
            return self.all().get(task, "") if task in self.tasks else ""
        return ""
