"""A download that the person cancels while a step waits for it: another expert is asked about."""

from __future__ import annotations

import pytest

from jarvis_desktop.core.expert import Candidate, Expert, Status
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Request
from tests.assistant.conftest import House
from tests.types import CLOCK

SMALL, LARGE, HUGE, LAST = (
    Expert(name, "clock", download_mb=size)
    for name, size in (("small", 10), ("large", 20), ("huge", 30), ("last", 40))
)


@pytest.fixture
def house(house: House) -> House:
    house.catalogue.listed["clock"] = ()
    house.catalogue.to_fetch["clock"] = (SMALL, LARGE)
    house.planner.planned = Plan((Task(0, CLOCK),))
    return house


async def test_the_next_one_is_asked_about_and_the_step_tells_why(house: House) -> None:
    house.fetcher.stopped = {"small"}
    fetch = house.fetcher.fetch

    async def fetched(expert: Expert, *args: object, **more: object) -> object:
        folder = await fetch(expert, *args, **more)  # type: ignore[arg-type]
        house.catalogue.listed["clock"] = (Candidate(expert, "builtin"),)
        return folder

    house.fetcher.fetch = fetched  # type: ignore[method-assign,assignment]
    turn = await house.handle(Request(text="a"))
    assert house.fetcher.fetched == [LARGE]
    assert len(house.frontend.questions) == 2, "both: the mode is local"
    assert turn.results[0].attempts[0].candidate.expert == LARGE
    assert turn.selections[0].reason.startswith("You stopped the download of small. large ")
    assert turn.notes == ("You stopped the download of small.",)


async def test_where_there_is_no_other_the_step_tells_that(house: House) -> None:
    house.fetcher.stopped = {"small", "large"}
    turn = await house.handle(Request(text="a"))
    assert turn.results[0].status is Status.FAILED
    assert turn.results[0].reason == (
        "You stopped the download of large. There is no other expert for it that could be fetched."
    )


async def test_nobody_is_asked_for_ever(house: House) -> None:
    house.catalogue.to_fetch["clock"] = (SMALL, LARGE, HUGE, LAST)
    house.fetcher.stopped = {"small", "large", "huge", "last"}
    turn = await house.handle(Request(text="a"))
    assert len(house.frontend.questions) == 3
    assert "jarvis-desktop experts pull last" in turn.results[0].reason


async def test_what_is_refused_is_not_followed_by_another_question(house: House) -> None:
    house.fetcher.stopped = {"small"}
    house.frontend.consent = False
    turn = await house.handle(Request(text="a"))
    assert len(house.frontend.questions) == 1
    assert turn.results[0].reason.startswith("It needs an expert")
