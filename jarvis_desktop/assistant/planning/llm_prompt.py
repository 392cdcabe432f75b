"""The prompt for a plan: the rules, the tasks, examples, files, and the JSON Schema of the answer.

The schema lists only tasks that can run now and files that exist. If the LLM's window is too small,
the less important parts are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import mean
from typing import Any

from jarvis_desktop.assistant import memory
from jarvis_desktop.assistant.planning.plan_builder import NamedArtifacts
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import ExpertError, StorageError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import LLM, Message, MessageRole, Prompt, estimated_tokens
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import Port, TaskOption, TaskType, type_names

MAX_NAMES = 40
"""File names that a schema lists; if there are more, it accepts any name."""

_types = {bool: "boolean", int: "integer", float: "number", str: "string"}


def plan_schema(
    inventory: Sequence[TaskType],
    named: NamedArtifacts,
    *,
    agent: bool = False,
    direct: bool = True,
) -> dict[str, Any]:
    """Return the schema of an object with "direct" and "plan", where each task takes its own
    arguments.

    With `agent` the answer may also say that the request is a goal for agent mode. Without `direct`
    it must be a plan. Tasks with the same arguments share one entry, because a schema may be part
    of the prompt.
    """
    groups: dict[str, tuple[list[str], dict[str, Any]]] = {}
    for task_type in inventory:
        args = _args(task_type)
        groups.setdefault(repr(args), ([], args))[0].append(task_type.name)
    kinds = {port.kinds for task_type in inventory for port in task_type.ports}
    inputs = {"_".join(each): _input(each, named) for each in sorted(kinds)}
    task = {"anyOf": [_task(*group) for group in groups.values()]}
    if not direct:
        plan = {"type": "array", "items": task, "minItems": 1, "maxItems": SHORT_PLAN_STEPS}
        return _object({"plan": plan}, ["plan"]) | {"$defs": inputs}
    return _answer(task, agent=agent) | {"$defs": inputs}


def short_schema(inventory: Sequence[TaskType], *, agent: bool = False) -> dict[str, Any]:
    """Return the schema without the arguments of each task, about a tenth as long. An empty
    inventory allows any task name."""
    names = [task_type.name for task_type in inventory]
    return _answer(_task(names, {"type": "object"}), agent=agent)


def _answer(task: dict[str, Any], *, agent: bool) -> dict[str, Any]:
    plan = {"type": "array", "items": task}
    third = {"agent": {"type": "boolean"}} if agent else {}
    return _object(third | {"direct": {"type": "boolean"}, "plan": plan}, ["direct", "plan"])


def _task(names: list[str], args: dict[str, Any]) -> dict[str, Any]:
    which = {"enum": names} if names else {"type": "string"}
    properties = {"task": which, "id": {"type": "integer"}, "args": args}
    return _object(properties | {"wanted": {"type": "boolean"}}, list(properties))


def _args(task_type: TaskType) -> dict[str, Any]:
    ports = {port.name: _port(port) for port in task_type.ports}
    options = {option.name: _option(option) for option in task_type.options}
    return _object(ports | options, [port.name for port in task_type.ports if port.required])


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


def _port(port: Port) -> dict[str, Any]:
    one = {"$ref": f"#/$defs/{'_'.join(port.kinds)}"}
    return {"type": "array", "items": one} if port.many else one


def _option(option: TaskOption) -> dict[str, Any]:
    if option.choices:
        return {"enum": list(option.choices)}
    return {"type": _types[type(option.default)]}


def _input(kinds: Sequence[Kind], named: NamedArtifacts) -> dict[str, Any]:
    names = named.listed(kinds)
    if Kind.TEXT in kinds or len(names) > MAX_NAMES:
        return {"type": "string"}
    result = {"type": "string", "pattern": "^<GENERATED>-[0-9]{1,3}$"}
    return {"anyOf": [{"enum": names}, result]} if names else result


PLAN_TOKENS = 768
"""Tokens of a plan, without texts of the request that it repeats."""
HISTORY_TOKENS = 1500
"""Tokens of earlier turns in a planner's prompt, at most."""
REFUSAL_TOKENS = 224
"""Tokens kept free for the sentence that says what is wrong with a plan."""
MAX_FILES = 40
"""File names listed in a prompt; of earlier turns the newest, if there are more."""

MAX_EXAMPLES = 10
"""Examples in a prompt with all tasks."""

EXAMPLES = "plan_examples.json"


@dataclass(frozen=True, slots=True)
class PlanExample:
    """A request with its files, by name and kind, and the plan that answers it."""

    request: str
    files: dict[str, str]
    answer: dict[str, Any]
    tasks: frozenset[str]
    """The names of its tasks."""

    @property
    def for_agent(self) -> bool:
        """Whether the answer is that the request is a goal for agent mode."""
        return self.answer.get("agent") is True

    @property
    def messages(self) -> tuple[Message, Message]:
        """The example as an LLM sees it."""
        listed = [f"{_quoted(name)} ({kind})" for name, kind in self.files.items()]
        asked = request_text(self.request, listed)
        answer = json.dumps(self.answer, ensure_ascii=False)
        return Message(MessageRole.USER, asked), Message(MessageRole.ASSISTANT, answer)


