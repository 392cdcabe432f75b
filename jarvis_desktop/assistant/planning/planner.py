"""Combine two planners: the quick one if it is sure, the LLM for everything else.

Plain words can show that a request is a goal for agent mode, which no single plan reaches.

Three kinds: `embedded` uses cues, then the scores of the encoder (`backends/task_encoder.py`);
`llm` the LLM, checked, with the embedded planner to fall back on; `auto` the embedded one if its
cues are sure, otherwise the LLM. A plan is made from the instruction only: what is pasted after it,
and what a file says, is content, from which no step, file name or option is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from jarvis_desktop.assistant.planning import foreign_requests, request_parser
from jarvis_desktop.assistant.planning.inputs import ASK_TABLE, CHART, COUNT_WORDS, EDIT_TABLE
from jarvis_desktop.assistant.planning.table_phrases import table_at_hand
from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.expert import TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import (
    Context,
    Planned,
    Planner,
    PlanRejected,
)
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.text.languages import is_foreign

GERMAN = frozenset(
    {"audio-to-audio", "convert-file", "cut-file", "edit-text", "join-files", "save-file"}
    | {"file-details", "document-to-text", COUNT_WORDS, ASK_TABLE, EDIT_TABLE, CHART}
)
"""Tasks with German cues. Those of the others are English, and "Timer" is German as well."""

_begin = r"(?:^|[.;:!?,]\s+|\b(?:and|then|please|you|to)\s+)"
_many = r"(?:\d{2,6}|hundreds of|thousands of|dozens of)"
_things = r"(?:files|photos|pictures|images|documents|pdfs|recordings|videos|tables|csvs)"
_goal = re.compile(
    # Said outright.
    r"^(?:hey |ok )?(?:jarvis,? )?(?:as an agent\b|(?:in|use|with) agent mode\b|agent mode:)"
    r"|\b(?:in|use|using) agent mode[.!]?$"
    r"|\b(?:work|go) (?:on|through) (?:this|it|that)\b.{0,40}?\b(?:step by step|on your own)\b"
    # A program.
    rf"|{_begin}(?:write|make|create|build)(?: and run)?(?: me)?(?: an?| some)?"
    r" (?:(?:small|short|little|simple|quick|new)\s+)?(?:python\s+)?(?:program|script|code)"
    r" (?:that|which)\b"
    rf"|{_begin}(?:write|run|use) (?:some |a bit of )?python\b"
    # A chart, but not "the plot of the film"; one of a table is a task of its own.
    rf"|(?P<chart>{_begin}plot (?:the|these|those|this|that|them|it|my|all|both|each|every|an?)\b)"
    r"|\b(?:charts?|graphs?|histograms?) (?:for|per) (?:each|every)\b"
    # The same for many things.
    rf"|\bfor (?:each|every one|all) of (?:these|those|the|my) {_many}\b"
    rf"|{_begin}rename (?:all |each of )?(?:of )?(?:(?:these|those|the|my) )?(?:{_many} )?"
    rf"{_things}\b(?=.*\b(?:what|contents?|shows?|says?|titles?)\b)"
)
_not = re.compile(
    r"^(?:how|what|why|when|who|where|is|are|do|does|did|should|don't|dont|never|forget|remember)\b"
    r"|\bhow (?:to|do|does|can|could|would|should)\b"
)
"""A question about such a thing, which an LLM answers in words, or the wish not to do it."""


def has_builtin_tasks(inventory: Sequence[TaskType]) -> bool:
    """Return whether the inventory is the application's; other tasks have descriptions only."""
    return any(item.cues or item.presets for item in inventory)


