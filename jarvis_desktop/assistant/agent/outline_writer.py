"""Write the plan of a goal with the user: draft it, show it, and revise it as they wish.

One writer serves all controllers; the differences are data of their roles. The plan in force is the
one that the user accepted word for word, or that `Approvals` lets pass. Finished steps stay as they
were, and no step is done because a plan says so.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial

from jarvis_desktop.assistant import memory
from jarvis_desktop.assistant.agent.approvals import Approvals
from jarvis_desktop.assistant.agent.goal_run import (
    GoalRun,
    available_artifacts,
    is_foreign_name,
    search_functions,
)
from jarvis_desktop.assistant.agent.roles import AgentRole
from jarvis_desktop.assistant.planning.llm_output import (
    ask_until_valid,
    lower_keys,
    strip_reasoning,
    whole_number,
)
from jarvis_desktop.assistant.prompts import Prompts, Template, longest_fitting
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.code import Library
from jarvis_desktop.core.context import llm_timeout
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError, PlanError, UnavailableError
from jarvis_desktop.core.events import Noted, OutlineChanged
from jarvis_desktop.core.goal import (
    MARKS,
    MAX_STEP_CHARS,
    MAX_STEPS,
    Outline,
    OutlineStep,
    StepState,
    changes,
    listed,
)
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import LLM, LLMs, Message, MessageRole, Prompt, estimated_tokens
from jarvis_desktop.core.plan import Ask
from jarvis_desktop.text.lenient_json import LenientJsonReader
from jarvis_desktop.text.quotation import marked_off

MAX_DRAFT_STEPS = 12
"""Steps that an LLM may write; users may have more."""
MAX_CHARS = 20_000
"""Characters of an answer; anything longer is not a plan."""
MAX_DEPTH = 4
"""How many levels of wrappers the steps may be in."""

SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "steps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "text": {"type": "string"}},
                "required": ["text"],
            },
        }
    },
    "required": ["steps"],
}

_lists = ("steps", "plan", "outline", "tasks", "todo", "todos", "list", "items", "newplan")
_texts = ("text", "step", "title", "task", "description", "action", "name", "what", "content")
_ids = ("id", "number", "step", "stepid", "index")

_json = re.compile(r"^\s*(?:\{|\[\s*(?:[\"'{\[]|$))", re.MULTILINE)
"""A line that begins with JSON. Other brackets may be the mark of a step, or a part of one."""

_GIVEN_UP = (StepState.FAILED, StepState.DROPPED)


DRAFT_TOKENS = 900
"""Tokens of a plan; of a small window at most a quarter."""
REFUSAL_TOKENS = 128
MAX_ANSWERS = 10
TEXT_LIMITS = (6000, 2000, 800, 300, 100)
"""Characters that each part of the prompt may have; tried in this order."""


@dataclass(frozen=True, slots=True)
class OutlineChangeRequest:
    """What the user said about a plan."""

    changes: tuple[str, ...]
    """What they changed in it by hand, one sentence each."""
    comment: str


@dataclass(frozen=True, slots=True)
class OutlineMaterial:
    """What a plan is made from."""

    task: str
    resources: tuple[str, ...] = ()
    """Available artifacts, one line each, the newest last: data."""
    functions: tuple[str, ...] = ()
    """Library functions, with signatures and summaries: data."""
    facts: tuple[str, ...] = ()
    """What the user wants remembered."""
    said: tuple[str, ...] = ()
    """What the user answered so far, one line each."""
    known: str = ""
    """The results so far: data."""
    plan: Outline | None = None
    """The current plan."""
    reason: str = ""
    """Why the plan should change."""
    wish: OutlineChangeRequest | None = None
    whose: str = ""
    """For the marks around data."""


def outline_prompt(llm: LLM, template: Template, material: OutlineMaterial) -> Prompt:
    """Build the prompt for a draft. Raises StorageError if the template has unknown slots."""
    system = Message(MessageRole.SYSTEM, template.filled(most=str(MAX_DRAFT_STEPS)))
    longest = min(DRAFT_TOKENS, llm.window // 4)
    room = llm.window - 2 * longest - REFUSAL_TOKENS - estimated_tokens(json.dumps(SCHEMA))
    versions = (
        (system, Message(MessageRole.USER, _material_text(material, limit)))
        for limit in TEXT_LIMITS
    )
    fitting = longest_fitting(versions, room, memory.tokens)
    return Prompt(fitting, schema=SCHEMA, longest=longest)


def _material_text(material: OutlineMaterial, limit: int) -> str:
    def quoted(text: str) -> str:
        return json.dumps(memory.shortened(text, limit), ensure_ascii=False)

    def data(title: str, text: str) -> str:
        return f"{title}\n{marked_off(memory.shortened(text, limit), material.whose)}"

    parts = [f"Goal: {quoted(material.task)}"]
    if material.facts:
        parts.append(_list("What the person wants remembered:", material.facts, limit))
    if material.said:
        parts.append(_list("What the person said:", material.said[-MAX_ANSWERS:], limit))
    if material.resources:
        parts.append(data("Files and results:", "\n".join(material.resources[-limit // 50 :])))
    if material.functions:
        parts.append(data("Functions of the library:", "\n".join(material.functions)))
    if material.known:
        parts.append(data("Result so far:", material.known))
    if material.plan:
        # Notes may repeat foreign text, so they are left out.
        steps = (f"[{MARKS[step.state]}] {step.id}. {step.text}" for step in material.plan)
        parts.append(_list("The plan as it is:", tuple(steps), 3 * limit))
    if material.reason:
        parts.append(f"Why it is to change: {quoted(material.reason)}")
    if wish := material.wish:
        if wish.changes:
            parts.append(
                _list("The person changed it by hand, as it stands here:", wish.changes, limit)
            )
        parts.append(f"The person says about the plan: {quoted(wish.comment)}")
    return "\n\n".join([*parts, "Write the plan."])


def _list(title: str, lines: Sequence[str], limit: int) -> str:
    return memory.shortened("\n".join([title, *(f"- {line}" for line in lines)]), limit)


MAX_DRAFTS = 8
"""Drafts of one plan that the user is shown."""
MAX_SIMPLE_STEPS = 3
"""Steps of a plan that the user need not see if only larger ones are shown."""
MAX_FUNCTIONS = 8
MAX_RESOURCES = 40
MAX_REASON_CHARS = 300
MAX_COMMENT_CHARS = 1000
"""Characters of the user's comment in later prompts."""

