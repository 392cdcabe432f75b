"""What a controller is told in each round, in as many tokens as the LLM's window has for it.

The system message is written anew each time; of the dialogue only the controller's own last answer
and what came of it are kept. A part that is too long loses its least important end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from jarvis_desktop.assistant.agent import material, remembering
from jarvis_desktop.assistant.agent.choosing import REFUSAL_TOKENS, schema, tokens
from jarvis_desktop.assistant.agent.desk import Desk
from jarvis_desktop.assistant.agent.roles import Branch, Role
from jarvis_desktop.assistant.agent.stalling import THINK
from jarvis_desktop.assistant.agent.trimming import allotted, beginning, both_ends
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.telling import MARKS, marked_off
from jarvis_desktop.core.code import Library
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.goal import Frame, LogEntry
from jarvis_desktop.core.llm import LLM, Message, Prompt, estimated_tokens
from jarvis_desktop.core.llm import Role as Speaker
from jarvis_desktop.core.wording import tr

LONGEST = 2048
"""Tokens of an answer, for it may hold a script; of a small window a quarter."""
FEWEST = 400
"""Tokens for all that changes from round to round; with fewer no goal can be worked on."""
MARKS_TOKENS = 32
"""Of the two marks around data."""
GIVE_UP = "give_up"
"""The round that ends a controller which reaches no end by itself."""
ASIDE = (THINK, GIVE_UP)
"""They leave the last observation as it is."""
TRUSTED = "observation is trusted"
"""Where a frame keeps that its observation is the person's word, or ours."""

_ALL = 1_000_000
_NOTHING = "(none)"


@dataclass(frozen=True, slots=True)
class Brief:
    """A prompt, and what is to be known of it."""

    prompt: Prompt
    notices: int
    """How many of the frame's notices it tells."""
    foreign: bool
    """Whether it tells what others than the person wrote, that no observation told before."""


@dataclass(frozen=True, slots=True)
class Part:
    """Something that a prompt tells: its share of the room, and how it looks in so many tokens."""

    share: float
    told: Callable[[int], str]

    @property
    def want(self) -> int:
        """The tokens with which nothing of it is left out."""
        whole = self.told(_ALL)
        return estimated_tokens(whole) + MARKS_TOKENS if whole else 0


