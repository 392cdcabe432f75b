"""Read the plan in what an LLM answered, and ask again while the answer cannot be used.

A plan is found after the LLM's reasoning, in prose, in code fences, or written as calls.
"""

from __future__ import annotations

import html
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from jarvis_desktop.assistant.prompts import keep_start
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import LLM, Message, MessageRole, Prompt, answer, estimated_tokens
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.lenient_json import LenientJsonReader

T = TypeVar("T")

MAX_REJECTIONS = 3
"""How many answers are rejected before the LLM is given up on."""
MAX_CHARS = 20_000
"""Characters of an answer; anything longer is not a plan."""
MAX_TASKS = 32
"""Tasks of a plan that an LLM writes."""
TOO_MANY_TASKS = f"A plan has at most {MAX_TASKS} tasks; write a shorter one."
MAX_RESTARTS = 4
"""How often the search starts again, after a bracket in prose that swallowed the rest."""
MAX_DEPTH = 8
"""How many levels of wrappers a plan may be in."""

_name_keys = (
    *("task", "taskname", "tasktype", "tool", "toolname", "function", "functionname"),
    *("action", "api", "name", "type"),
)
_args_keys = (
    *("args", "arguments", "arg", "parameters", "params", "kwargs"),
    *("toolinput", "actioninput", "inputs", "input"),
)
_id_keys = ("id", "taskid", "step", "stepid", "index", "number")
_dep_keys = ("dep", "deps", "dependson", "dependencies", "depends", "dependency")
_call_keys = ("function", "functioncall", "toolcall")
_plan_keys = ("plan", "tasks", "steps", "toolcalls", "actions")
_direct_keys = ("direct", "directanswer", "answerdirectly", "noexpert")
_notes = frozenset({"wanted", "reason", "thought", "description", "comment", "explanation"})

_thought = lazy_re(
    r"</(?:think|thinking|thought|thoughts|reasoning|analysis|scratchpad)>"
    r"|<\|channel\|>final<\|message\|>",
    re.IGNORECASE,
)
_opener = lazy_re(r"[{\[]")
_call = lazy_re(r"(?:\b(\w{1,40})\s?=\s?)?(?<![\w-])([A-Za-z][\w-]{2,60}+)\(")


@dataclass(frozen=True, slots=True)
class WrittenStep:
    """One task as the LLM wrote it, unchecked."""

    name: str
    id: object = None
    dep: object = None
    args: object = None
    wanted: bool = False


def read_steps(text: str, names: Iterable[str]) -> list[WrittenStep]:
    """Return the steps of the plan in an answer; [] if the answer says that no task is needed.

    `names` are the names of the available tasks. The work is linear in the length of the text.
    Raises PlanError with one sentence that tells an LLM what to do better.
    """
    if len(text) > MAX_CHARS:
        raise PlanError(
            tr("That is too long for a plan; write the JSON of the plan and nothing else.")
        )
    known = frozenset(normalized(name) for name in names)
    for version in dict.fromkeys(_versions(text)):
        if (found := _search(version, known)) is not None:
            return found
    if found := _calls(text, known):
        return found
    raise PlanError(tr('There is no plan in that; write {"plan": [...]} or {"direct": true}.'))


def is_agent_goal(text: str) -> bool:
    """Return whether the answer says only that the request is a goal for agent mode. Raises
    PlanError if the answer is nested too deeply."""
    for value in LenientJsonReader(strip_reasoning(text[:MAX_CHARS])).values():
        if isinstance(value, Mapping):
            low = lower_keys(value)
            otherwise = _is_yes(_first(low, _direct_keys)) or _first(low, _plan_keys)
            return _is_yes(low.get("agent")) and not otherwise
    return False


