"""The way from a request to its answer: understood, planned, carried out, answered.

What a request says and what it is about: its words, heard where they were spoken, its files, and
all that is known beside them.

What an assistant is made of."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jarvis_desktop.assistant import answer_template
from jarvis_desktop.assistant.agent.agent import Agent
from jarvis_desktop.assistant.answer_writer import Answerer
from jarvis_desktop.assistant.attachments import Intake
from jarvis_desktop.assistant.execution.executor import Executor
from jarvis_desktop.assistant.execution.replanning import MOST_ROUNDS, Campaign
from jarvis_desktop.assistant.live_turn import Live
from jarvis_desktop.assistant.memory import ConversationMemory
from jarvis_desktop.assistant.planning import request_parser
from jarvis_desktop.assistant.selection.acquire import Obtainer
from jarvis_desktop.assistant.selection.selector import Selector
from jarvis_desktop.assistant.speaker import AnswerSpeaker
from jarvis_desktop.assistant.talk.hands_free import HandsFree
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.events import (
    Attached,
    ExpertsSelected,
    Noted,
    PlanAccepted,
    PlanProposed,
    TaskFinished,
    Transcribed,
)
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import (
    Context,
    Declined,
    Direct,
    ForAgent,
    History,
    Journal,
    Planner,
    Unfinished,
)
from jarvis_desktop.core.speech import Recogniser, Transcript
from jarvis_desktop.core.task import Task, TaskType
from jarvis_desktop.core.turn import Conversation, Request, Turn

MOST_NAMES = 10
LONGEST_REQUEST = 200_000
"""Characters; a longer text belongs in a file."""


class Understanding:
    """Takes in what a person said and gave."""

    def __init__(self, intake: Intake, recogniser: Recogniser, memory: ConversationMemory) -> None:
        self._intake = intake
        self._recogniser = recogniser
        self._memory = memory
        self.names: tuple[str, ...] = ()
        """Of the files that were given lately, without their endings, the newest first: words that
        the person may say."""

    async def of(
        self,
        request: Request,
        known: Conversation,
        live: Live,
        *,
        inventory: Sequence[TaskType],
        links: bool = True,
    ) -> tuple[str, Context]:
        """What is asked, a file's name in the place of each address, and what is known beside it.

        Without `links` the addresses stay as they are, and nothing is fetched for them.

        Raises JarvisError where the words cannot be heard, or a file cannot be had or used.
        """
        text = request.text.strip()
        if len(text) > LONGEST_REQUEST:
            raise InputError(
                tr(
                    "The text is {text:,} characters long; the most is {longest_request:,}.",
                    text=len(text),
                    longest_request=LONGEST_REQUEST,
                ),
                hint=tr("Put it in a file and give the file."),
            )
        attachments = await self._intake.given(request)
        audio = Artifact(Kind.AUDIO, path=request.audio) if request.audio else None
        if request.heard:
            text = _shown(request.heard, live)
        elif not text and audio is None:
            audio, attachments = _spoken(attachments)
        if attachments:
            live.show(Attached(attachments))
        if audio is not None:
            text = await self._listen(audio, live)
        # Names and addresses in a pasted text are content: no file is fetched for them.
        instruction, _ = request_parser.split_pasted(text, inventory)
        named = await self._intake.named(instruction, request, attachments)
        linked = await self._intake.linked(instruction, (*attachments, *named)) if links else {}
        if named or linked:
            attachments = (*attachments, *named, *linked.values())
            live.show(Attached(attachments))
        for written in sorted(linked, key=len, reverse=True):  # one may begin another
            text = text.replace(written, linked[written].title)
        given = (Path(item.name).stem for item in reversed(attachments) if item.name)
        self.names = tuple(dict.fromkeys((*given, *self.names)))[:MOST_NAMES]
        context = await self._memory.context(
            known, attachments, folder=request.folder, trace=live.trace
        )
        return text, context

    async def _listen(self, audio: Artifact, live: Live) -> str:
        def report(fraction: float | None, message: str) -> None:
            """Speech is quick enough to need no progress of its own."""

        assert audio.path is not None
        try:
            heard = await self._recogniser.transcribe(audio.path, report)
        except InputError as error:
            # The store's name for it means nothing to the person who gave the file.
            message = error.message.replace(audio.path.name, audio.title)
            raise InputError(message, hint=error.hint) from error
        return _shown(heard, live)


def _shown(heard: Transcript, live: Live) -> str:
    """Its words, and what to know about them, once the person sees both."""
    live.show(Transcribed(heard.text, heard.engine))
    if heard.note:
        live.show(Noted(heard.note))
    return heard.text


def _spoken(attachments: tuple[Artifact, ...]) -> tuple[Artifact | None, tuple[Artifact, ...]]:
    """With no words at all, the one recording among the files is the request."""
    recordings = [item for item in attachments if item.kind is Kind.AUDIO]
    if len(recordings) != 1:
        return None, attachments
    rest = tuple(item for item in attachments if item is not recordings[0])
    return recordings[0], rest


@dataclass(frozen=True, slots=True)
class Parts:
    """The stages of a turn, and what they need."""

    planner: Planner
    inventory: Sequence[TaskType]
    selector: Selector
    executor: Executor
    intake: Intake
    obtainer: Obtainer
    recogniser: Recogniser
    speaker: AnswerSpeaker
    answerer: Answerer
    memory: ConversationMemory
    history: History
    journal: Journal
    agent: Agent
    acting: Collection[str]
    """The tasks that do something outside of the store, which must not be done twice unasked."""
    now: Callable[[], datetime]
    hands_free: Callable[[], HandsFree | None] = lambda: None
    """Asks aloud about what was asked aloud; None where nobody wants that now."""


log = logging.getLogger(__name__)


class Stages:
    """Goes that way for one turn after the other; each gives how its turn went."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._understanding = Understanding(parts.intake, parts.recogniser, parts.memory)
        self._campaign = Campaign(
            parts.planner,
            parts.inventory,
            selector=parts.selector,
            executor=parts.executor,
            obtainer=parts.obtainer,
        )

    @property
    def names(self) -> Sequence[str]:
        """Of the files that were given lately."""
        return self._understanding.names

    async def answer(
        self, request: Request, plan: Plan | None, known: Conversation, live: Live
    ) -> Status:
        """Everything up to the written answer, with a `plan` that is there already or one to be
        made."""
        if plan is not None:
            given = await self._parts.intake.settled(plan, request.folder)
            context = Context(folder=request.folder, trace=live.trace)
            return await self._carry_out(given, context, live, rounds=0)
        inventory = self._parts.inventory
        words, context = await self._understanding.of(
            request, known, live, inventory=inventory, links=request.terms is None
        )
        if request.terms is not None:
            return await self._reach(words, request.terms, context, known, live)
        planned = await self._parts.planner.plan(words, inventory, context)
        if isinstance(planned, Direct):
            return await self._parts.answerer.direct(live.turn.text, context, live.say)
        if isinstance(planned, Plan):
            return await self._carry_out(planned, context, live, rounds=MOST_ROUNDS)
        if isinstance(planned, ForAgent):
            return await self._reach(words, Terms(), context, known, live)
        live.say(planned.reason)
        return Status.FAILED

    async def go_on(self, left: Unfinished, known: Conversation, live: Live) -> Status:
        """Everything that is missing for the written answer of a turn that was cut off."""
        context = await self._context(known, left.turn, left.folder, live)
        if left.goal:
            return await self._parts.agent.go_on(context, live, conversation=known.id)
        plan = left.turn.plan
        assert plan is not None
        # A plan that was given is carried out as it is, this time too.
        rounds = 0 if left.fixed else MOST_ROUNDS
        if not left.begun:
            return await self._carry_out(plan, context, live, rounds=rounds)
        withheld: dict[int, str] = {}
        for task in plan:
            if task.id in left.perhaps and not await live.confirm(_again(task)):
                withheld[task.id] = tr("It may have been done already, so it was not done again.")
        await self._campaign.carry_out(plan, context, live, rounds=rounds, withheld=withheld)
        return await self._from_results(context, live)

    async def once_more(
        self,
        turn: Turn,
        plan: Plan,
        afresh: Collection[int],
        known: Conversation,
        live: Live,
    ) -> Status:
        """Everything up to the written answer of another turn, by a plan like that of `turn`.

        What that one has done of it is not done again, but for the tasks `afresh`, those whose
        files are gone, and all that depends on them.
        """
        plan = await self._parts.intake.settled(plan, None)
        same = plan.unchanged(turn.plan) if turn.plan else frozenset()
        done = {
            task_id: result
            for task_id, result in turn.results.items()
            if task_id in same
            and result.status is Status.DONE
            and await self._parts.intake.holds(result.artifacts)
        }
        stale = plan.depending_on({*afresh, *(task.id for task in plan if task.id not in done)})
        kept = [done[task.id] for task in plan if task.id not in stale]
        live.show(PlanAccepted(plan))
        by_whom = (item for item in turn.selections if item.task_id in done.keys() - stale)
        live.show(ExpertsSelected(tuple(by_whom)))
        for result in kept:
            live.show(TaskFinished(result))
        context = await self._context(known, turn, None, live)
        await self._campaign.carry_out(plan, context, live, rounds=0)
        return await self._from_results(context, live)

    async def revise(self, plan: Plan, words: str, known: Conversation) -> Plan:
        """The plan as the words want it. Raises InputError that says what was not understood."""
        given = (item for task in plan for _, item in task.items() if isinstance(item, Artifact))
        context = await self._parts.memory.context(
            known, tuple(dict.fromkeys(given)), folder=None, trace=log.debug
        )
        inventory = self._parts.inventory
        revised = await self._parts.planner.revise(words, inventory, context, plan=plan)
        if isinstance(revised, Declined):
            raise InputError(revised.reason)
        return revised

    async def _context(
        self, known: Conversation, turn: Turn, folder: Path | None, live: Live
    ) -> Context:
        return await self._parts.memory.context(
            known, turn.attachments, folder=folder, trace=live.trace
        )

    async def _reach(
        self, words: str, terms: Terms, context: Context, known: Conversation, live: Live
    ) -> Status:
        """Everything up to the answer, in agent mode."""
        agent = self._parts.agent
        return await agent.take(words, terms, context, live, conversation=known.id)

    async def _carry_out(self, plan: Plan, context: Context, live: Live, *, rounds: int) -> Status:
        """Run a plan that the person agrees to, and answer from its results."""
        live.show(PlanProposed(plan))
        accepted = await live.review(plan)
        if accepted is None:
            live.say(tr("The plan was not accepted, so nothing was done."))
            return Status.CANCELLED
        if accepted != plan:
            accepted = await self._parts.intake.settled(accepted, context.folder)
        live.show(PlanAccepted(accepted))
        await self._campaign.carry_out(accepted, context, live, rounds=rounds)
        return await self._from_results(context, live)

    async def _from_results(self, context: Context, live: Live) -> Status:
        if live.turn.plan is not None and not live.turn.plan.tasks:
            live.say(tr("No step is left in the plan, so there was nothing to do."))
            return Status.CANCELLED
        if speech_of(live.turn):
            live.hush()  # what is heard then is the speech that was asked for
        return await self._parts.answerer.of_results(live.turn, context, live.say)


def speech_of(turn: Turn) -> list[tuple[Path, str]]:
    """The speech that was asked for: (audio file, what it says)."""
    if turn.plan is None:
        return []
    return [
        (item.path, answer_template.said(turn, task))
        for task in turn.plan.tasks
        if task.type.name == answer_template.SPEECH_TASK and task.id in turn.results
        for item in turn.results[task.id].artifacts
        if item.path is not None
    ]


def _again(task: Task) -> str:
    return tr(
        "{step}: this may have been done already when JARVIS was cut off. Do it again?",
        step=task.type.called.capitalize(),
    )
