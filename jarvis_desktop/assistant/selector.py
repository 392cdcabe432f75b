"""Picks the candidates for each task: what is there, allowed and fits, the best first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from jarvis_desktop.assistant.choosing import TOP, Choice, Chooser, Question, told
from jarvis_desktop.assistant.fitting import Fitting, Room, readable_size
from jarvis_desktop.assistant.ranking import Ranked, Similarity, overlap, rank, rank_to_fetch
from jarvis_desktop.core.expert import Candidate, Experience, Expert, Selection
from jarvis_desktop.core.llm import LLM, LLMs
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import Catalogue, TrackRecord
from jarvis_desktop.core.task import Task, TaskType


@dataclass(frozen=True, slots=True)
class _Known:
    """What the event loop found out about a task, for the thread that ranks."""

    task: Task
    candidates: tuple[Candidate, ...]
    experience: Mapping[str, Experience]


class Selector:
    """Turns a plan into one Selection per task.

    Without `llms` no LLM is a candidate, and without `chooser` none is asked to choose.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        policy: Policy,
        *,
        fitting: Fitting | None = None,
        record: TrackRecord | None = None,
        similarity: Similarity = overlap,
        llms: LLMs | None = None,
        chooser: Chooser | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._policy = policy
        self._fitting = fitting or Fitting()
        self._record = record
        self._similarity = similarity
        self._llms = llms
        self._chooser = chooser

    async def select(
        self,
        tasks: Iterable[Task],
        text: str = "",
        *,
        trace: Callable[[str], None] = lambda text: None,
    ) -> tuple[Selection, ...]:
        """For each task its candidates, best first, and why; none with the reason for that.

        `text` is the request. `trace` is told how the LLM was asked, where it was.
        """
        tasks = tuple(tasks)
        listed = [tuple(self._catalogue.candidates(task.type.name)) for task in tasks]
        llm = await self._llm(listed)
        known = [self._known(task, found, llm) for task, found in zip(tasks, listed, strict=True)]
        # Measuring memory and telling languages apart may take a while the first time.
        ordered = await asyncio.to_thread(self._ordered, known, text)
        selections = [selection for selection, _ in ordered]
        questions = [question for _, question in ordered if question]
        if not (llm and self._chooser and questions):
            return tuple(selections)
        choices = await self._chooser.choose(llm, questions, request=text, trace=trace)
        return tuple(
            _chosen(item, choices[item.task_id], llm) if item.task_id in choices else item
            for item in selections
        )

    def can_do(self, task_type: TaskType, llm: LLM) -> bool:
        """Whether an expert or the LLM could do such a task, or an expert that can be fetched.

        The mode, the room and the licences count. Which language an expert understands does not:
        that is known only once there is a request.
        """
        task, room = Task(0, task_type), self._fitting.room()

        def fits(expert: Expert, objection: Callable[..., str]) -> bool:
            spoken_by_all = replace(expert, languages=())
            return not objection(spoken_by_all, task, request="", room=room)

        known = self._known(task, tuple(self._catalogue.candidates(task_type.name)), llm)
        if any(
            self._policy.allows(item) and fits(item.expert, self._fitting.objection)
            for item in known.candidates
        ):
            return True
        return self._policy.allows_downloads and any(
            fits(expert, self._fitting.objection_to_fetching)
            for expert in self._catalogue.obtainable(task_type.name)
        )

    async def _llm(self, listed: Sequence[Sequence[Candidate]]) -> LLM | None:
        """The LLM, where there is a task that it could do: looking for it may take a moment."""
        if self._llms is None or all(found and _instant(found) for found in listed):
            return None
        return await self._llms.current()

    def _known(self, task: Task, found: tuple[Candidate, ...], llm: LLM | None) -> _Known:
        name = task.type.name
        if llm and not (found and _instant(found)):
            itself = self._catalogue.by_llm(name, llm)
            found = (*found, itself) if itself else found
        return _Known(task, found, self._record.of(name) if self._record else {})

    def _ordered(
        self, known: Sequence[_Known], text: str
    ) -> list[tuple[Selection, Question | None]]:
        room = self._fitting.room()
        return [self._order(item, text, room) for item in known]

    def _order(self, known: _Known, text: str, room: Room) -> tuple[Selection, Question | None]:
        """One task's selection; with it a question, where there is one to ask."""
        task = known.task
        allowed = [item for item in known.candidates if self._policy.allows(item)]
        objections = {
            item: self._fitting.objection(item.expert, task, request=text, room=room)
            for item in allowed
        }
        fitting = [item for item in allowed if not objections[item]]
        if not fitting:
            return self._none(known, objections, text, room), None
        ranked = rank(fitting, text, known=known.experience, similarity=self._similarity)
        order = tuple(item.candidate for item in ranked)
        choice = tuple(item for item in ranked if item.tier == 0)[:TOP]
        question = Question(task, choice) if len(choice) > 1 else None
        return Selection(task.id, order, _why(ranked)), question

    def _none(
        self, known: _Known, objections: Mapping[Candidate, str], text: str, room: Room
    ) -> Selection:
        """Why a task has no candidate, and an expert to fetch where that would help."""
        task = known.task
        if known.candidates and not objections:
            reason = f"The mode “{self._policy.mode}” allows none of its experts."
            return Selection(task.id, (), reason)
        against = {item.expert: objection for item, objection in objections.items()}
        fetchable = []
        for expert in self._catalogue.obtainable(task.type.name):
            objection = self._fitting.objection_to_fetching(expert, task, request=text, room=room)
            if objection:
                against[expert] = objection
            else:
                fetchable.append(expert)
        if not fetchable:
            return Selection(task.id, (), self._nothing(task, against))
        best = rank_to_fetch(fetchable, text, similarity=self._similarity)[0]
        needs = f"It needs an expert that is not on this computer: {described(best)}."
        if not self._policy.allows_downloads:
            reason = f"{needs} The mode is offline; choose another mode to fetch it."
            return Selection(task.id, (), reason)
        reason = f"{needs} To get it: jarvis-desktop experts pull {best.id}"
        return Selection(task.id, (), reason, offer=best)

    def _nothing(self, task: Task, against: Mapping[Expert, str]) -> str:
        if against:
            reasons = "; ".join(f"{expert.id} {why}" for expert, why in list(against.items())[:3])
            return f"None of its experts is for this: {reasons}."
        beyond = self._catalogue.out_of_reach(task.type.name)
        if not beyond:
            return f"There is no expert for {task.type.title} yet."
        return (
            f"It needs an expert such as {described(beyond[0])}, "
            "which this version of JARVIS cannot run yet."
        )