async def ask_until_valid(
    llm: LLM,
    prompt: Prompt,
    parse: Callable[[str], T],
    *,
    trace: Callable[[str], None],
    spend: Callable[[int], None] = lambda tokens: None,
    ask: Callable[[LLM, Prompt], Awaitable[str]] = answer,
    shown_tokens: int | None = None,
    max_rejections: int = MAX_REJECTIONS,
) -> T:
    """Ask the LLM until `parse` accepts its answer, and return what `parse` returns.

    An answer with a PlanError goes back to the LLM with the error's message, cut to
    `shown_tokens` tokens (by default to the length of an answer), unless `max_rejections` answers
    were rejected. `spend` gets the tokens of each prompt and answer. Raises the last PlanError, and
    whatever `ask` raises.
    """
    asked, rejections = prompt, 0
    while True:
        spend(prompt_tokens(asked))
        text = await ask(llm, asked)
        spend(estimated_tokens(text))
        try:
            return parse(text)
        except PlanError as error:
            rejections += 1
            if rejections == max_rejections:
                raise
            trace(f"{llm.name} is asked again: {error.message}")
            asked = with_rejection(prompt, keep_start(text, shown_tokens or prompt.longest), error)


def prompt_tokens(prompt: Prompt) -> int:
    """Estimate the tokens of a prompt as it is sent: with its schema in the last message."""
    if prompt.schema is None:
        return prompt.tokens
    text = json.dumps(prompt.schema, ensure_ascii=False, separators=(",", ":"))
    return prompt.tokens + estimated_tokens(text) + 24


def with_rejection(prompt: Prompt, text: str, error: PlanError) -> Prompt:
    """Return the prompt with its rejected answer and the reason."""
    reason = f"This cannot be used: {error.message} Write the whole JSON again, mended."
    rejection = (
        Message(MessageRole.ASSISTANT, text or "(nothing)"),
        Message(MessageRole.USER, reason),
    )
    return replace(prompt, messages=(*prompt.messages, *rejection))


def lower_keys(value: Mapping[Any, object]) -> dict[str, object]:
    """Return a JSON object with its keys normalized."""
    return {normalized(str(key)): item for key, item in value.items()}


def normalized(name: str) -> str:
    """Return a name without what varies in it: case, hyphens, underscores and spaces."""
    return re.sub(r"[\W_]", "", name.casefold())


def strip_reasoning(text: str) -> str:
    """Return what an LLM wrote after its reasoning."""
    ends = [match.end() for match in _thought.finditer(text)]
    return text[ends[-1] :] if ends else text


def _versions(text: str) -> Iterator[str]:
    """Yield the text as it may have been meant, the likeliest first."""
    yield strip_reasoning(text)
    yield text
    yield text.replace('\\"', '"')
    yield html.unescape(text)
    yield text.replace("{{", "{").replace("}}", "}")


def _search(text: str, known: Set[str]) -> list[WrittenStep] | None:
    start = 0
    for _ in range(MAX_RESTARTS):
        found = _collect_steps(LenientJsonReader(text), start, known)
        opener = _opener.search(text, start)
        if found is not None or opener is None:
            return found
        start = opener.end()
    return None


def _collect_steps(
    reader: LenientJsonReader, start: int, known: Set[str]
) -> list[WrittenStep] | None:
    """Return the steps of all values from `start` on, as one plan. Values with new ids continue a
    plan, those with the same ids correct it, and tasks that stand alone are collected."""
    plan: list[WrittenStep] | None = None
    broken = alone = False
    for value in reader.values(start):
        found = _steps_in(value, known)
        if found is None or (plan and not found):
            continue
        broken = reader.broken_off
        single = isinstance(value, Mapping) and _step(value, known) is not None
        if not plan:
            plan, alone = found, single
        elif _carries_on(plan, found) or (single and alone):
            plan += [step for step in found if step not in plan]
        elif not single:
            plan, alone = found, False
        if len(plan) > MAX_TASKS:
            raise PlanError(TOO_MANY_TASKS)
    if broken:
        raise PlanError(tr("The answer breaks off within the plan; write the whole plan, shorter."))
    return plan


def _carries_on(plan: list[WrittenStep], found: list[WrittenStep]) -> bool:
    there, new = ({str(step.id) for step in some if step.id is not None} for some in (plan, found))
    return bool(there and new) and not there & new


