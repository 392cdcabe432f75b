"""Stops what is running: other requests and all speech."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.tasks.definition import Definition, Services

TYPE = TaskType(
    name="stop",
    summary="Stops everything that is running, and is silent.",
    ports=(),
    gives=(Kind.TEXT,),
    acts=True,
    cues=(
        "^stop$", "^stop it$", "^stop that$", "^stop now$", "^stop please$", "^please stop$",
        "^stop everything$", "^stop talking$", "^stop speaking$", "^stop reading$", "^cancel$",
        "^cancel that$", "^cancel it$", "^cancel everything$", "^quiet$", "^be quiet$", "^silence$",
        "^be silent$", "^shut up$", "^hush$", "^enough$", "^that's enough$", "^abort$", "^halt$",
        "^never mind$", "^nevermind$", "^forget it$", "^stop jarvis$",
    ),
)  # fmt: skip


async def stop(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Stop all else and say how much that was."""
    count = services.stop_others()
    if not count:
        return [text_artifact("Nothing else is running.")]
    what = "1 request" if count == 1 else f"{count} requests"
    return [text_artifact(f"Stopped {what}.")]


DEFINITION = Definition(TYPE, skill=stop, note="ends other requests and all speech")
