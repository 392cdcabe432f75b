import asyncio

import pytest

from jarvis_desktop.core.context import (
    Urgency,
    current_conversation,
    current_question,
    current_urgency,
    current_wait,
    in_private_conversation,
    is_private,
    llm_timeout,
    local_now,
    private_id,
    urgency,
)
from tests.virtual import VirtualLoop, run


def test_the_id_says_that_a_conversation_is_not_to_be_kept():
    first, second = private_id(), private_id()
    assert first != second
    assert is_private(first)
    assert not is_private("4f1a")
    assert not is_private("")


def test_what_runs_knows_whether_it_works_for_one():
    assert not in_private_conversation()
    before = current_conversation.set(private_id())
    assert in_private_conversation()
    current_conversation.reset(before)
    assert not in_private_conversation()


def test_the_local_time_knows_its_zone():
    assert local_now().utcoffset() is not None


def test_a_timeout_does_not_count_the_wait_for_the_llm():
    loop, shown = VirtualLoop(), list[bool]()

    async def long() -> None:
        async with llm_timeout(10):
            await asyncio.sleep(4)
            current_wait.get()(True, "another turn")
            await asyncio.sleep(100)
            current_wait.get()(False, "another turn")
            await asyncio.sleep(10)

    async def work() -> float:
        before = current_wait.set(lambda waits, writes_for: shown.append(waits))
        with pytest.raises(TimeoutError):
            await long()
        current_wait.reset(before)
        async with llm_timeout(10):
            return loop.time()

    assert run(work(), loop) == pytest.approx(110)
    assert shown == [True, False]


def test_a_lifted_timeout_stays_lifted_and_is_no_longer_counted_down():
    loop = VirtualLoop()

    async def work() -> float:
        async with llm_timeout(10) as limit:
            await asyncio.sleep(4)
            current_wait.get()(True, "another turn")
            await asyncio.sleep(100)
            limit.lift()
            current_wait.get()(False, "another turn")
            await asyncio.sleep(50)
        return limit.spent

    assert run(work(), loop) == pytest.approx(54)


def test_what_comes_after_the_end_of_a_timeout_does_not_extend_it():
    loop = VirtualLoop()

    async def work() -> None:
        async with llm_timeout(10) as limit:
            loop.call_at(loop.time() + 10, limit.lift)  # after the timeout, before it is noticed
            await asyncio.sleep(50)

    with pytest.raises(TimeoutError):
        run(work(), loop)


def test_without_a_limit_the_seconds_are_counted():
    loop = VirtualLoop()

    async def work() -> float:
        async with llm_timeout(None) as limit:
            await asyncio.sleep(4)
            current_wait.get()(True, "another turn")
            await asyncio.sleep(100)
            current_wait.get()(False, "another turn")
            await asyncio.sleep(3)
        return limit.spent

    assert run(work(), loop) == pytest.approx(7)


def test_a_block_has_an_urgency_of_its_own():
    with urgency(Urgency.GOAL):
        assert current_urgency.get() is Urgency.GOAL
        with urgency(Urgency.BACKGROUND):
            assert current_urgency.get() is Urgency.BACKGROUND
        assert current_urgency.get() is Urgency.GOAL
    assert current_urgency.get() is Urgency.REQUEST


async def test_outside_of_a_turn_nobody_answers():
    assert await current_question.get()("Which one?") == ""
