"""The first start: four short pages over the window, each of which can be left out."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.experts.llm_watch import LLMWatch
from jarvis_desktop.ui.first.steps import LLMStep, ModeStep, RequestStep, Step, VoiceStep
from jarvis_desktop.ui.look import tabbing, theme
from jarvis_desktop.ui.look.overlays import Covering
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.places import Surroundings

WIDEST = 640


class FirstStart(QFrame):
    """Covers its parent until it is over."""

    over = Signal()
    """The person is through, or wants none of it."""
    chosen = Signal(object)
    """Carries a first Request; it is over then."""

    def __init__(self, surroundings: Surroundings, watch: LLMWatch, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName(tr("First start"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        asking = RequestStep()
        asking.chosen.connect(self._choose)
        self.steps: tuple[Step, ...] = (
            ModeStep(surroundings),
            VoiceStep(surroundings),
            LLMStep(watch),
            asking,
        )
        self._here = 0
        self._build()
        Covering(self)
        self.show()
        self.raise_()
        self._show(0)

    def _build(self) -> None:
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        scrolled = QWidget()
        scrolled.setObjectName("scrolled")
        row = QHBoxLayout(scrolled)
        row.setContentsMargins(*[theme.space("three")] * 4)
        column = QWidget()
        column.setMaximumWidth(WIDEST)
        pages = QVBoxLayout(column)
        pages.setContentsMargins(0, theme.space("four"), 0, 0)
        for step in self.steps:
            step.hide()
            pages.addWidget(step)
        row.addStretch(1)
        row.addWidget(column, 1000)
        row.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(scrolled)
        outer.addWidget(self._scroll, 1)
        foot = QHBoxLayout()
        foot.setContentsMargins(*[theme.space("two")] * 4)
        foot.setSpacing(theme.space())
        self.place = Label(role="small")
        self.leave = button(tr("Skip all"), kind="quiet")
        self.leave.clicked.connect(self.skip)
        self.back = button(tr("Back"))
        self.back.clicked.connect(lambda: self._show(self._here - 1))
        self.next = button(tr("Next"), kind="primary")
        self.next.clicked.connect(self._go_on)
        foot.addWidget(self.place)
        foot.addStretch(1)
        for each in (self.leave, self.back, self.next):
            foot.addWidget(each)
        outer.addLayout(foot)

    def skip(self) -> None:
        """Leave all that is left out."""
        self.steps[self._here].leave()
        self.hide()
        self.over.emit()
        self.deleteLater()

    def focusNextPrevChild(self, forwards: bool) -> bool:
        """Stay within: what is beneath cannot be seen."""
        if self.isHidden():  # what hides hands its focus on
            return super().focusNextPrevChild(forwards)
        tabbing.go_round(self, forwards=forwards)
        if (focused := self.focusWidget()) and self._scroll.isAncestorOf(focused):
            self._scroll.ensureWidgetVisible(focused)
        return True

    def _show(self, index: int) -> None:
        before, self._here = self.steps[self._here], index
        before.leave()
        before.hide()
        step = self.steps[index]
        step.show()
        step.appear()
        self.place.setText(tr("{number} of {count}", number=index + 1, count=len(self.steps)))
        self.back.setVisible(index > 0)
        last = index == len(self.steps) - 1
        self.leave.setVisible(not last)
        self.next.setText(tr("Start") if last else tr("Next"))
        self.next.setAccessibleName(self.next.text())
        self._scroll.verticalScrollBar().setValue(0)
        self.next.setFocus()

    def _go_on(self) -> None:
        if self._here == len(self.steps) - 1:
            self.skip()
        else:
            self._show(self._here + 1)

    def _choose(self, request: object) -> None:
        self.skip()
        self.chosen.emit(request)
