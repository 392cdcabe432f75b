"""Takes up changed settings while the application runs. Part of compose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel

from jarvis_desktop import offline, proxy
from jarvis_desktop.assistant.fitting import Fitting
from jarvis_desktop.assistant.obtaining import Obtainer
from jarvis_desktop.assistant.selector import Selector
from jarvis_desktop.backends.api import ApiBackend
from jarvis_desktop.backends.local import LocalBackend
from jarvis_desktop.catalogue.weights import Weights
from jarvis_desktop.child import end_outward
from jarvis_desktop.compose_agent import AgentMode
from jarvis_desktop.compose_experts import wanted_llm
from jarvis_desktop.compose_voice import VoiceRoad
from jarvis_desktop.core.hardware import MB
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.wording import tr
from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.settings import Current, ExpertSettings, Settings

WAITING = frozenset({"processes"})
"""What is built once: the lanes of the executor are as wide as there are processes."""


def settle_process(settings: Settings) -> None:
    """Say how far this process, and those it starts, may reach: before anything is built."""
    proxy.use(settings.network.proxy)
    offline.settle(offline=not Policy(settings.mode).allows_downloads)


@dataclass(frozen=True)
class Adoption:
    """The parts that settings are about."""

    current: Current
    policy: Policy
    road: VoiceRoad
    llms: LLMChoice
    selector: Selector
    fitting: Callable[[ExpertSettings], Fitting]
    obtainer: Obtainer
    weights: Weights
    local: LocalBackend
    api: ApiBackend
    agent: AgentMode

    async def adopt(self, settings: Settings) -> frozenset[str]:
        """Take them up; the names of those that wait for a restart, such as "processes"."""
        before, self.current.settings = self.current.settings, settings
        changed = changes(before, settings)
        if not changed:
            return frozenset()
        if changed & {"mode", "network.proxy"}:
            self._reach(before, settings)
        if any(name.startswith("llm.") for name in changed):
            self.llms.choose(wanted_llm(settings.llm))
        self._choose_experts(settings)
        self.agent.adopt(settings.agent)
        waits = await self.road.adopt(settings.speech)
        return changed & WAITING | {f"speech.{name}" for name in waits}

    def _reach(self, before: Settings, settings: Settings) -> None:
        """The policy first: whatever asks it from now on is told the new mode. Then what is under
        way ends where it may not go on, or would not know of the change."""
        was_offline = not self.policy.allows_downloads
        self.policy.mode = settings.mode
        settle_process(settings)
        is_offline = not self.policy.allows_downloads
        if is_offline != was_offline or settings.network != before.network:
            end_outward(
                tr("The mode is “{mode}” now, so this was stopped.", mode=settings.mode.called)
                if is_offline
                else tr("The way to the network was changed, so this was stopped.")
            )
        self.api.withdraw()
        self.agent.packages.withdraw()
        self.llms.forget()

    def _choose_experts(self, settings: Settings) -> None:
        experts = settings.experts
        self.selector.fitting = self.fitting(experts)
        self.obtainer.ask_above_mb = experts.ask_above_mb
        self.weights.budget = experts.disk_budget
        self.local.budget = experts.memory_budget_mb * MB
        self.api.provider = settings.api.provider


def changes(before: BaseModel, after: BaseModel) -> frozenset[str]:
    """The names of what differs, such as "mode" and "speech.rate"."""
    found: set[str] = set()
    for name in type(before).model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if isinstance(old, BaseModel):
            found |= {f"{name}.{each}" for each in changes(old, new)}
        elif old != new:
            found.add(name)
    return frozenset(found)
