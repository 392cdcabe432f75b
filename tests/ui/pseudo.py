"""A language in which every letter of our own texts is a wide one: what is left of the usual ones
in a widget is data, or was never given to `tr`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from gettext import NullTranslations

from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QTabBar, QWidget

_WIDE = {code: code + 0xFEE0 for code in (*range(65, 91), *range(97, 123))}
_KEPT = re.compile(r"(\{[^}]*\}|<[^>]*>|&\w+;)")
_WORD = re.compile(r"[A-Za-z]{2,}")
_UNSAID = re.compile(r"<[^>]*>|\S*/\S*")
"""Tags, paths and addresses."""
_GETTERS = (
    "text",
    "full_text",
    "toPlainText",
    "title",
    "windowTitle",
    "toolTip",
    "placeholderText",
    "accessibleName",
    "accessibleDescription",
    "suffix",
    "prefix",
)
_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)
_UNITS = frozenset(
    "Ctrl Alt Shift Space Esc Del Return Enter Tab Up Down PgUp PgDown kB MB GB TB".split()
)
"""Names of keys and units: Qt and the world say them."""


class Pseudo(NullTranslations):
    """Says every text in wide letters, the names of its values excepted."""

    CODE = "xx"

    def info(self) -> dict[str, str]:
        """The header, which names the language."""
        return {"language": self.CODE}

    def gettext(self, message: str) -> str:
        """The text in wide letters."""
        return "".join(
            part if _KEPT.fullmatch(part) else part.translate(_WIDE)
            for part in _KEPT.split(message)
        )

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """The same for a count."""
        return self.gettext(msgid1 if n == 1 else msgid2)


def untranslated(root: QWidget, data: str) -> list[str]:
    """What in a widget and all within it is in usual letters, and no word of `data`."""
    known = _UNITS | set(_WORD.findall(data))
    found: dict[str, None] = {}
    for where, text in _texts(root):
        words = [word for word in _WORD.findall(_UNSAID.sub(" ", text)) if word not in known]
        if words:
            found[f"{where}: {text[:200]!r} has {', '.join(words[:5])}"] = None
    return list(found)


def _texts(root: QWidget) -> Iterator[tuple[str, str]]:
    for widget in (root, *root.findChildren(QWidget)):
        name = type(widget).__name__
        for getter in _GETTERS:
            get = getattr(widget, getter, None)
            if callable(get) and isinstance(text := get(), str):
                yield f"{name}.{getter}", text
        for action in widget.actions():
            yield f"an action of {name}", action.text()
        if isinstance(widget, QTabBar):
            yield from ((f"a tab of {name}", widget.tabText(at)) for at in range(widget.count()))
        if isinstance(widget, QComboBox | QAbstractItemView) and (model := widget.model()):
            yield from ((f"an item of {name}", text) for text in _of_model(model))


def _of_model(model: QAbstractItemModel) -> Iterator[str]:
    for row in range(model.rowCount()):
        for role in _ROLES:
            if isinstance(text := model.index(row, 0).data(role), str):
                yield text
