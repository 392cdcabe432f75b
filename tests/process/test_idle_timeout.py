"""What nobody uses lets go of its memory, and not before."""

from __future__ import annotations

import asyncio

from jarvis_desktop.process.background import Idling
from tests.virtual import VirtualLoop, run


def test_it_leaves_once_and_only_when_nobody_works() -> None:
    loop, left = VirtualLoop(), list[float]()
    idling = Idling(60.0, lambda: left.append(round(loop.time())))

    async def work() -> None:
        with idling.work():
            await asyncio.sleep(100)
            idling.begin()
        await asyncio.sleep(100)
        idling.end()  # at 200
        await asyncio.sleep(59)
        with idling.work():  # at 259
            pass
        await asyncio.sleep(1000)

    run(work(), loop)
    assert left == [319]


def test_what_is_closed_stays_as_it_is() -> None:
    left = list[bool]()

    async def work() -> None:
        idling = Idling(60.0, lambda: left.append(True))
        with idling.work():
            pass
        idling.close()
        await asyncio.sleep(1000)

    run(work(), VirtualLoop())
    assert not left