class Briefing:
    """Writes the prompts of all controllers."""

    def __init__(self, prompts: Prompts, library: Library) -> None:
        self._prompts = prompts
        self._material = material.Material(library)

    async def brief(self, desk: Desk, depth: int, role: Role, llm: LLM) -> Brief:
        """The prompt for the next round of the controller at a depth.

        Raises StorageError where a template cannot be read, ExpertError where the window is too
        small for any prompt.
        """
        template = self._prompts.template(role.prompt)
        desk.live.trace(f"Round by the prompt {template.label}.")
        frame = desk.frames[depth]
        fixed = {
            "branches": "\n".join(map(_listed, role.branches)),
            "marks": MARKS,
            "today": f"{desk.now():%A, %d %B %Y}",
        }
        known = await self._material.gather(desk, depth, role)
        parts = _parts(desk, depth, known)
        answer_tokens = min(LONGEST, llm.window // 4)

        def written(texts: Mapping[str, str]) -> Prompt:
            system = template.filled(**fixed, **{name: texts[name] or _NOTHING for name in texts})
            messages = (Message(Speaker.SYSTEM, system), *_dialogue(desk, depth, texts))
            return Prompt(messages, schema=schema(role), longest=answer_tokens)

        room = llm.window - answer_tokens - REFUSAL_TOKENS
        room -= tokens(written(dict.fromkeys(parts, "")))
        if room < FEWEST:
            raise ExpertError(
                tr("The window of {name} is too small to work on a goal.", name=llm.name),
                hint=tr("Choose an LLM with a longer context."),
            )
        wants = [(part.share, part.want) for part in parts.values()]
        given = zip(parts.items(), allotted(wants, room), strict=True)
        texts = {name: part.told(most) for (name, part), most in given}
        return Brief(written(texts), len(frame.notices), known.foreign)


def _parts(desk: Desk, depth: int, known: material.Known) -> Mapping[str, Part]:
    """In the order in which what is left of the room goes to those that want more."""
    frame = desk.frames[depth]
    mark = partial(_marked, whose=desk.goal.id)
    rounds = list(map(remembering.told, remembering.recent(desk, depth)))
    observation = frame.observation
    if frame.kept.get(TRUSTED):
        shown = Part(0.18, lambda most: both_ends(observation, most))
    else:
        shown = Part(0.18, lambda most: mark(observation, most, both_ends))
    return {
        "task": Part(0.14, lambda most: material.task_told(frame.task, most, desk.goal.id)),
        "plan": Part(0.22, lambda most: material.plan_told(frame.outline, most)),
        "news": Part(0.08, lambda most: material.news_told(frame.notices, most)),
        "said": Part(0.05, lambda most: material.newest(desk.said, most)),
        "resources": Part(0.05, lambda most: mark(known.resources, most, material.nearest)),
        "answer": Part(0.06, lambda most: material.answer_told(frame.last, most)),
        "log": Part(0.09, lambda most: mark(rounds, most, material.newest)),
        "summary": Part(0.06, lambda most: mark(frame.summary, most, beginning)),
        "library": Part(0.07, lambda most: mark(known.functions, most, material.nearest)),
        "observation": shown,
        "facts": Part(0.04, lambda most: material.newest(known.facts, most)),
        "notes": Part(0.03, lambda most: mark(known.notes, most, material.newest)),
        "goal": Part(0.03, lambda most: beginning(desk.goal.text, most) if depth else ""),
        "earlier": Part(0.03, lambda most: mark(known.earlier, most, material.nearest)),
    }


def _dialogue(desk: Desk, depth: int, texts: Mapping[str, str]) -> list[Message]:
    """What is to be reached, in the person's words or the caller's; the own last answer; what came
    of it."""
    if depth:
        asked = f"Your task:\n{texts['task']}"
        if texts["goal"]:
            asked += f"\n\nIt belongs to this goal of the person:\n{texts['goal']}"
    else:
        asked = f"My goal:\n{texts['task']}"
    new = "\n\n".join(filter(None, (texts["news"], _came(desk.done_by(depth), texts))))
    if not texts["answer"]:
        return [Message(Speaker.USER, f"{asked}\n\n{new}")]
    return [
        Message(Speaker.USER, asked),
        Message(Speaker.ASSISTANT, texts["answer"]),
        Message(Speaker.USER, new),
    ]


def _came(done: Sequence[LogEntry], texts: Mapping[str, str]) -> str:
    last = next((entry for entry in reversed(done) if entry.branch not in ASIDE), None)
    if last is None:
        return "Nothing was done yet. Choose the first branch."
    came = texts["observation"] or "(nothing)"
    return (
        f"{last.branch}: {last.status.value}. What came of it:\n{came}\n\nChoose the next branch."
    )


def _marked(what: Any, most: int, cut: Callable[[Any, int], str], *, whose: str) -> str:
    """Data between marks, in so many tokens; "" where there is none."""
    text = cut(what, most - MARKS_TOKENS)
    return marked_off(text, whose) if text else ""


def _listed(branch: Branch) -> str:
    names = (f"{name}{'' if name in branch.required else '?'}" for name in branch.args)
    return f"- {branch.name}({', '.join(names)}): {branch.summary}"


def offered(role: Role, frame: Frame) -> Role:
    """The role with the branches that it can take now: without a plan there is none to update."""
    if frame.outline is not None:
        return role
    without = {"update_plan"} if role.writes else {"update_plan", "re_plan"}
    left = tuple(branch for branch in role.branches if branch.name not in without)
    return replace(role, branches=left)


def answer_of(why: str, branch: str, args: Mapping[str, Any]) -> str:
    """A choice as the LLM's own last answer."""
    return json.dumps({"why": why, "branch": branch, "args": dict(args)}, ensure_ascii=False)
