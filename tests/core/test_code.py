"""What was agreed to is known by its hash."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.core.code import Function, FunctionDraft, Script

DRAFT = FunctionDraft(
    "plot", "def plot() -> None: ...\n", "def test_plot(): ...\n", ("pandas", "numpy")
)


def test_a_script_is_known_by_its_bytes() -> None:
    assert Script("print('ü')").sha256 == sha256("print('ü')".encode()).hexdigest()
    assert Script("a").sha256 != Script("a ").sha256


@pytest.mark.parametrize(
    "other",
    [
        replace(DRAFT, name="plots"),
        replace(DRAFT, source=DRAFT.source + " "),
        replace(DRAFT, tests=""),
        replace(DRAFT, packages=("pandas",)),
        replace(DRAFT, packages=("pandas", "numpy", "numpy")),
        replace(DRAFT, source=DRAFT.source + DRAFT.tests, tests=""),
        replace(DRAFT, packages=("numpypandas",)),
    ],
)
def test_a_draft_is_known_by_all_of_it(other: FunctionDraft) -> None:
    assert other.sha256 != DRAFT.sha256
    assert replace(DRAFT, packages=("numpy", "pandas")).sha256 == DRAFT.sha256


packages = st.lists(st.text(), max_size=3).map(sorted).map(tuple)
drafts = st.builds(FunctionDraft, st.text(), st.text(), st.text(), packages)


@given(drafts, drafts)
def test_no_two_drafts_have_one_hash(first: FunctionDraft, second: FunctionDraft) -> None:
    assert (first == second) == (first.sha256 == second.sha256)


def test_a_function_has_the_name_of_its_draft() -> None:
    function = Function(DRAFT, "plot() -> None", "Plot.", 1, datetime(2026, 1, 1, tzinfo=UTC))
    assert function.name == "plot"
