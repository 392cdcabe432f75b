"""What may be done for a goal without asking the person, and the questions for all the rest.

Nothing here reads what an LLM, a file or a program says in order to decide: only what the person
agreed to, in which sandbox code would run, and whether foreign text was read before. Therefore no
text can change an approval.
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
"""Characters of one, where the person is asked about a task."""


class Approvals:
    """The approvals of all goals of this process; none outlives it."""

    def __init__(self, *, code: CodeTerms, acting: Collection[str]) -> None:
        """`code` is for goals whose terms leave it open. `acting` names the tasks that do
        something outside of the artifact store."""
        self.code_terms = code
        self._acting = acting
        self._granted: dict[str, frozenset[str]] = {}
        """By goal, where the person allowed its code: the hosts that it reached then."""
        self._refused: dict[str, set[CodeRequest]] = {}
        """By goal, what the person said no to: the very same is not asked about again."""

    async def code(self, run: GoalRun, request: CodeRequest) -> Verdict:
        """Whether code may run, or be kept in the library, and as it may."""
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
        """The tasks that are not to be done, with the reason: those with effects outside that the
        person, asked about each with its very arguments, did not agree to."""
        withheld = {}
        for task in tasks:
            if task.type.name in self._acting and not await run.live.confirm(_asked(task)):
                withheld[task.id] = "The person did not agree to it."
        return withheld

    def trusts_outline(
        self, run: GoalRun, depth: int, before: Outline | None, after: Outline
    ) -> bool:
        """Whether a plan that was written anew holds without asking.

        Once foreign text was read, the person's plan may lose steps, and they may be done in
        another order; no step is added or reworded without them. What inner controllers plan
        reaches no further than the sandbox.
        """
        if depth > 0 or before is None or not run.frames[0].tainted:
            return True
        known = {(step.id, step.text) for step in before}
        return all((step.id, step.text) in known for step in after)

    def forget(self, goal_id: str) -> None:
        """The goal is over."""
        self._granted.pop(goal_id, None)
        self._refused.pop(goal_id, None)

    def _needs_no_question(self, run: GoalRun, request: CodeRequest) -> bool:
        if not request.protection.sandboxed:
            return False
        terms, hosts = run.goal.terms, frozenset(request.hosts)
        sandboxed = (terms.code or self.code_terms) is CodeTerms.SANDBOXED
        if request.saves:
            # It outlasts the goal: what foreign text may have had a hand in is shown first.
            return sandboxed and not any(frame.tainted for frame in run.frames)
        if sandboxed and hosts <= set(terms.hosts):
            return True
        granted = self._granted.get(run.goal.id)
        return granted is not None and hosts <= granted


def _asked(task: Task) -> str:
    said = ", ".join(f"{tr(as_words(name))} {_shown(item)}" for name, item in task.items())
    title = task.type.called.capitalize()
    if not said:
        return tr("{step}: do it?", step=title)
    return tr("{step} ({details}): do it?", step=title, details=said)


def _shown(item: Item) -> str:
    match item:
        case Artifact():
            words = item.text if item.path is None else item.title
            return f"“{one_line(words or '', limit=MAX_ARGUMENT_CHARS)}”"
        case Ref():
            return tr("the result of task {id}", id=item.task_id)
        case _:
            return f"“{one_line(str(item), limit=MAX_ARGUMENT_CHARS)}”"
