"""Which tasks are not done twice without asking."""

from __future__ import annotations

from jarvis_desktop.tasks.registry import ACTING, DEFINITIONS


def test_they_are_tasks() -> None:
    assert {item.type.name for item in DEFINITIONS} >= ACTING


def test_what_asks_before_it_is_done_asks_before_it_is_done_again() -> None:
    assert {item.type.name for item in DEFINITIONS if item.question} <= ACTING