def _steps_in(value: object, known: Set[str], level: int = 0) -> list[WrittenStep] | None:
    """Return the steps that a value describes; None if it is something else."""
    if level == MAX_DEPTH:
        return None
    if isinstance(value, list):
        return _steps_of_list(value, known, level)
    if not isinstance(value, Mapping) or not value:
        return None
    if step := _step(value, known):
        return [step]
    inner = [(key, _steps_in(item, known, level + 1)) for key, item in value.items()]
    full = [(str(key), found) for key, found in inner if found]
    if full and all(len(found) == 1 and key.isdecimal() for key, found in full):
        return [
            replace(found[0], id=key) if found[0].id is None else found[0] for key, found in full
        ]
    if full:
        return full[0][1]
    low = lower_keys(value)
    direct = _first(low, _direct_keys)
    if _is_yes(direct) or any(low.get(key) == [] for key in _plan_keys):
        return []
    return None


def _is_yes(value: object) -> bool:
    return str(value).casefold() in ("true", "yes")


def _steps_of_list(value: list[object], known: Set[str], level: int) -> list[WrittenStep] | None:
    found = [(item, _steps_in(item, known, level + 1)) for item in value]
    if value and not any(steps for _, steps in found):
        return None
    for item, inner in found:
        if isinstance(item, Mapping) and item and inner is None:
            raise PlanError(tr('A task of the plan has no name; give it as "task".'))
    return [step for _, inner in found for step in inner or ()]


def _step(value: Mapping[object, object], known: Set[str]) -> WrittenStep | None:
    low = lower_keys(value)
    call = _first(low, _call_keys)
    if isinstance(call, Mapping):
        rest = {key: item for key, item in low.items() if key not in _call_keys}
        low = rest | lower_keys(call)
    if any(isinstance(low.get(key), list) for key in _plan_keys):
        return None  # a whole plan, whatever else it contains
    key = next((key for key in _name_keys if isinstance(low.get(key), str) and low[key]), None)
    if key is None:
        return _keyed_by_name(value, known)
    name = str(low[key])
    has_args = any(item in low for item in _args_keys)
    if not (has_args or key not in ("name", "type", "api") or normalized(name) in known):
        return None
    return WrittenStep(
        name,
        _first(low, _id_keys),
        _first(low, _dep_keys),
        _args(_first(low, _args_keys)) if has_args else _sibling_args(value, key),
        low.get("wanted") is True,
    )


def _keyed_by_name(value: Mapping[object, object], known: Set[str]) -> WrittenStep | None:
    """Read {"image-to-text": {...}}."""
    if len(value) != 1:
        return None
    (name, args), *_ = value.items()
    return WrittenStep(str(name), args=args) if normalized(str(name)) in known else None


def _first(low: Mapping[str, object], keys: Iterable[str]) -> object:
    return next((low[key] for key in keys if low.get(key) is not None), None)


def _args(args: object) -> object:
    """Return the arguments; some APIs put them in a string as JSON."""
    if isinstance(args, str) and args.lstrip().startswith("{"):
        return next(LenientJsonReader(args).values())
    return args


def _sibling_args(value: Mapping[object, object], name_key: str) -> dict[str, object]:
    """Return the arguments of a task that has them beside its name."""
    others = {name_key, *_call_keys, *_id_keys, *_dep_keys, *_notes}
    return {str(key): item for key, item in value.items() if normalized(str(key)) not in others}


def _calls(text: str, known: Set[str]) -> list[WrittenStep]:
    """Read calls in Python syntax: `caption = image_to_text(image="cat.png")`."""
    reader = LenientJsonReader(text)
    found: list[WrittenStep] = []
    end = 0
    for call in _call.finditer(text):
        if call.start() < end or normalized(call[2]) not in known:
            continue
        args = reader.arguments(call.end())
        end = reader.position
        if "" in args or None in args.values():
            continue
        inner = (_call.search(item) for item in args.values() if isinstance(item, str))
        if any(match and normalized(match[2]) in known for match in inner):
            raise PlanError(tr('Nested calls are not a plan; write {"plan": [...]} as JSON.'))
        found.append(WrittenStep(call[2], call[1], args=args))
    return found


