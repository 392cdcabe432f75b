"""Shared by the tests of LLMs."""

from collections.abc import Iterator

import pytest

from jarvis_desktop.core.context import current_usage
from jarvis_desktop.core.llm import Usage


@pytest.fixture
def usages() -> Iterator[list[Usage]]:
    """What the calls of the test report."""
    found: list[Usage] = []
    token = current_usage.set(found.append)
    yield found
    current_usage.reset(token)
