"""A draft remembers each edit, and says what it costs."""

from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Task
from jarvis_desktop.ui.plan.editing import PlanDraft, describe_changes
from tests.ui.plan.plan_scene import CLOCK, all_done, diamond, half_done
from tests.ui.scene import SAY


def test_edits_are_taken_back_and_made_again() -> None:
    draft = PlanDraft(diamond())
    assert (draft.can_undo, draft.can_redo, draft.is_edited) == (False, False, False)
    draft.put(diamond().with_arg(1, "sentences", 4))
    draft.put(diamond().with_arg(1, "sentences", 5))
    draft.undo()
    assert draft.plan.task(1).args["sentences"] == 4
    draft.redo()
    assert draft.plan.task(1).args["sentences"] == 5
    draft.undo()
    draft.undo()
    draft.undo()
    assert not draft.is_edited
    draft.put(diamond().without(3))
    assert not draft.can_redo, "a new edit takes the place of those taken back"
    draft.redo()
    assert draft.plan == diamond().without(3)


def test_an_edit_that_changes_nothing_is_none() -> None:
    draft = PlanDraft(diamond())
    draft.put(diamond())
    assert not draft.can_undo


def test_what_ran_and_builds_on_an_edit_begins_anew() -> None:
    draft = PlanDraft(diamond())
    draft.put(diamond().with_arg(1, "sentences", 4))
    assert draft.edited() == {1}
    assert draft.again(half_done(diamond())) == {1}, "what waits begins in any case"
    assert draft.again(all_done(diamond())) == {1, 3}
    fresh = PlanDraft(diamond())
    fresh.mark(2)
    assert fresh.is_edited
    assert fresh.edited() == frozenset()
    assert fresh.again(all_done(diamond())) == {2, 3}
    fresh.put(diamond().without(2))
    assert fresh.now.afresh == frozenset()


def test_a_turn_that_goes_by_another_plan() -> None:
    draft = PlanDraft(diamond())
    draft.rebase(diamond().without(3))
    assert (draft.is_edited, draft.can_undo) == (False, False)
    draft.put(diamond())
    draft.rebase(diamond().without(2))
    assert draft.plan == diamond(), "what the person edited stays"
    draft.rebase(diamond())
    assert (draft.is_edited, draft.can_undo) == (False, True)


def test_changes_are_told_in_sentences() -> None:
    plan = diamond()
    assert describe_changes(plan, plan) == []
    assert describe_changes(plan, plan.add(CLOCK, {})) == ["New: Clock."]
    assert describe_changes(plan, plan.without(2)) == [
        "Left out: Text to image.",
        "Changed: Save file (content).",
    ]
    assert describe_changes(plan, plan.with_arg(1, "sentences", 4).pinned(1, "me")) == [
        "Changed: Summarization (sentences, expert)."
    ]
    assert describe_changes(plan, plan.moved(2, before=1)) == ["The order of the steps changed."]
    swapped = Plan((*plan.tasks[:2], Task(2, SAY, {"text": "x"}), plan.tasks[3]))
    assert describe_changes(plan, swapped) == ["Text to speech instead of Text to image."]
