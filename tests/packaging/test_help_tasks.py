"""The help pages on tasks are today's."""

from __future__ import annotations

import help_tasks
import pytest
import translations

from jarvis_desktop.core import i18n

PAGES = help_tasks.pages()


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.relative_to(help_tasks.FOLDER).name)
def test_a_page_is_up_to_date(file) -> None:
    assert file.read_text("utf-8") == PAGES[file], "run packaging/help_tasks.py"


def test_there_is_a_page_in_every_language() -> None:
    assert len(set(PAGES.values())) == len(translations.LANGUAGES) + 1
    assert i18n.language() == "en", "it goes back to English"


def test_sizes_are_those_of_the_catalogue() -> None:
    (tasks,) = [text for file, text in PAGES.items() if file.parent == help_tasks.FOLDER]
    assert "expert `whisper-tiny` (about 78 MB)" in tasks
