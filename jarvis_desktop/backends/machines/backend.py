"""The backend of the user's other machines: sends calls to the least busy one that has the expert.

A machine that does not answer, or goes away in the middle, is one failed attempt: it is avoided for
a while, and the ladder of candidates goes on. Without a machine nothing is imported or sent.
"""

from __future__ import annotations

import asyncio
import os
import platform
import secrets
import ssl
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from jarvis_desktop.backends.machines import wire
from jarvis_desktop.backends.machines.machines import Machine, Machines, place_of
from jarvis_desktop.backends.machines.pairing import (
    NONCE_BYTES,
    SALT_BYTES,
    proof,
    readable_code,
)
from jarvis_desktop.backends.machines.wire import WireArtifact, WireError, WireState
from jarvis_desktop.backends.result_checks import checked, seconds_for
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.context import current_draft
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import (
    ExpertError,
    Fault,
    InputError,
    JarvisError,
    UnavailableError,
)
from jarvis_desktop.core.expert import OWN_MACHINE, Candidate, Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.definition import Definition

if TYPE_CHECKING:
    import httpx

    from jarvis_desktop.backends.machines.discovery import FoundMachine

_Result = TypeVar("_Result")

CONNECT_S = 5.0
SILENCE_S = 3 * wire.HEARTBEAT_S
"""Seconds without a byte after which a machine has gone away."""
REFRESH_S = 300.0
"""How long what the machines offer counts as known."""
AVOIDED_S = 30.0
"""How long a machine that failed is asked last."""
TIME_LIMIT_S = 900.0
"""Of a call; longer for large inputs."""


@dataclass(slots=True)
class _Lane:
    """The calls of this computer at one machine."""

    width: int = 1
    running: int = 0
    avoided: float = 0.0
    """Until when it is asked last, by the monotonic clock."""


@dataclass(frozen=True, slots=True)
class MachineState:
    """A machine as a list shows it: what it answered, or why it did not."""

    machine: Machine
    seconds: float = 0.0
    busy: int = 0
    trouble: str = ""


