"""A turn of agent mode: the plan of its goal, the plans of inner controllers, and the rounds."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import Outline, OutlineStep, StepState
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.turn import Round, Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.answer import AnswerText
from jarvis_desktop.ui.conversation.code_view import MAX_CODE_LINES, CodeText
from jarvis_desktop.ui.conversation.markdown import without_markup
from jarvis_desktop.ui.media.cards import ResultCards
from jarvis_desktop.ui.widgets import labels, theme
from jarvis_desktop.ui.widgets.forms import Fold
from jarvis_desktop.ui.widgets.icons import IconButton, StateIcon
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label
from jarvis_desktop.ui.widgets.layout import discard, hbox, vbox
from jarvis_desktop.ui.widgets.timers import new_timer

INITIAL_ROUNDS = 8
ROUNDS_PER_CLICK = 25
INDENT_PX = 20
MAX_INDENT = 4
MAX_ROUND_RESULTS = 12
MAX_OUTPUT_LINES = 12
RESULT = mark("Result")

_roles = {"assistant": "JARVIS", "coder": mark("Coder"), "librarian": mark("Librarian")}
_branches = {
    "run_experts": mark("Experts"),
    "coder": mark("Hand over to the coder"),
    "ask_user": mark("Question for you"),
    "re_plan": mark("Change the plan"),
    "update_plan": mark("Update the plan"),
    "intermediate_answer": mark("Interim answer"),
    "final_answer": mark("Answer"),
    "extend_library": mark("Code library"),
    "run_code": mark("Run code"),
    "look": mark("Look at the files"),
    "think": mark("Write a script"),
    "write_function": mark("Write a function"),
    "finish": mark("Hand back"),
}
_verbatim = ("run_experts", "look")
_outcomes = {
    Status.PARTLY: mark("partly"),
    Status.FAILED: mark("failed"),
    Status.SKIPPED: mark("left out"),
    Status.CANCELLED: mark("stopped"),
}


def role_name(path: str) -> str:
    """Whose round it is, for display."""
    role = path.rpartition("/")[2]
    return tr(_roles.get(role, "")) or labels.upper_first(one_line(role, limit=24))


def branch_name(item: Round) -> str:
    """What a round does, in a word or two."""
    branch = one_line(item.branch.replace("_", " "), limit=28)
    return tr(_branches[item.branch]) if item.branch in _branches else labels.upper_first(branch)


class RoundRow(QWidget):
    """One round: its state, what it does, who does it and how long it took."""

    def __init__(self, number: int, actions: Actions) -> None:
        super().__init__()
        self.number = number
        self._actions = actions
        self._round: Round | None = None
        self._over = False
        self._details: _RoundDetails | None = None
        self._outer = vbox(parent=self, spacing=2)
        self.icon = StateIcon()
        self.title = Label()
        self.what = ElidedLabel(role="small")
        self.facts = Label(role="small")
        self.who = Label(role="tag")
        self.elapsed = Label(role="small")
        self.elapsed.setMinimumWidth(44)
        self.elapsed.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.toggle = IconButton(
            "right", tr("Show round {number}", number=number), kind="tiny", tip=tr("Show more")
        )
        self.toggle.setIconSize(QSize(16, 16))
        self.toggle.clicked.connect(self._toggle)
        keep = self.toggle.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.toggle.setSizePolicy(keep)
        self._line = line = hbox(self.icon, self.title, (self.what, 1), spacing=theme.space())
        for widget in (self.facts, self.who, self.elapsed, self.toggle):
            line.addWidget(widget)
        self._outer.addLayout(line)
        self.reason = Label(role="warning", wrap=True)
        self.reason.hide()
        self._outer.addWidget(self.reason)

    @property
    def unfolded(self) -> bool:
        """Whether its details are shown."""
        return self._details is not None and not self._details.isHidden()

    def draw(self, item: Round, seconds: float | None, *, over: bool = False) -> None:
        """Show a round and the seconds it took so far, None if unknown. If the turn is `over`, a
        round without an end was stopped."""
        self.tick(seconds)
        if item is self._round and over == self._over:
            return
        self._round, self._over = item, over
        status = item.status or (Status.CANCELLED if over else None)
        depth = min(item.path.count("/"), MAX_INDENT)
        self._outer.setContentsMargins(INDENT_PX * depth, 0, 0, 0)
        self.reason.setContentsMargins(26, 0, 26, 2)
        self.icon.show_state("running" if status is None else status.value)
        self.title.setText(branch_name(item))
        latest = "" if status else _latest(item)
        what = latest or without_markup(one_line(item.what, limit=300))
        self.what.show_text("" if what == self.title.text() else what)
        self.who.setText(role_name(item.path))
        word = tr(_outcomes.get(status, "")) if status else ""
        count = len(item.artifacts)
        made = trn("{count} result", "{count} results", count) if count else ""
        self.facts.show_or_hide(" · ".join(part for part in (made, word) if part))
        reason = _reason(item)
        self.reason.show_or_hide(reason)
        self.toggle.setVisible(_has_more(item))
        if self._details and self.unfolded:
            self._details.draw(item)

    def tick(self, seconds: float | None) -> None:
        """Show the elapsed time."""
        self.elapsed.setText("" if seconds is None else labels.seconds(seconds))

    def _toggle(self) -> None:
        if self._details is None:
            self._details = _RoundDetails(self.number, self._actions)
            self._outer.addWidget(self._details)
            self._details.show()
        else:
            self._details.setVisible(self._details.isHidden())
        if self._round and self.unfolded:
            self._details.draw(self._round)
        if self.unfolded:
            name = tr("Hide round {number}", number=self.number)
            self.toggle.show_icon("down", name, tip=tr("Show less"))
        else:
            name = tr("Show round {number}", number=self.number)
            self.toggle.show_icon("right", name, tip=tr("Show more"))


class _RoundDetails(QFrame):
    """Everything known about a round."""

    def __init__(self, number: int, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("details")
        self._number = number
        self._actions = actions
        self.what = Label(role="small", wrap=True)
        column = vbox(self.what, parent=self, margins=(12, 10, 12, 10), spacing=theme.space("half"))
        self.code = self._block(column, tr("Code"))
        self.printed = self._block(column, tr("Printed"), numbered=False)
        self.gave = self._block(column, tr(RESULT), numbered=False)
        self._came = Label(tr(RESULT), role="heading")
        self.observation = AnswerText(actions)
        self.observation.setAccessibleName(tr("Result of round {number}", number=number))
        column.addWidget(self._came)
        column.addWidget(self.observation)
        self._results = ResultCards(actions, most=MAX_ROUND_RESULTS)
        column.addWidget(self._results)

    def draw(self, item: Round) -> None:
        """Show a round."""
        self.what.setText(without_markup(one_line(item.what, limit=2000)))
        self.what.setVisible(bool(item.what.strip()))
        self.code.show_text(item.code)
        said = " ".join(item.observation.split())
        known = item.status is not None and " ".join(item.printed.split()) in said
        self.printed.show_text("" if known else item.printed, at_end=True)
        # the output of a script is shown as in a terminal, anything else as prose
        self.gave.show_text(item.observation if item.code else "")
        # what files and experts gave is shown as it stands, what the LLM wrote is Markdown
        self.observation.show_text(
            "" if item.code else item.observation, plain=item.branch in _verbatim
        )
        for widget in (self.observation, self._came):
            widget.setVisible(bool(said) and not item.code)
        self._results.show_results(item.artifacts)

    def _block(self, column: QVBoxLayout, title: str, *, numbered: bool = True) -> _CodeSection:
        name = tr("{what} of round {number}", what=title, number=self._number)
        block = _CodeSection(title, name, actions=self._actions, numbered=numbered)
        column.addWidget(block)
        return block


class _CodeSection(QWidget):
    """Code or output under a heading, with a copy button."""

    def __init__(self, title: str, name: str, *, actions: Actions, numbered: bool) -> None:
        super().__init__()
        self._text = ""
        head = hbox((Label(title, role="heading"), 1))
        self.copy = IconButton("copy", tr("Copy: {what}", what=name), kind="tiny", tip=tr("Copy"))
        self.copy.setIconSize(QSize(14, 14))
        self.copy.clicked.connect(lambda: actions.copy_text.emit(self._text))
        head.addWidget(self.copy)
        column = vbox(
            head, parent=self, margins=(0, 0, 0, theme.space("half")), spacing=theme.space("half")
        )
        most = MAX_CODE_LINES if numbered else MAX_OUTPUT_LINES
        self.view = CodeText(name, numbered=numbered, most_lines=most)
        column.addWidget(self.view)

    def show_text(self, text: str, *, at_end: bool = False) -> None:
        """Show a text; "" hides the block."""
        self._text = text
        self.setVisible(bool(text.strip()))
        self.view.show_text(text.rstrip("\n"), at_end=at_end)


class RoundsView(QWidget):
    """The newest rounds of a turn; earlier ones on demand."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        self._rows: dict[int, RoundRow] = {}
        self._most = INITIAL_ROUNDS
        self._turn: Turn | None = None
        self._began: dict[int, float] = {}
        self._spent: dict[int, float] = {}
        self.earlier = QPushButton()
        self.earlier.setProperty("kind", "quiet")
        self.earlier.clicked.connect(self._show_earlier)
        self.earlier.hide()
        column = vbox((self.earlier, Qt.AlignmentFlag.AlignLeft), parent=self, spacing=6)
        self._list = vbox(spacing=6)
        column.addLayout(self._list)
        self._clock = new_timer(self, self._tick, 200, repeat=True)

    def rows(self) -> tuple[RoundRow, ...]:
        """The visible rows, oldest first."""
        return tuple(self._rows[number] for number in sorted(self._rows))

    def draw(self, turn: Turn) -> None:
        """Show the rounds of a turn."""
        self._turn = turn
        self._take_time(turn)
        over = turn.status is not None
        shown = self._shown(list(turn.rounds.values()))
        for number in self._rows.keys() - {item.number for item in shown}:
            discard(self._rows.pop(number))
        for place, item in enumerate(shown):
            if item.number not in self._rows:
                self._rows[item.number] = RoundRow(item.number, self._actions)
                self._list.insertWidget(place, self._rows[item.number])
            self._rows[item.number].draw(
                item, item.seconds or self._measured(item.number), over=over
            )
        hidden = len(turn.rounds) - len(shown)
        self.earlier.setVisible(hidden > 0)
        if hidden <= ROUNDS_PER_CLICK:
            few = max(hidden, 1)
            words = trn("Show {count} earlier round", "Show {count} earlier rounds", few)
        else:
            words = tr(
                "Show {some} of {count} earlier rounds", some=ROUNDS_PER_CLICK, count=f"{hidden:,}"
            )
        self.earlier.setText(words)
        self.earlier.setAccessibleName(self.earlier.text())
        if turn.status is None and self._began.keys() - self._spent.keys():
            self._clock.start()
        else:
            self._clock.stop()

    def _shown(self, rounds: Sequence[Round]) -> list[Round]:
        """The newest rounds, and earlier ones whose details are open."""
        first = max(len(rounds) - self._most, 0)
        read = {number for number, row in self._rows.items() if row.unfolded}
        return [item for item in rounds[:first] if item.number in read] + list(rounds[first:])

    def _take_time(self, turn: Turn) -> None:
        """Time running rounds, and those that report no time, while they are shown."""
        now = time.monotonic()
        for number, item in turn.rounds.items():
            if item.status is None and turn.status is None:
                self._began.setdefault(number, now)
            elif number in self._began and number not in self._spent:  # it ended, or the turn did
                self._spent[number] = now - self._began[number]

    def _measured(self, number: int) -> float | None:
        if number in self._spent:
            return self._spent[number]
        began = self._began.get(number)
        return None if began is None else time.monotonic() - began

    def _tick(self) -> None:
        if self.isVisible():
            for number in self._began.keys() - self._spent.keys():
                if row := self._rows.get(number):
                    row.tick(self._measured(number))

    def _show_earlier(self) -> None:
        self._most += ROUNDS_PER_CLICK
        if self._turn:
            self.draw(self._turn)


