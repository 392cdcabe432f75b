"""Serves the experts of this computer to others of the user, which were paired with it.

A token allows calls of experts with files that are sent along, and nothing else: no plan, no file
of this computer, no tool. See `backends.machines` for the other side.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from jarvis_desktop.backends.machines import wire
from jarvis_desktop.backends.machines.backend import own_name
from jarvis_desktop.backends.machines.pairing import PairingCode
from jarvis_desktop.backends.machines.wire import WireCall
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.context import current_draft
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import InputError, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import ArtifactStore, Backend
from jarvis_desktop.core.task import Call, Report, TaskType
from jarvis_desktop.platform.hardware_probe import seems_to_have_graphics
from jarvis_desktop.server.access import PER_MINUTE, Access, ServerTerms, error_document
from jarvis_desktop.server.paired import PairedComputers

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

log = logging.getLogger(__name__)

MAX_PAIRING = 4096
"""Bytes of a request to pair, which anybody can send."""
BODY_S = 30.0
MAX_WAITING = 32
"""Calls that run or wait; more are refused for now."""
MAX_WIDTH = 16
"""Calls of one computer at once."""


@dataclass
class ExpertService:
    """The experts, and who may use them."""

    backend: Backend
    offers: Callable[[], Sequence[Candidate]]
    """The candidates that run here; called in a thread."""
    tasks: Mapping[str, TaskType]
    store: ArtifactStore
    computers: PairedComputers
    width: int = 1
    """Calls that run at once."""
    pairing: PairingCode | None = None
    """The code that is shown, if one is."""
    on_pairing: Callable[[str], None] = lambda name: None
    """Called with the name of a computer that was paired."""
    heartbeat: float = wire.HEARTBEAT_S
    waiting: int = MAX_WAITING
    per_minute: int = PER_MINUTE
    """Requests."""
    busy: int = 0

    def __post_init__(self) -> None:
        self._room = asyncio.Semaphore(self.width)
        self._pairing_one = asyncio.Lock()

    def app(self, host: str) -> ASGIApp:
        """Return the ASGI application."""
        starlette = Starlette(
            routes=[
                Route(wire.PAIRING, self._offer_pairing, methods=["GET"]),
                Route(wire.PAIRING, self._pair, methods=["POST"]),
                Route(wire.STATE, self._state, methods=["GET"]),
                Route(wire.RUN, self._run, methods=["POST"]),
            ],
            exception_handlers={
                HTTPException: _refused,
                ClientDisconnect: _refused,
                JarvisError: _refused,
                Exception: _refused,
            },
        )
        terms = ServerTerms("", host, per_minute=self.per_minute)
        return PairedAccess(starlette, terms, self.computers)

    async def _offer_pairing(self, request: Request) -> Response:
        if self.pairing is None or not self.pairing.valid:
            return _no("No pairing code is shown now.", 409)
        return JSONResponse({"salt": self.pairing.salt.hex(), "name": own_name()})

    async def _pair(self, request: Request) -> Response:
        body = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BODY_S):
                async for piece in request.stream():
                    body += piece
                    if len(body) > MAX_PAIRING:
                        break
        try:
            asked = wire.read(_Asked, body)
            nonce, proof = bytes.fromhex(asked.nonce), bytes.fromhex(asked.proof)
        except ValueError as error:
            return _no(f"The request cannot be read: {error}.", 400)
        async with self._pairing_one:
            if self.pairing is None or not self.pairing.valid:
                return _no("No pairing code is shown now.", 409)
            try:
                ours = await asyncio.to_thread(self.pairing.answer, nonce, proof)
            except UnavailableError as error:
                log.info("A computer tried to pair with a wrong code.")
                return _no(error.message, 403)
            token = await asyncio.to_thread(self.computers.add, asked.name)
        self.on_pairing(asked.name)
        return JSONResponse({"proof": ours.hex(), "token": token})

    async def _state(self, request: Request) -> Response:
        offers = await asyncio.to_thread(self.offers)
        experts = [wire.wire_expert(each.expert) for each in offers]
        return JSONResponse(
            {"experts": experts, "busy": self.busy, "width": min(self.width, MAX_WIDTH)}
        )

    async def _run(self, request: Request) -> Response:
        if self.busy >= self.waiting:
            return _no("Too many calls wait here.", 503)
        self.busy += 1
        workdir = await asyncio.to_thread(self.store.workdir)
        work = _Work(self, workdir)
        try:
            inflow = wire.Inflow(request.stream())
            try:
                asked = wire.read(WireCall, await inflow.line())
                work.candidate, work.call = await self._read(asked, inflow, workdir)
            except (ValueError, EOFError) as error:
                raise InputError(f"The request cannot be read: {error}.") from error
        except JarvisError as error:
            await work.close()
            # The sender reads this line as it reads all others.
            return Response(wire.line(error=wire.wire_error(error)), media_type=TYPE)
        except BaseException:
            await work.close()
            raise
        return _WorkResponse(work, media_type=TYPE)

    async def _read(
        self, asked: WireCall, inflow: wire.Inflow, workdir: Path
    ) -> tuple[Candidate, Call]:
        task = self.tasks.get(asked.task)
        offers = await asyncio.to_thread(self.offers)
        candidate = next(
            (it for it in offers if (it.expert.id, it.expert.task) == (asked.expert, asked.task)),
            None,
        )
        if task is None or candidate is None:
            raise UnavailableError(
                tr(
                    "{name} does not have {expert} any longer.",
                    name=own_name(),
                    expert=asked.expert,
                )
            )
        folder = workdir / "inputs"
        folder.mkdir()
        inputs = await wire.unpacked(asked.inputs, inflow, folder)
        for port in task.ports:
            given = inputs.get(port.name, ())
            if port.required and not given:
                raise ValueError(f"the input {port.name} is missing")
            if any(each.kind not in port.kinds for each in given):
                raise ValueError(f"the input {port.name} is of another kind")
        known = {port.name for port in task.ports}
        if inputs.keys() - known:
            raise ValueError("there is an input that the task does not have")
        options = wire.plain_options(
            asked.options, {each.name: each.default for each in task.options}
        )
        return candidate, Call(task.name, inputs, options, workdir)


TYPE = "application/octet-stream"


class _Asked(BaseModel):
    nonce: str
    proof: str
    name: str = ""


@dataclass
class _Work:
    """One call, from its arrival until its folder is gone."""

    service: ExpertService
    workdir: Path
    candidate: Candidate = field(init=False)
    call: Call = field(init=False)
    _closed: bool = False

    async def answer(self) -> AsyncIterator[bytes]:
        """Yield the progress, then the results or the error."""
        async with contextlib.aclosing(news_of(self._results, self.service.heartbeat)) as news:
            async for each in news:
                if error := each.get("error"):
                    yield wire.line(error=wire.wire_error(error))
                elif "results" in each:
                    documents, files = await asyncio.to_thread(wire.packed, each["results"])
                    sizes = [document["size"] for document in documents if "size" in document]
                    yield wire.line(results=documents)
                    async for piece in wire.contents(files, sizes):
                        yield piece
                else:
                    yield wire.line(**each)

    async def _results(self, report: Report) -> Sequence[Artifact]:
        async with self.service._room:
            return await self.service.backend.run(self.candidate, self.call, report)

    async def close(self) -> None:
        """Remove the files."""
        if not self._closed:
            self._closed = True
            self.service.busy -= 1
            await asyncio.to_thread(self.service.store.discard, self.workdir)


async def news_of(
    work: Callable[[Report], Awaitable[Sequence[Artifact]]], heartbeat: float
) -> AsyncGenerator[dict[str, Any]]:
    """Do some work, and yield its "progress" and "draft", nothing at all after `heartbeat` seconds
    without news, and at last its "results" or the "error". Closing it ends the work."""
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def report(fraction: float | None, words: str) -> None:
        told.put_nowait({"progress": [fraction, words]})

    async def done() -> None:
        current_draft.set(lambda piece: told.put_nowait({"draft": piece}))
        try:
            told.put_nowait({"results": await work(report)})
        except JarvisError as error:
            told.put_nowait({"error": error})
        except BaseException as error:
            told.put_nowait(
                {"error": JarvisError("Something went wrong inside JARVIS itself there.")}
            )
            if not isinstance(error, Exception):  # it was cancelled, maybe not by us
                raise
            log.error("A call of another computer failed unexpectedly: %s", frames(error))

    task = asyncio.create_task(done())
    try:
        while True:
            news: dict[str, Any] = {}  # shows that it is still at work
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(heartbeat):
                    news = await told.get()
            yield news
            if "results" in news or "error" in news:
                break
    finally:
        task.cancel()
        await asyncio.wait([task])


class _WorkResponse(StreamingResponse):
    """Streams the answer of a call. If the client goes away, the work ends."""

    def __init__(self, work: _Work, *, media_type: str) -> None:
        super().__init__(work.answer(), media_type=media_type)
        self._work = work

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await asyncio.shield(self._work.close())


class PairedAccess(Access):
    """Lets in who was paired, under any name of this computer: the certificate says who it is."""

    open = (("GET", wire.PAIRING), ("POST", wire.PAIRING))
    max_body = wire.MAX_BYTES + wire.MAX_LINE

    def __init__(self, app: ASGIApp, terms: ServerTerms, computers: PairedComputers) -> None:
        super().__init__(app, terms)
        self._computers = computers

    def _is_own(self, url: str) -> bool:
        return url.startswith("//")  # no page of a browser: those send an Origin

    def _knows(self, authorization: str) -> bool:
        kind, _, given = authorization.partition(" ")
        try:
            return kind.lower() == "bearer" and self._computers.knows(given.strip())
        except JarvisError as error:
            log.error("%s", error)
            return False


async def _refused(request: Request, error: Exception) -> Response:
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)  # nobody reads it
    if isinstance(error, JarvisError):
        log.error("A request of another computer failed: %s", error)
        return _no(error.message, 500)
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 500:
        log.error("A request of another computer failed unexpectedly: %s", frames(error))
    return _no("This is not understood here." if status < 500 else "It failed.", status)


def _no(reason: str, status: int) -> Response:
    return JSONResponse(json.loads(json.dumps(error_document(reason, status))), status)


def local_offers(app: Application) -> list[Candidate]:
    """Return the experts that a built application runs on this computer, for each task."""
    found = (each for task in app.inventory for each in app.catalogue.candidates(task))
    return [each for each in found if each.backend == app.local.name]


def experts_of(app: Application, computers: PairedComputers) -> ExpertService:
    """Return the service for the experts of a built application."""
    return ExpertService(
        app.local,
        partial(local_offers, app),
        app.inventory,
        app.store,
        computers,
        width=1 + seems_to_have_graphics(),
    )
