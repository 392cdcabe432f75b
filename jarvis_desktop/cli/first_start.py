"""What a person in a terminal is told, once, where there is no LLM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jarvis_desktop.cli import output

if TYPE_CHECKING:
    from jarvis_desktop.compose_app import App


async def tell_once(app: App) -> None:
    """Say what would be an LLM for this computer where there is none, unless it was said before.

    To be called after an answer: looking for an LLM may take a moment.
    """
    from jarvis_desktop.llm.offering import Offering

    offering = Offering(app)
    if offering.was_told or not (missing := await offering.missing()):
        return
    output.note(f"note    There is no LLM. {missing.reason}")
    output.note(f"        JARVIS plans and answers without one meanwhile. {missing.advice}")
    offering.note_told()
