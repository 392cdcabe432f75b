"""A tool of an MCP server as a task type, and back: the arguments of a call and its results.

What a tool cannot do without becomes a port, so that the result of another task or a file can be
given; a choice, a number or a switch with a default becomes an option. Files are given by their
paths. Results are content: nothing here reads them for more than their form.
"""

from __future__ import annotations

import base64
import json
import mimetypes
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.mcp.servers import McpTool
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name, text_artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, Fault, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, TaskOption, TaskType, Value

if TYPE_CHECKING:
    from mcp_types import CallToolResult

MAX_PARAMETERS = 24
"""Parameters of a tool that are offered; those that it needs come first."""
MAX_SUMMARY = 400
MAX_HINT = 80
"""Characters of a server's descriptions that reach a prompt."""
MAX_TEXT = 1_000_000
"""Characters of a result; a longer one is cut, with a note."""

GIVES = (Kind.TEXT, Kind.IMAGE, Kind.AUDIO)
"""A tool does not say what it returns; nearly all return text."""

_TYPES: Mapping[str, Value] = {"integer": 0, "number": 0.0, "boolean": False}
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_camel = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def task_name(server: str, tool: str) -> str:
    """Return the name of a tool's task type: "git-status", "time-get-current-time"."""
    first, second = (
        "-".join(re.findall(r"[a-z0-9]+", _camel.sub("-", each).lower())) for each in (server, tool)
    )
    return second if second.startswith(f"{first}-") else f"{first}-{second}"


def task_type(server: str, tool: McpTool) -> TaskType:
    """Return the task type of a tool.

    Whatever its server says of it, it may have effects: it is not repeated unasked.
    """
    properties = _properties(tool.schema)
    required = _required(tool.schema)
    order = sorted(properties, key=lambda name: name not in required)[:MAX_PARAMETERS]
    ports, options = [], []
    for name in order:
        prop = properties[name]
        if name not in required and (option := _option(name, prop)):
            options.append(option)
        else:
            many = prop.get("type") == "array" and _is_text(_plain(prop.get("items"), tool.schema))
            kinds = tuple(Kind) if _is_path(name) else (Kind.TEXT,)
            ports.append(Port(name, kinds, required=name in required, many=many))
    title = " ".join(task_name("", tool.name).strip("-").split("-"))
    cues = (f"{title} ... {server.lower()}", f"{server.lower()} ... {title}")
    return TaskType(
        task_name(server, tool.name),
        _summary(tool, [port.name for port in ports], properties),
        tuple(ports),
        GIVES,
        tuple(options),
        cues,
        acts=True,
        label=f"{title} ({server})",
        server=server,
    )


def arguments(tool: McpTool, call: Call) -> dict[str, Any]:
    """Return the arguments of a call. Raises InputError for a value of the wrong type.

    An option that has its default is left out: the server knows it.
    """
    properties, given = _properties(tool.schema), {}
    for name, prop in properties.items():
        if items := call.inputs.get(name):
            texts = [_text(item) for item in items]
            given[name] = value_of(tool.name, name, prop, texts)
        elif name in call.options and (option := _option(name, prop)):
            value = call.options[name]
            if value != option.default:
                given[name] = value
    return given


def results(tool: str, answer: CallToolResult, folder: Path) -> list[Artifact]:
    """Return the results of a call, its files in `folder`. Raises ExpertError."""
    texts: list[str] = []
    files: list[Artifact] = []
    try:
        _sort(answer, folder, texts, files)
    except ValueError as error:  # also one with letters that are not ASCII
        raise ExpertError(
            tr("{tool} returned a file that is not valid base64, so it was left.", tool=tool),
            fault=Fault.ANSWER,
        ) from error
    if not texts and answer.structured_content is not None:
        texts.append(json.dumps(answer.structured_content, ensure_ascii=False, indent=1))
    said = "\n\n".join(filter(str.strip, texts))
    if answer.is_error:
        raise ExpertError(
            tr(
                "{tool} failed: {reason}",
                tool=tool,
                reason=one_line(said, limit=300) or tr("it gave no reason."),
            ),
            fault=Fault.ANSWER,
        )
    if len(said) > MAX_TEXT:
        left = tr("[The other {count} characters were left out.]", count=len(said) - MAX_TEXT)
        said = f"{said[:MAX_TEXT]}\n\n{left}"
    if not said and not files:
        said = tr("It is done; {tool} returned nothing.", tool=tool)
    return [*([text_artifact(said)] if said else []), *files]


def _sort(answer: CallToolResult, folder: Path, texts: list[str], files: list[Artifact]) -> None:
    """Add the parts of an answer to the texts or files. Raises ValueError."""
    for block in answer.content:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "image" or block.type == "audio":
            files.append(_file(folder, len(files), Kind(block.type), block.data, block.mime_type))
        elif block.type == "resource_link":
            texts.append(f"{block.name}: {block.uri}")
        elif isinstance(words := getattr(block.resource, "text", None), str):
            texts.append(words)
        else:
            mime, blob = block.resource.mime_type or "", getattr(block.resource, "blob", "")
            kind = kind_of_name(f"x{mimetypes.guess_extension(mime) or ''}")
            if kind in GIVES:
                files.append(_file(folder, len(files), kind, blob, mime))
            else:
                texts.append(str(block.resource.uri))


