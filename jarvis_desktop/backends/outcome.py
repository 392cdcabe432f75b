"""Checks that what an expert gave is what its task promises, before anything builds on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from jarvis_desktop.backends import doubts, file_doubts
from jarvis_desktop.backends.languages import is_clearly_not
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call
from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.task import TaskType


def checked(results: Iterable[Artifact], type: TaskType) -> tuple[Artifact, ...]:
    """The results of one call. Raises ExpertError where one is missing, empty or not promised."""

    def wrong(words: str) -> ExpertError:
        return _wrong(f"{type.name} {words}.")

    found = tuple(results)
    if type.gives and not found:
        raise wrong("gave no result")
    for each in found:
        if not isinstance(each, Artifact):
            raise wrong("gave something that is not a result")
        if each.kind not in type.gives:
            raise wrong(f"gave {each.kind}, which it does not promise")
        if each.path is None:
            if not (each.text or "").strip():
                raise wrong("gave an empty text")
        elif each.path.is_symlink() or not each.path.is_file():
            raise wrong(f"did not write its file {each.path.name}")
        elif not each.path.stat().st_size:
            raise wrong(f"wrote an empty file {each.path.name}")
    return found


def inspect(
    candidate: Candidate,
    call: Call,
    type: TaskType,
    made: Sequence[Artifact],
    *,
    ruled_out: doubts.RuledOut = is_clearly_not,
) -> None:
    """Look closely at the results of one call: at their content, not only at their kinds.

    Raises ExpertError where one of them cannot be right: blank, silent, cut off, garbled, an echo
    of what was given. Built-in ways are trusted, being exact: an empty page of theirs is empty.
    Reads files, so not for the event loop.
    """
    if candidate.built_in:
        return
    for each in made:
        doubt = (
            doubts.of_text(each.text or "", call, ruled_out)
            if each.path is None
            else file_doubts.of_file(each, call)
        )
        if doubt:
            raise _wrong(f"{candidate.expert.id} {doubt}.")


def _wrong(message: str) -> ExpertError:
    """Retryable: most experts throw dice, and the next answer is another one."""
    return ExpertError(message, retryable=True, fault=Fault.ANSWER)


def portable(call: Call) -> Call:
    """The same call with plain mappings, which cross a process border."""
    return replace(call, inputs=dict(call.inputs), options=dict(call.options))


def seconds_for(call: Call, base: float) -> float:
    """How long a call may take: `base`, and 2 seconds for every megabyte of its inputs.

    Less where its expert is known to be quicker.
    """
    longest = base + 2.0 * call.size / 1_000_000
    return longest if call.seconds is None else min(longest, call.seconds)