def asks_for_agent(text: str, inventory: Sequence[TaskType], context: Context) -> bool:
    """Return whether the words clearly ask for agent mode. Quoted or pasted text does not count."""
    head, _ = request_parser.split_pasted(text, inventory)
    quoted = request_parser.find_quotes(head)
    for mention in sorted(quoted, key=lambda item: item.start, reverse=True):
        head = f"{head[: mention.start]}…{head[mention.end :]}"
    even = " ".join(head.replace("’", "'").lower().split())
    found = _goal.search(even)
    if found is None or (found["chart"] and table_at_hand(context)):
        return False
    return not _not.search(even)


class LayeredPlanner:
    """Takes the embedded planner's plan, and asks the LLM planner if the embedded one declines, or
    if the request is in another language."""

    def __init__(self, embedded: Planner, llm: Planner, *, agent: bool = False) -> None:
        """`agent` says that there is an agent mode. What clearly asks for it goes to the LLM
        planner, which knows whether there is an LLM for it."""
        self._agent = agent
        self._embedded = embedded
        self._llm = llm
        self.replan = llm.replan
        """The LLM planner's: the embedded one knows one way only."""

    async def plan(self, text: str, inventory: Sequence[TaskType], context: Context) -> Planned:
        """Return the embedded planner's plan if it makes one, else the LLM planner's answer."""
        if (
            self._agent
            and has_builtin_tasks(inventory)
            and asks_for_agent(text, inventory, context)
        ):
            return await self._llm.plan(text, inventory, context)
        if is_foreign(text) and not (
            has_builtin_tasks(inventory) and foreign_requests.in_english(text)
        ):
            return await self._foreign(text, inventory, context)
        planned = await self._embedded.plan(text, inventory, context)
        if not isinstance(planned, PlanRejected) or planned.final:
            return planned
        return await self._llm.plan(text, inventory, context)

    async def revise(
        self, words: str, inventory: Sequence[TaskType], context: Context, *, plan: Plan
    ) -> Plan | PlanRejected:
        """Return the embedded planner's plan if the words only leave steps out, which needs no
        LLM; else the LLM planner's answer."""
        own = await self._embedded.revise(words, inventory, context, plan=plan)
        if isinstance(own, Plan) and {task.id for task in own} < {task.id for task in plan}:
            return own
        return await self._llm.revise(words, inventory, context, plan=plan)

    async def _foreign(self, text: str, inventory: Sequence[TaskType], context: Context) -> Planned:
        """Return the embedded planner's plan if only tasks whose cues are German as well do all of
        it; what it leaves open is for the LLM, if there is one."""
        notes: list[str] = []
        before = current_note.set(notes.append)
        known = [item for item in inventory if item.name in GERMAN]
        try:
            planned = await self._embedded.plan(text, known, context) if known else None
        finally:
            current_note.reset(before)
        if isinstance(planned, Plan) and not planned.undone:
            return planned
        other = await self._llm.plan(text, inventory, context)
        if not isinstance(planned, Plan) or not isinstance(other, PlanRejected):
            return other
        for note in notes:
            current_note.get()(note)
        return planned


class ConfiguredPlanner:
    """Plans with the planner that `kind` names when a request comes."""

    def __init__(self, planners: Mapping[str, Planner], kind: Callable[[], str]) -> None:
        self.planners = planners
        self._kind = kind

    @property
    def _planner(self) -> Planner:
        return self.planners[self._kind()]

    async def plan(self, text: str, inventory: Sequence[TaskType], context: Context) -> Planned:
        """See Planner."""
        return await self._planner.plan(text, inventory, context)

    async def replan(
        self,
        text: str,
        inventory: Sequence[TaskType],
        context: Context,
        *,
        plan: Plan,
        results: Mapping[int, TaskResult],
    ) -> Plan | PlanRejected:
        """See Planner."""
        return await self._planner.replan(text, inventory, context, plan=plan, results=results)

    async def revise(
        self, words: str, inventory: Sequence[TaskType], context: Context, *, plan: Plan
    ) -> Plan | PlanRejected:
        """See Planner."""
        return await self._planner.revise(words, inventory, context, plan=plan)
