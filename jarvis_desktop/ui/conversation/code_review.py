"""Code before it runs or is saved: the user reads, edits, allows or refuses it, and sees what
protects the computer."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton

from jarvis_desktop.core.code import Allow, CodeRequest, Verdict
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.ui.conversation.approvals import QUESTION_CHARS, ApprovalPanel, label_button
from jarvis_desktop.ui.conversation.code_view import CodeText, escape_invisible
from jarvis_desktop.ui.engine import EngineQuestion
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.flow_layout import hbox, vbox
from jarvis_desktop.ui.widgets.forms import Fold, GrowingTextField
from jarvis_desktop.ui.widgets.icons import Symbol
from jarvis_desktop.ui.widgets.labels import Label, LongText

ARMING_MS = 400
"""Milliseconds before code can be allowed: a click meant for whatever was there before allows
nothing."""
DANGER = mark(
    "This code can read, change and delete your files, and use the network, just as you can. "
    "Run it only if you understand all of it."
)
UNSEEN = mark(
    "This code has characters that cannot be seen. They are written out here, "
    "such as \\u202e; look twice."
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
        self._armed = QTimer(self, singleShot=True, interval=ARMING_MS)
        self._armed.timeout.connect(self._arm)
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
        self._later = QTimer(self, singleShot=True, interval=300)
        self._later.timeout.connect(self._compare)
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
            tip = tr("It goes into the code library as it stands here")
            label_button(self.yes, tr("Keep it"), tip=tip)
        else:
            label_button(
                self.yes, tr("Run once"), tip=tr("It runs as it stands here, this time only")
            )
        label_button(
            self.yes, self.yes.text(), tip=self.yes.toolTip(), kind="primary" if safe else "risk"
        )
        self.goal.setVisible(safe and not saves)
        for button, allow in (
            (self.no, Allow.NO),
            (self.goal, Allow.GOAL),
            (self.yes, Allow.ONCE),
        ):
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
