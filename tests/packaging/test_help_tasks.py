"""The help page on tasks is today's."""

from __future__ import annotations

import help_tasks


def test_the_page_is_up_to_date() -> None:
    assert help_tasks.PAGE.read_text("utf-8") == help_tasks.page(), "run packaging/help_tasks.py"
