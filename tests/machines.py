"""Two computers on loopback: one that serves experts, and what uses it."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import keyring
import keyring.errors
import pytest

from jarvis_desktop.backends.machines.backend import MachinesBackend
from jarvis_desktop.backends.machines.machines import Machine, Machines
from jarvis_desktop.backends.machines.pairing import PairingCode
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.ports import Backend
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.server.experts_api import ExpertService
from jarvis_desktop.server.http_server import listen, serve_app
from jarvis_desktop.server.paired import PairedComputers
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.tasks.definition import Definition


@contextlib.contextmanager
def keyring_in_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    kept: dict[str, str] = {}

    def delete(service: str, place: str) -> None:
        if kept.pop(place, None) is None:
            raise keyring.errors.PasswordDeleteError

    monkeypatch.setattr(keyring, "get_password", lambda service, place: kept.get(place))
    monkeypatch.setattr(keyring, "set_password", lambda s, place, key: kept.update({place: key}))
    monkeypatch.setattr(keyring, "delete_password", delete)
    yield kept


@dataclass
class Box:
    """A machine that serves experts."""

    service: ExpertService
    encrypted: ssl.SSLContext
    certificate: bytes
    folder: Path
    port: int = 0
    server: asyncio.Task[None] | None = None
    silence: float = 30.0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def show_code(self) -> str:
        self.service.pairing = PairingCode(self.certificate)
        return self.service.pairing.code

    async def start(self, host: str = "127.0.0.1") -> None:
        listening = listen(host, self.port, silence=self.silence)
        self.port = listening.getsockname()[1]
        app = self.service.app(host)
        self.server = asyncio.create_task(serve_app(app, listening, encrypted=self.encrypted))
        self.server.add_done_callback(lambda _: listening.close())

    async def stop(self) -> None:
        if self.server:
            self.server.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.server
            self.server = None


def box(folder: Path, backend: Backend, definitions: Mapping[str, Definition], *names: str) -> Box:
    """A machine with an expert for each task that is named."""
    computers = PairedComputers(folder / "paired")
    # Each machine has a keyring of its own; here all share one.
    encrypted, certificate = computers.encryption()
    keyring.set_password("", "experts-server", "")
    offered = [Candidate(Expert(f"expert-{name}", name), backend.name) for name in names]
    service = ExpertService(
        backend,
        lambda: offered,
        {name: each.type for name, each in definitions.items()},
        FileStore(folder / "store"),
        computers,
    )
    return Box(service, encrypted, certificate, folder)


@dataclass
class Desk:
    """What uses the machines."""

    folder: Path
    definitions: Mapping[str, Definition]
    policy: Policy = field(default_factory=lambda: Policy(Mode.LOCAL, own_machines=True))
    silence: float = 30.0

    def __post_init__(self) -> None:
        self.backend = MachinesBackend(
            self.definitions,
            Machines(self.folder / "machines.json"),
            self.policy,
            silence=self.silence,
        )

    async def pair(self, machine: Box, name: str = "box") -> Machine:
        return await self.backend.pair(machine.address, machine.show_code(), name=name)

    async def run(
        self, call: Call, report: Report = lambda share, words: None
    ) -> Sequence[Artifact]:
        (candidate,) = self.backend.candidates(call.task)
        return await self.backend.run(candidate, call, report)

    async def settled(self) -> None:
        """Wait until nothing is asked in the background. httpcore leaves the socket of a connection
        open whose handshake is cancelled, which the end of a test would do."""
        await asyncio.gather(*self.backend._background)


@contextlib.asynccontextmanager
async def started(*boxes: Box) -> AsyncIterator[None]:
    try:
        for each in boxes:
            await each.start()
        yield
    finally:
        for each in boxes:
            await each.stop()