def tally_rounds(turn: Turn) -> str:
    """The number of rounds: "12, 1 failed"."""
    failed = sum(item.status is Status.FAILED for item in turn.rounds.values())
    if failed:
        return tr("{count}, {failed} failed", count=f"{len(turn.rounds):,}", failed=f"{failed:,}")
    return f"{len(turn.rounds):,}"


def _latest(item: Round) -> str:
    """The last line that a running script printed."""
    if not item.printed.strip():
        return ""
    return one_line(item.printed[-2000:].strip().splitlines()[-1], limit=300)


def _reason(item: Round) -> str:
    """Why a round failed, in one line; for a traceback its last line."""
    if item.status is not Status.FAILED or not item.observation.strip():
        return ""
    lines = item.observation.strip().splitlines()
    traced = any(line.startswith("Traceback") for line in lines)
    return one_line(lines[-1] if traced else item.observation, limit=300)


def _has_more(item: Round) -> bool:
    has = item.code or item.printed.strip() or item.observation.strip() or item.artifacts
    return bool(has) or len(item.what) > 60


STATE_NAMES = {
    StepState.OPEN: mark("to do"),
    StepState.DOING: mark("doing"),
    StepState.DONE: mark("done"),
    StepState.FAILED: mark("failed"),
    StepState.DROPPED: mark("dropped"),
}
_counted = {StepState.FAILED: mark("{count} failed"), StepState.DROPPED: mark("{count} dropped")}
_state_styles = {
    StepState.OPEN: "small",
    StepState.DOING: "accent-small",
    StepState.DONE: "done",
    StepState.FAILED: "warning",
    StepState.DROPPED: "small",
}


