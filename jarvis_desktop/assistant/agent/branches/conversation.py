"""The branches that talk to the user, or end a controller's work."""

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

CONTINUE_QUESTION = mark("Shall I continue like that, or change something?")
MAX_KNOWN_CHARS = 200_000
"""Characters of the newest log that may contain a file or link named in an answer."""


async def ask_user(run: GoalRun, choice: BranchChoice) -> Observation:
    """Ask the user."""
    question = printable(choice.args["question"])
    reply = (await run.live.ask(question)).strip()
    if not reply:
        text = "Nobody answered. Decide it without the person, or leave out what depends on it."
        return failure(text)
    run.record_answer(question, reply)
    return Observation(reply, trusted=True)


async def intermediate_answer(run: GoalRun, choice: BranchChoice) -> Observation:
    """Show the user the results so far, and hear what they say."""
    text = await _without_inventions(run, choice.args["text"])
    run.live.say_apart(text)
    found = _answer_artifacts(run, choice.args["uses"], text)
    reply = (await run.live.ask(tr(CONTINUE_QUESTION))).strip()
    if not reply:
        told = "The person was shown it and said nothing to it. Go on."
        return Observation(told, artifacts=found, trusted=True)
    run.record_answer(tr(CONTINUE_QUESTION), reply)
    return Observation(reply, artifacts=found, trusted=True)


async def final_answer(run: GoalRun, choice: BranchChoice) -> Observation:
    """Answer the user: the goal is over."""
    depth = run.inner
    text = await _without_inventions(run, choice.args["text"])
    run.live.say_apart(text)
    found = _answer_artifacts(run, choice.args["uses"], text)
    return Observation(text, outline_status(run.frames[depth].outline), found, ends=True)


async def finish(run: GoalRun, choice: BranchChoice) -> Observation:
    """Return the result to the caller: the inner controller is done."""
    text = choice.args["summary"]
    found = _answer_artifacts(run, choice.args["uses"], text)
    return Observation(text, outline_status(run.frames[run.inner].outline), found, ends=True)


CONVERSATION_BRANCHES: dict[str, BranchRunner] = {
    "ask_user": ask_user,
    "intermediate_answer": intermediate_answer,
    "final_answer": final_answer,
    "finish": finish,
}
"""By the names of the branches."""


def outline_status(outline: Outline | None) -> Status:
    """Return how a plan went, by the states of its steps; an open step may have been done."""
    states = {step.state for step in outline or ()}
    if StepState.FAILED not in states:
        return Status.DONE
    return Status.PARTLY if StepState.DONE in states else Status.FAILED


def _answer_artifacts(run: GoalRun, names: Sequence[str], text: str) -> tuple[Artifact, ...]:
    """Return the artifacts of an answer: those it lists, and those made and named in its text."""
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


async def _without_inventions(run: GoalRun, text: str) -> str:
    """Return the text without files and links that nobody gave."""
    known = "\n".join(_known_texts(run))
    return await asyncio.to_thread(without_invented_files, known, printable(text))


def _known_texts(run: GoalRun) -> Iterable[str]:
    yield run.goal.text
    yield from run.answers
    yield from available_artifacts(run)
    left = MAX_KNOWN_CHARS
    for entry in reversed(run.log):
        yield entry.observation
        left -= len(entry.observation)
        if left < 0:
            break
