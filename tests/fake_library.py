"""A code library in memory, by the rules of the real one."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from jarvis_desktop.core.code import Function, FunctionDraft, described, objections
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.storage import code_files

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class FakeLibrary:
    """Keeps functions in memory; `changed` are those that count as changed behind its back."""

    kept: dict[str, list[Function]] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)

    def list(self) -> Sequence[Function]:
        return tuple(self.kept[name][-1] for name in sorted(self.kept.keys() - self.changed))

    def search(self, words: str, most: int) -> Sequence[Function]:
        wanted = _words(words)

        def shared(item: Function) -> int:
            return len(wanted & _words(f"{item.name} {item.summary}"))

        return tuple(sorted(self.list(), key=lambda item: -shared(item))[:most])

    def get(self, name: str) -> Function:
        if name not in self.kept:
            raise InputError(f"The library has no function {name}.")
        if name in self.changed:
            raise StorageError(f"{name} was changed.")
        return self.kept[name][-1]

    def versions(self, name: str) -> Sequence[Function]:
        return tuple(self.kept.get(name, ())[::-1])

    def save(self, draft: FunctionDraft, *, approved: str) -> Function:
        if approved != draft.sha256:
            raise InputError(f"{draft.name} is not what was agreed to.")
        if wrong := objections(draft):
            raise InputError(wrong[0])
        earlier = self.kept.setdefault(draft.name, [])
        if earlier and earlier[-1].draft.sha256 == approved and draft.name not in self.changed:
            return earlier[-1]
        signature, summary = described(draft)
        used = earlier[-1].used if earlier else 0
        earlier.append(Function(draft, signature, summary, len(earlier) + 1, NOON, used))
        self.changed.discard(draft.name)
        return earlier[-1]

    def used(self, names: Collection[str]) -> None:
        for name in self.kept.keys() & set(names):
            last = self.kept[name][-1]
            self.kept[name][-1] = replace(last, used=last.used + 1)

    def remove(self, name: str) -> None:
        if name not in self.kept:
            raise InputError(f"The library has no function {name}.")
        del self.kept[name]
        self.changed.discard(name)

    def lay_out(self, to: Path) -> Sequence[str]:
        code_files.lay_out(to, {item.name: item.draft.source.encode() for item in self.list()})
        return self.damaged()

    def damaged(self) -> Sequence[str]:
        return tuple(f"{name} was changed." for name in sorted(self.changed))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.casefold()))