def _file(folder: Path, number: int, kind: Kind, data: str, mime: str) -> Artifact:
    path = folder / f"result-{number}{mimetypes.guess_extension(mime) or '.bin'}"
    path.write_bytes(base64.b64decode("".join(data.split()), validate=True))
    return Artifact(kind, path=path)


def _text(item: Artifact) -> str:
    return str(item.source or item.path) if item.path else item.text or ""


def _properties(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    found = schema.get("properties")
    if not isinstance(found, dict):
        return {}
    return {str(name): _plain(prop, schema) for name, prop in found.items()}


def _required(schema: Mapping[str, Any]) -> frozenset[str]:
    found = schema.get("required")
    return frozenset(map(str, found)) if isinstance(found, list) else frozenset()


def _plain(prop: object, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A property without references, and without the null of what may be left out."""
    if not isinstance(prop, dict):
        return {}
    if isinstance(ref := prop.get("$ref"), str):
        found: Any = schema
        for part in ref.removeprefix("#/").split("/"):
            found = found.get(part) if isinstance(found, dict) else None
        return {**found, **{key: prop[key] for key in prop if key != "$ref"}} if found else {}
    others = prop.get("anyOf") or prop.get("oneOf")
    choices = [each for each in others if isinstance(each, dict)] if others else []
    real = [each for each in choices if each.get("type") != "null"]
    if len(real) == 1:
        return {**_plain(real[0], schema), **{k: v for k, v in prop.items() if k != "anyOf"}}
    kinds = prop.get("type")
    if isinstance(kinds, list):
        named = [each for each in kinds if each != "null"]
        return {**prop, "type": named[0] if len(named) == 1 else ""}
    return prop


def _is_text(prop: Mapping[str, Any]) -> bool:
    return prop.get("type") == "string"


def _is_path(name: str) -> bool:
    words = _camel.sub("_", name).lower().split("_")
    return words[-1].removesuffix("s") in ("path", "file", "filename", "directory", "folder")


def _option(name: str, prop: Mapping[str, Any]) -> TaskOption | None:
    """The property as an option; None if it takes words, or something else than one value."""
    default, about = prop.get("default"), _hint(prop)
    listed = prop.get("enum")
    if _is_text(prop) and isinstance(listed, list) and all(isinstance(it, str) for it in listed):
        first = str(default) if default in listed else ""
        return TaskOption(name, about, first, tuple(dict.fromkeys((first, *listed))))
    blank = _TYPES.get(str(prop.get("type")))
    if blank is None:
        return None
    fits = isinstance(default, int | float) and isinstance(default, bool) == (blank is False)
    return TaskOption(name, about, type(blank)(default) if fits and default else blank)


def _hint(prop: Mapping[str, Any]) -> str:
    about = prop.get("description")
    return one_line(about, limit=MAX_HINT) if isinstance(about, str) else ""


def _summary(tool: McpTool, ports: list[str], properties: Mapping[str, Mapping[str, Any]]) -> str:
    summary = one_line(tool.description or tool.name, limit=MAX_SUMMARY)
    hints = []
    for name in ports:
        choices = properties[name].get("enum")
        one_of = f"one of {', '.join(map(str, choices))}" if isinstance(choices, list) else ""
        if about := one_line(one_of, limit=2 * MAX_HINT) or _hint(properties[name]):
            hints.append(f"{name}: {about}")
    return f"{summary.rstrip('.')}. {'; '.join(hints)}".strip().rstrip(".")


def value_of(tool: str, name: str, prop: Mapping[str, Any], texts: list[str]) -> Any:
    """Return words as a value of the form of a property. Raises InputError."""
    kind, text = str(prop.get("type", "")), "\n\n".join(texts).strip()
    wrong = InputError(
        tr(
            "{tool} cannot take “{text}” as its {name}.",
            tool=tool,
            name=name,
            text=one_line(text, limit=60),
        ),
        hint=tr("It takes: {wanted}.", wanted=_wanted(prop)),
    )
    listed = prop.get("enum")
    if isinstance(listed, list):
        found = [each for each in listed if str(each).casefold() == text.casefold()]
        if not found:
            raise wrong
        return found[0]
    try:
        if kind == "array" and len(texts) > 1:
            return texts
        match kind:
            case "string":
                return "\n\n".join(texts)
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "boolean" if text.lower() in (*_TRUE, *_FALSE):
                return text.lower() in _TRUE
            case "boolean":
                raise wrong
        return json.loads(text)
    except (ValueError, RecursionError):
        if kind == "array":
            return texts
        if kind in ("integer", "number", "object"):
            raise wrong from None
        return text


def _wanted(prop: Mapping[str, Any]) -> str:
    if isinstance(listed := prop.get("enum"), list):
        return ", ".join(map(str, listed))
    return one_line(f"{prop.get('type', '')} {_hint(prop)}")