HIGHEST_STEP_KEY = "highest step"
"""Key in a frame: the highest step number, so that none is used twice."""


@dataclass
class _OutlineJob:
    """One plan while it is written."""

    run: GoalRun
    depth: int
    before: Outline | None
    reason: str
    highest: int = 0
    """The highest number that a step ever had."""

    def show(self, outline: Outline, *, accepted: bool, why: str) -> None:
        path = self.run.path(self.depth)
        self.run.live.show(OutlineChanged(outline, path, accepted, why))


@dataclass(eq=False)
class OutlineWriter:
    """Writes plans for the controllers of a goal.

    `ask_plan` says which first plans the user is asked about: "larger" ones have more than
    three steps. `timeout`, in seconds, is for one draft with all its rejections.
    """

    llms: LLMs
    prompts: Prompts
    _: KW_ONLY
    roles: Mapping[str, AgentRole]
    approvals: Approvals
    ask_plan: Ask
    library: Library | None = None
    timeout: float = 600.0

    async def first(self, run: GoalRun, draft: Outline | None = None) -> Outline | None:
        """Write the first plan of the controller at `run.inner`, or take a draft that is there;
        None if the user wants none."""
        if draft is None:
            return await self.write(run, run.inner, reason="", before=None, ask=True)
        work = _OutlineJob(run, run.inner, None, "", highest=draft.highest)
        return await self._propose(work, draft, ask=True)

    async def write(
        self, run: GoalRun, depth: int, *, reason: str, before: Outline | None, ask: bool
    ) -> Outline | None:
        """Write the plan that is valid from now on into the frame at `depth`, and return it.

        None means that the user accepted no plan, and everything stays as it was. With `ask` the
        user is asked if the setting says so; without it only if the change is not trusted. Inner
        controllers' plans are shown, never asked about. If no other plan can be written, `before`
        is returned. Raises StorageError.
        """
        kept = run.frames[depth].kept.get(HIGHEST_STEP_KEY, "0")
        highest = max((int(kept), *(step.id for step in before or ())))
        work = _OutlineJob(
            run, depth, before, one_line(reason, limit=MAX_REASON_CHARS), highest=highest
        )
        draft = await self._write_draft(work, before, None)
        if draft is None:
            if before is not None:
                return before
            task = one_line(run.frames[depth].task, limit=300)
            draft = Outline((OutlineStep(1, f"Reach the goal: {task}"),))
        return await self._propose(work, draft, ask=ask)

    async def _propose(self, work: _OutlineJob, draft: Outline, *, ask: bool) -> Outline | None:
        if not self._is_asked(work, draft, ask=ask):
            return self._accept(work, draft, _explain_changes(work, draft))
        return await self._review(work, draft)

    def _is_asked(self, work: _OutlineJob, draft: Outline, *, ask: bool) -> bool:
        if work.depth > 0:
            return False
        if not self.approvals.trusts_outline(work.run, work.depth, work.before, draft):
            return True
        if not ask or (work.before is None and work.run.goal.terms.plan_accepted):
            return False
        if self.ask_plan == "larger":
            return len(draft.open) > MAX_SIMPLE_STEPS
        return self.ask_plan == "always"

    async def _review(self, work: _OutlineJob, draft: Outline) -> Outline | None:
        """Return the plan that the user accepts, after as many drafts as they want."""
        try:
            accepted = await self._ask_user(work, draft)
        except asyncio.CancelledError:
            _take_back(work)
            raise
        if accepted is not None:
            return self._accept(work, *accepted)
        _take_back(work)
        return None

    async def _ask_user(self, work: _OutlineJob, draft: Outline) -> tuple[Outline, str] | None:
        """Return what the user accepts, and who changed what; None if they do not accept."""
        said: list[str] = []
        why = _explain_changes(work, draft)
        for _ in range(MAX_DRAFTS):
            work.show(draft, accepted=False, why=why)
            review = await work.run.live.review_outline(draft, why)
            if review is None:
                return None
            work.highest = max((work.highest, *(step.id for step in review.outline)))
            edits = changes(draft, review.outline)
            if edits:
                said.append(f"The person changed the plan: {' '.join(edits)}")
            comment = review.comment.strip()
            if not comment:
                return review.outline, " ".join(
                    filter(None, (_explain_changes(work, draft), *said))
                )
            work.run.record_answer("The plan", comment)
            said.append(
                f"The person said of the plan: “{one_line(comment, limit=MAX_COMMENT_CHARS)}”."
            )
            revised = await self._write_draft(
                work, review.outline, OutlineChangeRequest(edits, comment)
            )
            why = _describe_revision(review.outline, revised)
            draft = revised or review.outline
        work.run.live.show(
            Noted(tr("{count} drafts of the plan were not what you wanted.", count=MAX_DRAFTS))
        )
        return None

    def _accept(self, work: _OutlineJob, outline: Outline, why: str) -> Outline:
        frame = work.run.frames[work.depth]
        highest = max((work.highest, *(step.id for step in outline)))
        work.run.change(
            work.depth,
            outline=outline,
            notices=(*frame.notices, why) if why else frame.notices,
            kept={**frame.kept, HIGHEST_STEP_KEY: str(highest)},
        )
        work.show(outline, accepted=True, why=why)
        return outline

    async def _write_draft(
        self, work: _OutlineJob, plan: Outline | None, wish: OutlineChangeRequest | None
    ) -> Outline | None:
        """Return another plan in place of `plan`; None, with a notice, if the LLM writes none."""
        try:
            async with llm_timeout(self.timeout):
                return await self._tries(work, plan, wish)
        except TimeoutError:
            work.run.live.show(
                Noted(
                    tr(
                        "No plan was written within {seconds} seconds.",
                        seconds=round(self.timeout),
                    )
                )
            )
            return None
        except JarvisError as error:
            work.run.live.show(
                Noted(tr("The language model wrote no usable plan: {error}", error=error))
            )
            return None

    async def _tries(
        self, work: _OutlineJob, plan: Outline | None, wish: OutlineChangeRequest | None
    ) -> Outline:
        """Raises what the LLM raises, the PlanError of the last try, and StorageError."""
        llm = await self.llms.current()
        if llm is None:
            raise UnavailableError(
                tr("There is none now."), hint=tr("jarvis-desktop doctor says why.")
            )
        frame = work.run.frames[work.depth]
        role = self.roles[frame.role]
        template = self.prompts.template(role.writes)
        work.run.live.trace(f"{llm.name} writes a plan by the prompt {template.label}.")
        material = replace(await self._material(work, role), plan=plan, wish=wish)
        prompt = outline_prompt(llm, template, material)
        draft = await ask_until_valid(
            llm,
            prompt,
            lambda text: _draft(work, read_outline(text), plan),
            trace=work.run.live.trace,
            spend=partial(work.run.spend, work.depth),
        )
        work.highest = max((work.highest, *(step.id for step in draft)))
        return draft

    async def _material(self, work: _OutlineJob, role: AgentRole) -> OutlineMaterial:
        run, frame = work.run, work.run.frames[work.depth]
        notes = (f"{step.id}. {step.note}" for step in work.before or () if step.note)
        known = "\n\n".join(filter(None, ("\n".join(notes), frame.summary, frame.observation)))
        things = list(available_artifacts(run).items())[-MAX_RESOURCES:]
        return OutlineMaterial(
            frame.task,
            resources=tuple(_describe_artifact(name, item, run.goal.text) for name, item in things),
            functions=await self._functions(run, role, frame.task),
            facts=run.context.facts,
            said=tuple(run.answers),
            known=known if work.before is not None else "",
            reason=work.reason,
            whose=run.goal.id,
        )

    async def _functions(self, run: GoalRun, role: AgentRole, task: str) -> tuple[str, ...]:
        if self.library is None or not role.shows_library:
            return ()
        found = await search_functions(run, self.library, task, MAX_FUNCTIONS)
        return tuple(f"{item.signature}: {item.summary}" for item in found)


