"""Families of cases: a few run on each push, all of them with `-m exhaustive` before a release."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from _pytest.mark import ParameterSet


def some(cases: Sequence[object], every: int = 4) -> list[ParameterSet]:
    """Every fourth case as it is, the others marked as exhaustive."""
    return [
        pytest.param(case, id=str(place), marks=[pytest.mark.exhaustive] if place % every else [])
        for place, case in enumerate(cases)
    ]
