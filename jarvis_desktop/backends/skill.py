"""Runs skills: small things that the application itself does on the engine's loop."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from jarvis_desktop.backends.outcome import checked
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.shown import frames
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition, Services

log = logging.getLogger(__name__)


class SkillBackend:
    """The "skill" backend."""

    name = "skill"
    lane = "instant"

    def __init__(self, definitions: Mapping[str, Definition], services: Services) -> None:
        self._definitions = definitions
        self._services = services

    def question(self, call: Call) -> str:
        """What the task's definition wants to ask first."""
        ask = self._definitions[call.task].question
        return ask(call) if ask else ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """The results of the task's skill. Raises JarvisError."""
        definition = self._definitions.get(call.task)
        if definition is None or definition.skill is None:
            raise UnavailableError(tr("There is no skill for {task}.", task=call.task))
        try:
            results = await definition.skill(call, report, self._services)
        except JarvisError:
            raise
        except Exception as error:  # a fault in one skill must not end the turn
            log.info("%s failed: %s", call.task, frames(error))
            words = " ".join(str(error).split())[:300]
            reason = f"{type(error).__name__}: {words}" if words else type(error).__name__
            raise ExpertError(
                tr("{task} failed: {reason}.", task=call.task, reason=reason)
            ) from error
        return checked(results, definition.type)