def _describe_artifact(name: str, item: Artifact, words: str) -> str:
    """Describe an artifact for the writer. A foreign name is hidden: the first plan may be valid
    without the user, so it must depend on no words but theirs."""
    if is_foreign_name(name, words):
        return f"- one with a long name ({item.kind})"
    return f"- {one_line(name)} ({item.kind})"


def _draft(work: _OutlineJob, steps: Sequence[DraftStep], plan: Outline | None) -> Outline:
    """Return the draft of these steps. Raises PlanError if it is invalid or the same as `plan`."""
    draft = merge_outline(steps, plan, above=work.highest)
    if plan is None:
        return draft
    if not changes(plan, draft):
        raise PlanError(tr("That is the same plan as before."))
    if work.before is None and not any(plan.step(step.id) for step in draft):
        return merge_outline(steps, None)  # nobody knows the numbers of a first plan
    return draft


def _take_back(work: _OutlineJob) -> None:
    """Show again the plan from before a rejected proposal."""
    if work.before is not None:
        why = "The new plan was not accepted, so it stays as it was."
        work.show(work.before, accepted=True, why=why)


def _explain_changes(work: _OutlineJob, draft: Outline) -> str:
    """Return what differs from the previous plan, and why; "" for a first one."""
    told = " ".join(changes(work.before, draft))
    because = f", because: {work.reason.rstrip(' .')}" if work.reason else ""
    return f"The plan was rewritten{because}. {told}" if told else ""