def described(expert: Expert) -> str:
    """An expert with its download's size and its licence."""
    about = "" if expert.verified else "about "
    licence = f", licence {expert.licence}" if expert.licence else ""
    return f"{expert.id} ({about}{readable_size(expert.download_mb)} to download{licence})"


def _instant(candidates: Sequence[Candidate]) -> bool:
    """Whether a task is done by skills alone, at once and exactly: nothing is to be chosen."""
    return all(item.backend == "skill" for item in candidates)


def _why(ranked: Sequence[Ranked]) -> str:
    """Why the first one is first, in a sentence or two."""
    first = ranked[0]
    where = "answers over the network" if first.candidate.remote else "runs on this computer now"
    parts = [f"{first.candidate.expert.id} {where}"]
    if experience := told(first.experience):
        parts.append(experience)
    others = [item for item in ranked[1:] if item.tier == first.tier]
    if others:
        plural = "s" if len(others) > 1 else ""
        parts.append(f"ranked before {len(others)} other{plural}")
    return "; ".join(parts) + "."


def _chosen(selection: Selection, choice: Choice, llm: LLM) -> Selection:
    """The chosen one first; the rest stays in its order, as the fallback."""
    rest = tuple(item for item in selection.candidates if item != choice.candidate)
    why = f": {choice.reason}" if choice.reason else "."
    return replace(
        selection,
        candidates=(choice.candidate, *rest),
        reason=f"{llm.name} chose {choice.candidate.expert.id}{why}",
    )
