"""Tries an expert with something small of our own, so that a person sees that it works and how long
it takes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.backends.local import LocalBackend
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.task import Port, TaskType, Value
from jarvis_desktop.paths import shipped
from jarvis_desktop.tasks.language_identification import NAMES

SENTENCE = "The cat sat on the warm roof of the old house in Paris and was happy."
TEXTS: Mapping[str, str] = {
    "question": "Where did the cat sit?",
    "text_2": "A pleased cat is lying on top of a building.",
    "prompt": "A red apple on a wooden table.",
}
"""By the names of ports; all others get the sentence."""
BY_TASK: Mapping[str, str] = {
    "fill-mask": "The capital of France is [MASK].",
    "table-question-answering": "How many cats live in Paris?",
    "image-editing": "Make it brighter.",
    "visual-question-answering": "What is in the picture?",
    "document-question-answering": "Who wrote the letter?",
}
OPTIONS: Mapping[tuple[str, str], Value] = {
    ("zero-shot-classification", "labels"): "animals, weather, money",
    ("zero-shot-image-classification", "labels"): "a letter, a cat, a landscape",
    ("zero-shot-object-detection", "what"): "a letter",
}
TABLE = "city,cats\nParis,12\nRome,34\n"


@dataclass(frozen=True, slots=True)
class Tried:
    """It worked."""

    seconds: float
    """The loading of its weights included, where it was not in memory."""
    found: str
    """The beginning of what it gave, where that is a text."""


def can_be_tried(task: TaskType) -> bool:
    """Whether there is something small for all that it needs."""
    kinds = {Kind.TEXT, Kind.IMAGE, Kind.AUDIO, Kind.TABLE}
    return all(kinds.intersection(port.kinds) for port in task.ports if port.required)


async def tried(
    local: LocalBackend, expert: Expert, task: TaskType, folder: Path, report: Report
) -> Tried:
    """Run it as any request would, in an empty `folder`. Raises JarvisError; cancelling ends it."""
    inputs = {port.name: (_sample(task, port, folder),) for port in task.ports if port.required}
    call = Call(task.name, inputs, _options(expert, task), folder)
    begin = time.monotonic()
    results = await local.run(Candidate(expert, "local", heavy=True), call, report)
    text = next((each.text for each in results if each.text), "")
    return Tried(time.monotonic() - begin, one_line(text, limit=200))


def _sample(task: TaskType, port: Port, folder: Path) -> Artifact:
    if Kind.IMAGE in port.kinds:
        return Artifact(Kind.IMAGE, path=shipped("resources", "sample", "letter.png"))
    if Kind.AUDIO in port.kinds:
        return Artifact(Kind.AUDIO, path=shipped("resources", "sample", "request.wav"))
    if Kind.TABLE in port.kinds:
        table = folder / "cats.csv"
        table.write_text(TABLE, "utf-8")
        return Artifact(Kind.TABLE, path=table)
    asked = port is task.ports[-1] and BY_TASK.get(task.name)
    return text_artifact(asked or TEXTS.get(port.name, SENTENCE))


def _options(expert: Expert, task: TaskType) -> dict[str, Value]:
    options = {
        each.name: OPTIONS.get((task.name, each.name), each.default) for each in task.options
    }
    if task.name == "translation" and len(expert.languages) == 2:
        target = expert.languages[1]
        options["language"] = NAMES.get(target, target)
    return options
