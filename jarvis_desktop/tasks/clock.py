"""Says the time, the day and the date."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.task import Option, TaskType
from jarvis_desktop.tasks.definition import Definition, Services

TYPE = TaskType(
    name="clock",
    summary="Tells the current time, day or date.",
    ports=(),
    gives=(Kind.TEXT,),
    options=(Option("what", "what is asked for", "time", choices=("time", "date", "day")),),
    cues=("what time", "the time", "what day", "what date", "today's date", "day of the week"),
)


async def tell(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """The answer as one sentence."""
    now = services.now()
    match call.words("what"):
        case "date":
            answer = f"Today is {now:%A}, {now.day} {now:%B %Y}."
        case "day":
            answer = f"Today is {now:%A}."
        case _:
            answer = f"It is {now:%H:%M}."
    return [text_artifact(answer)]


DEFINITION = Definition(TYPE, skill=tell, note="this computer's clock")
