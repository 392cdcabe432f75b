"""The front door at its edges: experts to fetch, front ends that go away, histories that fail."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from jarvis_desktop.assistant.assistant import Assistant
from jarvis_desktop.core import events
from jarvis_desktop.core.errors import StorageError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert, Status
from jarvis_desktop.core.llm import LLM
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Conversation, Request
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.conftest import ONE_TASK, House, answering
from tests.types import CLOCK

SUN_DIAL = Expert("sun-dial", "clock", download_mb=2500)


def lacking(house: House) -> None:
    """The clock needs an expert that must be fetched first."""

    class Catalogue:
        def candidates(self, task: str) -> Sequence[Candidate]:
            here = SUN_DIAL in house.fetcher.fetched
            return (Candidate(SUN_DIAL, "builtin"),) if here else ()

        def obtainable(self, task: str, request: str = "") -> Sequence[Expert]:
            return (SUN_DIAL,)

        def out_of_reach(self, task: str) -> Sequence[Expert]:
            return ()

        def by_llm(self, task: str, llm: LLM) -> None:
            """No LLM does it."""

    house.assistant._dependencies.selector._catalogue = Catalogue()
    house.planner.planned = Plan((Task(0, CLOCK), Task(1, CLOCK)))
    house.backend.does = answering()  # type: ignore[assignment]


async def test_a_missing_expert_is_offered_and_used_at_once(house: House) -> None:
    lacking(house)
    turn = await house.handle(Request(text="a"))
    assert house.frontend.questions == [
        "This needs sun-dial (about 2.5 GB to download). Download it now?"
    ]
    assert house.fetcher.fetched == [SUN_DIAL]
    assert turn.status is Status.DONE
    assert events.TaskProgress(1, 0.5, "half of it") in house.frontend.events


async def test_an_offer_that_is_refused_leaves_the_reason(house: House) -> None:
    lacking(house)
    house.frontend.consent = False
    turn = await house.handle(Request(text="a"))
    assert turn.status is Status.FAILED
    assert "jarvis-desktop experts pull sun-dial" in turn.reply
    assert not house.fetcher.fetched


async def test_why_a_fetch_failed_is_the_answer(house: House) -> None:
    lacking(house)
    house.fetcher.error = UnavailableError("The Hub cannot be reached.")
    turn = await house.handle(Request(text="a"))
    assert "sun-dial could not be fetched. The Hub cannot be reached." in turn.reply
    assert "experts pull" not in turn.reply
    assert turn.notes == ()
    assert turn.status is Status.FAILED


async def test_a_front_end_that_goes_away_does_not_take_the_turn_along(house: House) -> None:
    def gone(event: events.Event) -> None:
        raise BrokenPipeError

    house.frontend.show = gone  # type: ignore[method-assign]
    house.planner.planned = ONE_TASK
    house.backend.does = answering()  # type: ignore[assignment]
    turn = await house.handle(Request(text="a"))
    assert turn.status is Status.DONE
    assert house.history.kept["c"] == [turn]


async def test_a_history_that_cannot_be_read_does_not_keep_from_answering(house: House) -> None:
    def locked(conversation_id: str | None = None) -> Conversation:
        raise StorageError("The database is locked.")

    house.history.open_conversation = locked  # type: ignore[method-assign]
    house.planner.planned = ONE_TASK
    house.backend.does = answering()  # type: ignore[assignment]
    turn = await house.handle(Request(text="a"), None)
    assert turn.status is Status.DONE


async def test_questions_are_asked_one_at_a_time(house: House) -> None:
    asked: list[str] = []
    answers = [asyncio.Event(), asyncio.Event()]

    async def confirm(question: str, *, yes: str = "") -> bool:
        asked.append(question)
        await answers[len(asked) - 1].wait()
        return True

    house.frontend.confirm = confirm  # type: ignore[method-assign]
    house.backend.ask = "Really?"
    house.backend.does = answering()  # type: ignore[assignment]
    house.planner.planned = Plan((Task(0, CLOCK), Task(1, CLOCK)))
    running = asyncio.create_task(house.handle(Request(text="a")))
    while not asked:
        await asyncio.sleep(0)
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(asked) == 1
    answers[0].set()
    answers[1].set()
    assert (await running).status is Status.DONE
    assert len(asked) == 2


async def test_names_in_a_pasted_text_fetch_no_file(house: House) -> None:
    house.file("work/secret.txt")
    text = "Summarise this: the thieves want secret.txt and nothing else"
    await house.handle(Request(text=text, folder=house.folder / "work"))
    named = [item.name for item in house.planner.asked[0][1].attachments]
    assert named == ["secret.txt"]  # with no inventory every word is an instruction
    house.planner.asked.clear()
    house.assistant = Assistant(replace(house.assistant._dependencies, inventory=INVENTORY))
    await house.handle(Request(text=text, folder=house.folder / "work"))
    assert house.planner.asked[0][1].attachments == ()
