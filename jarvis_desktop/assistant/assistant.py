"""The front door: takes a request through all stages and gives back the finished turn."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from jarvis_desktop.assistant.journal import Scribe, blank, given_up, retold
from jarvis_desktop.assistant.live_turn import Live
from jarvis_desktop.assistant.pipeline import Parts, Stages, speech_of
from jarvis_desktop.assistant.talk.hands_free import HandsFree
from jarvis_desktop.core.context import current_conversation, current_note, current_turn
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.events import Kept, Noted, Speaking, TurnFinished, TurnStarted
from jarvis_desktop.core.expert import Candidate, Status
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Frontend, Unfinished
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Conversation, Request, Turn

log = logging.getLogger(__name__)

ENDING_SECONDS = 2.0
"""How long what was asked for last waits for the turn before it, which is being stopped."""


class _Running(NamedTuple):
    task: asyncio.Task[Turn]
    conversation: str


class Assistant:
    """Handles requests, each as one turn of a conversation."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._stages = Stages(parts)
        self._running: dict[str, _Running] = {}
        self._lives: list[Live] = []
        """The turns that run, the last begun last."""
        self._settling: set[asyncio.Task[None]] = set()
        self._keeping: set[asyncio.Task[None]] = set()

    async def handle(
        self,
        request: Request,
        frontend: Frontend,
        *,
        conversation: str | None = None,
        plan: Plan | None = None,
    ) -> Turn:
        """Answer a request, or run a `plan` that is there already.

        Every turn ends in an answer or a stated reason and is kept in the history. Cancelling
        stops all work and all sound, keeps the turn as stopped, and raises CancelledError.
        """
        self._leave_summing_up()
        known, turn = self._open(conversation), self._new()
        unfinished = Unfinished(
            known.id, turn, speak=request.speak, folder=request.folder, fixed=plan is not None
        )
        hands_free = self._parts.hands_free() if request.heard else None
        live = self._live(unfinished, turn, frontend, hands_free)
        with self._under_way(live, known.id):
            live.show(TurnStarted(turn.id, turn.started, request.text.strip()))
            answer = partial(self._stages.answer, request, plan, known, live)
            await self._complete(answer, known, live)
        return live.turn

    async def run_again(
        self,
        turn: Turn,
        plan: Plan,
        frontend: Frontend,
        *,
        conversation: str | None,
        afresh: frozenset[int] = frozenset(),
    ) -> Turn:
        """Carry out `plan` for the request of an earlier turn, as a new turn that ends as any.

        What that turn has done of it stays, but for the tasks `afresh` and what depends on them.
        """
        self._leave_summing_up()
        known, new = self._open(conversation), self._new()
        live = self._live(Unfinished(known.id, new, fixed=True), new, frontend)
        with self._under_way(live, known.id):
            live.show(TurnStarted(new.id, new.started, turn.text, turn.attachments))
            answer = partial(self._stages.once_more, turn, plan, afresh, known, live)
            await self._complete(answer, known, live)
        return live.turn

    async def change(
        self, plan: Plan, *, turn_id: str = "", afresh: frozenset[int] = frozenset()
    ) -> bool:
        """Let a turn that carries out a plan go on with this one; the last begun, if not named.

        What is unchanged goes on or stays done, but for the tasks `afresh` and what depends on
        them: those give up what they gave, and begin anew. False where no such turn runs, or its
        plan is carried out already. Raises InputError where a file of the plan cannot be used.
        """
        turns = [live for live in self._lives if turn_id in ("", live.turn.id)]
        changeable = [live for live in turns if live.course and not live.turn.agentic]
        if not changeable:
            return False
        settled = await self._parts.intake.settled(plan, None)
        if (course := changeable[-1].course) is None:
            return False
        course.change(settled, afresh=afresh)
        return True

    async def revise(self, plan: Plan, words: str, *, conversation: str | None) -> Plan:
        """The plan as the words want it. Raises InputError that says what was not understood."""
        return await self._stages.revise(plan, words, self._open(conversation))

    async def experts_for(self, task: Task) -> Sequence[Candidate]:
        """Who could do the task now, the best first; a pin on it changes nothing."""
        return await self._parts.selector.able(task)

    def unfinished(self) -> Sequence[Unfinished]:
        """The turns that a crash or a power cut ended, oldest first. Raises StorageError."""
        return self._parts.journal.unfinished()

    def elsewhere(self) -> Collection[str]:
        """The ids of the turns that another process works on now. Raises StorageError."""
        return self._parts.journal.elsewhere()

    async def resume(self, unfinished: Unfinished, frontend: Frontend) -> Turn:
        """Go on with such a turn where it stopped; what was done is not done again.

        It is shown from its beginning and ends as any other, under its own id in its conversation.
        Raises InputError where it goes on elsewhere, is over, or cannot be gone on with.
        """
        self._leave_summing_up()
        if unfinished.turn.plan is None and not unfinished.goal:
            raise InputError(
                tr(
                    "This request cannot be gone on with: its plan is of another version of JARVIS."
                ),
                hint=tr("Give it up, which keeps what was done of it, and ask anew."),
            )
        if unfinished.goal:  # before it is taken over: it shall be there once there is an LLM
            await self._parts.agent.check()
        left = self._take_over(unfinished)
        known = self._open(left.conversation)
        live = self._live(left, blank(left), frontend)
        with self._under_way(live, known.id):
            for event in retold(left):
                live.retell(event)
            if left.goal:
                for event in self._parts.agent.retold(left.turn.id):
                    live.retell(event)
            await self._complete(partial(self._stages.go_on, left, known, live), known, live)
        return live.turn

    def give_up(self, unfinished: Unfinished) -> Turn:
        """Keep such a turn in the history with what was done of it, and go on with it no more.

        Raises InputError where it goes on elsewhere or is over, StorageError where it cannot be
        written.
        """
        left = self._take_over(unfinished)
        rounds = tuple(self._parts.agent.retold(left.turn.id)) if left.goal else ()
        if left.goal:
            self._parts.agent.give_up(left.turn.id)
        turn = given_up(left, self._parts.now(), rounds)
        self._parts.history.save(left.conversation, turn)
        self._parts.journal.end(turn.id)
        return turn

    async def set_aside(self, request: Request, *, conversation: str) -> Turn:
        """Keep a request in the history as stopped that was never begun with, and its files, but
        for those that cannot be used.

        Raises StorageError where it cannot be written.
        """
        turn = replace(self._new(), text=request.text.strip(), reply=tr("Stopped."))
        turn = turn.apply(TurnFinished(Status.CANCELLED, self._parts.now()))
        with _on_behalf_of(turn.id, conversation):
            # Its words in any case: JARVIS may be about to end, which takes no time for files.
            words = asyncio.create_task(self._keep_last(conversation, turn))
            self._keeping.add(words)
            words.add_done_callback(self._keeping.discard)
            await asyncio.shield(words)
            for path in request.files:
                with suppress(JarvisError):
                    given = await self._parts.intake.given(replace(request, files=(path,)))
                    turn = replace(turn, attachments=turn.attachments + given)
                    if not self._parts.history.amend(conversation, turn):
                        break  # the person has deleted it meanwhile
        return turn

    def interrupt(self) -> bool:
        """Stop what runs for a goal, and let whoever began it hear what the person says.

        False where nothing is to be stopped in this way: then the turn itself is to be cancelled.
        """
        return self._parts.agent.stop()

    def names(self) -> Sequence[str]:
        """Of the files that were given lately."""
        return self._stages.names

    def silence(self) -> None:
        """Say no more of the turns that run, which go on."""
        self._parts.speaker.silence()
        for live in self._lives:
            live.silence()
            if live.turn.speaking:
                live.show(Speaking(""))

    async def close(self) -> None:
        """End what goes on behind the turns; what was not begun yet is begun, to leave a trace."""
        await asyncio.sleep(0)
        await asyncio.gather(*self._leave_summing_up(), *self._keeping, return_exceptions=True)

    async def _keep_last(self, conversation: str, turn: Turn) -> None:
        """Behind what is being stopped in its conversation: in that order it was asked for."""
        ending = {task for task, place in self._running.values() if place == conversation}
        if ending:
            await asyncio.wait(ending, timeout=ENDING_SECONDS)
        self._parts.history.save(conversation, turn)

    def _take_over(self, unfinished: Unfinished) -> Unfinished:
        turn_id = unfinished.turn.id
        runs = turn_id in self._running
        left = None if runs else self._parts.journal.take_over(turn_id)
        if left is None:
            raise InputError(tr("This request is over already, or goes on elsewhere."))
        return left

    def _live(
        self,
        unfinished: Unfinished,
        turn: Turn,
        frontend: Frontend,
        hands_free: HandsFree | None = None,
    ) -> Live:
        parts = self._parts
        scribe = Scribe(parts.journal, unfinished, acting=parts.acting)
        speaker = parts.speaker if unfinished.speak else None
        return Live(turn, frontend, scribe=scribe, speaker=speaker, hands_free=hands_free)

    @contextmanager
    def _under_way(self, live: Live, conversation: str) -> Iterator[None]:
        """While the turn runs it can be stopped, and what runs for it knows that it does."""
        turn_id = live.turn.id
        note = current_note.set(live.note)
        self._running[turn_id] = _Running(_this_task(), conversation)
        self._lives.append(live)
        try:
            with _on_behalf_of(turn_id, conversation):
                yield
        finally:
            self._lives.remove(live)
            del self._running[turn_id]
            current_note.reset(note)

    def _new(self) -> Turn:
        return Turn(id=secrets.token_hex(8), started=self._parts.now())

    def _open(self, conversation: str | None) -> Conversation:
        try:
            return self._parts.history.open_conversation(conversation)
        except JarvisError:
            # Without its past the request can still be answered; keeping it will tell why.
            return Conversation(conversation or secrets.token_hex(16))

    def stop_others(self) -> int:
        """Stop every turn but the one that calls this; how many there were."""
        own = current_turn.get()
        others = [running for turn_id, running in self._running.items() if turn_id != own]
        for running in others:
            running.task.cancel()
        return len(others)

    async def _complete(
        self, answer: Callable[[], Awaitable[Status]], known: Conversation, live: Live
    ) -> None:
        """Answer, keep, and speak to the end."""
        try:
            status = await self._answered(answer, live)
        except asyncio.CancelledError:
            # Nothing is awaited before it is kept: people press a button twice.
            live.silence()
            live.say_apart(tr("Stopped."))
            ended = TurnFinished(Status.CANCELLED, self._parts.now())
            self._keep(known, live, ended)
            live.show(ended)
            await live.silent()
            raise
        # Kept the moment it is whole: a long answer may be silenced, or the power cut, while it
        # is still being spoken, and is an answer all the same.
        ended = TurnFinished(status, self._parts.now())
        if self._keep(known, live, ended):
            live.show(Kept())
            self._sum_up(known)
        try:
            await live.spoken()
            for audio, text in speech_of(live.turn):
                await live.play(self._parts.speaker, audio, text)
        finally:
            live.show(ended)

    async def _answered(self, answer: Callable[[], Awaitable[Status]], live: Live) -> Status:
        """How it went; what kept from it is said."""
        try:
            return await answer()
        except JarvisError as error:
            live.say_apart(str(error))
        except Exception as error:  # noqa: BLE001 - the engine's last resort: no turn ends in silence
            log.error("A turn ended in an unexpected error: %s", frames(error))
            live.say_apart(
                tr(
                    "Something went wrong inside JARVIS itself. Nothing of yours was lost; "
                    "the log has the details (jarvis-desktop doctor says where it is)."
                )
            )
        return Status.FAILED

    def _keep(self, known: Conversation, live: Live, ended: TurnFinished) -> bool:
        try:
            self._parts.history.save(known.id, live.turn.apply(ended))
        except JarvisError as error:
            live.show(Noted(tr("This turn could not be kept in the history: {error}", error=error)))
            kept = False
        else:
            kept = True
        # What could not be kept may still be gone on with, and kept then; not what was stopped.
        if kept or ended.status is Status.CANCELLED:
            live.scribe.forget()
        return kept

    def _sum_up(self, known: Conversation) -> None:
        """Let the older turns be summed up while nobody waits for an answer."""
        settling = asyncio.create_task(self._parts.memory.settle(known.id))
        self._settling.add(settling)
        settling.add_done_callback(self._settling.discard)

    def _leave_summing_up(self) -> list[asyncio.Task[None]]:
        """A new request needs the LLM for itself; the rest is summed up after it."""
        left = list(self._settling)
        for task in left:
            task.cancel()
        return left


@contextmanager
def _on_behalf_of(turn_id: str, conversation: str) -> Iterator[None]:
    """What is kept meanwhile belongs to this turn."""
    turn, talk = current_turn.set(turn_id), current_conversation.set(conversation)
    try:
        yield
    finally:
        current_conversation.reset(talk)
        current_turn.reset(turn)


def _this_task() -> asyncio.Task[Turn]:
    task = asyncio.current_task()
    assert task is not None
    return task