_id = lazy_re(r"(?:[\w#<>. \-]*[A-Za-z_#<>. ])?(\d{1,9})", re.ASCII)
_mark = r"(?:<|&lt;)\s?(?:GENERATED|node|resource)\s?(?:(?:>|&gt;)[\s\-_:#]{0,3}|[\-_:#]{1,3})"
_label = r"(?:(?:task|step|text|image|audio|video|table|document)[\-_ ]?)?(\d{1,9})\s?(?:>|&gt;)?"
_field = r"(?:\.\w{1,20}|\[[\w'\"]{1,20}\])?"
_generated = lazy_re(rf"{_mark}(?:{_label}{_field})?", re.IGNORECASE | re.ASCII)
_several = lazy_re(
    rf"(?:{_mark}{_label}{_field}|GENERATED[\-_ ]?\d{{1,9}})"
    rf"(?:\s?(?:,|&|and|\+)\s?(?:{_mark})?\d{{1,9}})*+",
    re.IGNORECASE | re.ASCII,
)
_prefix = lazy_re(_mark, re.IGNORECASE)
_fields = lazy_re(r"\.\w+|\[[^\]]*\]")
_spoken = lazy_re(
    r"[\W_]{0,3}(?:the )?(?:(?:result|output|answer|text|image)s?[\s_-]?(?:(?:of|from)[\s_-]?)?)?"
    r"(?:task|step|node|output|result|id)[\s_-]?(\d{1,9})(?:['’]s|[._])?\s?(?:output|result|text)?"
    r"[\W_]{0,3}|\$(\d{1,9})|\{\{?\s?(\d{1,9})\s?\}?\}",
    re.IGNORECASE | re.ASCII,
)
_filler = frozenset(
    "the a of from in at by for this that its it and result results output outputs task step "
    "text image picture photo audio recording sound video table document file content caption "
    "summary translation transcript answer generated above previous".split()
)


class StepNumbering:
    """Gives every step a unique id: the one it was written with, if possible. `finished` are the
    ids of tasks that exist besides."""

    def __init__(self, steps: Sequence[WrittenStep], finished: Iterable[int] = ()) -> None:
        written = [whole_number(step.id) for step in steps]
        taken = {number for number in written if number is not None}
        self._by_number = defaultdict(list, {number: [number] for number in finished})
        self._by_label: dict[str, int] = {}
        self.ids: list[int] = []
        """Ids of the steps, in order."""
        unused = (number for number in itertools.count() if number not in taken)
        free = (number for number in unused if number not in self._by_number)
        for step, number in zip(steps, written, strict=True):
            given = number if number is not None and number not in self._by_number else next(free)
            self._by_number[given if number is None else number].append(given)
            if isinstance(step.id, str) and step.id.strip():
                self._by_label[step.id.strip().casefold()] = given
            self.ids.append(given)

    def task(self, number: int) -> int:
        """Return the id of the step with this number, which may not be in the plan. Raises
        PlanError if two steps have the number."""
        ids = self._by_number.get(number, [number])
        if len(ids) > 1:
            raise PlanError(tr("Two tasks of the plan have the id {number}.", number=number))
        return ids[0]

    def references(self, text: str) -> list[int] | None:
        """Return the tasks whose results a text stands for; None if it is anything more. [] stands
        for a result of an unnamed task."""
        words = text.strip()
        label = self._by_label.get(_prefix.sub("", words).strip("${}<> ").casefold())
        if label is not None and not words.isdecimal():
            return [label]
        if _generated.fullmatch(words) or _several.fullmatch(words):
            numbers = re.findall(r"\d+", _fields.sub("", words))
            return [self.task(int(number)) for number in numbers]
        if spoken := _spoken.fullmatch(words):
            number = int(spoken[spoken.lastindex or 0])
            return [self.task(number)] if number in self._by_number else None
        return None

    def within(self, text: str) -> tuple[list[int], bool]:
        """Return the tasks that a longer text refers to, and whether it says anything else."""
        found = [int(match[1]) for match in _generated.finditer(text) if match[1]]
        rest = re.findall(r"\w+", _generated.sub(" ", text.casefold()))
        return [self.task(number) for number in found], not _filler.issuperset(rest)

    @staticmethod
    def mentions(text: str) -> bool:
        """Return whether a text refers to a result at all."""
        return _generated.search(text) is not None


def whole_number(value: object) -> int | None:
    """Return a non-negative whole number, however it is written; None if there is none."""
    if isinstance(value, str) and len(value) < 40 and (found := _id.fullmatch(value.strip())):
        return int(found[1])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 10**9 and value == int(value) else None
