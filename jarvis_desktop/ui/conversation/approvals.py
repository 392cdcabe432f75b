"""Panels for what needs the user's answer: questions, plans of goals, and code. The rest of the
window stays usable."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import Q_ARG, QMetaObject, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton

from jarvis_desktop.core.code import Allow, CodeRequest, Verdict
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.goal import Outline, changes, outline_from_markdown
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Review
from jarvis_desktop.ui.conversation.code_view import CodeText, escape_invisible
from jarvis_desktop.ui.engine import EngineQuestion
from jarvis_desktop.ui.shortcuts import ENTER
from jarvis_desktop.ui.voice.talk import Dictation
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import Fold, GrowingTextField
from jarvis_desktop.ui.widgets.icons import Symbol
from jarvis_desktop.ui.widgets.labels import Label, LongText
from jarvis_desktop.ui.widgets.layout import hbox, vbox
from jarvis_desktop.ui.widgets.timers import new_timer

QUESTION_CHARS = 1200
"""Characters of a question shown at first: the answer buttons must stay in view."""


class ApprovalPanel(QFrame):
    """A question with a button that agrees and one that does not."""

    def __init__(self, question: EngineQuestion) -> None:
        super().__init__()
        self.setObjectName("question")
        self.question = question
        self.answered = False
        self.dictation: Dictation | None = None
        """Set if it can be answered by voice: speech is only written down."""
        self.yes = QPushButton()
        self.no = QPushButton()
        self.column = vbox(
            parent=self, margins=(theme.space("two"), 12, theme.space("two"), 12), spacing=10
        )

    def take_focus(self) -> None:
        """Focus a widget in which an accidental Enter does nothing irreversible."""
        self.no.setFocus()

    def refuse(self) -> bool:
        """Treat Esc as a refusal. Return False if it means nothing here, or not any more."""
        return False

    def head(self, icon: str, text: str) -> None:
        """Start with an icon and a title."""
        row = hbox(
            (Symbol(icon, "accent", size=20), Qt.AlignmentFlag.AlignTop),
            (Label(text, role="strong", wrap=True), 1),
            spacing=10,
        )
        self.column.addLayout(row)

    def dictated(self, field: GrowingTextField) -> Dictation:
        """Allow dictation into a field; return the line that shows its state."""
        self.dictation = Dictation(field)
        return self.dictation

    @property
    def awaits_words(self) -> bool:
        """Whether speech is not yet in its field: a key must not answer without it."""
        return self.dictation is not None and self.dictation.awaited

    def answer(self, value: bool | str | Plan | Review | Verdict | None) -> bool:
        """Give the answer; only the first one counts. The panel goes once it has arrived."""
        if self.answered:
            return False
        self.answered = True
        self.question.answer(value)
        # queued, so that the key that answered is released in the same widget
        later = Qt.ConnectionType.QueuedConnection
        QMetaObject.invokeMethod(self, "setEnabled", later, Q_ARG(bool, False))
        return True


def label_button(button: QPushButton, text: str, *, tip: str = "", kind: str = "") -> QPushButton:
    """Label a button; `tip` explains what it does."""
    button.setText(text)
    button.setAccessibleName(text)
    button.setToolTip(tip)
    button.setAccessibleDescription(tip)
    button.setAutoDefault(False)
    theme.restyle(button, kind=kind)
    return button


class QuestionPanel(ApprovalPanel):
    """A question answered with yes or no, or with words."""

    def __init__(self, question: EngineQuestion) -> None:
        super().__init__(question)
        head = hbox((Symbol("question", "accent", size=20), Qt.AlignmentFlag.AlignTop), spacing=10)
        words = LongText(tr("Question"), first=QUESTION_CHARS)
        # Only an LLM asks for words; what is to be allowed is shown as it stands, sign by sign.
        words.show_text(_rendered(question.text) if question.open_ended else question.text)
        head.addWidget(words, 1)
        self.column.addLayout(head)
        row = QHBoxLayout()
        self.words = GrowingTextField(tr("Your answer"), tr("Your answer"), role="field")
        self.words.entered.connect(self._entered)
        if question.open_ended:
            row.addWidget(self.words, 1)
            self.words.textChanged.connect(self._typed)
            self._typed()
            yes, no = tr("Answer"), tr("Skip")
        else:
            self.words.hide()
            row.addStretch(1)
            yes = tr("Run the plan") if question.plan else question.yes or tr("Yes, do it")
            no = tr("Don’t run it") if question.plan else tr("No")
        for button, text, kind, act in (
            (self.no, no, "", self._decline),
            (self.yes, yes, "primary", self._agree),
        ):
            button.clicked.connect(act)
            row.addWidget(
                label_button(button, text, kind=kind), alignment=Qt.AlignmentFlag.AlignBottom
            )
        self.column.addLayout(row)
        if question.open_ended:
            self.column.addWidget(self.dictated(self.words))

    def take_focus(self) -> None:
        (self.words if self.question.open_ended else self.no).setFocus()

    def _typed(self) -> None:
        self.yes.setEnabled(bool(self.words.toPlainText().strip()))

    def _entered(self) -> None:
        if not self.awaits_words:
            self._agree()

    def _agree(self) -> None:
        if self.yes.isEnabled():
            self.answer(self.words.toPlainText() if self.question.open_ended else True)

    def _decline(self) -> None:
        self.answer("" if self.question.open_ended else False)


def _rendered(text: str) -> str:
    """What an LLM wrote, without the signs of its Markdown. The parser is loaded here: the first
    paint does not wait for it."""
    from jarvis_desktop.ui.conversation.markdown import to_plain_text

    return to_plain_text(text)


MAX_OUTLINE_LINES = 14
MAX_CHANGES_SHOWN = 8
EDIT_COMMENT = mark("I changed the plan. Rewrite it from what it says now.")
"""Sent with an edited plan if the user wrote no comment."""

_marked = re.compile(r"\s*(?:[-*+•]\s|\[.\]|#|(?:step\s+)?\d{1,3}[.):]\s)", re.IGNORECASE)


class OutlineReview(ApprovalPanel):
    """The plan of a goal as editable text: accept it, revise it with a comment, or stop."""

    def __init__(self, question: EngineQuestion, before: Outline | None = None) -> None:
        """`before` is the previous draft, with the user's edits."""
        super().__init__(question)
        assert question.outline is not None
        self.outline = self.edited = question.outline
        self.head("review", question.text)
        self.why = LongText(tr("Why the plan looks like this"), role="note", first=1200)
        self.column.addWidget(self.why)
        explanation = _explanation(_rendered(question.why), changes(before, self.outline))
        self.why.show_text(explanation)
        self.why.setVisible(bool(explanation))
        self.text = CodeText(
            tr("The plan, one step per line"),
            editable=True,
            numbered=False,
            role="field",
            most_lines=MAX_OUTLINE_LINES,
        )
        self._shown = _editable(self.outline)
        self.text.show_text(self._shown)
        self.text.textChanged.connect(self._read)
        self.column.addWidget(self.text)
        self.mine = Label(role="small", wrap=True)
        self.column.addWidget(self.mine)
        self.wrong = Label(role="warning", wrap=True)
        self.column.addWidget(self.wrong)
        self.comment = GrowingTextField(
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
                tr("Have the plan rewritten with your comment"),
                self._revise,
            ),
            (
                self.yes,
                tr("Run the plan"),
                tr("Run the plan as shown here (Ctrl+Enter)"),
                self._accept,
            ),
        ):
            label_button(button, text, tip=tip)
            button.clicked.connect(act)
        row.addWidget(self.no)
        row.addStretch(1)
        row.addWidget(self.revise)
        row.addWidget(self.yes)
        return row

    def take_focus(self) -> None:
        self.comment.setFocus()

    def _read(self) -> None:
        """Parse the plan as edited."""
        words, made = "", changes(self.outline, self.outline)
        self.edited = self.outline
        if self.text.toPlainText() != self._shown:
            try:
                self.edited = outline_from_markdown(_steps(self.text.toPlainText()), self.outline)
            except PlanError as error:
                words = str(error)
            else:
                made = changes(self.outline, self.edited)
        self.wrong.show_or_hide(words)
        self.mine.setText(_list_changes(made))
        self.mine.setVisible(bool(made))
        self._show_state()

    def _show_state(self) -> None:
        sound, commented = self.wrong.isHidden(), bool(self._comment())
        edited = self.edited != self.outline
        self.yes.setEnabled(sound)
        self.revise.setEnabled(sound and (commented or edited))
        # accepting would lose the comment, so the other button is the default
        for button, primary in ((self.yes, not commented), (self.revise, commented)):
            label_button(
                button, button.text(), tip=button.toolTip(), kind="primary" if primary else ""
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
            self.answer(Review(self.edited, self._comment() or tr(EDIT_COMMENT)))


def _editable(outline: Outline) -> str:
    """The plan as a numbered list, in which only steps that are no longer open have a mark."""
    return re.sub(r"^- (?:\[ \] )?", "", outline.markdown, flags=re.MULTILINE)


def _steps(text: str) -> str:
    """Mark every line as a step, so that users need not know the syntax. An unmarked line beside
    marked ones would be parsed as prose around the list."""
    lines = (line for line in text.splitlines() if line.strip())
    return "\n".join(line if _marked.match(line) else f"- {line.strip()}" for line in lines)


def _explanation(why: str, changed: Sequence[str]) -> str:
    """The explanation, and the changes that it does not mention."""
    said = [why.strip()] if why.strip() else []
    return "\n".join([*said, *(line for line in changed if line not in why)])


def _list_changes(made: Sequence[str]) -> str:
    more = len(made) - MAX_CHANGES_SHOWN
    rest = [trn("And {count} more.", "And {count} more.", more)] if more > 0 else []
    return "\n".join([tr("You changed:"), *made[:MAX_CHANGES_SHOWN], *rest])


ARMING_MS = 400
"""A click meant for whatever was there before must not allow anything."""
DANGER = mark(
    "This code can read, change and delete your files, and use the network, just as you can. "
    "Run it only if you understand all of it."
)
UNSEEN = mark(
    "This code contains invisible characters. They are written out here, such as \\u202e; "
    "look twice."
)


class SandboxBanner(QFrame):
    """Which sandbox confines the code, or a warning that none does."""

    def __init__(self, code: CodeRequest) -> None:
        super().__init__()
        safe = code.protection.sandboxed
        self.setObjectName("safe" if safe else "unsafe")
        icon, role = ("shield", "done") if safe else ("unshielded", "danger")
        row = hbox(
            (Symbol(icon, role, size=20), Qt.AlignmentFlag.AlignTop),
            parent=self,
            margins=(12, theme.space(), 12, theme.space()),
            spacing=10,
        )
        words = vbox(spacing=2)
        row.addLayout(words, 1)
        self.title = Label(_shelter(code), role=role, wrap=True)
        words.addWidget(self.title)
        if not safe:
            words.addWidget(Label(tr(DANGER), wrap=True))
        elif code.hosts:
            words.addWidget(Label(_reach(code.hosts), wrap=True))
        if code.protection.why:
            why = one_line(code.protection.why, limit=600)
            words.addWidget(Label(why, role="small", wrap=True))


class CodeReview(ApprovalPanel):
    """Shows code that needs a verdict. Neither Enter nor Esc ever allows it."""

    def __init__(self, question: EngineQuestion) -> None:
        super().__init__(question)
        assert question.code is not None
        self.code = code = question.code
        self.head("code", self._title())
        purpose = LongText(tr("What the code is for"), first=QUESTION_CHARS)
        purpose.show_text(code.purpose.strip())
        self.column.addWidget(purpose)
        purpose.setVisible(bool(code.purpose.strip()))
        self.shield = SandboxBanner(code)
        self.column.addWidget(self.shield)
        self.unseen = Label(tr(UNSEEN), role="warning", wrap=True)
        self.column.addWidget(self.unseen)
        self.unseen.setVisible(
            "\\" in escape_invisible(code.source) and escape_invisible(code.source) != _lines(code)
        )
        self.difference = CodeText(tr("What changes in the function"), numbered=False)
        self.source = CodeText(tr("The code"), editable=True)
        self.source.show_text(code.source)
        self._add_source()
        self._add_tests()
        self.comment = GrowingTextField(
            tr("What the coder should know"),
            tr("What should the coder know? (if anything)"),
            role="field",
        )
        self.column.addWidget(self.comment)
        self.column.addWidget(self.dictated(self.comment))
        self.column.addLayout(self._buttons())
        self._armed = new_timer(self, self._arm, ARMING_MS)
        self._armed.start()

    def take_focus(self) -> None:
        self.comment.setFocus()

    def refuse(self) -> bool:
        return self._say(Allow.NO)

    def _title(self) -> str:
        if not self.code.saves:
            return self.question.text
        name = one_line(self.code.saves, limit=60)
        if self.code.replaces:
            return tr("Change “{name}” in the code library?", name=name)
        return tr("Keep “{name}” in the code library?", name=name)

    def _add_source(self) -> None:
        """Show the code; if it replaces a function, the difference first."""
        if not self.code.replaces:
            self.column.addWidget(self.source)
            return
        changed = Fold(tr("what changes"))
        changed.say(tr("What changes"))
        changed.column.addWidget(self.difference)
        whole = Fold(tr("the whole code"), unfolded=False)
        whole.say(tr("The whole code"))
        whole.column.addWidget(self.source)
        self.column.addWidget(changed)
        self.column.addWidget(whole)
        self._later = new_timer(self, self._compare, 300)
        self.source.textChanged.connect(self._later.start)
        self._compare()

    def _compare(self) -> None:
        before, now = escape_invisible(self.code.replaces), self.source.toPlainText()
        if not self.difference.show_difference(before, now):
            self.difference.show_text(tr("Nothing changes."))

    def _add_tests(self) -> None:
        if self.code.tests.strip():
            tests = Fold(tr("the tests"))
            tests.say(tr("Its tests"))
            report = CodeText(tr("How its tests went"), numbered=False, most_lines=8)
            report.show_text(self.code.tests.strip())
            tests.column.addWidget(report)
            self.column.addWidget(tests)

    def _buttons(self) -> QHBoxLayout:
        saves, safe = bool(self.code.saves), self.code.protection.sandboxed
        row = QHBoxLayout()
        self.goal = QPushButton(self)
        label_button(self.no, tr("Refuse"), tip=tr("It does not run (Esc)"))
        label_button(
            self.goal,
            tr("Allow for this goal"),
            tip=tr("This, and other code for the same goal that runs in the sandbox"),
        )
        if saves:
            tip = tr("It is saved in the code library as shown here")
            label_button(self.yes, tr("Keep it"), tip=tip)
        else:
            label_button(self.yes, tr("Run once"), tip=tr("It runs as shown here, this time only"))
        label_button(
            self.yes, self.yes.text(), tip=self.yes.toolTip(), kind="primary" if safe else "risk"
        )
        self.goal.setVisible(safe and not saves)
        for button, allow in ((self.no, Allow.NO), (self.goal, Allow.GOAL), (self.yes, Allow.ONCE)):
            button.clicked.connect(lambda _=False, allow=allow: self._say(allow))
        row.addWidget(self.no)
        row.addStretch(1)
        row.addWidget(self.goal)
        row.addWidget(self.yes)
        for button in (self.goal, self.yes):
            button.setEnabled(False)
        return row

    def _arm(self) -> None:
        for button in (self.goal, self.yes):
            button.setEnabled(True)

    def _say(self, allow: Allow) -> bool:
        return self.answer(Verdict(allow, self._as_it_stands(), self.comment.toPlainText().strip()))

    def _as_it_stands(self) -> str:
        """The given code unchanged, to the byte, unless the user edited it."""
        shown = self.source.toPlainText()
        return self.code.source if shown == escape_invisible(self.code.source) else shown


def _lines(code: CodeRequest) -> str:
    return code.source.replace("\r\n", "\n").replace("\r", "\n")


def _shelter(code: CodeRequest) -> str:
    if not code.protection.sandboxed:
        return tr("Not sandboxed")
    name = one_line(code.protection.name, limit=40)
    if code.hosts:
        return tr("In a sandbox: {name}, network only to what is named here", name=name)
    return tr("In a sandbox: {name}, no network", name=name)


def _reach(hosts: tuple[str, ...]) -> str:
    named_hosts = ", ".join(one_line(host, limit=100) for host in hosts)
    return tr("It may reach {hosts}.", hosts=named_hosts)
