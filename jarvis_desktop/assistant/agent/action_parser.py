"""Read the branch that an LLM chose, and its arguments.

The choice may follow the LLM's reasoning, be in prose or code fences, and use odd names. Slips are
corrected, the rest is refused. The schema is a hint to the LLM; every answer is checked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from jarvis_desktop.assistant.agent.roles import AgentRole, Branch
from jarvis_desktop.assistant.planning.llm_output import (
    ask_until_valid,
    lower_keys,
    normalized,
    strip_reasoning,
)
from jarvis_desktop.core.context import llm_timeout
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, PlanError
from jarvis_desktop.core.goal import BranchChoice
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import LLM, Prompt, answer
from jarvis_desktop.text.lenient_json import LenientJsonReader

MAX_ARGUMENT_CHARS = 40_000
"""Characters of one text."""
MAX_ITEMS = 60

_key_aliases: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("step", "stepid", "number", "index"), ("id",)),
    **{"status": ("state",), "comment": ("note",), "remark": ("note",), "result": ("note",)},
    **dict.fromkeys(("message", "answer", "reply", "response", "content"), ("text", "summary")),
    **dict.fromkeys(("script", "source", "sourcecode", "python", "function"), ("code",)),
    **{"test": ("tests",), "functionname": ("name",), "explanation": ("reason",)},
    **dict.fromkeys(("package", "requirements", "dependencies"), ("packages",)),
    **dict.fromkeys(("files", "inputs", "resources", "artifacts"), ("uses",)),
    **dict.fromkeys(("instruction", "instructions", "goal", "description"), ("task", "request")),
    **{"updates": ("steps",), "plan": ("steps",), "prompt": ("question", "request", "task")},
}
"""What LLMs call arguments: the first of these that a branch has is meant."""
_value_aliases: Mapping[str, str] = {
    **dict.fromkeys(("todo", "pending", "notstarted", "new", "reopened"), "open"),
    **dict.fromkeys(("inprogress", "started", "running", "ongoing", "current", "active"), "doing"),
    **dict.fromkeys(("complete", "completed", "finished", "success", "ok", "x"), "done"),
    **dict.fromkeys(("fail", "failure", "error", "blocked"), "failed"),
    **dict.fromkeys(("drop", "skip", "skipped", "removed", "cancelled", "canceled"), "dropped"),
}
"""What LLMs call the states of a step."""
_fence = re.compile(r"\A\s*```[\w+-]*[ \t]*\n(.*?)\n?[ \t]*```\s*\Z", re.DOTALL)
_whole = re.compile(r"[+-]?\d{1,12}(?:\.0+)?")


def check_arguments(given: Mapping[str, object], branch: Branch, why: str = "") -> dict[str, Any]:
    """Return the arguments by the schemas of a branch. Raises PlanError with one sentence."""
    known, others = _match_names(given, branch.args)
    missing = [name for name in branch.required if name not in known]
    if len(missing) == 1:
        known |= _guess(missing[0], branch.args[missing[0]], known, others, why)
    for name in missing:
        if name not in known:
            raise PlanError(
                tr("“{name}” needs the argument “{name2}”.", name=branch.name, name2=name)
            )
    found = {name: _fit(value, branch.args[name], name) for name, value in known.items()}
    for name in branch.required:
        if found[name] in ("", []):
            raise PlanError(
                tr("The argument “{name}” of “{name2}” is empty.", name=name, name2=branch.name)
            )
    return {
        name: found.get(name, choice_schema.get("default"))
        for name, choice_schema in branch.args.items()
        if name in found or "default" in choice_schema
    }


def _match_names(
    given: Mapping[str, object], schemas: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, object]]:
    """Split the arguments into known ones, however they are written, and the rest, without None."""
    names = {normalized(name): name for name in schemas}
    known: dict[str, object] = {}
    others: dict[str, object] = {}
    for key, value in given.items():
        low = normalized(str(key))
        meant = (alias for alias in _key_aliases.get(low, ()) if alias in names)
        name = names.get(low) or names.get(next(meant, ""))
        if value is None:
            continue
        if name and (low == normalized(name) or name not in known):
            known[name] = value
        else:
            others[str(key)] = value
    return known, others


def _guess(
    name: str,
    choice_schema: Mapping[str, Any],
    known: Mapping[str, object],
    others: Mapping[str, object],
    why: str,
) -> dict[str, object]:
    """Guess the one missing argument, if only one value can be meant."""
    if choice_schema.get("type") == "array" and "properties" in choice_schema["items"]:
        item, _ = _match_names({**known, **others}, choice_schema["items"]["properties"])
        numbered = {key: value for key, value in others.items() if key.isdecimal()}
        return {name: [item]} if item else ({name: numbered} if numbered else {})
    texts = [value for value in others.values() if isinstance(value, str) and value.strip()]
    if choice_schema.get("type") == "string" and len(texts) == 1:
        return {name: texts[0]}
    return {name: why} if name == "reason" and why else {}


def _fit(value: object, choice_schema: Mapping[str, Any], where: str) -> Any:
    if "enum" in choice_schema:
        return _one_of(value, choice_schema["enum"], where)
    match choice_schema["type"]:
        case "string":
            return _text(value, where)
        case "integer":
            return _integer(value, where)
        case "array":
            return _list(value, choice_schema["items"], where)
    return _object(value, choice_schema, where)


def _one_of(value: object, allowed: list[str], where: str) -> str:
    low = normalized(str(value))
    for word in allowed:
        if normalized(word) in (low, _value_aliases.get(low)):
            return word
    raise PlanError(
        tr("“{where}” must be one of {allowed}.", where=where, allowed=", ".join(allowed))
    )


def _text(value: object, where: str) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = "\n".join(value)
    if isinstance(value, bool | int | float):
        value = str(value)
    if not isinstance(value, str):
        raise PlanError(tr("“{where}” must be a text.", where=where))
    if len(value) > MAX_ARGUMENT_CHARS:
        raise PlanError(tr("“{where}” is too long.", where=where))
    fenced = _fence.match(value)
    if fenced:
        return fenced[1]
    # The first line of a script may be indented.
    return value.strip("\n").rstrip() if "\n" in value else value.strip()


def _integer(value: object, where: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    word = str(value).strip().lower().removeprefix("step").strip(" #.")
    if not isinstance(value, bool) and _whole.fullmatch(word):
        return int(float(word))
    raise PlanError(tr("“{where}” must be a whole number.", where=where))


def _list(value: object, items: Mapping[str, Any], where: str) -> list[Any]:
    if isinstance(value, Mapping):
        value = _of_mapping(value, items)
    elif isinstance(value, str) and items.get("type") == "string":
        value = [part for part in re.split(r"[,;\n]", value) if part.strip()]
    elif not isinstance(value, list):
        value = [value]
    if len(value) > MAX_ITEMS:
        raise PlanError(
            tr("“{where}” has at most {most_items} items.", where=where, most_items=MAX_ITEMS)
        )
    return [_fit(item, items, f"{where}[{at}]") for at, item in enumerate(value)]


def _of_mapping(value: Mapping[object, object], items: Mapping[str, Any]) -> list[object]:
    """Return one item, or items by name: {"1": "done", "2": {"state": "doing"}}."""
    first, *rest = items.get("required", ("",))
    names = {normalized(str(key)) for key in value}
    firsts = {normalized(first), *(key for key, meant in _key_aliases.items() if first in meant)}
    if not rest or names & firsts:
        return [value]
    return [
        {first: key, **item} if isinstance(item, Mapping) else {first: key, rest[0]: item}
        for key, item in value.items()
    ]


def _object(value: object, choice_schema: Mapping[str, Any], where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        example = ", ".join(choice_schema["properties"])
        raise PlanError(
            tr("“{where}” must be an object with {example}.", where=where, example=example)
        )
    properties = choice_schema["properties"]
    known, _ = _match_names(value, properties)
    for name in choice_schema["required"]:
        if name not in known:
            raise PlanError(tr("“{where}” needs “{name}”.", where=where, name=name))
    return {
        name: _fit(known[name], each, f"{where}.{name}") if name in known else each.get("default")
        for name, each in properties.items()
        if name in known or "default" in each
    }


def describe_choice(branch: Branch, args: Mapping[str, Any], *, limit: int = 200) -> str:
    """Return what the user sees of the arguments, in one line."""
    name, *others = branch.shows or (next(iter(branch.args), ""),)
    value = args.get(name) or next((item for item in args.values() if item), "")
    if isinstance(value, list):
        value = ", ".join(
            " ".join(str(part) for part in item.values() if part != "")
            if isinstance(item, Mapping)
            else str(item)
            for item in value
        )
    used = one_line(", ".join(item for each in others for item in args[each]), limit=limit // 3)
    if not used:
        return one_line(str(value), limit=limit)
    # The same for another file is a different round.
    return f"{one_line(str(value), limit=limit - len(used) - 3)} ({used})"


MAX_CHARS = 100_000
"""Characters of an answer; anything longer is not a choice."""
MAX_WHY_CHARS = 200
NAME_SIMILARITY = 0.8
"""How similar a name must be to that of a branch to be a slip of it, from 0 to 1."""
NAME_MARGIN = 0.1
"""How much less similar every other branch must be."""

_branch_keys = (
    *("branch", "branchname", "command", "action", "tool", "toolname", "functionname"),
    *("function", "choice", "next", "nextbranch", "call", "name"),
)
_call_keys = (
    "function",
    "functioncall",
    "toolcall",
    "branch",
    "action",
    "command",
    "tool",
    "choice",
)
_args_keys = (
    *("args", "arguments", "commandargs", "branchargs", "parameters", "params", "kwargs"),
    *("actioninput", "branchinput", "branchinputdata", "toolinput", "inputdata", "input"),
)
_why_keys = ("why", "reason", "reasoning", "thought", "thoughts", "explanation")

_aliases: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("python", "code", "script", "exec", "execute", "executecode", "runpython", "runscript",
         "executepython", "pythoncode", "codeinterpreter", "interpreter"),
        ("run_code", "write_function", "coder"),
    ),
    **dict.fromkeys(
        ("writecode", "programmer", "program", "callcoder", "coding"),
        ("coder", "write_function", "run_code"),
    ),
    **dict.fromkeys(
        ("answer", "final", "respond", "reply", "done", "finish", "finished", "end", "complete",
         "manualfinish", "giveanswer", "stop", "submit", "return", "finalize"),
        ("final_answer", "finish"),
    ),
    **dict.fromkeys(
        ("finalanswer", "finalresult", "summary", "result"), ("final_answer", "finish")
    ),
    **dict.fromkeys(
        ("interim", "partialanswer", "showprogress", "intermediateresult"), ("intermediate_answer",)
    ),
    **dict.fromkeys(
        ("ask", "question", "askhuman", "askperson", "clarify", "askquestion", "user"),
        ("ask_user",),
    ),
    **dict.fromkeys(
        ("plan", "newplan", "makeplan", "rewriteplan", "changeplan", "planning"), ("re_plan",)
    ),
    **dict.fromkeys(
        ("update", "markdone", "markstep", "updatestep", "updatesteps", "setstate", "markplan"),
        ("update_plan",),
    ),
    **dict.fromkeys(
        ("experts", "expert", "callexperts", "huggingface", "hugginggpt", "useexperts", "tools"),
        ("run_experts",),
    ),
    **dict.fromkeys(
        ("library", "savefunction", "addfunction", "writefunction", "savecode", "function",
         "createfunction"),
        ("write_function", "extend_library"),
    ),
}  # fmt: skip
"""What LLMs call branches: the first of these that a role has is meant."""

_script = re.compile(r"```(?:python|py)\d?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL | re.IGNORECASE)


def parse_choice(text: str, role: AgentRole) -> BranchChoice:
    """Return the first valid choice in an answer. Raises PlanError with one sentence that tells an
    LLM what to do better, about the first thing that looked like a choice."""
    if len(text) > MAX_CHARS:
        raise PlanError(tr("That is far too long; write one JSON object and nothing else."))
    refusal: PlanError | None = None
    for version in dict.fromkeys((strip_reasoning(text), text)):
        reader = LenientJsonReader(version)
        try:
            for value in _objects(reader):
                try:
                    choice = _choice(value, role)
                except PlanError as error:
                    refusal = refusal or error
                    continue
                if reader.broken_off:
                    raise PlanError(tr("The answer breaks off; write all of it, shorter."))
                return choice
        except PlanError as error:
            refusal = refusal or error
    if script := _of_script(text, role):
        return script
    raise refusal or PlanError(tr("There is no JSON object in that."))


def _objects(reader: LenientJsonReader) -> Iterator[Mapping[str, object]]:
    for value in reader.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Mapping):
                yield item


def _of_script(text: str, role: AgentRole) -> BranchChoice | None:
    """Return the choice for a lone script, if only one branch takes one."""
    scripts = _script.findall(text)
    runs = [branch for branch in role.branches if branch.required == ("code",)]
    if len(scripts) != 1 or len(runs) != 1:
        return None
    return BranchChoice(runs[0].name, check_arguments({"code": scripts[0]}, runs[0]))


def _choice(value: Mapping[str, object], role: AgentRole) -> BranchChoice:
    low = lower_keys(value)
    for key in _call_keys:
        inner = low.get(key)
        if isinstance(inner, Mapping):
            del low[key]
            low |= lower_keys(inner)
    reasons = (low[key] for key in _why_keys if isinstance(low.get(key), str))
    why = one_line(str(next(reasons, "")), limit=MAX_WHY_CHARS)
    branch, args = _named(low, role)
    return BranchChoice(branch.name, check_arguments(args, branch, why), why)


def _named(low: Mapping[str, object], role: AgentRole) -> tuple[Branch, Mapping[str, object]]:
    """Return the branch, and everything that may be its arguments."""
    names = [key for key in _branch_keys if isinstance(low.get(key), str)]
    for key in names:
        if branch := branch_named(str(low[key]), role):
            return branch, _args({**low, key: None}, branch)
    exact = {normalized(branch.name): branch for branch in role.branches}
    keyed = [name for name in low if name in exact]
    if len(keyed) == 1:  # {"coder": {"task": "..."}}
        branch = exact[keyed[0]]
        return branch, _args({**low, keyed[0]: None, "args": low[keyed[0]]}, branch)
    if names:
        name = one_line(str(low[names[0]]))
        raise PlanError(
            tr(
                "There is no branch “{name}”; take one of {role}.",
                name=name,
                role=_branch_names(role),
            )
        )
    for branch in role.branches:
        args = _args(low, branch)
        needed = {normalized(name) for name in branch.required}
        others = {normalized(name) for other in role.branches for name in other.required} - needed
        if needed and needed <= args.keys() and not others & args.keys():
            alike = [other for other in role.branches if other.required == branch.required]
            if len(alike) == 1:
                return branch, args
    raise PlanError(
        tr("The answer names no “branch”; take one of {role}.", role=_branch_names(role))
    )


def _args(low: Mapping[str, object], branch: Branch) -> Mapping[str, object]:
    """Return the arguments: beside the name, under their own key, or in a string as JSON."""
    inner = next((low[key] for key in _args_keys if low.get(key) is not None), None)
    if isinstance(inner, str) and inner.lstrip().startswith("{"):
        inner = next(LenientJsonReader(inner).values())
    own = {normalized(name) for name in branch.args}
    kept = own | (low.keys() - {*_args_keys, *_why_keys})
    beside = {key: item for key, item in low.items() if key in kept}
    if inner is None:
        return beside
    if not isinstance(inner, Mapping):
        inner = {(branch.required or ("",))[0]: inner}
    return {**beside, **lower_keys(inner)}


def branch_named(name: str, role: AgentRole) -> Branch | None:
    """Return the branch that a name clearly means, or None."""
    bare = normalized(name[:60])
    names = {normalized(branch.name): branch for branch in role.branches}
    if bare in names:
        return names[bare]
    for alias in _aliases.get(bare, ()):
        if branch := role.branch(alias):
            return branch
    within = [branch for each, branch in names.items() if each in bare]
    if len(within) == 1:  # "call_coder", "coder branch"
        return within[0]
    alike = sorted((SequenceMatcher(None, bare, each).ratio(), each) for each in names)
    best, name = alike[-1]
    second = alike[-2][0] if len(alike) > 1 else 0.0
    return names[name] if best >= NAME_SIMILARITY and best - second >= NAME_MARGIN else None


def _branch_names(role: AgentRole) -> str:
    return ", ".join(branch.name for branch in role.branches)


MAX_REJECTED_TOKENS = 300
"""Tokens of a rejected answer that the LLM sees when it is asked again."""
REJECTION_TOKENS = MAX_REJECTED_TOKENS + 300
"""Tokens kept free in a prompt for a rejected answer and the reason."""


async def choose(
    llm: LLM,
    prompt: Prompt,
    role: AgentRole,
    *,
    timeout: float,
    trace: Callable[[str], None],
    spend: Callable[[int], None],
) -> BranchChoice:
    """Return the branch that the LLM chooses, checked. `timeout`, in seconds, is for one answer.

    `spend` gets the tokens of each prompt and answer. Raises PlanError if none of its answers can
    be used, ExpertError if one takes too long, and what the LLM raises.
    """

    async def ask(llm: LLM, asked: Prompt) -> str:
        try:
            async with llm_timeout(timeout):
                return await answer(llm, asked)
        except TimeoutError as error:
            raise ExpertError(
                tr("{name} took longer than {timeout:.0f} seconds.", name=llm.name, timeout=timeout)
            ) from error

    return await ask_until_valid(
        llm,
        prompt,
        lambda text: parse_choice(text, role),
        trace=trace,
        spend=spend,
        ask=ask,
        shown_tokens=MAX_REJECTED_TOKENS,
    )


def choice_schema(role: AgentRole) -> dict[str, Any]:
    """Return the JSON Schema for a choice: one variant per branch."""
    return {
        "anyOf": [_variant(branch.name, branch.args, branch.required) for branch in role.branches]
    }


def _variant(
    name: str, args: Mapping[str, Mapping[str, Any]], required: tuple[str, ...]
) -> dict[str, Any]:
    properties = {
        "why": {"type": "string"},
        "branch": {"enum": [name]},
        "args": {
            "type": "object",
            "properties": {each: _plain(value) for each, value in args.items()},
            "required": list(required),
        },
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _plain(value: Any) -> Any:
    """Return a schema without its defaults, which no LLM needs."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if key != "default"}
    return value