class StepRow(QWidget):
    """One step: its state, number, text and note."""

    def __init__(self, *, small: bool) -> None:
        super().__init__()
        self.step: OutlineStep | None = None
        self.icon = StateIcon()
        self.number = Label(role="small" if small else "")
        self.number.setMinimumWidth(22)
        middle = Qt.AlignmentFlag.AlignVCenter
        self.number.setAlignment(Qt.AlignmentFlag.AlignRight | middle)
        self.text = Label(role="small" if small else "", wrap=True)
        self.note = Label(role="small", wrap=True)
        self.word = Label(role="small")
        row = hbox(parent=self, spacing=theme.space())
        for label in (self.number, self.word):
            label.setFixedHeight(self.icon.height())
        self.text.setContentsMargins(0, 2 if small else 1, 0, 0)  # in line with the state
        words = vbox(self.text, self.note, spacing=0)
        top = Qt.AlignmentFlag.AlignTop
        row.addWidget(self.icon, alignment=top)
        row.addWidget(self.number, alignment=top)
        row.addLayout(words, 1)
        row.addWidget(self.word, alignment=top)

    def draw(self, step: OutlineStep) -> None:
        """Show a step."""
        if step == self.step:
            return
        self.step = step
        self.icon.show_state(step.state.value)
        self.number.setText(f"{step.id}.")
        text = without_markup(step.text)
        self.text.setText(text)
        font = self.text.font()
        font.setStrikeOut(step.state is StepState.DROPPED)
        self.text.setFont(font)
        self.note.show_or_hide(without_markup(step.note))
        self.word.setText(tr(STATE_NAMES[step.state]))
        theme.restyle(self.word, role=_state_styles[step.state])
        state = tr(STATE_NAMES[step.state])
        name = tr("Step {number}, {state}: {text}", number=step.id, state=state, text=text)
        self.setAccessibleName(name)


