"""Write a controller's prompt for each round, within the window of the LLM.

The system message is new each time. Of the dialogue only the controller's last answer and its
observation are kept. A part that is too long loses its least important end, and older rounds are
summarized.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from jarvis_desktop.assistant.agent.action_parser import REJECTION_TOKENS, choice_schema
from jarvis_desktop.assistant.agent.goal_run import (
    GoalRun,
    available_artifacts,
    is_foreign_name,
    search_functions,
)
from jarvis_desktop.assistant.agent.roles import AgentRole, Branch
from jarvis_desktop.assistant.agent.stop_conditions import THINK
from jarvis_desktop.assistant.memory import shortened
from jarvis_desktop.assistant.planning.llm_output import prompt_tokens
from jarvis_desktop.assistant.prompts import (
    Prompts,
    first_lines,
    fits,
    keep_ends,
    keep_start,
    last_lines,
    longest_fitting,
    share_tokens,
)
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.code import Library
from jarvis_desktop.core.context import llm_timeout
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, JarvisError
from jarvis_desktop.core.goal import MARKS, MAX_STEP_CHARS, ControllerFrame, LogEntry, Outline
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import LLM, Message, Prompt, answer, estimated_tokens
from jarvis_desktop.core.llm import MessageRole as Speaker
from jarvis_desktop.text.quotation import QUOTATION_MARKS, marked_off

log = logging.getLogger(__name__)

MAX_FUNCTIONS = 12
MAX_EARLIER_GOALS = 2
MAX_RESOURCES = 60
MAX_QUERY_CHARS = 2000
"""Characters of the search for functions."""


@dataclass(frozen=True, slots=True)
class AvailableItems:
    """Lines about what is available. `foreign` means that a name may be somebody else's
    instruction."""

    resources: Sequence[str]
    functions: Sequence[str]
    earlier: Sequence[str]
    facts: Sequence[str]
    notes: Sequence[str]
    foreign: bool


async def _gather(run: GoalRun, depth: int, role: AgentRole, library: Library) -> AvailableItems:
    """Gather what is available; what cannot be read is left out, and the trace says so."""
    outline = run.frames[depth].outline
    things = _most_wanted_first(run)
    return AvailableItems(
        resources=[_describe_artifact(run, *item) for item in things],
        functions=await _functions(run, depth, library) if role.shows_library else (),
        earlier=() if depth else _earlier(run),
        facts=[f"- {one_line(fact, limit=300)}" for fact in run.context.facts],
        notes=[f"{step.id}. {step.note}" for step in outline or () if step.note],
        foreign=any(is_foreign_name(_title(item), run.goal.text) for _, item in things),
    )


async def _functions(run: GoalRun, depth: int, library: Library) -> Sequence[str]:
    frame = run.frames[depth]
    steps = (step.text for step in (frame.outline.open if frame.outline else ()))
    words = "\n".join((frame.task, *steps, run.goal.text))[:MAX_QUERY_CHARS]
    found = await search_functions(run, library, words, MAX_FUNCTIONS)
    return [one_line(f"{item.signature}: {item.summary}", limit=240) for item in found]


def _earlier(run: GoalRun) -> Sequence[str]:
    """Return similar goals, with their steps: the user's words, and what they agreed to."""
    if run.earlier is None:
        run.earlier = ()
        try:
            goals = run.memory.like(run.goal.text, MAX_EARLIER_GOALS + 1)
            others = [goal for goal in goals if goal.id != run.goal.id][:MAX_EARLIER_GOALS]
            run.earlier = tuple(
                _describe_goal(goal.text, run.memory.frames(goal.id)[:1]) for goal in others
            )
        except JarvisError as error:
            run.live.trace(f"Earlier goals could not be read: {error}")
    return run.earlier


def _describe_goal(text: str, frames: Sequence[Any]) -> str:
    outline = frames[0].outline if frames else None
    steps = "; ".join(f"{step.state.value}: {step.text}" for step in outline or ())
    return one_line(f"- {one_line(text, limit=200)}" + (f" ({steps})" if steps else ""), limit=600)


def _most_wanted_first(run: GoalRun) -> Sequence[tuple[str, Artifact]]:
    """Return what the user gave, what was made (newest first), and what there was before."""
    made = set(run.made)
    given = set(run.context.attachments)
    things = list(available_artifacts(run).items())
    sorts = (
        [thing for thing in things if thing[1] in given],
        [thing for thing in reversed(things) if thing[1] in made - given],
        [thing for thing in reversed(things) if thing[1] not in made | given],
    )
    return [thing for sort in sorts for thing in sort][:MAX_RESOURCES]


