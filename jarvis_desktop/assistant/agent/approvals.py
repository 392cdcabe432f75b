"""Decide what a goal may do without asking the user, and ask about all the rest.

Decisions never depend on what an LLM, a file or a program says. They depend on what the user agreed
to, on the sandbox in which code would run, and on whether foreign text was read before. So no text
can change an approval.

A `Verdict` carries the source as it was shown; its hash is checked at the last border, where the
code runs or is saved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.code import Allow, CodeRequest, Verdict
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.goal import CodeTerms, Outline
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Item, Ref, Task, as_words

MAX_ARGUMENT_CHARS = 200
"""Characters of an argument in a question about a task."""


class Approvals:
    """The approvals of all goals in this process; none outlives it."""

    def __init__(self, *, code: CodeTerms, acting: Collection[str]) -> None:
        """`code` is for goals whose terms leave it open. `acting` names the tasks with effects
        outside of the artifact store."""
        self.code_terms = code
        self._acting = acting
        self._granted: dict[str, frozenset[str]] = {}
        """By goal whose code the user allowed: the hosts that it reached then."""
        self._refused: dict[str, set[CodeRequest]] = {}
        """By goal, what the user refused: the very same is not asked about again."""

    async def code(self, run: GoalRun, request: CodeRequest) -> Verdict:
        """Return whether code may run, or be saved in the library, and in which form."""
        if self._needs_no_question(run, request):
            return Verdict(Allow.ONCE, request.source)
        refused = self._refused.setdefault(run.goal.id, set())
        if request in refused:
            return Verdict(Allow.NO, request.source)
        verdict = await run.live.review_code(request)
        if verdict.allow is Allow.NO:
            refused.add(request)
        if verdict.allow is Allow.GOAL:
            if request.protection.sandboxed and not request.saves:
                self._granted[run.goal.id] = frozenset(request.hosts)
            verdict = replace(verdict, allow=Allow.ONCE)
        return verdict

    async def acting(self, run: GoalRun, tasks: Iterable[Task]) -> dict[int, str]:
        """Return the tasks that must not run, with the reason. These have effects outside, and the
        user, asked about each with its arguments, did not agree."""
        withheld = {}
        for task in tasks:
            if task.type.name in self._acting and not await run.live.confirm(_question(task)):
                withheld[task.id] = "The person did not agree to it."
        return withheld

    def trusts_outline(
        self, run: GoalRun, depth: int, before: Outline | None, after: Outline
    ) -> bool:
        """Return whether a new plan may replace the old one without asking.

        Once foreign text was read, the user's plan may lose steps or change their order, but no
        step is added or reworded without the user. Plans of inner controllers reach no further than
        the sandbox.
        """
        if depth > 0 or before is None or not run.frames[0].tainted:
            return True
        known = {(step.id, step.text) for step in before}
        return all((step.id, step.text) in known for step in after)

    def forget(self, goal_id: str) -> None:
        """Forget the approvals of a goal that is over."""
        self._granted.pop(goal_id, None)
        self._refused.pop(goal_id, None)

    def _needs_no_question(self, run: GoalRun, request: CodeRequest) -> bool:
        if not request.protection.sandboxed:
            return False
        terms, hosts = run.goal.terms, frozenset(request.hosts)
        sandboxed = (terms.code or self.code_terms) is CodeTerms.SANDBOXED
        if request.saves:
            # It outlasts the goal, so what foreign text may have influenced is shown first.
            return sandboxed and not any(frame.tainted for frame in run.frames)
        if sandboxed and hosts <= set(terms.hosts):
            return True
        granted = self._granted.get(run.goal.id)
        return granted is not None and hosts <= granted


def _question(task: Task) -> str:
    said = ", ".join(
        f"{tr(as_words(name))} {_format_argument(item)}" for name, item in task.items()
    )
    title = task.type.called
    if not said:
        return tr("{step}: do it?", step=title)
    return tr("{step} ({details}): do it?", step=title, details=said)


def _format_argument(item: Item) -> str:
    match item:
        case Artifact():
            words = item.text if item.path is None else item.title
            return f"“{one_line(words or '', limit=MAX_ARGUMENT_CHARS)}”"
        case Ref():
            return tr("the result of task {id}", id=item.task_id)
        case _:
            return f"“{one_line(str(item), limit=MAX_ARGUMENT_CHARS)}”"
