"""Writes the answer of a turn from its results, with no LLM: what came out, what failed and why.

Where an LLM writes it, this is what stands below its words: what they must not be trusted with."""

from __future__ import annotations

import re

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.i18n import both, mark, tr
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.core.turn import Turn

SPEECH_TASK = "text-to-speech"
"""The task whose result is played rather than shown."""

SKILL = "skill"
"""The backend of what the application does itself, at once: the time, a timer, a sum."""

SHORT = 200
"""Characters; a text up to this long may be told in other words, where its numbers are kept."""

_nouns = {
    Kind.IMAGE: mark("the picture {name}"),
    Kind.AUDIO: mark("the recording {name}"),
    Kind.VIDEO: mark("the video {name}"),
    Kind.TABLE: mark("the table {name}"),
    Kind.DOCUMENT: mark("the document {name}"),
}


def outcome(turn: Turn) -> Status:
    """Done when every task was, partly when some were, failed when none was."""
    results = list(turn.results.values())
    done = sum(result.status is Status.DONE for result in results)
    if done == len(results):
        return Status.DONE
    asked = {task.id for task in turn.plan.answers} if turn.plan else set()
    answered = any(result.status is Status.DONE and result.task_id in asked for result in results)
    return Status.PARTLY if answered or done else Status.FAILED


def compose(turn: Turn) -> str:
    """The answer: each asked-for result, then what could not be done."""
    if turn.plan is None:
        return ""
    done = shown(turn)
    several = len(done) > 1
    parts = [_labelled(turn, task, result, several) for task, result in done]
    return "\n\n".join(part for part in [*parts, *_not_done(turn), *_instead(turn)] if part)


def speaks_for_itself(turn: Turn) -> bool:
    """Whether the results need no words around them.

    So it is with skills, with a sole text, which is wanted as it is, and where nothing was asked
    in words.
    """
    if turn.plan is None or not turn.text:
        return True
    ended = [item for item in turn.results.values() if item.status is not Status.SKIPPED]
    if all(item.attempts and _by_a_skill(item) for item in ended):
        return True
    if len(turn.plan.answers) > 1 or any(item.status is not Status.DONE for item in ended):
        return False
    task = turn.plan.answers[0]
    artifacts = turn.results[task.id].artifacts
    return task.type.name == SPEECH_TASK or all(item.text for item in artifacts)


def below(turn: Turn, words: str) -> str:
    """What stands under an LLM's `words` about the results; "" where they say it all.

    The texts that were asked for, as they are; the exact reasons of what failed; and who did it.
    """
    assert turn.plan is not None
    done = shown(turn)
    texts = [
        (task, result)
        for task, result in done
        if task.type.name != SPEECH_TASK
        and any(item.text and not _is_told(item.text, words) for item in result.artifacts)
    ]
    parts = [_labelled(turn, task, result, len(done) > 1) for task, result in texts]
    experts = dict.fromkeys(
        result.attempts[-1].candidate
        for result in turn.results.values()
        if result.status is Status.DONE and result.attempts
    )
    unnamed = [
        item.expert.id
        for item in experts
        if not item.built_in and item.expert.id.lower() not in words.lower()
    ]
    by = [tr("Done by {experts}.", experts=both(*unnamed))] if unnamed else []
    return "\n\n".join([*parts, *_not_done(turn), *_instead(turn), *by])


def shown(turn: Turn) -> list[tuple[Task, TaskResult]]:
    """What the answer shows: what was asked for, or the half that came out of it."""
    assert turn.plan is not None
    done = [task for task in turn.plan if _status(turn, task) is Status.DONE]
    asked = [task for task in turn.plan.answers if task in done]
    return [(task, turn.results[task.id]) for task in asked or done[-1:]]


def _not_done(turn: Turn) -> list[str]:
    assert turn.plan is not None
    failed = [task for task in turn.plan if _status(turn, task) is Status.FAILED]
    skipped = [task for task in turn.plan if _status(turn, task) is Status.SKIPPED]
    parts = [
        tr("Not done: {step}. {reason}", step=task.type.called, reason=turn.results[task.id].reason)
        for task in failed
    ]
    if skipped:
        titles = ", ".join(task.type.called for task in skipped)
        parts.append(tr("Left out, because it needed that: {steps}.", steps=titles))
    return parts


def _instead(turn: Turn) -> list[str]:
    """Who did what other experts had failed at."""
    parts: dict[str, None] = {}
    for result in turn.results.values():
        if result.status is not Status.DONE or not result.attempts:
            continue
        doer = result.attempts[-1].candidate
        failures = {
            item.candidate.expert.id: item.error
            for item in result.attempts[:-1]
            if item.candidate.expert != doer.expert and not item.candidate.built_in
        }
        if failures:
            names, why = both(*failures), list(failures.values())[-1]
            told = (
                tr(
                    "The built-in way was used, because {experts} failed: {reason}",
                    experts=names,
                    reason=why,
                )
                if doer.built_in
                else tr(
                    "{expert} was used, because {experts} failed: {reason}",
                    expert=doer.expert.id,
                    experts=names,
                    reason=why,
                )
            )
            parts[told] = None
    return list(parts)


def _by_a_skill(result: TaskResult) -> bool:
    return all(attempt.candidate.backend == SKILL for attempt in result.attempts)


def _is_told(text: str, words: str) -> bool:
    """Whether the words say it: a long text whole, of a short one the numbers and half the rest."""
    plain, said = " ".join(text.split()).lower(), " ".join(words.split()).lower()
    if plain in said:
        return True
    if len(text) > SHORT:
        return False
    numbers = re.findall(r"\d+(?:[.,:]\d+)*", plain)
    there = set(re.findall(r"\d+(?:[.,:]\d+)*|[^\W\d]+", said))
    others = re.findall(r"[^\W\d]{3,}", plain)
    kept = sum(word in there for word in others)
    return there.issuperset(numbers) and 2 * kept >= len(others)


def _status(turn: Turn, task: Task) -> Status | None:
    result = turn.results.get(task.id)
    return result.status if result else None


def _labelled(turn: Turn, task: Task, result: TaskResult, several: bool) -> str:
    words = said(turn, task) if task.type.name == SPEECH_TASK else _describe(result.artifacts)
    return f"{_label(turn, task)}: {words}" if several else words


def _label(turn: Turn, task: Task) -> str:
    """The task's name, with the file it was done to where several tasks share the name."""
    title = task.type.called.capitalize()
    assert turn.plan is not None
    twins = [other for other in turn.plan.answers if other.type == task.type]
    names = [item.title for _, item in task.items() if isinstance(item, Artifact) and item.path]
    return f"{title} ({names[0]})" if len(twins) > 1 and names else title


def _describe(artifacts: tuple[Artifact, ...]) -> str:
    texts = [item.text for item in artifacts if item.text]
    if texts:
        return "\n".join(texts)
    names = [
        tr(_nouns.get(item.kind, mark("the result {name}")), name=item.title) for item in artifacts
    ]
    # TRANSLATORS: the files that were made, such as "the picture a.png and the table b.csv"
    return tr("Here is {files}.", files=both(*names))


def said(turn: Turn, task: Task) -> str:
    """The text that a speech task spoke."""
    texts: list[str] = []
    for _, item in task.items():
        if isinstance(item, Ref):
            result = turn.results[item.task_id]
            texts += [made.text for made in result.of_kind((Kind.TEXT,)) if made.text]
        elif isinstance(item, Artifact):
            texts.append(item.text or "")
        else:
            texts.append(str(item))
    return "\n\n".join(texts)