def _describe_artifact(run: GoalRun, name: str, item: Artifact) -> str:
    about = [str(item.kind)]
    title = _title(item)
    if title not in ("", name):
        about.append(f"“{title}”")
    if item in run.context.attachments:
        about.append("given by the person")
    return f"- {one_line(name)} ({', '.join(about)})"


def _title(item: Artifact) -> str:
    """Return the name of a file; a text has none."""
    return one_line(item.title) if item.path or item.name else ""


def format_task(task: str, most: int, whose: str) -> str:
    """Return the task. If the data at its end is cut, the closing mark stays."""
    if fits(task, most):
        return task
    opening, closing = marked_off("\n", whose).split()
    text = keep_start(task, most - estimated_tokens(closing) - 1)
    return f"{text}\n{closing}" if text.count(opening) > text.count(closing) else text


def format_outline(outline: Outline | None, most: int) -> str:
    """Return the whole plan; if it is too long, its steps are shortened, and none is left out."""
    if outline is None:
        return ""
    versions = (
        "\n".join(
            f"- [{MARKS[step.state]}] {step.id}. {one_line(step.text, limit=limit)}"
            for step in outline
        )
        for limit in (MAX_STEP_CHARS, 200, 100, 60, 30, 15)
    )
    return first_lines(longest_fitting(versions, most, estimated_tokens).splitlines(), most)


def format_notices(notices: Sequence[str], most: int) -> str:
    """Return all notices for the controller, each shortened if they are too long."""
    if not notices:
        return ""
    versions = (
        "Note:\n" + "\n".join(f"- {shortened(notice, limit)}" for notice in notices)
        for limit in (None, 1000, 400, 200, 100, 50)
    )
    return keep_start(longest_fitting(versions, most, estimated_tokens), most)


def format_last_answer(last: str, most: int) -> str:
    """Return the controller's last answer, shortened but still JSON; "" if there is none."""
    if not last or fits(last, most):
        return last
    whole = json.loads(last)
    shorter = (_shorter(whole, limit) for limit in (1200, 400, 120, 40, 10))
    versions = (json.dumps(each, ensure_ascii=False) for each in shorter)
    bare = json.dumps({"branch": whole["branch"], "args": {}})
    return longest_fitting(chain(versions, [bare]), most, estimated_tokens)


def _shorter(value: Any, longest: int) -> Any:
    match value:
        case str():
            return shortened(value, longest)
        case list():
            return [_shorter(item, longest) for item in value[:5]]
        case dict():
            return {key: _shorter(item, longest) for key, item in value.items()}
    return value


MAX_ANSWER_TOKENS = 2048
"""Tokens of an answer, which may contain a script; of a small window a quarter."""
MIN_ROOM_TOKENS = 400
"""Tokens for everything that changes from round to round; fewer are not enough for a goal."""
MARKS_TOKENS = 32
"""Tokens of the two marks around data."""
GIVE_UP = "give_up"
"""The round that ends a controller which no branch has ended."""
SILENT_BRANCHES = (THINK, GIVE_UP)
"""They leave the last observation as it is."""
TRUSTED_KEY = "observation is trusted"
"""Key in a frame: its observation is the user's or the application's own words."""

_ALL = 1_000_000
_NOTHING = "(none)"


