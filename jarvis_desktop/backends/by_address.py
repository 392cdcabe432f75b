"""The backend of servers with OpenAI's protocol, each of which does one kind of work.

The skill of a task runs as it does for this computer, with a server behind its port.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jarvis_desktop.backends.result_checks import checked
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import Fault, UnavailableError
from jarvis_desktop.core.expert import BY_ADDRESS, Candidate
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.platform.work_server import WorkServer
from jarvis_desktop.tasks.definition import Definition, Services, Skill


@dataclass(frozen=True, slots=True)
class ServedTask:
    """How a server does a task."""

    server: WorkServer
    skill: Skill
    services: Services
    """Those of the application, with the server in the place of a local one."""


class AddressBackend:
    """The "server" backend."""

    name = BY_ADDRESS
    lane = "network"

    def __init__(
        self, definitions: Mapping[str, Definition], tasks: Mapping[str, ServedTask]
    ) -> None:
        self._definitions = definitions
        self._tasks = tasks

    def candidates(self, task: str) -> tuple[Candidate, ...]:
        """Return the server for a task, if one is set and allowed now."""
        served = self._tasks.get(task)
        if served is None or not served.server.chosen.address or served.server.objection():
            return ()
        return (served.server.candidate(task),)

    def question(self, call: Call) -> str:
        """The address and the mode are the consent, so there is nothing to ask."""
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """Return the server's results. Raises JarvisError; cancelling closes the connection."""
        served, definition = self._tasks.get(call.task), self._definitions.get(call.task)
        if served is None or definition is None:
            raise UnavailableError(
                tr("No server can be asked for {task}.", task=call.task), fault=Fault.GONE
            )
        return checked(await served.skill(call, report, served.services), definition.type)
