"""The plan of a goal in a terminal: to accept, to edit, to comment on, or to stop at."""

from __future__ import annotations

from jarvis_desktop.cli import output
from jarvis_desktop.cli.editing import edited, editor, written
from jarvis_desktop.cli.keyboard import KEYBOARD, somebody_is_there
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.frontend import Review
from jarvis_desktop.core.outline import Outline, outline_from_markdown

QUESTION = "Enter accepts the plan, e edits it, q stops; or say what should be different:"


async def review_outline(outline: Outline, why: str) -> Review | None:
    """What the person says to it; None where they want none of it, or nobody is there."""
    shown = outline
    if why:
        output.note(f"plan    {why}")
    output.note(shown.markdown)
    if not somebody_is_there():
        output.note(
            "note    Nobody is there to accept the plan; jarvis-desktop agent --yes-plan accepts "
            "the first one in advance."
        )
        return None
    while True:
        said = await KEYBOARD.answer(QUESTION)
        if said is None or said.lower() in ("q", "quit"):
            return None
        if said.lower() in ("", "y", "yes"):
            return Review(shown)
        if said.lower() not in ("e", "edit"):
            return Review(shown, said)
        shown = await changed(shown)
        output.note(shown.markdown)


async def changed(outline: Outline) -> Outline:
    """The outline as the person edited it; as it was where nothing can be made of that."""
    try:
        if editor():
            text = await edited(outline.markdown + "\n", "plan.md")
        else:
            text = await written("the steps, one to a line; a number keeps a step what it is")
        return outline_from_markdown(text, outline)
    except JarvisError as error:
        output.note(f"note    {error} The plan is as it was.")
        return outline
