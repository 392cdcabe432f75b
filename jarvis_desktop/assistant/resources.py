"""What a conversation has at hand: all that its turns were given and made, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.ports import Resource
from jarvis_desktop.core.turn import Turn


def resources_of(turns: Iterable[Turn]) -> list[Resource]:
    """What was given to these turns and what answered them, without names."""
    found: list[Resource] = []
    for turn in turns:
        types = {task.id: task.type.name for task in turn.plan or ()}
        makers = {
            item: types.get(result.task_id, "")
            for result in turn.results.values()
            for item in result.artifacts
            if not turn.agentic  # there a round gave it
        }
        found += [Resource("", item, given=True) for item in turn.attachments]
        found += [
            Resource("", item, given=False, task=makers.get(item, "")) for item in turn.artifacts
        ]
    return found


def named(resources: Iterable[Resource]) -> tuple[Resource, ...]:
    """Each thing once, numbered by its kind: "image 1", "text 1", "image 2"."""
    counts: Counter[str] = Counter()
    once: dict[Artifact, Resource] = {}
    for item in resources:
        if item.artifact not in once:
            kind = item.artifact.kind.value
            counts[kind] += 1
            once[item.artifact] = replace(item, name=f"{kind} {counts[kind]}")
    return tuple(once.values())
