"""Runs experts behind an API: the inference providers that the Hugging Face Hub routes to.

A call is made by a child process, so that its deadline and a cancel really end it, a body of any
size fills no more memory than it may, and huggingface_hub's import holds up nobody. The key comes
from the keyring and goes there with each call, over the pipe.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.inference_api.errors import no_key
from jarvis_desktop.backends.inference_api.tasks import (
    ANY,
    API_TASKS,
    SLOW,
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
from jarvis_desktop.process.child import Child
from jarvis_desktop.process.pool import Pool
from jarvis_desktop.tasks.definition import Definition

if TYPE_CHECKING:
    from jarvis_desktop.backends.inference_api.transport import Check

GB = 1 << 30

MOST_PROVIDERS = 3
"""Candidates that one expert makes: its own providers, the first of them first."""

GRACE = 5.0
"""Seconds that the process has beyond a call's deadline to say that it is over."""

ASKED_AGAIN = 60.0
"""Seconds after which a key that was not there is looked for anew."""


class ApiBackend:
    """The "api" backend: up to `width` processes, each of which makes one call at a time.

    `check` gives the address that a host may be reached at, or refuses it (web.addresses.checked).
    `ways` says how each task is asked for.
    `provider` names the only one that may be asked, "auto" allows all; it may be set anew. What the
    `policy` does not allow at the moment of a call is not asked. `via` is an address that
    every request goes to instead of its own. A call gets `time_limit` seconds, more where its task
    is known to be slow or its inputs are large.
    """

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
        idle: float = 120.0,
        memory: int = 2 * GB,
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
        self._memory = memory
        self._pool = Pool(self._child, width=width, idle=idle)

    def candidates(self, expert: Expert) -> tuple[Candidate, ...]:
        """One for each provider of an expert, and one for any other; none where none is known.

        Where the settings name a provider, that one alone, even if it does not serve the expert.
        """
        if expert.task not in self._ways or not expert.providers or not expert.repo:
            return ()
        names = expert.providers[:MOST_PROVIDERS]
        if self.provider != ANY:
            names = (self.provider,)
        elif len(names) < MOST_PROVIDERS:
            names = (*(name for name in names if name != ANY), ANY)
        return tuple(Candidate(expert, self.name, remote=True, provider=name) for name in names)

    async def objection(self) -> str:
        """Why no expert can be asked, in a sentence; "" where nothing is known against it."""
        return "" if await self._known_key() else str(no_key())

    def question(self, call: Call) -> str:
        """The mode is the consent to send things away."""
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """The expert's results. Raises JarvisError; cancelling ends its process."""
        expert, provider = candidate.expert, candidate.provider or ANY
        definition = self._definitions.get(call.task)
        if definition is None or call.task not in self._ways or not expert.repo:
            raise UnavailableError(
                tr("{id} cannot be asked for this over the network.", id=expert.id),
                fault=Fault.GONE,
            )
        if not self._policy.allows(candidate):  # it may have done so when the plan was made
            raise UnavailableError(self._withheld(), fault=Fault.NETWORK)
        key = await self._known_key()
        if not key:
            raise no_key()
        seconds = seconds_for(call, max(self._time_limit, SLOW.get(call.task, 0.0)))
        named = expert.providers[:MOST_PROVIDERS] if provider == ANY and candidate.provider else ()
        job = ApiJob(expert, provider, portable(call), self._ways[call.task], seconds, key, named)
        results: Sequence[Artifact]
        results, spent = await self._ask("run", job, seconds=seconds, report=report)
        current_account.get()(spent)
        return checked(results, definition.type)

    async def account(self, key: str = "") -> ApiAccount:
        """Whose key it is; without one, whose the kept one is. Raises JarvisError."""
        key = key or await self._known_key()
        if not key:
            raise no_key()
        found: ApiAccount = await self._ask("who", key, 30.0, seconds=30.0)
        return found

    def withdraw(self) -> None:
        """Ask for nothing any more that the policy does not allow now, not even what is asked."""
        if not self._policy.allows_api:
            self._pool.dismiss(self._withheld())

    def _withheld(self) -> str:
        return tr(
            "The mode “{mode}” sends nothing to other computers.", mode=self._policy.mode.called
        )

    def forget_key(self) -> None:
        """The key is another one now, or gone: it is looked for at the next call."""
        self._key.forget()
        self._looked = 0.0

    async def close(self) -> None:
        """End all processes."""
        await self._pool.close()

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of the processes that are there now."""
        return self._pool.processes

    async def _ask(self, *args: object, seconds: float, report: Report | None = None) -> Any:
        try:
            return await self._pool.call(*args, timeout=seconds + GRACE, report=report)
        except JarvisError as error:
            if error.fault is Fault.KEY:
                self._key.forget()  # it may have been changed in the meantime
            raise

    async def _known_key(self) -> str:
        key = await self._key.get()
        if not key and time.monotonic() - self._looked > ASKED_AGAIN:
            self._looked = time.monotonic()
            self._key.forget()
            key = await self._key.get()
        return key

    def _child(self) -> Child:
        return Child(
            "jarvis_desktop.backends.inference_api.worker:serve",
            *(self._via, self._check, self._memory),
            name="service",
            network=True,
        )
