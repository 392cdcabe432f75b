from __future__ import annotations

import asyncio

import pytest

from jarvis_desktop.assistant.agent.goal_run import Interrupts, StoppedError
from jarvis_desktop.core.errors import ExpertError


class Work:
    """Runs until it is cancelled, or may go on."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.cancelled = 0

    async def __call__(self) -> str:
        self.begun.set()
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return "done"


async def test_what_is_not_stopped_gives_what_it_gives() -> None:
    interrupts = Interrupts()
    assert not interrupts.stop()
    work = Work()
    work.may_end.set()
    assert await interrupts.branch(work()) == "done"
    assert not interrupts.stop()

    async def failing() -> None:
        raise ExpertError("No.")

    with pytest.raises(ExpertError):
        await interrupts.branch(failing())


async def test_stop_ends_the_branch_and_the_next_one_only_once_the_person_was_heard() -> None:
    interrupts, work = Interrupts(), Work()
    running = asyncio.create_task(interrupts.branch(work()))
    await work.begun.wait()
    assert interrupts.stop()
    assert not interrupts.stop()
    with pytest.raises(StoppedError) as caught:
        await running
    assert work.cancelled == 1
    assert caught.value.result is None
    other = Work()
    running = asyncio.create_task(interrupts.branch(other()))
    await other.begun.wait()
    assert not interrupts.stop()
    interrupts.heard()
    assert interrupts.stop()
    with pytest.raises(StoppedError):
        await running


async def test_of_nested_branches_the_innermost_ends_and_its_caller_hears_of_it() -> None:
    interrupts, work = Interrupts(), Work()

    async def outer() -> str:
        try:
            await interrupts.branch(work())
        except StoppedError:
            interrupts.heard()
            return "the caller went on"
        return "not stopped"

    running = asyncio.create_task(interrupts.branch(outer()))
    await work.begun.wait()
    assert interrupts.stop()
    assert await running == "the caller went on"


async def test_cancelling_the_turn_is_no_stop() -> None:
    interrupts, work = Interrupts(), Work()

    async def outer() -> None:
        await interrupts.branch(work())

    running = asyncio.create_task(interrupts.branch(outer()))
    await work.begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert work.cancelled == 1
    assert not interrupts.stop()


async def test_cancelling_the_turn_after_a_stop_ends_the_turn() -> None:
    interrupts, work = Interrupts(), Work()
    running = asyncio.create_task(interrupts.branch(work()))
    await work.begun.wait()
    assert interrupts.stop()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_what_was_done_at_the_very_moment_is_not_lost() -> None:
    interrupts = Interrupts()

    async def stopping() -> str:
        # It comes once the work is done, and before its caller has heard so.
        asyncio.get_running_loop().call_soon(interrupts.stop)
        return "done"

    with pytest.raises(StoppedError) as caught:
        await interrupts.branch(stopping())
    assert caught.value.result == "done"


async def test_what_failed_at_the_very_moment_was_stopped() -> None:
    interrupts = Interrupts()

    async def failing() -> None:
        assert interrupts.stop()
        raise ExpertError("No.")

    with pytest.raises(StoppedError) as caught:
        await interrupts.branch(failing())
    assert caught.value.result is None