def _describe_revision(shown: Outline, draft: Outline | None) -> str:
    """Return what the user reads above the next draft."""
    if draft is None:
        return (
            "This is the plan as you left it: no other one was written. You can edit it yourself."
        )
    return " ".join(changes(shown, draft))


@dataclass(frozen=True, slots=True)
class DraftStep:
    """A step as it was written, with its number if it had one."""

    text: str
    number: int | None = None


def read_outline(text: str) -> list[DraftStep]:
    """Return the steps of an answer, each once: some form of JSON, or a list. Raises PlanError with
    one sentence that tells an LLM what to do better."""
    if len(text) > MAX_CHARS:
        raise PlanError(tr("That is too long for a plan; write the JSON of its steps alone."))
    said = strip_reasoning(text)
    found = _from_json(said) if _json.search(said) else []
    found = found or [DraftStep(_step_text(words), number) for number, words in listed(said)]
    found = found or _from_json(said)
    once = {_bare_words(step.text): step for step in reversed(found) if _bare_words(step.text)}
    steps = [step for step in found if once.get(_bare_words(step.text)) is step]
    if not steps:
        raise PlanError(tr('There are no steps in that; write {"steps": [{"text": "..."}]}.'))
    if len(steps) > MAX_DRAFT_STEPS:
        raise PlanError(
            tr(
                "These are {steps} steps; write {most_drafted} at most, with more in each.",
                steps=len(steps),
                most_drafted=MAX_DRAFT_STEPS,
            )
        )
    return steps