class GoalOutlineView(QWidget):
    """All steps of a plan."""

    def __init__(self, *, small: bool = False) -> None:
        """`small` is for the plan of an inner controller."""
        super().__init__()
        self._small = small
        self._rows: list[StepRow] = []
        self._column = vbox(parent=self, spacing=theme.space("half") if small else 6)

    @property
    def rows(self) -> tuple[StepRow, ...]:
        """The visible rows, in order."""
        return tuple(self._rows)

    def draw(self, outline: Outline) -> None:
        """Show a plan; only changed rows are redrawn."""
        while len(self._rows) > len(outline.steps):
            discard(self._rows.pop())
        for place, step in enumerate(outline):
            if place == len(self._rows):
                self._rows.append(StepRow(small=self._small))
                self._column.addWidget(self._rows[place])
            self._rows[place].draw(step)


def tally_steps(outline: Outline) -> str:
    """The progress of a plan: "1 of 4 steps done"."""
    states = [step.state for step in outline]
    done = states.count(StepState.DONE)
    if done:
        words = [
            trn(
                "{done} of {count} step done",
                "{done} of {count} steps done",
                len(states),
                done=done,
            )
        ]
    else:
        words = [trn("{count} step", "{count} steps", len(states))]
    words += [
        tr(_counted[state], count=states.count(state)) for state in _counted if state in states
    ]
    return ", ".join(words)


