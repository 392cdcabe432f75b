"""What is told of the steps of a plan."""

from __future__ import annotations

from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Task, TaskOption, TaskType
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.plan.descriptions import card_states
from tests.ui.plan.plan_scene import DRAW
from tests.ui.scene import NOW


def test_a_step_does_not_repeat_the_request_above_it() -> None:
    asked = "Draw a cat, without dogs!"
    whole = Task(0, DRAW, {"prompt": "draw a cat, without dogs", "seed": 7})
    part = Task(1, DRAW, {"prompt": "a cat", "avoid": "dogs"})
    first, second = card_states(Plan((whole, part)), Turn("t", NOW, asked))
    assert (first.subject, first.details) == ("seed: 7", "seed: 7")
    assert second.subject == "“a cat” · avoid: dogs"
    first, _ = card_states(Plan((whole, part)), Turn("t", NOW, f"Hey Jarvis, {asked}"))
    assert first.subject == "seed: 7"


def test_a_step_does_not_name_the_usual_choice() -> None:
    ring = TaskType(
        "timer", "", (), (), options=(TaskOption("action", "", "set", ("set", "list")),)
    )
    usual, other = Task(0, ring, {"action": "set"}), Task(1, ring, {"action": "list"})
    first, second = card_states(Plan((usual, other)), Turn("t", NOW, "Timers, please"))
    assert (first.subject, second.subject) == ("", "list")
