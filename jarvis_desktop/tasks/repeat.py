"""Gives a text back, such as the last answer."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Option, Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition, Services

TYPE = TaskType(
    name="repeat",
    summary="Repeats the last answer, or a given text.",
    ports=(Port("text", (Kind.TEXT,), required=False),),
    gives=(Kind.TEXT,),
    options=(Option("words", "the text to repeat, where it is no result", "", reads="last-reply"),),
    cues=(
        "^repeat$", "repeat that", "repeat it", "repeat yourself", "repeat the last",
        "repeat what you said", "repeat your answer", "say that again", "say it again", "^again$",
        "^once more$", "come again", "^again please$", "^pardon$", "^pardon me$",
        "what did you say", "^what was that$", "^one more time$", "i didn't hear", "i did not hear",
        "didn't catch that", "didn't get that", "^repeat xquote*",
    ),
)  # fmt: skip


async def repeat(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """The text as it came. Raises InputError where there is none."""
    text = call.text("text") or call.words("words")
    if not text.strip():
        raise InputError(tr("There is nothing to repeat yet."))
    return [text_artifact(text)]


DEFINITION = Definition(TYPE, skill=repeat, note="the last answer of the conversation")
