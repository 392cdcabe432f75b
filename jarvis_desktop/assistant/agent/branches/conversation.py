"""The branches by which a controller speaks with the person, or says that it has finished."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from jarvis_desktop.assistant.agent.goal_run import GoalRun, available_artifacts, resolve_names
from jarvis_desktop.assistant.agent.roles import BranchRunner, Observation, failure
from jarvis_desktop.assistant.answer_writer import without_invented_files
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import printable
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice, Outline, StepState
from jarvis_desktop.core.i18n import mark, tr

CONTINUE_QUESTION = mark("Shall I go on like that, or change something?")
MAX_KNOWN_CHARS = 200_000
"""Characters of the log, its newest, in which a file or a link that an answer names must stand."""


async def ask_user(run: GoalRun, choice: BranchChoice) -> Observation:
    """Ask the person."""
    question = printable(choice.args["question"])
    reply = (await run.live.ask(question)).strip()
    if not reply:
        text = "Nobody answered. Decide it without the person, or leave out what depends on it."
        return failure(text)
    run.heard(question, reply)
    return Observation(reply, trusted=True)


async def intermediate_answer(run: GoalRun, choice: BranchChoice) -> Observation:
    """Show the person what there is so far, and hear what they say to it."""
    text = await _safe(run, choice.args["text"])
    run.live.say_apart(text)
    found = _used(run, choice.args["uses"], text)
    reply = (await run.live.ask(tr(CONTINUE_QUESTION))).strip()
    if not reply:
        told = "The person was shown it and said nothing to it. Go on."
        return Observation(told, artifacts=found, trusted=True)
    run.heard(tr(CONTINUE_QUESTION), reply)
    return Observation(reply, artifacts=found, trusted=True)


async def final_answer(run: GoalRun, choice: BranchChoice) -> Observation:
    """Answer the person: the goal is over."""
    depth = run.inner
    text = await _safe(run, choice.args["text"])
    run.live.say_apart(text)
    found = _used(run, choice.args["uses"], text)
    return Observation(text, outline_status(run.frames[depth].outline), found, ends=True)


async def finish(run: GoalRun, choice: BranchChoice) -> Observation:
    """Tell the caller what came of the task: the inner controller is done."""
    text = choice.args["summary"]
    found = _used(run, choice.args["uses"], text)
    return Observation(text, outline_status(run.frames[run.inner].outline), found, ends=True)


CONVERSATION_BRANCHES: dict[str, BranchRunner] = {
    "ask_user": ask_user,
    "intermediate_answer": intermediate_answer,
    "final_answer": final_answer,
    "finish": finish,
}
"""By the names of the branches."""


def outline_status(outline: Outline | None) -> Status:
    """How a plan went, as its steps are marked; one that is still open may have been done."""
    states = {step.state for step in outline or ()}
    if StepState.FAILED not in states:
        return Status.DONE
    return Status.PARTLY if StepState.DONE in states else Status.FAILED


def _used(run: GoalRun, names: Sequence[str], text: str) -> tuple[Artifact, ...]:
    """The things that an answer is about: those it says it uses, as far as there are any of the
    name, and those that were made and stand in its text."""
    found: dict[Artifact, None] = {}
    for name in names:
        try:
            found |= dict.fromkeys(resolve_names(run, [name]).values())
        except InputError as error:
            run.live.trace(error.message)
    made = set(run.made)
    named = {
        name: item for name, item in available_artifacts(run).items() if item in made and item.path
    }
    found |= {item: None for name, item in named.items() if name in text}
    return tuple(found)


async def _safe(run: GoalRun, text: str) -> str:
    """The text without files and links that nobody gave."""
    known = "\n".join(_known(run))
    return await asyncio.to_thread(without_invented_files, known, printable(text))


def _known(run: GoalRun) -> Iterable[str]:
    yield run.goal.text
    yield from run.said
    yield from available_artifacts(run)
    left = MAX_KNOWN_CHARS
    for entry in reversed(run.log):
        yield entry.observation
        left -= len(entry.observation)
        if left < 0:
            break
