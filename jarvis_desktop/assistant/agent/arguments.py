"""The arguments of a branch as an LLM wrote them: slips are put right, the rest is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jarvis_desktop.assistant.agent.roles import Branch
from jarvis_desktop.assistant.planning.written import plain
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr

LONGEST = 40_000
"""Characters of one text."""
MOST_ITEMS = 60

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


def checked(given: Mapping[str, object], branch: Branch, why: str = "") -> dict[str, Any]:
    """The arguments by the schemas of a branch. Raises PlanError, one sentence."""
    known, others = _sorted_out(given, branch.args)
    missing = [name for name in branch.required if name not in known]
    if len(missing) == 1:
        known |= _guessed(missing[0], branch.args[missing[0]], known, others, why)
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
        name: found.get(name, schema.get("default"))
        for name, schema in branch.args.items()
        if name in found or "default" in schema
    }


def _sorted_out(
    given: Mapping[str, object], schemas: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, object]]:
    """What belongs to a name, however that is written, and the rest. None counts as not given."""
    names = {plain(name): name for name in schemas}
    known: dict[str, object] = {}
    others: dict[str, object] = {}
    for key, value in given.items():
        low = plain(str(key))
        meant = (alias for alias in _key_aliases.get(low, ()) if alias in names)
        name = names.get(low) or names.get(next(meant, ""))
        if value is None:
            continue
        if name and (low == plain(name) or name not in known):
            known[name] = value
        else:
            others[str(key)] = value
    return known, others


def _guessed(
    name: str,
    schema: Mapping[str, Any],
    known: Mapping[str, object],
    others: Mapping[str, object],
    why: str,
) -> dict[str, object]:
    """The one argument that is missing, where it can only be what is there."""
    if schema.get("type") == "array" and "properties" in schema["items"]:
        item, _ = _sorted_out({**known, **others}, schema["items"]["properties"])
        numbered = {key: value for key, value in others.items() if key.isdecimal()}
        return {name: [item]} if item else ({name: numbered} if numbered else {})
    texts = [value for value in others.values() if isinstance(value, str) and value.strip()]
    if schema.get("type") == "string" and len(texts) == 1:
        return {name: texts[0]}
    return {name: why} if name == "reason" and why else {}


def _fit(value: object, schema: Mapping[str, Any], where: str) -> Any:
    if "enum" in schema:
        return _one_of(value, schema["enum"], where)
    match schema["type"]:
        case "string":
            return _text(value, where)
        case "integer":
            return _integer(value, where)
        case "array":
            return _list(value, schema["items"], where)
    return _object(value, schema, where)


def _one_of(value: object, allowed: list[str], where: str) -> str:
    low = plain(str(value))
    for word in allowed:
        if plain(word) in (low, _value_aliases.get(low)):
            return word
    raise PlanError(tr("“{where}” is one of {allowed}.", where=where, allowed=", ".join(allowed)))


def _text(value: object, where: str) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = "\n".join(value)
    if isinstance(value, bool | int | float):
        value = str(value)
    if not isinstance(value, str):
        raise PlanError(tr("“{where}” is a text.", where=where))
    if len(value) > LONGEST:
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
    raise PlanError(tr("“{where}” is a whole number.", where=where))


def _list(value: object, items: Mapping[str, Any], where: str) -> list[Any]:
    if isinstance(value, Mapping):
        value = _of_mapping(value, items)
    elif isinstance(value, str) and items.get("type") == "string":
        value = [part for part in re.split(r"[,;\n]", value) if part.strip()]
    elif not isinstance(value, list):
        value = [value]
    if len(value) > MOST_ITEMS:
        raise PlanError(
            tr("“{where}” has at most {most_items} items.", where=where, most_items=MOST_ITEMS)
        )
    return [_fit(item, items, f"{where}[{at}]") for at, item in enumerate(value)]


def _of_mapping(value: Mapping[object, object], items: Mapping[str, Any]) -> list[object]:
    """One item, or items by what names them: {"1": "done", "2": {"state": "doing"}}."""
    first, *rest = items.get("required", ("",))
    names = {plain(str(key)) for key in value}
    firsts = {plain(first), *(key for key, meant in _key_aliases.items() if first in meant)}
    if not rest or names & firsts:
        return [value]
    return [
        {first: key, **item} if isinstance(item, Mapping) else {first: key, rest[0]: item}
        for key, item in value.items()
    ]


def _object(value: object, schema: Mapping[str, Any], where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        example = ", ".join(schema["properties"])
        raise PlanError(tr("“{where}” is an object with {example}.", where=where, example=example))
    properties = schema["properties"]
    known, _ = _sorted_out(value, properties)
    for name in schema["required"]:
        if name not in known:
            raise PlanError(tr("“{where}” needs “{name}”.", where=where, name=name))
    return {
        name: _fit(known[name], each, f"{where}.{name}") if name in known else each.get("default")
        for name, each in properties.items()
        if name in known or "default" in each
    }


def line(branch: Branch, args: Mapping[str, Any], *, limit: int = 200) -> str:
    """What a person reads of the arguments, in a line."""
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
    # The same for another file is another thing.
    return f"{one_line(str(value), limit=limit - len(used) - 3)} ({used})"
