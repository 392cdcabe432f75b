"""Questions that an MCP server asks in the middle of a call (elicitation), in words.

A server describes what it wants as a flat JSON schema; the user is asked for one value after the
other. What they answer goes to the server, so each question says whose it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from jarvis_desktop.backends.mcp.tools import value_of
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr

Ask = Callable[[str], Awaitable[str]]
MAX_VALUES = 20
MAX_TRIES = 3


async def answers(told: str, schema: Mapping[str, Any], ask: Ask) -> dict[str, Any] | None:
    """Ask for the values of a schema. `told` says who asks, and why.

    Return None if the user does not answer, or not in the form that is wanted.
    """
    properties = schema.get("properties")
    if not isinstance(properties, dict) or len(properties) > MAX_VALUES:
        return None
    if not properties:
        agreed = value_or_none("", {"type": "boolean"}, await ask(f"{told}\n{_yes_or_no()}"))
        return {} if agreed is True else None
    required = schema.get("required")
    found: dict[str, Any] = {}
    for name, prop in properties.items():
        described = prop if isinstance(prop, dict) else {}
        needed = isinstance(required, list) and name in required
        value = await _value(
            f"{told}\n{_wish(name, described, needed=needed)}", name, described, ask
        )
        if value is not None:
            found[name] = value
        elif needed:
            return None
    return found


async def _value(question: str, name: str, prop: Mapping[str, Any], ask: Ask) -> Any:
    """Ask until the answer has the right form; None without one."""
    for _ in range(MAX_TRIES):
        words = (await ask(question)).strip()
        if not words:
            return None
        if (value := value_or_none(name, prop, words)) is not None:
            return value
    return None


def value_or_none(name: str, prop: Mapping[str, Any], words: str) -> Any:
    """Return words as a value of this form, or None if they are not one."""
    if titles := _titles(prop):
        known = {title.casefold(): value for value, title in titles.items()}
        return known.get(words.casefold(), words if words in titles else None)
    if prop.get("type") == "boolean":
        own = {tr("yes").casefold(): True, tr("no").casefold(): False}
        if words.casefold() in own:
            return own[words.casefold()]
    texts = [part.strip() for part in words.split(",")] if prop.get("type") == "array" else [words]
    try:
        value = value_of("", name, {"type": "string", **prop}, texts)
    except InputError:
        return None
    if isinstance(value, list):
        return [str(each) for each in value]
    return value if isinstance(value, str | int | float | bool) else words


def _titles(prop: Mapping[str, Any]) -> dict[str, str]:
    """The values of a choice whose values have titles."""
    choices = prop.get("oneOf")
    listed = (
        [each for each in choices if isinstance(each, dict)] if isinstance(choices, list) else []
    )
    return {str(each["const"]): str(each.get("title") or each["const"])
            for each in listed if "const" in each}  # fmt: skip


def _wish(name: str, prop: Mapping[str, Any], *, needed: bool) -> str:
    """What is to be answered, on a line."""
    title = one_line(str(prop.get("title") or name), limit=100)
    about = one_line(str(prop.get("description") or ""), limit=300)
    listed = prop.get("enum")
    choices = list(_titles(prop).values()) or (listed if isinstance(listed, list) else [])
    form = one_line(", ".join(map(str, choices)), limit=300)
    if prop.get("type") == "boolean":
        form = _yes_or_no()
    words = ": ".join(filter(None, [title, about]))
    shown = f"{words} ({form})" if form else words
    return shown if needed else tr("{wish} (may be left out)", wish=shown)


def _yes_or_no() -> str:
    return tr("yes or no")
