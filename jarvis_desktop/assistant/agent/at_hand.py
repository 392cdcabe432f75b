"""What a goal has to work with, by the names that controllers, planners and code share."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from jarvis_desktop.assistant.agent.desk import Desk
from jarvis_desktop.assistant.planning.named import Named
from jarvis_desktop.assistant.resources import named
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.code import Function, Library
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.ports import Context, Resource
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr

_plain = re.compile(r"[\w.()-]{1,32}(?: \(?\d{1,4}\)?)?")
"""What does not read as words: "prices_2025.csv", "cat.png (2)", "text 3"."""

MOST_TOLD = 20
"""Names in the sentence that says which there are; the newest."""


def at_hand(desk: Desk, also: Iterable[Artifact] = ()) -> Mapping[str, Artifact]:
    """All files and results by name, `also` what is being made: first the person's files, then
    those that were made, then what there was before the goal, and texts; each the oldest first.

    A file has its own name, a text is "text 2". What got a name keeps it for the whole goal.
    """
    return dict(_named(desk, also))


def is_foreign(name: str, words: str) -> bool:
    """Whether a name may be an instruction of somebody else's: it is more than a plain one, and
    does not stand in the person's `words`."""
    return name not in words and not _plain.fullmatch(name)


async def functions_for(desk: Desk, library: Library, words: str, most: int) -> Sequence[Function]:
    """The functions of the library that are nearest to the words; () where it cannot be searched,
    and the trace says why."""
    try:
        return await asyncio.to_thread(library.search, words, most)
    except JarvisError as error:
        desk.live.trace(f"The code library could not be searched: {error.message}")
        return ()


def chosen(desk: Desk, names: Sequence[str]) -> dict[str, Artifact]:
    """What these names mean, by the names of `at_hand`; each thing once.

    Raises InputError, which says what there is, where one of them means nothing.
    """
    everything = _named(desk)
    by_artifact = {artifact: name for name, artifact in everything}
    found: dict[str, Artifact] = {}
    for name in names:
        artifact = everything.find(name, Kind)
        if artifact is None:
            there = [f"“{one_line(item)}”" for item in by_artifact.values()][-MOST_TOLD:]
            raise InputError(
                tr("There is nothing called “{name}”.", name=one_line(name)),
                hint=tr("There is: {there}.", there=", ".join(there))
                if there
                else tr("There is nothing at hand yet."),
            )
        found[by_artifact[artifact]] = artifact
    return found


def context_for(desk: Desk, uses: Mapping[str, Artifact]) -> Context:
    """What a planner may know: what is to be used, or else what the person gave, is attached; all
    the rest of the desk can be spoken of by its name.

    What was said before the goal is left out: whoever asks speaks of the goal alone.
    """
    everything = at_hand(desk)
    given, made = set(desk.context.attachments), set(desk.made)
    wanted = uses or {name: item for name, item in everything.items() if item in given}
    # A plan names what is attached by its own name: a text gets one, and a file that shares its
    # name with another is spoken of instead.
    attached = {
        name: item if item.path else replace(item, name=name)
        for name, item in wanted.items()
        if item.path is None or name == one_line(item.title)
    }
    rest = [
        Resource(name, item, given=item not in made)
        for name, item in everything.items()
        if name not in attached
    ]
    return replace(
        desk.context,
        attachments=tuple(attached.values()),
        resources=tuple(rest),
        conversation=None,
        summary="",
    )


def _named(desk: Desk, also: Iterable[Artifact] = ()) -> Named:
    made = (*desk.made, *also)
    before = [replace(item, name="") for item in desk.context.resources]
    numbered = named([*before, *(Resource("", item, given=False) for item in made)])
    files = (*desk.context.attachments, *(item for item in made if item.path))
    return Named(replace(desk.context, attachments=files, resources=numbered))
