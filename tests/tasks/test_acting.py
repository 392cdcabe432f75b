"""Which tasks are not done twice without asking."""

from __future__ import annotations

from jarvis_desktop.tasks.registry import ACTING, DEFINITIONS, INVENTORY


def test_they_are_tasks() -> None:
    assert {item.type.name for item in DEFINITIONS} >= ACTING


def test_what_asks_before_it_is_done_asks_before_it_is_done_again() -> None:
    assert {item.type.name for item in DEFINITIONS if item.question} <= ACTING


def test_what_a_voice_asks_for_in_passing_runs_at_once() -> None:
    asked = {task_type.name for task_type in INVENTORY if task_type.guarded}
    assert asked == {"forget", "open-file", "open-folder", "save-file"}
    assert asked <= ACTING
