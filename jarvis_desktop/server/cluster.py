"""The experts of this computer as a cluster, for many users or many graphics cards.

One process, the gate, answers other computers as `serve --experts` does: it checks their tokens,
and passes each call to a replica, a process with one expert. Ray Serve starts, ends and replaces
both (`ray_cluster`); what they do is here, and knows nothing of Ray.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from jarvis_desktop.backends.machines.pairing import PairingCode
from jarvis_desktop.backends.machines.wire import HEARTBEAT_S
from jarvis_desktop.backends.result_checks import seconds_for
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.context import current_draft
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import GRAPHICS_SHARE, Placement, required_memory
from jarvis_desktop.core.ports import ArtifactStore, Backend
from jarvis_desktop.core.task import Call, Report, TaskType, Value
from jarvis_desktop.server.experts_api import ExpertService, news_of
from jarvis_desktop.server.http_server import AT_ONCE, listen, serve_app
from jarvis_desktop.server.paired import PairedComputers, certificate_der, encryption_of

TRIES = 3
"""How often a call is sent before it fails, each time because its replica went away."""
TIME_LIMIT_S = 900.0
"""Of a call, with the start of its replica; longer for large inputs."""
MAX_PARCEL = 500_000_000
"""Bytes of the files of a call: between the processes of a cluster they travel in memory."""
PER_MINUTE = 100_000
"""Requests of all users together."""
SHARE_STEPS = 20
"""Parts of a graphics card that a replica can take."""

Parcel = list[tuple[Artifact, bytes | None]]
"""Artifacts with the contents of their files."""


class ReplicaLost(Exception):
    """A replica went away in the middle of a call."""


@dataclass(frozen=True, slots=True)
class ParcelledCall:
    """A call that can go to another computer."""

    expert: str
    task: str
    inputs: Mapping[str, Parcel]
    options: Mapping[str, Value]


Ask = Callable[[ParcelledCall], AsyncGenerator[dict[str, Any]]]
"""Sends a call to a replica, and yields what it tells. Raises ReplicaLost and JarvisError."""


class ReplicaBackend:
    """The backend of the gate. Calls change nothing, so one whose replica went away is repeated."""

    name = "local"
    lane = "local"

    def __init__(self, ask: Ask, *, time_limit: float = TIME_LIMIT_S) -> None:
        self._ask = ask
        self._time_limit = time_limit

    def question(self, call: Call) -> str:
        """Nothing to ask: the gate has checked who sends it."""
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """Return the results of a replica. Raises JarvisError; cancelling ends the work there."""
        expert = candidate.expert.id
        if call.size > MAX_PARCEL:
            name = next(each.title for items in call.inputs.values() for each in items)
            raise ExpertError(tr("{name} is too large to be sent.", name=name))
        inputs = {port: await asyncio.to_thread(_pack, each) for port, each in call.inputs.items()}
        asked = ParcelledCall(expert, call.task, inputs, dict(call.options))
        folder = call.workdir / "results"
        await asyncio.to_thread(folder.mkdir)
        try:
            async with asyncio.timeout(seconds_for(call, self._time_limit)) as limit:
                for _ in range(TRIES):
                    try:
                        parcel = await self._heard(asked, report)
                    except ReplicaLost:
                        continue
                    return await asyncio.to_thread(_unpack, parcel, folder)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise ExpertError(
                tr("{who} did not answer in time.", who=expert),
                retryable=True,
                fault=Fault.TIMEOUT,
            ) from error
        raise ExpertError(
            tr("The {name} stopped unexpectedly{how}.", name=expert, how=""),
            retryable=True,
            fault=Fault.CRASH,
        )

    async def _heard(self, asked: ParcelledCall, report: Report) -> Parcel:
        async with aclosing(self._ask(asked)) as answer:
            async for news in answer:
                if error := news.get("error"):
                    raise error
                if "results" in news:
                    parcel: Parcel = news["results"]
                    return parcel
                if draft := news.get("draft"):
                    current_draft.get()(draft)
                elif progress := news.get("progress"):
                    report(*progress)
        raise ReplicaLost


class BatchingBackend(Backend, Protocol):
    """The local backend, as far as a replica uses it."""

    async def run_batch(
        self, candidate: Candidate, calls: Sequence[Call], report: Report
    ) -> Sequence[Sequence[Artifact]]:
        """Return the results of several calls of one task."""


class ExpertReplica:
    """A process of the cluster with an expert, or a few."""

    def __init__(
        self,
        backend: BatchingBackend,
        experts: Sequence[Expert],
        store: ArtifactStore,
        heartbeat: float = HEARTBEAT_S,
    ) -> None:
        self._backend = backend
        self._experts = {(each.id, each.task): each for each in experts}
        self._store = store
        self._heartbeat = heartbeat

    async def run(self, asked: ParcelledCall) -> AsyncGenerator[dict[str, Any]]:
        """Do the work of a call, and yield its progress, then its results or the error."""
        async with self._unpacked(asked) as (candidate, call):
            work = news_of(
                lambda report: self._backend.run(candidate, call, report), self._heartbeat
            )
            async with aclosing(work):
                async for news in work:
                    if "results" in news:
                        news["results"] = await asyncio.to_thread(_pack, news["results"])
                    yield news

    async def run_batch(self, asked: Sequence[ParcelledCall]) -> list[dict[str, Any]]:
        """Do the work of several calls, those of an expert and a task together. Return what `run`
        would yield last for each."""
        last: dict[int, dict[str, Any]] = {}
        for kind in {(each.expert, each.task) for each in asked}:
            places = [at for at, each in enumerate(asked) if (each.expert, each.task) == kind]
            found = await self._together([asked[at] for at in places])
            last |= zip(places, found, strict=True)
        return [last[at] for at in range(len(asked))]

    async def _together(self, asked: Sequence[ParcelledCall]) -> list[dict[str, Any]]:
        async with AsyncExitStack() as stack:
            opened = [await stack.enter_async_context(self._unpacked(each)) for each in asked]
            calls = [call for _, call in opened]
            try:
                found = await self._backend.run_batch(opened[0][0], calls, _unreported)
                return [{"results": await asyncio.to_thread(_pack, each)} for each in found]
            except JarvisError as error:
                if len(asked) == 1:
                    return [{"error": error}]
        # One of them is at fault, and the others are not to suffer from it.
        return [(await self._together([each]))[0] for each in asked]

    @asynccontextmanager
    async def _unpacked(self, asked: ParcelledCall) -> AsyncIterator[tuple[Candidate, Call]]:
        """Who does a call, and the call with its files in a folder, which is removed afterwards."""
        workdir = await asyncio.to_thread(self._store.workdir)
        try:
            inputs = {
                port: tuple(await asyncio.to_thread(_unpack, parcel, workdir, f"{port}-"))
                for port, parcel in asked.inputs.items()
            }
            expert = self._experts[asked.expert, asked.task]
            call = Call(asked.task, inputs, dict(asked.options), workdir)
            yield Candidate(expert, self._backend.name, heavy=True), call
        finally:
            await asyncio.shield(asyncio.to_thread(self._store.discard, workdir))


@dataclass(frozen=True, slots=True)
class GateTerms:
    """Where the gate listens, and how it shows who it is."""

    host: str
    port: int
    key: str = field(repr=False)
    certificate: str
    """Both in PEM."""
    paired: Path
    """The folder with the computers that may use it."""

    place: str = ""
    """Where other computers find it."""


class ClusterGate:
    """Lets in who was paired. Nothing else of a cluster may be reached by other computers."""

    def __init__(
        self,
        terms: GateTerms,
        ask: Ask,
        offers: Sequence[Candidate],
        tasks: Mapping[str, TaskType],
        store: ArtifactStore,
    ) -> None:
        self.terms = terms
        self._server: asyncio.Task[None] | None = None
        self.service = ExpertService(
            ReplicaBackend(ask),
            lambda: offers,
            tasks,
            store,
            PairedComputers(terms.paired),
            width=AT_ONCE,
            waiting=AT_ONCE,
            per_minute=PER_MINUTE,
        )

    async def check_health(self) -> None:
        """Start to listen when called first. Raises an error if it does not listen, so that Ray
        Serve, which calls this every few seconds, starts another gate."""
        if self._server is None:
            terms = self.terms
            encrypted = encryption_of(terms.key, terms.certificate)
            listening = listen(terms.host, terms.port)
            app = self.service.app(terms.host)
            self._server = asyncio.create_task(serve_app(app, listening, encrypted=encrypted))
            self._server.add_done_callback(lambda _: listening.close())
        elif self._server.done():
            raise ConnectionError("the gate does not listen any longer")

    async def pairing_code(self) -> str:
        """Return a new code, for one computer."""
        self.service.pairing = PairingCode(certificate_der(self.terms.certificate))
        return self.service.pairing.code

    async def close(self) -> None:
        """Stop listening."""
        if self._server:
            self._server.cancel()
            await asyncio.wait([self._server])


def card_share(expert: Expert, card: int) -> float:
    """Return the part of a graphics card with `card` bytes that a replica of an expert needs: 1 for
    one that needs all of it or more, or if one of the two is unknown."""
    if not card:
        return 1.0
    needed = required_memory(expert, Placement("cuda", half=True)).graphics or card
    return min(1.0, math.ceil(needed / (GRAPHICS_SHARE * card) * SHARE_STEPS) / SHARE_STEPS)


def _unreported(fraction: float | None, words: str) -> None:
    """The progress of calls that are taken together is not told."""


def _pack(artifacts: Sequence[Artifact]) -> Parcel:
    return [
        # The place of a file is of no use elsewhere, only its suffix.
        (replace(each, path=Path(each.path.name), source=None), each.path.read_bytes())
        if each.path
        else (each, None)
        for each in artifacts
    ]


def _unpack(parcel: Parcel, folder: Path, prefix: str = "") -> list[Artifact]:
    artifacts = []
    for number, (each, content) in enumerate(parcel):
        if content is not None and each.path:
            path = folder / f"{prefix}{number}{each.path.suffix}"
            path.write_bytes(content)
            each = replace(each, path=path, name=each.name or each.path.name)
        artifacts.append(each)
    return artifacts