@dataclass(frozen=True, slots=True)
class ControllerPrompt:
    """A prompt, and what the controller must know about it."""

    prompt: Prompt
    notices: int
    """How many of the frame's notices it contains."""
    foreign: bool
    """Whether it contains foreign text that no observation contained before."""


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A part of a prompt: its share of the room, and its text for a number of tokens."""

    share: float
    told: Callable[[int], str]

    @property
    def want(self) -> int:
        """The tokens of the whole part."""
        whole = self.told(_ALL)
        return estimated_tokens(whole) + MARKS_TOKENS if whole else 0


class PromptWriter:
    """Writes the prompts of all controllers."""

    def __init__(self, prompts: Prompts, library: Library) -> None:
        self._prompts = prompts
        self._library = library

    async def brief(self, run: GoalRun, depth: int, role: AgentRole, llm: LLM) -> ControllerPrompt:
        """Build the prompt for the next round of the controller at a depth. Raises StorageError if
        a template cannot be read, ExpertError if the window is too small for any prompt."""
        template = self._prompts.template(role.prompt)
        run.live.trace(f"Round by the prompt {template.label}.")
        frame = run.frames[depth]
        fixed = {
            "branches": "\n".join(map(_describe_branch, role.branches)),
            "marks": QUOTATION_MARKS,
            "today": f"{run.now():%A, %d %B %Y}",
        }
        known = await _gather(run, depth, role, self._library)
        parts = _parts(run, depth, known)
        answer_tokens = min(MAX_ANSWER_TOKENS, llm.window // 4)

        def written(texts: Mapping[str, str]) -> Prompt:
            system = template.filled(**fixed, **{name: texts[name] or _NOTHING for name in texts})
            messages = (Message(Speaker.SYSTEM, system), *_dialogue(run, depth, texts))
            return Prompt(messages, schema=choice_schema(role), longest=answer_tokens)

        room = llm.window - answer_tokens - REJECTION_TOKENS
        room -= prompt_tokens(written(dict.fromkeys(parts, "")))
        if room < MIN_ROOM_TOKENS:
            raise ExpertError(
                tr("The window of {name} is too small to work on a goal.", name=llm.name),
                hint=tr("Choose an LLM with a longer context."),
            )
        wants = [(part.share, part.want) for part in parts.values()]
        given = zip(parts.items(), share_tokens(wants, room), strict=True)
        texts = {name: part.told(most) for (name, part), most in given}
        return ControllerPrompt(written(texts), len(frame.notices), known.foreign)


def _parts(run: GoalRun, depth: int, known: AvailableItems) -> Mapping[str, PromptPart]:
    """Return the parts, in the order in which they get what is left of the room."""
    frame = run.frames[depth]
    mark = partial(_mark_data, whose=run.goal.id)
    rounds = list(map(format_round, recent_rounds(run, depth)))
    observation = frame.observation
    if frame.kept.get(TRUSTED_KEY):
        shown = PromptPart(0.18, lambda most: keep_ends(observation, most))
    else:
        shown = PromptPart(0.18, lambda most: mark(observation, most, keep_ends))
    return {
        "task": PromptPart(0.14, lambda most: format_task(frame.task, most, run.goal.id)),
        "plan": PromptPart(0.22, lambda most: format_outline(frame.outline, most)),
        "news": PromptPart(0.08, lambda most: format_notices(frame.notices, most)),
        "said": PromptPart(0.05, lambda most: last_lines(run.answers, most)),
        "resources": PromptPart(0.05, lambda most: mark(known.resources, most, first_lines)),
        "answer": PromptPart(0.06, lambda most: format_last_answer(frame.last, most)),
        "log": PromptPart(0.09, lambda most: mark(rounds, most, last_lines)),
        "summary": PromptPart(0.06, lambda most: mark(frame.summary, most, keep_start)),
        "library": PromptPart(0.07, lambda most: mark(known.functions, most, first_lines)),
        "observation": shown,
        "facts": PromptPart(0.04, lambda most: last_lines(known.facts, most)),
        "notes": PromptPart(0.03, lambda most: mark(known.notes, most, last_lines)),
        "goal": PromptPart(0.03, lambda most: keep_start(run.goal.text, most) if depth else ""),
        "earlier": PromptPart(0.03, lambda most: mark(known.earlier, most, first_lines)),
    }


def _dialogue(run: GoalRun, depth: int, texts: Mapping[str, str]) -> list[Message]:
    """Return the goal in the user's or the caller's words, the last answer, and its outcome."""
    if depth:
        asked = f"Your task:\n{texts['task']}"
        if texts["goal"]:
            asked += f"\n\nIt belongs to this goal of the person:\n{texts['goal']}"
    else:
        asked = f"My goal:\n{texts['task']}"
    new = "\n\n".join(filter(None, (texts["news"], _last_outcome(run.done_by(depth), texts))))
    if not texts["answer"]:
        return [Message(Speaker.USER, f"{asked}\n\n{new}")]
    return [
        Message(Speaker.USER, asked),
        Message(Speaker.ASSISTANT, texts["answer"]),
        Message(Speaker.USER, new),
    ]


def _last_outcome(done: Sequence[LogEntry], texts: Mapping[str, str]) -> str:
    last = next((entry for entry in reversed(done) if entry.branch not in SILENT_BRANCHES), None)
    if last is None:
        return "Nothing was done yet. Choose the first branch."
    came = texts["observation"] or "(nothing)"
    return f"{last.branch}: {last.status.value}. Result:\n{came}\n\nChoose the next branch."


def _mark_data(what: Any, most: int, cut: Callable[[Any, int], str], *, whose: str) -> str:
    """Return data between marks within a number of tokens; "" if there is none."""
    text = cut(what, most - MARKS_TOKENS)
    return marked_off(text, whose) if text else ""


def _describe_branch(branch: Branch) -> str:
    names = (f"{name}{'' if name in branch.required else '?'}" for name in branch.args)
    return f"- {branch.name}({', '.join(names)}): {branch.summary}"


def available_branches(role: AgentRole, frame: ControllerFrame) -> AgentRole:
    """Return the role with the branches it can take now: without a plan there is none to update."""
    if frame.outline is not None:
        return role
    without = {"update_plan"} if role.writes else {"update_plan", "re_plan"}
    left = tuple(branch for branch in role.branches if branch.name not in without)
    return replace(role, branches=left)


def format_answer(why: str, branch: str, args: Mapping[str, Any]) -> str:
    """Return a choice as the LLM's own answer."""
    return json.dumps({"why": why, "branch": branch, "args": dict(args)}, ensure_ascii=False)