class MachinesBackend:
    """The "machine" backend."""

    name = OWN_MACHINE
    lane = "machines"

    def __init__(
        self,
        definitions: Mapping[str, Definition],
        machines: Machines,
        policy: Policy,
        *,
        silence: float = SILENCE_S,
    ) -> None:
        self.machines = machines
        self._definitions = definitions
        self._policy = policy
        self._silence = silence
        self._lanes: dict[str, _Lane] = {}
        self._freed = asyncio.Event()
        self._calls: set[asyncio.Task[Any]] = set()
        self._withdrawn: set[asyncio.Task[Any]] = set()
        self._background: set[asyncio.Task[None]] = set()
        self._known_until = 0.0

    def candidates(self, task: str) -> tuple[Candidate, ...]:
        """Return each expert for a task once, with the names of the machines that have it.

        A file that cannot be read counts as empty; `jarvis-desktop machines list` says what is
        wrong. In the background, the machines are asked every few minutes what they offer.
        """
        self._refresh_soon()
        having: dict[Expert, list[str]] = {}
        with suppress(JarvisError):
            for machine in self.machines.all():
                for expert in machine.experts:
                    if expert.task == task:
                        having.setdefault(expert, []).append(machine.name)
        return tuple(
            Candidate(expert, self.name, remote=True, provider=", ".join(names))
            for expert, names in having.items()
        )

    def question(self, call: Call) -> str:
        """The pairing and the mode are the consent, so there is nothing to ask."""
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """Return the results of the least busy machine. Raises JarvisError; cancelling ends the
        work there."""
        if not self._policy.allows(candidate):  # the mode may have changed since planning
            raise self._forbidden()
        definition = self._definitions.get(call.task)
        machines = [
            each
            for each in self.machines.all()
            if any(it.id == candidate.expert.id and it.task == call.task for it in each.experts)
        ]
        if definition is None or not machines:
            raise _lost(candidate.provider, candidate.expert.id)
        made = await self._watched(self._run_at_best(machines, candidate.expert.id, call, report))
        return checked(made, definition.type)

    async def pair(self, address: str, code: str, *, name: str = "") -> Machine:
        """Pair with the machine at an address by the code that it shows. Raises JarvisError."""
        if not self._policy.allows_downloads:
            raise self._forbidden()
        if not readable_code(code):
            raise InputError(tr("A pairing code has eight letters and digits, such as K7Q2-9XWM."))
        host, port = place_of(address)
        return await self._watched(self._pair(host, port, code, name))

    async def search(self) -> tuple[FoundMachine, ...]:
        """Search the local network for machines that could be paired. Raises UnavailableError."""
        if not self._policy.allows_downloads:
            raise self._forbidden()
        from jarvis_desktop.backends.machines import discovery

        known = {(each.host, each.port): each.name for each in self.machines.all()}
        return tuple(
            replace(each, paired=known.get((each.host, each.port), ""))
            for each in await self._watched(discovery.search())
        )

    async def look(self, machine: Machine) -> MachineState:
        """Ask a machine what it offers now."""
        if not self._policy.allows_downloads:
            return MachineState(machine, trouble=str(self._forbidden()))
        started = time.monotonic()
        try:
            async with self._client(machine) as client:
                state = await self._state(machine, client)
        except JarvisError as error:
            return MachineState(machine, trouble=str(error))
        known = next(each for each in self.machines.all() if each.name == machine.name)
        return MachineState(known, time.monotonic() - started, state.busy)

    async def remove(self, name: str) -> Machine:
        """Forget a machine. Raises InputError."""
        return await asyncio.to_thread(self.machines.remove, name)

    def withdraw(self) -> None:
        """Cancel what the policy does not allow now."""
        if not self._policy.allows_own_machines:
            self._withdrawn |= self._calls
            for each in self._calls:
                each.cancel()

    async def close(self) -> None:
        """End what runs."""
        for each in self._background:
            each.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    def _refresh_soon(self) -> None:
        if not self._policy.allows_own_machines or time.monotonic() < self._known_until:
            return
        with suppress(RuntimeError, JarvisError):  # without a loop nobody is to be asked now
            loop = asyncio.get_running_loop()
            if self.machines.all():
                self._known_until = time.monotonic() + REFRESH_S
                task = loop.create_task(self._refresh())
                self._background.add(task)
                task.add_done_callback(self._background.discard)

    async def _refresh(self) -> None:
        with suppress(JarvisError):
            for each in self.machines.all():
                await self._watched(self.look(each))

    def _forbidden(self) -> UnavailableError:
        return UnavailableError(
            tr(
                "The mode “{mode}” sends nothing to your other machines.",
                mode=self._policy.mode.called,
            ),
            fault=Fault.NETWORK,
        )

    async def _watched(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """The result of some work that `withdraw` can end."""
        task = asyncio.create_task(work)
        self._calls.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if task in self._withdrawn:
                raise self._forbidden() from None
            raise
        finally:
            self._calls.discard(task)
            self._withdrawn.discard(task)

    async def _run_at_best(
        self, machines: Sequence[Machine], expert: str, call: Call, report: Report
    ) -> Sequence[Artifact]:
        """Run a call at the machine that is free first."""
        trouble: JarvisError | None = None
        for _ in machines:
            machine = await self._reserved(machines, report)
            lane = self._lanes[machine.name]
            try:
                async with self._client(machine) as client:
                    try:
                        state = await self._state(machine, client)
                    except JarvisError as error:
                        # Nothing was sent yet, so the next one is tried at once.
                        lane.avoided = time.monotonic() + AVOIDED_S
                        machines = [each for each in machines if each != machine]
                        trouble = error
                        continue
                    if not any((it.id, it.task) == (expert, call.task) for it in state.experts):
                        raise _lost(machine.name, expert)
                    report(None, tr("Waiting for {provider}", provider=machine.name))
                    made = await self._run_at(machine, client, expert, call, report)
                    lane.avoided = 0.0
                    return made
            except JarvisError as error:
                if error.fault in (Fault.NETWORK, Fault.TIMEOUT):
                    lane.avoided = time.monotonic() + AVOIDED_S
                raise
            finally:
                lane.running -= 1
                self._freed.set()
        assert trouble is not None
        raise trouble

    async def _reserved(self, machines: Sequence[Machine], report: Report) -> Machine:
        """Take a place at the least busy machine, once there is one."""
        lanes = [(self._lanes.setdefault(each.name, _Lane()), each) for each in machines]
        waits = False
        while True:
            now = time.monotonic()
            lane, machine = min(
                lanes, key=lambda it: (it[0].avoided > now, it[0].running / it[0].width)
            )
            if lane.running < lane.width:
                lane.running += 1
                return machine
            if not waits:
                waits = True
                report(None, tr("Waiting for other work to end…"))
            self._freed.clear()
            await self._freed.wait()

    async def _state(self, machine: Machine, client: httpx.AsyncClient) -> WireState:
        """What a machine offers now, which is saved. Raises JarvisError."""
        with _in_words(machine.name):
            answer = await client.get(wire.STATE)
            _check(machine.name, answer.status_code)
            state = wire.read(WireState, answer.content)
        self._lanes.setdefault(machine.name, _Lane()).width = state.width
        experts = [each.expert() for each in state.experts if each.task in self._definitions]
        await asyncio.to_thread(self.machines.note_experts, machine, experts)
        return state

    async def _run_at(
        self,
        machine: Machine,
        client: httpx.AsyncClient,
        expert: str,
        call: Call,
        report: Report,
    ) -> Sequence[Artifact]:
        head, files = await asyncio.to_thread(wire.packed_call, expert, call)
        sizes = [path.stat().st_size for path in files]

        async def body() -> AsyncIterator[bytes]:
            yield head
            async for piece in wire.contents(files, sizes):
                yield piece

        folder = call.workdir / "results"
        await asyncio.to_thread(folder.mkdir, exist_ok=True)
        seconds = seconds_for(call, TIME_LIMIT_S)
        try:
            async with asyncio.timeout(seconds) as limit:
                with _in_words(machine.name):
                    async with client.stream(
                        "POST", wire.RUN, content=body(), timeout=self._silence
                    ) as answer:
                        _check(machine.name, answer.status_code)
                        inflow = wire.Inflow(answer.aiter_raw())
                        while True:
                            told = _Told.model_validate_json(await inflow.line())
                            if told.error:
                                raise wire.error_from(told.error, machine.name)
                            if told.results is not None:
                                listed = {"results": told.results}
                                found = await wire.unpacked(listed, inflow, folder)
                                return found["results"]
                            if told.draft:
                                current_draft.get()(told.draft)
                            elif told.progress is not None:
                                words = one_line(told.progress[1], limit=200)
                                report(told.progress[0], words)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise ExpertError(
                tr("{who} did not answer in time.", who=machine.name),
                retryable=True,
                fault=Fault.TIMEOUT,
            ) from error

    async def _pair(self, host: str, port: int, code: str, name: str) -> Machine:
        shown = f"{host}:{port}"
        certificate = await _certificate(host, port)
        pem = ssl.DER_cert_to_PEM_cert(certificate)
        machine = Machine(name or "machine", host, port, pem)
        async with self._client(machine, token="") as client:
            with _in_words(shown):
                answer = await client.get(wire.PAIRING)
                _check_pairing(shown, answer.status_code)
                offer = _Offer.model_validate_json(answer.content)
                salt, nonce = bytes.fromhex(offer.salt), secrets.token_bytes(NONCE_BYTES)
            if len(salt) != SALT_BYTES:
                raise _stranger(shown)
            given = await asyncio.to_thread(proof, "client", code, salt, nonce, certificate)
            with _in_words(shown):
                told = {"nonce": nonce.hex(), "proof": given.hex(), "name": own_name()}
                answer = await client.post(wire.PAIRING, json=told)
                _check_pairing(shown, answer.status_code)
                welcome = _Welcome.model_validate_json(answer.content)
                theirs = bytes.fromhex(welcome.proof)
            right = await asyncio.to_thread(proof, "machine", code, salt, nonce, certificate)
        if not secrets.compare_digest(theirs, right):
            raise _stranger(shown)
        free = name or self.machines.free_name(offer.name)
        machine = replace(machine, name=free)
        await asyncio.to_thread(self.machines.add, machine, welcome.token)
        return (await self.look(machine)).machine

    @asynccontextmanager
    async def _client(
        self, machine: Machine, *, token: str | None = None
    ) -> AsyncIterator[httpx.AsyncClient]:
        """A client that talks to this machine alone, past any proxy."""

        def make() -> httpx.AsyncClient:
            import httpx

            known = self.machines.token(machine) if token is None else token
            return httpx.AsyncClient(
                base_url=machine.base,
                headers={"Authorization": f"Bearer {known}"} if known else {},
                verify=machine.trust(),
                trust_env=False,
                follow_redirects=False,
                timeout=httpx.Timeout(SILENCE_S, connect=CONNECT_S),
            )

        client = await asyncio.to_thread(make)
        async with client:
            yield client


class _Told(BaseModel):
    """One line of the answer to a call."""

    progress: tuple[float | None, str] | None = None
    draft: str = ""
    error: WireError | None = None
    results: list[WireArtifact] | None = None


class _Offer(BaseModel):
    salt: str
    name: str = "machine"


class _Welcome(BaseModel):
    proof: str
    token: str


def own_name() -> str:
    """What this computer is called."""
    return one_line(platform.node() or os.name, limit=40)


async def _certificate(host: str, port: int) -> bytes:
    """The certificate that a machine shows, as DER. Nothing is sent to it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(CONNECT_S):
            _, writer = await asyncio.open_connection(host, port, ssl=context)
    except (OSError, TimeoutError) as error:  # also of TLS
        if isinstance(error, ssl.SSLError):
            raise _stranger(f"{host}:{port}") from error
        raise _absent(f"{host}:{port}") from error
    try:
        found = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    finally:
        writer.transport.abort()
    return bytes(found)


def _check(name: str, status: int) -> None:
    if status == 401:
        raise UnavailableError(
            tr("{name} does not know this computer any longer.", name=name),
            hint=tr("Pair the two again: jarvis-desktop machines pair ADDRESS."),
            fault=Fault.KEY,
        )
    if status in (429, 503):
        raise ExpertError(
            tr("{who} wants fewer requests for now.", who=name),
            retryable=True,
            fault=Fault.BUSY,
        )
    if status != 200:
        raise ExpertError(
            tr("{who} did not take the request{tail}", who=name, tail=f" (status {status}).")
        )


def _check_pairing(name: str, status: int) -> None:
    if status == 409:
        raise UnavailableError(
            tr("{name} shows no pairing code now.", name=name),
            hint=tr("Start there: jarvis-desktop serve --experts --pair."),
        )
    if status == 403:
        raise UnavailableError(
            tr("The pairing code is wrong, or another computer answers in between."),
            hint=tr("After three tries a new code is needed."),
            fault=Fault.KEY,
        )
    if status != 200:
        raise _stranger(name)


def _absent(name: str) -> UnavailableError:
    return UnavailableError(
        tr("{name} cannot be reached.", name=name),
        hint=tr("Is “jarvis-desktop serve --experts” running there?"),
        fault=Fault.NETWORK,
    )


def _stranger(name: str) -> UnavailableError:
    return UnavailableError(
        tr(
            "What answers at {host} is not {kind}.",
            host=name,
            kind="jarvis-desktop serve --experts",
        ),
        hint=tr("Look at the address."),
        fault=Fault.GONE,
    )


def _lost(name: str, expert: str) -> UnavailableError:
    return UnavailableError(
        tr("{name} does not have {expert} any longer.", name=name, expert=expert), fault=Fault.GONE
    )


@contextmanager
def _in_words(name: str) -> Iterator[None]:
    """Translate the errors of the network, and of answers that cannot be read."""
    import httpx

    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise UnavailableError(
                tr("{name} has another certificate than when it was paired.", name=name),
                hint=tr(
                    "Nothing was sent. If JARVIS was set up again there, remove it and pair again; "
                    "otherwise somebody may be in between."
                ),
                fault=Fault.KEY,
            ) from error
        raise _absent(name) from error
    except httpx.TimeoutException as error:
        raise ExpertError(
            tr("{who} did not answer in time.", who=name), retryable=True, fault=Fault.NETWORK
        ) from error
    except (httpx.TransportError, EOFError) as error:
        raise ExpertError(
            tr("The connection to {whom} broke off.", whom=name),
            retryable=True,
            fault=Fault.NETWORK,
        ) from error
    except (ValueError, ValidationError, httpx.HTTPError) as error:
        raise ExpertError(
            tr("The answer of {name} cannot be read.", name=name),
            hint=tr("The two computers may have versions of JARVIS that do not fit."),
            fault=Fault.ANSWER,
        ) from error