def merge_outline(steps: Sequence[DraftStep], before: Outline | None, *, above: int = 0) -> Outline:
    """Return the outline of these steps, which replaces `before`.

    A step is one of `before` if its words are the same, or else by its number if that one is not
    settled yet; then its words change. All other steps are new, numbered above `before` and
    `above`, and so is a failed or dropped one that is to be tried again. Every state stays, and
    settled steps stay in the plan. Raises PlanError if no step is left to do.
    """
    taken = _recognised(steps, before)
    ids = {step.id for step in before or ()}
    following = max((above, *ids), default=0) + 1
    new: list[OutlineStep] = []
    for written, step in zip(steps, taken, strict=True):
        if step is None:
            step, following = OutlineStep(following, written.text), following + 1
        new.append(step)
    outline = _with_settled(new, before)
    if not outline.open:
        raise PlanError(tr("That leaves nothing to do; write what is still to be done."))
    return outline


def _recognised(steps: Sequence[DraftStep], before: Outline | None) -> list[OutlineStep | None]:
    """Return which step of `before` each one is, with its new words; None for new ones."""
    known = {step.id: step for step in before or ()}
    by_words = {
        _bare_words(step.text): step for step in before or () if step.state not in _GIVEN_UP
    }
    taken = [by_words.get(_bare_words(written.text)) for written in steps]
    used = {step.id for step in taken if step}
    for place, written in enumerate(steps):
        meant = known.get(-1 if written.number is None else written.number)
        if taken[place] or meant is None or meant.is_settled or meant.id in used:
            continue
        taken[place] = replace(meant, text=written.text)
        used.add(meant.id)
    return taken


def _with_settled(new: Sequence[OutlineStep], before: Outline | None) -> Outline:
    """Add the settled steps in their places; if there are too many, only the newest."""
    steps, ids = list(new), {step.id for step in new}
    lost = [step for step in before or () if step.is_settled and step.id not in ids]
    kept = lost[-(MAX_STEPS - len(steps)) :]
    place = 0
    for step in before or ():
        if step in kept:
            steps.insert(place, step)
        elif step.id not in ids:
            continue
        place = [item.id for item in steps].index(step.id) + 1
    return Outline(tuple(steps))


def _from_json(text: str) -> list[DraftStep]:
    reader, alone = LenientJsonReader(text), list[DraftStep]()
    for value in reader.values():
        found = _steps_in(value)
        if reader.broken_off:
            raise PlanError(tr("The answer breaks off within the plan; write it again, shorter."))
        if len(found) > 1:
            return found
        alone += found
    return alone


def _steps_in(value: object, level: int = 0) -> list[DraftStep]:
    if isinstance(value, list):
        return [step for item in value for step in _step(item)]
    if not isinstance(value, Mapping) or level == MAX_DEPTH:
        return []
    low = lower_keys(value)
    for key in _lists:
        if isinstance(low.get(key), list | Mapping):
            return _steps_in(low[key], level + 1)
    if low and all(re.fullmatch(r"(?:step)?\d{1,3}", key) for key in low):
        return [
            replace(step, number=whole_number(key))
            for key, item in low.items()
            for step in _step(item)
        ]
    return _step(value)


def _step(item: object) -> list[DraftStep]:
    """Return one step, or all steps of a text that is a list itself."""
    if isinstance(item, str):
        found = listed(item) or ((None, item),)
        return [DraftStep(_step_text(words), number) for number, words in found]
    if not isinstance(item, Mapping):
        return []
    low = lower_keys(item)
    words = next((low[key] for key in _texts if isinstance(low.get(key), str) and low[key]), "")
    number = next(
        (number for key in _ids if (number := whole_number(low.get(key))) is not None), None
    )
    return [replace(step, number=number) for step in _step(words)[:1]] if words else []


def _step_text(text: str) -> str:
    """Return a step's words on one line, without a dash that looks like the one before a note."""
    return one_line(text.replace(" — ", " - ").strip("* "), limit=MAX_STEP_CHARS)


def _bare_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
