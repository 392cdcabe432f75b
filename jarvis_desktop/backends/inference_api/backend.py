"""The API backend: inference providers that the Hugging Face Hub routes to.

Calls are made in child processes, so that deadlines and cancelling really end them, an answer of
any size takes no more memory than allowed, and importing huggingface_hub delays nothing. The key
comes from the keyring and is sent with each call over the pipe.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.inference_api.errors import no_key
from jarvis_desktop.backends.inference_api.tasks import (
    ANY,
    API_TASKS,
    TIME_LIMITS,
    ApiAccount,
    ApiJob,
    ApiMethod,
)
from jarvis_desktop.backends.result_checks import checked, portable, seconds_for
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.context import current_account
from jarvis_desktop.core.errors import Fault, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.platform.api_keys import ApiKey, hub_key
from jarvis_desktop.process.child import Child, Pool
from jarvis_desktop.tasks.definition import Definition

if TYPE_CHECKING:
    from jarvis_desktop.backends.inference_api.endpoints import EndpointServer
    from jarvis_desktop.backends.inference_api.transport import Check

GB = 1 << 30
MAX_PROVIDERS = 3  # candidates per expert: its own providers in their order
IDLE_S = 120.0  # after which a process without a call ends
MEMORY = 2 * GB  # of a process
GRACE_S = 5.0  # how long the process may take to report after a call's deadline
KEY_RETRY_S = 60.0  # how long a missing key is not looked for again


class ApiBackend:
    """The "api" backend: up to `width` processes, each of which makes one call at a time. `check`
    returns the address to use for a host, or refuses it. `provider` names the only one to ask,
    "auto" allows all; it may be changed. The `policy` is checked at each call. `via` is a relay
    that every request goes to instead of its own address. A call gets `time_limit` seconds, more if
    its task is known to be slow or its inputs are large."""

    name = "api"
    lane = "network"

    def __init__(
        self,
        definitions: Mapping[str, Definition],
        *,
        check: Check,
        key: ApiKey | None = None,
        provider: str = ANY,
        policy: Policy | None = None,
        ways: Mapping[str, ApiMethod] = API_TASKS,
        via: str = "",
        width: int = 3,
        time_limit: float = 120.0,
    ) -> None:
        self._definitions = definitions
        self._check = check
        self._key = key or ApiKey(hub_key)
        self._looked = 0.0
        self.provider = provider
        self._policy = policy or Policy(Mode.HYBRID)
        self._ways = ways
        self._via = via
        self._time_limit = time_limit
        self._pool = Pool(self._child, width=width, idle=IDLE_S)
        self._own_pool = Pool(self._child, width=width, idle=IDLE_S)
        """For addresses of the user's, which other modes allow."""
        self._asked: list[EndpointServer] = []

    def candidates(self, expert: Expert) -> tuple[Candidate, ...]:
        """One candidate for each provider of an expert, and one for any other. If the settings name
        a provider, only that one, even if it does not serve the expert."""
        if expert.task not in self._ways or not expert.providers or not expert.repo:
            return ()
        names = expert.providers[:MAX_PROVIDERS]
        if self.provider != ANY:
            names = (self.provider,)
        elif len(names) < MAX_PROVIDERS:
            names = (*(name for name in names if name != ANY), ANY)
        return tuple(Candidate(expert, self.name, remote=True, provider=name) for name in names)

    async def objection(self) -> str:
        """Why no expert can be asked, in a sentence; "" if nothing is known against it."""
        return "" if await self._known_key() else str(no_key())

    def question(self, call: Call) -> str:
        """The mode is the consent to sending data, so there is nothing to ask."""
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """Return the expert's results. Raises JarvisError; cancelling ends its process."""
        expert, provider = candidate.expert, candidate.provider or ANY
        definition = self._definitions.get(call.task)
        if definition is None or call.task not in self._ways or not expert.repo:
            raise UnavailableError(
                tr("{id} cannot be asked for this over the network.", id=expert.id),
                fault=Fault.GONE,
            )
        if not self._policy.allows(candidate):  # the mode may have changed since planning
            raise UnavailableError(self._withheld(), fault=Fault.NETWORK)
        key = await self._known_key()
        if not key:
            raise no_key()
        seconds = seconds_for(call, max(self._time_limit, TIME_LIMITS.get(call.task, 0.0)))
        named = expert.providers[:MAX_PROVIDERS] if provider == ANY and candidate.provider else ()
        job = ApiJob(expert, provider, portable(call), self._ways[call.task], seconds, key, named)
        results: Sequence[Artifact]
        results, spent = await self._ask("run", job, seconds=seconds, report=report)
        current_account.get()(spent)
        return checked(results, definition.type)

    async def run_at(
        self, server: EndpointServer, call: Call, report: Report
    ) -> Sequence[Artifact]:
        """Return the results of what the user set for a task. Raises JarvisError."""
        definition = self._definitions[call.task]
        if objection := server.objection():
            raise objection
        host, address, key = server.server.host, server.server.address, await server.key()
        seconds = seconds_for(call, max(self._time_limit, TIME_LIMITS.get(call.task, 0.0)))
        expert, way = Expert(call.task, call.task), self._ways[call.task]
        job = ApiJob(expert, host, portable(call), way, seconds, key, endpoint=address)
        self._asked.append(server)
        try:
            results, _ = await self._own_pool.call(
                "run", job, timeout=seconds + GRACE_S, report=report
            )
        except JarvisError as error:
            if error.fault is Fault.KEY:
                server.forget_keys()
            raise
        finally:
            self._asked.remove(server)
        return checked(results, definition.type)

    async def account(self, key: str = "") -> ApiAccount:
        """The owner of a key, by default the saved one. Raises JarvisError."""
        key = key or await self._known_key()
        if not key:
            raise no_key()
        found: ApiAccount = await self._ask("who", key, 30.0, seconds=30.0)
        return found

    def withdraw(self) -> None:
        """Cancel all calls that the policy does not allow now."""
        if not self._policy.allows_api:
            self._pool.dismiss(self._withheld())
        if objection := next(filter(None, (each.objection() for each in self._asked)), None):
            self._own_pool.dismiss(str(objection))

    def _withheld(self) -> str:
        return tr(
            "The mode “{mode}” sends nothing to other computers.", mode=self._policy.mode.called
        )

    def forget_key(self) -> None:
        """Forget the key, which has changed; it is looked up at the next call."""
        self._key.forget()
        self._looked = 0.0

    async def close(self) -> None:
        """End all processes."""
        await self._pool.close()
        await self._own_pool.close()

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of the running processes."""
        return (*self._pool.processes, *self._own_pool.processes)

    async def _ask(self, *args: object, seconds: float, report: Report | None = None) -> Any:
        try:
            return await self._pool.call(*args, timeout=seconds + GRACE_S, report=report)
        except JarvisError as error:
            if error.fault is Fault.KEY:
                self._key.forget()  # it may have been changed since
            raise

    async def _known_key(self) -> str:
        key = await self._key.get()
        if not key and time.monotonic() - self._looked > KEY_RETRY_S:
            self._looked = time.monotonic()
            self._key.forget()
            key = await self._key.get()
        return key

    def _child(self) -> Child:
        return Child(
            "jarvis_desktop.backends.inference_api.worker:serve",
            *(self._via, self._check, MEMORY),
            name="service",
            network=True,
        )
