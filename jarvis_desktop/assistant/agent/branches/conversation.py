"""The branches by which a controller speaks with the person, or says that it has finished."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from jarvis_desktop.assistant.agent.goal_run import Desk, at_hand, chosen
from jarvis_desktop.assistant.agent.roles import Observation, Running
from jarvis_desktop.assistant.answer_writer import guarded
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import printable
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice, Outline, StepState
from jarvis_desktop.core.i18n import mark, tr

GO_ON = mark("Shall I go on like that, or change something?")
KNOWN = 200_000
"""Characters of the log, its newest, in which a file or a link that an answer names must stand."""


async def ask_user(desk: Desk, choice: BranchChoice) -> Observation:
    """Ask the person."""
    question = printable(choice.args["question"])
    reply = (await desk.live.ask(question)).strip()
    if not reply:
        text = "Nobody answered. Decide it without the person, or leave out what depends on it."
        return Observation(text, Status.FAILED, trusted=True)
    desk.heard(question, reply)
    return Observation(reply, trusted=True)


async def intermediate_answer(desk: Desk, choice: BranchChoice) -> Observation:
    """Show the person what there is so far, and hear what they say to it."""
    text = await _safe(desk, choice.args["text"])
    desk.live.say_apart(text)
    found = _used(desk, choice.args["uses"], text)
    reply = (await desk.live.ask(tr(GO_ON))).strip()
    if not reply:
        told = "The person was shown it and said nothing to it. Go on."
        return Observation(told, artifacts=found, trusted=True)
    desk.heard(tr(GO_ON), reply)
    return Observation(reply, artifacts=found, trusted=True)


async def final_answer(desk: Desk, choice: BranchChoice) -> Observation:
    """Answer the person: the goal is over."""
    depth = desk.inner
    text = await _safe(desk, choice.args["text"])
    desk.live.say_apart(text)
    found = _used(desk, choice.args["uses"], text)
    return Observation(text, went(desk.frames[depth].outline), found, ends=True)


async def finish(desk: Desk, choice: BranchChoice) -> Observation:
    """Tell the caller what came of the task: the inner controller is done."""
    text = choice.args["summary"]
    found = _used(desk, choice.args["uses"], text)
    return Observation(text, went(desk.frames[desk.inner].outline), found, ends=True)


TALKING: dict[str, Running] = {
    "ask_user": ask_user,
    "intermediate_answer": intermediate_answer,
    "final_answer": final_answer,
    "finish": finish,
}
"""By the names of the branches."""


def went(outline: Outline | None) -> Status:
    """How a plan went, as its steps are marked; one that is still open may have been done."""
    states = {step.state for step in outline or ()}
    if StepState.FAILED not in states:
        return Status.DONE
    return Status.PARTLY if StepState.DONE in states else Status.FAILED


def _used(desk: Desk, names: Sequence[str], text: str) -> tuple[Artifact, ...]:
    """The things that an answer is about: those it says it uses, as far as there are any of the
    name, and those that were made and stand in its text."""
    found: dict[Artifact, None] = {}
    for name in names:
        try:
            found |= dict.fromkeys(chosen(desk, [name]).values())
        except InputError as error:
            desk.live.trace(error.message)
    made = set(desk.made)
    named = {name: item for name, item in at_hand(desk).items() if item in made and item.path}
    found |= {item: None for name, item in named.items() if name in text}
    return tuple(found)


async def _safe(desk: Desk, text: str) -> str:
    """The text without files and links that nobody gave."""
    known = "\n".join(_known(desk))
    return await asyncio.to_thread(guarded, known, printable(text))


def _known(desk: Desk) -> Iterable[str]:
    yield desk.goal.text
    yield from desk.said
    yield from at_hand(desk)
    left = KNOWN
    for entry in reversed(desk.log):
        yield entry.observation
        left -= len(entry.observation)
        if left < 0:
            break
