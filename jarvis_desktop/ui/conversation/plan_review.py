"""The plan of a goal before it is carried out: the person takes it, edits it, or says what should
be different."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QPushButton

from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.frontend import Review
from jarvis_desktop.core.outline import Outline, changes, outline_from_markdown
from jarvis_desktop.core.wording import mark, tr, trn
from jarvis_desktop.ui.bridge import Question
from jarvis_desktop.ui.conversation.code_text import CodeText
from jarvis_desktop.ui.conversation.questions import Panel, named
from jarvis_desktop.ui.look.fields import Field
from jarvis_desktop.ui.look.text import Label, LongText
from jarvis_desktop.ui.shortcuts import ENTER

MOST_LINES = 14
MOST_CHANGES = 8
EDITED = mark("I changed the plan. Write it anew from what it says now.")
"""The comment that goes with an edit where the person wrote none."""

_marked = re.compile(r"\s*(?:[-*+•]\s|\[.\]|#|(?:step\s+)?\d{1,3}[.):]\s)", re.IGNORECASE)


class OutlineReview(Panel):
    """Shows the plan as text that can be edited."""

    def __init__(self, question: Question, before: Outline | None = None) -> None:
        """`before` is the draft that the person saw last, as they left it."""
        super().__init__(question)
        assert question.outline is not None
        self.outline = self.edited = question.outline
        self.head("review", question.text)
        self.why = LongText(tr("Why the plan is as it is"), role="note", first=1200)
        self.column.addWidget(self.why)
        told = _told(question.why, changes(before, self.outline))
        self.why.show_text(told)
        self.why.setVisible(bool(told))
        self.text = CodeText(
            tr("The plan, a step a line"),
            editable=True,
            numbered=False,
            role="field",
            most_lines=MOST_LINES,
        )
        self.text.show_text(self.outline.markdown)
        self.text.textChanged.connect(self._read)
        self.column.addWidget(self.text)
        self.mine = Label(role="small", wrap=True)
        self.column.addWidget(self.mine)
        self.wrong = Label(role="warning", wrap=True)
        self.column.addWidget(self.wrong)
        self.comment = Field(
            tr("What should be different"),
            tr("What should be different? (in your words)"),
            role="field",
        )
        self.comment.textChanged.connect(self._show_state)
        self.comment.entered.connect(self._entered)
        self.column.addWidget(self.comment)
        self.column.addWidget(self.dictated(self.comment))
        self.column.addLayout(self._buttons())
        for keys in ENTER:
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(self._default)
        self._read()

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.revise = QPushButton()
        for button, text, tip, act in (
            (self.no, tr("Stop"), tr("Nothing is done"), lambda: self.answer(None)),
            (
                self.revise,
                tr("Revise"),
                tr("Have the plan written anew, with what you say"),
                self._revise,
            ),
            (
                self.yes,
                tr("Accept"),
                tr("Do it by the plan as it stands here (Ctrl+Enter)"),
                self._accept,
            ),
        ):
            named(button, text, tip=tip)
            button.clicked.connect(act)
        row.addWidget(self.no)
        row.addStretch(1)
        row.addWidget(self.revise)
        row.addWidget(self.yes)
        return row

    def take_focus(self) -> None:
        """Into the comment, where Enter alone accepts nothing."""
        self.comment.setFocus()

    def _read(self) -> None:
        """Understand the plan as it stands now."""
        words, made = "", changes(self.outline, self.outline)
        self.edited = self.outline
        if self.text.toPlainText() != self.outline.markdown:
            try:
                self.edited = outline_from_markdown(_steps(self.text.toPlainText()), self.outline)
            except PlanError as error:
                words = str(error)
            else:
                made = changes(self.outline, self.edited)
        self.wrong.setText(words)
        self.wrong.setVisible(bool(words))
        self.mine.setText(_listed(made))
        self.mine.setVisible(bool(made))
        self._show_state()

    def _show_state(self) -> None:
        sound, commented = self.wrong.isHidden(), bool(self._comment())
        edited = self.edited != self.outline
        self.yes.setEnabled(sound)
        self.revise.setEnabled(sound and (commented or edited))
        # What was said would be lost by accepting: then the other button is the first choice.
        for button, primary in ((self.yes, not commented), (self.revise, commented)):
            named(
                button,
                button.text(),
                tip=button.toolTip(),
                kind="primary" if primary else "",
            )

    def _comment(self) -> str:
        return self.comment.toPlainText().strip()

    def _entered(self) -> None:
        if self._comment() and not self.awaits_words:
            self._revise()

    def _default(self) -> None:
        if self.awaits_words:
            return
        if self._comment():
            self._revise()
        else:
            self._accept()

    def _accept(self) -> None:
        if self.yes.isEnabled():
            self.answer(Review(self.edited))

    def _revise(self) -> None:
        if self.revise.isEnabled():
            self.answer(Review(self.edited, self._comment() or tr(EDITED)))


def _steps(text: str) -> str:
    """The text with every line of it a step: whoever adds one need not know how steps are marked.

    Without the mark a line beside marked ones would be taken for talk around the list.
    """
    lines = (line for line in text.splitlines() if line.strip())
    return "\n".join(line if _marked.match(line) else f"- {line.strip()}" for line in lines)


def _told(why: str, changed: Sequence[str]) -> str:
    """What the person should know, and what of the changes it does not say."""
    return "\n".join([*([why.strip()] if why.strip() else []), *_new(why, changed)])


def _new(why: str, changed: Sequence[str]) -> list[str]:
    return [line for line in changed if line not in why]


def _listed(made: Sequence[str]) -> str:
    more = len(made) - MOST_CHANGES
    rest = [trn("And {count} more.", "And {count} more.", more)] if more > 0 else []
    return "\n".join([tr("You changed:"), *made[:MOST_CHANGES], *rest])