def load_examples(prompts: Prompts) -> list[PlanExample]:
    """Load the examples, the user's own file first. Raises StorageError if the file is invalid."""
    text, path = prompts.read(EXAMPLES)
    try:
        return [
            PlanExample(
                str(item["request"]),
                dict(item["files"]),
                dict(item["answer"]),
                frozenset(str(task["task"]) for task in item["answer"]["plan"]),
            )
            for item in json.loads(text)
        ]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StorageError(
            tr("The examples in {path} cannot be used.", path=path),
            hint=tr("Mend or remove the file."),
        ) from error


def request_text(text: str, files: Sequence[str]) -> str:
    """Return a request as an LLM sees it, quoted so that its start and end are clear."""
    return f"Files: {', '.join(files) or 'none'}\nRequest: {_quoted(text)}"


def list_files(named: NamedArtifacts, context: Context) -> list[str]:
    """List the available files by name and kind, and what is known of them, not their contents."""
    made_by = {item.artifact: item.task for item in context.resources if item.task}
    listed = []
    for name, artifact in named:
        notes = [str(artifact.kind)]
        if artifact not in named.attached:
            notes.append(
                f"result of {made_by[artifact]}" if artifact in made_by else "given before"
            )
        if artifact.kind is not Kind.TEXT and artifact.title != name:
            notes.append(_quoted(artifact.title[:60]))
        listed.append(f"{_quoted(name)} ({', '.join(notes)})")
    here = len(named.attached)
    if len(listed) - here <= MAX_FILES:
        return listed
    more = f"{len(listed) - here - MAX_FILES} older ones, numbered in the same way"
    return [*listed[:here], more, *listed[-MAX_FILES:]]