SUMMARY_TEMPLATE = "agent_log"
MAX_SUMMARY_TOKENS = 400
"""Tokens of a summary; of a small window a twentieth."""
ENTRY_TOKENS = 90
"""Tokens of a round in a prompt."""
SUMMARIZED_ENTRY_TOKENS = 250
"""Tokens of a round that is being summarized, if there is room."""


def summary_tokens(window: int) -> int:
    """Return how long a summary may be, for an LLM with this window."""
    return min(MAX_SUMMARY_TOKENS, window // 20)


def log_tokens(window: int) -> int:
    """Return how long the separate rounds may be; beyond that, their older half is summarized."""
    return window // 10


def format_round(entry: LogEntry, tokens: int = ENTRY_TOKENS) -> str:
    """Return a round as one line."""
    # A token has at least three letters here, so a longer text need not be read to its end.
    came = one_line(entry.observation[: 4 * tokens], limit=3 * tokens)
    line = f"{entry.number}. {entry.branch}: {entry.what} → {entry.status.value}: {came}"
    return keep_start(line, tokens)


def recent_rounds(run: GoalRun, depth: int) -> Sequence[LogEntry]:
    """Return the rounds of a controller that no summary covers, oldest first."""
    summed = run.frames[depth].summed
    return [entry for entry in run.done_by(depth) if entry.number > summed]


async def summarize_rounds(
    run: GoalRun, depth: int, llm: LLM, prompts: Prompts, *, timeout: float
) -> None:
    """Move rounds into the summary of the frame if there are too many.

    If the LLM fails, or takes longer than `timeout` seconds, each of them becomes a line. Raises
    StorageError if the memory cannot be written.
    """
    entries = recent_rounds(run, depth)
    sizes = [estimated_tokens(format_round(entry)) for entry in entries]
    if sum(sizes) <= log_tokens(llm.window):
        return
    kept = 0
    while sum(sizes[kept:]) > log_tokens(llm.window) // 2:
        kept += 1
    older = entries[:kept]
    text = await _write_summary(run, depth, older, llm, prompts, timeout)
    run.change(depth, summary=text, summed=older[-1].number)


async def _write_summary(
    run: GoalRun, depth: int, older: Sequence[LogEntry], llm: LLM, prompts: Prompts, timeout: float
) -> str:
    most, before = summary_tokens(llm.window), run.frames[depth].summary
    try:
        prompt = _summary_prompt(run, depth, older, llm, prompts)
        async with llm_timeout(timeout):
            written = (await answer(llm, prompt)).strip()
        run.spend(depth, prompt.tokens + estimated_tokens(written))
        if written:
            return keep_start(written, most)
    except (JarvisError, TimeoutError) as error:  # its message may quote what was said
        log.info("An LLM summed up no rounds: %s.", type(error).__name__)
    kept = keep_start(before, most // 2)
    lines = last_lines(list(map(format_round, older)), most - estimated_tokens(kept))
    return f"{kept}\n{lines}".strip()


def _summary_prompt(
    run: GoalRun, depth: int, older: Sequence[LogEntry], llm: LLM, prompts: Prompts
) -> Prompt:
    template, frame = prompts.template(SUMMARY_TEMPLATE), run.frames[depth]
    run.live.trace(f"Older rounds are summed up by the prompt {template.label}.")
    most = summary_tokens(llm.window)
    room = llm.window // 2
    each = min(SUMMARIZED_ENTRY_TOKENS, room // len(older))
    lines = "\n".join(format_round(entry, each) for entry in older)
    text = template.filled(
        task=keep_start(frame.task, room // 8),
        marks=QUOTATION_MARKS,
        before=marked_off(keep_start(frame.summary, most) or "(none)", run.goal.id),
        rounds=marked_off(lines, run.goal.id),
        words=str(most // 2),
    )
    return Prompt((Message(Speaker.USER, text),), longest=most)
