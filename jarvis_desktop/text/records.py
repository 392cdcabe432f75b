"""How tables begin in JSON."""

from __future__ import annotations

from jarvis_desktop.text.lazy_re import lazy_re

_records = lazy_re(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*\{|\{[^\n]*\}[^\S\n]*\n\s*\{)")
_text = rb'"(?:[^"\\]|\\.)*"'
_wrapped = lazy_re(
    rb"(?:\xef\xbb\xbf)?\s*\{(?:\s*" + _text + rb"\s*:\s*(?:" + _text + rb"|[-+.\w]+)\s*,)*"
    rb"\s*" + _text + rb"\s*:\s*\[\s*\{"
)


def begins_records(head: bytes) -> bool:
    """Return whether a file begins like a list of objects, or like an object in each line."""
    return bool(_records.match(head)) and not begins_wrapped_records(head)


def begins_wrapped_records(head: bytes) -> bool:
    """Return whether a file begins like an object with a list of objects, before which there are
    only plain values: {"shop": "north", "orders": [{"id": 1}]}."""
    return bool(_wrapped.match(head))