def planning_prompt(
    llm: LLM,
    prompts: Prompts,
    *,
    asked: str,
    inventory: Sequence[TaskType],
    context: Context,
    agent: bool = False,
) -> Prompt:
    """Build the prompt for a plan: rules, tasks, examples, earlier turns, then `asked` in full.

    With `agent` the LLM may also say that the request is a goal for agent mode. If not everything
    fits, these are left out in turn, and the trace says so: the details of the schema, examples,
    earlier turns, the summaries of the tasks, and last their names in the schema. Raises
    ExpertError if `asked` does not fit even then, StorageError if a prompt cannot be read.
    """
    template = prompts.template("plan")
    names = {task_type.name for task_type in inventory}
    shown = [
        item.messages
        for item in load_examples(prompts)
        if item.tasks <= names and (agent or not item.for_agent)
    ][:MAX_EXAMPLES]
    third = f"\n\n{prompts.template('plan_agent').text}" if agent else ""
    rules, fewer = (
        Message(
            MessageRole.SYSTEM,
            template.filled(tasks=_list_tasks(inventory, summaries=summaries), agent=third),
        )
        for summaries in (True, False)
    )
    full = plan_schema(inventory, NamedArtifacts(context), agent=agent)
    short, least = short_schema(inventory, agent=agent), short_schema((), agent=agent)
    longest = max(1, min(PLAN_TOKENS + estimated_tokens(asked), llm.window // 4))
    whole = llm.window - 2 * longest - REFUSAL_TOKENS - memory.tokens([_last(asked, [])])
    wanted, _ = memory.messages(context, HISTORY_TOKENS)
    everything = memory.tokens([*wanted, *chain(*shown)])
    for system, schema, needed in (
        (rules, full, everything),
        (rules, short, 0),
        (fewer, short, 0),
        (fewer, least, 0),
    ):
        room = whole - memory.tokens([system]) - estimated_tokens(json.dumps(schema))
        if room < needed:
            continue
        told, missing = memory.messages(context, min(HISTORY_TOKENS, room))
        fitting = _first(shown, room - memory.tokens(told))
        context.trace(
            f"{llm.name} plans by the prompt {template.label}, with {len(fitting)} of "
            f"{len(shown)} examples{'' if system is rules else ', without what each task does'}."
        )
        if missing:
            context.trace(missing)
        messages = (system, *chain(*fitting), _last(asked, told))
        return Prompt(messages, schema=schema, longest=longest)
    raise ExpertError(
        tr("The request and the list of tasks do not fit into the window of {name}.", name=llm.name)
    )


SHORT_TASKS = 9
"""Tasks in the prompt for a small LLM: it plans well from ten tasks and badly from seventy."""
SHORT_EXAMPLES = 3
SHORT_PLAN_STEPS = 8
SHORT_PROMPT_TOKENS = 900
"""Examples are left out if the prompt would be longer."""
SHORT_HISTORY_TOKENS = 200
SHORT_PLAN_TOKENS = 256
"""Tokens of a short plan, without texts of the request that it repeats."""


def short_planning_prompt(
    llm: LLM, prompts: Prompts, *, asked: str, inventory: Sequence[TaskType], context: Context
) -> Prompt:
    """Build the prompt for a small LLM: fixed rules, the closest examples, the few tasks of
    `inventory`, the likeliest first, then `asked` in full.

    What never changes comes first, so that the server's prompt cache holds. Raises ExpertError if
    `asked` does not fit, StorageError if a prompt cannot be read.
    """
    template = prompts.template("plan_short")
    context.trace(f"{llm.name} plans by the prompt {template.label}, from {len(inventory)} tasks.")
    place = {task_type.name: at for at, task_type in enumerate(inventory)}
    kinds = {str(item.kind) for item in context.attachments}

    def distance(example: PlanExample) -> tuple[bool, float]:
        return kinds != set(example.files.values()), mean(place[name] for name in example.tasks)

    fitting = [item for item in load_examples(prompts) if item.tasks and item.tasks <= set(place)]
    closest = [item.messages for item in sorted(fitting, key=distance)[:SHORT_EXAMPLES]]
    tasks = "\n".join(_short_line(task_type) for task_type in inventory)
    told, missing = memory.messages(context, SHORT_HISTORY_TOKENS)
    if missing:
        context.trace(missing)
    rules, last = (
        Message(MessageRole.SYSTEM, template.text),
        _last(f"Tasks:\n{tasks}\n\n{asked}", told),
    )
    shown = _first(closest, SHORT_PROMPT_TOKENS - memory.tokens([rules, last]))
    prompt = Prompt(
        (rules, *chain(*reversed(shown)), last),
        schema=plan_schema(inventory, NamedArtifacts(context), direct=False),
        longest=max(1, min(SHORT_PLAN_TOKENS + estimated_tokens(asked), llm.window // 4)),
    )
    if prompt.tokens + 2 * prompt.longest + REFUSAL_TOKENS > llm.window:
        raise ExpertError(
            tr(
                "The request and the list of tasks do not fit into the window of {name}.",
                name=llm.name,
            )
        )
    return prompt


_expert_settings = frozenset({"seed", "strength", "threshold", "avoid", "most"})
"""Options that hardly anybody asks for in words."""


def _short_line(task_type: TaskType) -> str:
    """Describe a task: `summarization(text, sentences) -> text. Makes a text shorter.`"""
    options = [
        option.name + (f"={_option_values(option)}" if option.choices else "")
        for option in task_type.options
        if option.name not in _expert_settings
    ]
    places = [f"{port.name}{'' if port.required else '?'}" for port in task_type.ports]
    summary = re.split(r"(?<=\.)\s|[:;]\s|, with an expert", task_type.summary)[0].rstrip(".")
    given = _kinds(task_type.gives)
    return f"- {task_type.name}({', '.join([*places, *options])}) -> {given}. {summary}."


def _last(asked: str, told: Sequence[Message]) -> Message:
    """Return the last message; earlier turns go into it, because their answers are not plans."""
    if not told:
        return Message(MessageRole.USER, asked)
    said = "\n".join(f"{message.role.title()}: {message.text}" for message in told)
    return Message(MessageRole.USER, f"What was said before:\n{said}\n\nNow plan this.\n{asked}")


def _first(shown: Sequence[tuple[Message, Message]], room: int) -> list[tuple[Message, Message]]:
    fitting: list[tuple[Message, Message]] = []
    for pair in shown:
        room -= memory.tokens(pair)
        if room < 0:
            break
        fitting.append(pair)
    return fitting


_FINE = ("avoid", "seed")


def _list_tasks(inventory: Sequence[TaskType], *, summaries: bool) -> str:
    """List one task per line; without summaries, tasks with the same signature share a line, and
    of options only those have their values that can be chosen from, and those of painters are left
    out that few requests need."""
    if summaries:
        return "\n".join(_line(task_type) for task_type in inventory)
    alike: dict[str, list[str]] = {}
    for task_type in inventory:
        alike.setdefault(_signature(task_type, types=False), []).append(task_type.name)
    return "\n".join(f"- {', '.join(names)}{shape}" for shape, names in alike.items())


def _line(task_type: TaskType) -> str:
    """Describe a task: `summarization(text) -> text. Makes a text shorter.`"""
    line = f"- {task_type.name}{_signature(task_type)}"
    about = "; ".join(f"{option.name}: {option.summary}" for option in task_type.options)
    return f"{line}. {task_type.summary}{f' ({about})' if about else ''}"


def _signature(task_type: TaskType, *, types: bool = True) -> str:
    places = [
        f"{port.name}{'' if port.required else '?'}: {_kinds(port.kinds)}{' list' * port.many}"
        for port in task_type.ports
    ]
    places += [
        f"{option.name}?" + (f": {_option_values(option)}" if types or option.choices else "")
        for option in task_type.options
        if types or option.name not in _FINE
    ]
    return f"({', '.join(places)}) -> {_kinds(task_type.gives)}"


def _kinds(kinds: Sequence[Kind]) -> str:
    return "any kind" if set(kinds) == set(Kind) else "/".join(kinds)


def _option_values(option: TaskOption) -> str:
    if option.choices:
        return "|".join(choice for choice in option.choices if choice)
    return type_names[type(option.default)]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
