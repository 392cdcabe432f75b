"""Tests functions that are in the library already, at the person's command."""

from __future__ import annotations

from jarvis_desktop.assistant.agent import testing_code
from jarvis_desktop.assistant.agent.testing_code import Report
from jarvis_desktop.assistant.agent.trying_out import TryingOut
from jarvis_desktop.core.code import Function, Script


class KeptTests:
    """Runs the tests with which a function was kept."""

    def __init__(self, trying: TryingOut) -> None:
        self._trying = trying

    async def test(self, function: Function) -> Report:
        """How they went; of a function without tests, whether it can be imported.

        They reach no network. Raises JarvisError where they could not run at all.
        """
        script = Script(testing_code.written(function.draft, ""))
        return await self._trying.run(
            script,
            function.draft,
            "",
            approved=script.sha256,
            hosts=(),
            report=lambda text: None,
        )
