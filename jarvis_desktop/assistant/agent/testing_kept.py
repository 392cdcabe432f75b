"""Tests functions that are in the library already, for whoever asks whether they still work."""

from __future__ import annotations

from jarvis_desktop.assistant.agent import testing_code
from jarvis_desktop.assistant.agent.testing_code import Report
from jarvis_desktop.assistant.agent.trying_out import TryingOut
from jarvis_desktop.core.code import Function, Sandbox, Script
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.wording import tr


class KeptTests:
    """Runs the tests of kept functions, in a sandbox only: nobody is asked."""

    def __init__(self, sandbox: Sandbox, trying: TryingOut) -> None:
        self._sandbox = sandbox
        self._trying = trying

    async def test(self, function: Function) -> Report:
        """How its tests go. Raises UnavailableError where no sandbox holds here."""
        protection = await self._sandbox.protection()
        if not protection.sandboxed:
            raise UnavailableError(
                tr("Its tests are code, and no sandbox holds here, so they were not run."),
                hint=protection.why,
            )
        script = Script(testing_code.written(function.draft, ""))
        return await self._trying.run(
            script,
            function.draft,
            "",
            approved=script.sha256,
            hosts=(),
            report=lambda text: None,
        )
