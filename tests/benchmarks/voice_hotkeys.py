"""The talk key and the command line of the running instance: how soon JARVIS knows.

    python -m tests.benchmarks.voice_hotkeys [--few]

On an X screen and a message bus of its own. A time begins before the key is pressed: with X11 that
is the server's own test extension, with the portal a stand-in that signals as desktops do.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from jarvis_desktop.app.ipc_client import ask
from jarvis_desktop.app.single_instance import Instance
from jarvis_desktop.platform.hotkey import DesktopHotkey
from jarvis_desktop.platform.hotkey_portal import PortalKeys
from jarvis_desktop.platform.shortcut import TALK
from tests.portal import Portal, start_bus
from tests.screen import start_screen

Row = tuple[str, str, str]
"""What, its figure, its limit."""

CONTROL, ALT, SPACE = 0xFFE3, 0xFFE9, 0x20
PRESSES = 200
LIMIT = "p99 <= 10 ms"
"""The share of the talk key in the time from it to silence."""
START_LIMIT = "p50 <= 150 ms"

Act = Callable[[], Awaitable[None]]


def spread(seconds: Sequence[float]) -> str:
    """Median, 99th percentile and largest, in milliseconds."""
    ordered = sorted(seconds)
    last = len(ordered) - 1
    figures = (ordered[round(share * last)] * 1e3 for share in (0.5, 0.99, 1))
    return "p50 {:.2f}, p99 {:.2f}, max {:.2f} ms".format(*figures)


async def pressed(name: str, press: Act, release: Act, count: int) -> list[Row]:
    """From the press, and from letting go, to the call on the loop."""
    told: asyncio.Queue[float] = asyncio.Queue()

    def tell() -> None:
        told.put_nowait(time.perf_counter())

    hotkey = DesktopHotkey("Ctrl+Alt+Space", TALK, portal=PortalKeys("org.example.Talk"))
    status = await hotkey.bind(tell, tell)
    assert status.way == name, status.why
    downs: list[float] = []
    ups: list[float] = []
    for _ in range(count):
        for act, taken in ((press, downs), (release, ups)):
            began = time.perf_counter()
            await act()
            taken.append(await told.get() - began)
    await hotkey.close()
    return [
        (f"{name}: key pressed -> told, {count} times", spread(downs), LIMIT),
        (f"{name}: key let go -> told, {count} times", spread(ups), LIMIT),
    ]


async def on_x11(count: int) -> list[Row]:
    """On a screen, where only the last of three keys is timed."""
    screen = start_screen()
    with environment(DISPLAY=screen.name, XDG_SESSION_TYPE="x11", WAYLAND_DISPLAY=None):
        screen.press(CONTROL, ALT)
        screen.code(SPACE)

        async def press() -> None:
            await asyncio.to_thread(screen.press, SPACE)

        async def release() -> None:
            await asyncio.to_thread(screen.release, SPACE)

        try:
            return await pressed("x11", press, release, count)
        finally:
            screen.stop()


async def by_portal(count: int) -> list[Row]:
    """On a message bus."""
    with start_bus() as address, environment(
        DBUS_SESSION_BUS_ADDRESS=address, XDG_SESSION_TYPE="wayland"
    ):  # fmt: skip
        portal = Portal()
        await portal.start()
        try:
            return await pressed("portal", portal.press, portal.release, count)
        finally:
            await portal.stop()


async def by_command(count: int) -> list[Row]:
    """The socket alone, and a whole `jarvis-desktop talk toggle` beside a bare Python."""
    told: list[float] = []

    async def handle(command: Mapping[str, object]) -> Mapping[str, object]:
        told.append(time.perf_counter())
        return {"state": "listening"}

    with tempfile.TemporaryDirectory() as home, environment(JARVIS_DESKTOP_HOME=home):
        instance = Instance(Path(home, "run"))
        assert await instance.serve(handle)
        answered, begun, worked, bare = [], [], [], []
        for _ in range(count):
            began = time.perf_counter()
            await asyncio.to_thread(ask, Path(home, "run"), {"do": "talk"})
            answered.append(time.perf_counter() - began)
        for _ in range(max(count // 10, 3)):
            began = time.perf_counter()
            worked.append(await run("-m", "jarvis_desktop", "talk", "toggle"))
            begun.append(told[-1] - began)
            bare.append(await run("-c", "pass"))
        await instance.close()
    return [
        (f"socket: asked -> answered, {count} times", spread(answered), LIMIT),
        (f"talk toggle: started -> told, {len(begun)} times", spread(begun), START_LIMIT),
        ("talk toggle: time of the processor", spread(worked), START_LIMIT),
        ("a Python that does nothing: the same", spread(bare), "-"),
    ]


async def run(*arguments: str) -> float:
    """One process to its end; the seconds that a processor worked for it, however busy it is."""
    before = os.times()
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdout=subprocess.DEVNULL
    )
    assert await process.wait() == 0
    after = os.times()
    worked = after.children_user + after.children_system
    return worked - before.children_user - before.children_system


@contextmanager
def environment(**changes: str | None) -> Iterator[None]:
    """These variables, for a while."""
    before = {name: os.environ.get(name) for name in changes}
    change(changes)
    try:
        yield
    finally:
        change(before)


def change(variables: Mapping[str, str | None]) -> None:
    """Set them, or take them away."""
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


async def measure(count: int) -> list[Row]:
    """All rows."""
    return [*await on_x11(count), *await by_portal(count), *await by_command(count)]


def table(count: int = PRESSES) -> list[Row]:
    """What was measured, beside what is wanted."""
    return asyncio.run(measure(count))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--few", action="store_true", help="20 presses in the place of 200")
    args = parser.parse_args()
    for what, figure, limit in table(20 if args.few else PRESSES):
        print(f"{what:44}{figure:60}{limit}")


if __name__ == "__main__":
    main()
