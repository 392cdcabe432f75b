"""The README's table of tasks is today's."""

from __future__ import annotations

import readme_table


def test_table_is_up_to_date() -> None:
    readme = readme_table.README.read_text("utf-8")
    assert readme == readme_table.with_table(readme), "run packaging/readme_table.py"
