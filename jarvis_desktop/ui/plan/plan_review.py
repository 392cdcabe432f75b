"""Asks for approval of a plan, which is edited in its view."""

from __future__ import annotations

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.conversation.approvals import ApprovalPanel, label_button
from jarvis_desktop.ui.engine import EngineQuestion
from jarvis_desktop.ui.plan.editing import PlanEditor
from jarvis_desktop.ui.plan.plan_view import PlanView
from jarvis_desktop.ui.widgets.flow_layout import hbox


class PlanReviewPanel(ApprovalPanel):
    """Asks for approval of a plan, which is edited in its view."""

    def __init__(self, question: EngineQuestion, view: PlanView) -> None:
        """`view` shows the plan."""
        super().__init__(question)
        self._view = view
        self.editing: PlanEditor = view.editing
        view.review(True)
        self.head("review", question.text)
        self.column.addWidget(self.dictated(view.foot.words))
        row = hbox(None)
        for button, text, kind, act in (
            (self.no, tr("Don’t run it"), "", self._decline),
            (self.yes, tr("Run the plan"), "primary", self._agree),
        ):
            button.clicked.connect(act)
            row.addWidget(label_button(button, text, kind=kind))
        self.column.addLayout(row)
        self.editing.changed.connect(self._show_state)
        self._show_state()

    def _show_state(self) -> None:
        self.yes.setEnabled(not self.editing.busy and not self.answered)
        edited = self.editing.draft.is_edited
        text = tr("Run the changed plan") if edited else tr("Run the plan")
        label_button(self.yes, text, kind="primary")

    def _agree(self) -> None:
        if self.yes.isEnabled() and self.answer(self.editing.approve()):
            self._view.review(False)

    def _decline(self) -> None:
        if self.answer(False):
            self.editing.drop()
            self._view.review(False)