class GoalView(QFrame):
    """Draws what agent mode does; redrawing only touches what changed."""

    def __init__(self, actions: Actions, *, unfolded: bool) -> None:
        """Show the rounds from the start if `unfolded`, as for a running turn; else on demand."""
        super().__init__()
        self.setObjectName("plan")
        self._unfolded = unfolded
        self._turn: Turn | None = None
        self._inner: dict[str, tuple[Fold, GoalOutlineView]] = {}
        self.plan = QWidget()
        self.heading = Label(role="heading")
        self.outline = GoalOutlineView()
        vbox(self.heading, self.outline, parent=self.plan, spacing=6)
        column = vbox(self.plan, parent=self, margins=(theme.space("two"), 12, 12, 12), spacing=10)
        self._inner_place = vbox()
        column.addLayout(self._inner_place)
        self.fold = Fold(tr("the rounds"), unfolded=unfolded)
        self.rounds = RoundsView(actions)
        self.fold.column.addWidget(self.rounds)
        self.fold.heading.clicked.connect(self._draw_rounds)
        column.addWidget(self.fold)

    def draw(self, turn: Turn, *, reviewed: Outline | None = None) -> None:
        """Show a turn; a plan that is being `reviewed` is shown there, and not repeated here."""
        self._turn = turn
        drafted = reviewed is not None and not turn.rounds
        outline = None if drafted or turn.outline == reviewed else turn.outline
        self.plan.setVisible(outline is not None)
        if outline:
            self.heading.setText(tr("Plan · {tally}", tally=tally_steps(outline)))
            self.outline.draw(outline)
        for path, inner in turn.inner_outlines.items():
            self._draw_inner(path, inner, shown=inner != reviewed)
        self.fold.setVisible(bool(turn.rounds))
        self.fold.say(tr("Rounds · {tally}", tally=tally_rounds(turn)))
        self._draw_rounds()
        self.setVisible(bool(outline or turn.inner_outlines or turn.rounds))

    def _draw_rounds(self) -> None:
        if self._turn and self.fold.unfolded:
            self.rounds.draw(self._turn)

    def _draw_inner(self, path: str, outline: Outline, *, shown: bool) -> None:
        whose = tr("{who}’s plan", who=role_name(path))
        if path not in self._inner:
            fold, view = Fold(whose, unfolded=self._unfolded), GoalOutlineView(small=True)
            fold.column.setContentsMargins(INDENT_PX, 0, 0, 0)
            fold.column.addWidget(view)
            self._inner[path] = fold, view
            self._inner_place.addWidget(fold)
        fold, view = self._inner[path]
        fold.setVisible(shown)
        fold.say(f"{whose} · {tally_steps(outline)}")
        view.draw(outline)
