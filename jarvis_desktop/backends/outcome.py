"""Checks that what an expert gave is what its task promises, before anything builds on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.task import TaskType


def checked(results: Iterable[Artifact], type: TaskType) -> tuple[Artifact, ...]:
    """The results of one call. Raises ExpertError where one is missing, empty or not promised."""
    found = tuple(results)
    if type.gives and not found:
        raise ExpertError(f"{type.name} gave no result.")
    for each in found:
        if not isinstance(each, Artifact):
            raise ExpertError(f"{type.name} gave something that is not a result.")
        if each.kind not in type.gives:
            raise ExpertError(f"{type.name} gave {each.kind}, which it does not promise.")
        if each.path is None:
            if not (each.text or "").strip():
                raise ExpertError(f"{type.name} gave an empty text.")
        elif each.path.is_symlink() or not each.path.is_file():
            raise ExpertError(f"{type.name} did not write its file {each.path.name}.")
        elif not each.path.stat().st_size:
            raise ExpertError(f"{type.name} wrote an empty file {each.path.name}.")
    return found


def portable(call: Call) -> Call:
    """The same call with plain mappings, which cross a process border."""
    return replace(call, inputs=dict(call.inputs), options=dict(call.options))


def seconds_for(call: Call, base: float) -> float:
    """How long a call may take: `base`, and 2 seconds for every megabyte of its inputs."""
    size = 0
    for items in call.inputs.values():
        for item in items:
            if item.path is not None and item.path.is_file():
                size += item.path.stat().st_size
            size += len(item.text or "")
    return base + 2.0 * size / 1_000_000
