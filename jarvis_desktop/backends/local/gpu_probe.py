"""Finds out whether a graphics card computes here: by computing something, in a child process.

A driver may be too old, the card too old for torch, or torch built without it; some of that shows
only when something is computed, and some of it ends the process.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.placement import Graphics, Hardware
from jarvis_desktop.core.task import Report
from jarvis_desktop.platform.hardware_probe import (
    available_bytes,
    gpu_free_bytes,
    gpu_memory_bytes,
    memory_bytes,
    seems_to_have_graphics,
    swap_bytes,
)
from jarvis_desktop.process.child import Child
from jarvis_desktop.process.model_files import quiet_libraries

log = logging.getLogger(__name__)

SERVE = "jarvis_desktop.backends.local.gpu_probe:serve"

PATIENCE = 120.0
"""Seconds that the libraries and the driver may take to start, on a slow disk."""

IMPATIENCE = 30.0
"""The same, when a card that worked is looked at again."""

SIDE = 64
"""Of the matrices that are multiplied."""

GET_TORCH = mark("Install torch for your graphics card: https://pytorch.org/get-started/locally")

REASONS = (
    (
        ("driver", "too old"),
        mark("The graphics card's driver is too old for torch."),
        mark("Update the driver of the graphics card, and restart the computer."),
    ),
    (
        ("no kernel image",),
        mark("The graphics card is too old, or too new, for this torch."),
        GET_TORCH,
    ),
    (
        ("out of memory",),
        mark("The graphics card's memory is taken by other programs."),
        mark("Close programs that use the graphics card, such as games."),
    ),
    (
        ("no nvidia driver",),
        mark("The driver of the graphics card is not loaded."),
        mark("Install the driver of the graphics card, and restart the computer."),
    ),
    (
        ("no cuda gpus are available",),
        mark("The driver of the graphics card finds no card."),
        mark("Restart the computer; where that does not help, install the driver again."),
    ),
)
"""Words of an error of torch, what they mean, and what to do."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found: a card that computes, or why there is none."""

    graphics: Graphics | None = None
    trouble: str = ""
    fix: str = ""


class Probe:
    """Looks once, when first asked, and again only when told that something has changed.

    `signs` says whether there may be a card at all; without any, no process is started. One that
    hangs or crashes means that there is none to use.
    """

    def __init__(
        self,
        *,
        signs: Callable[[], bool] = seems_to_have_graphics,
        factory: str = SERVE,
        patience: float = PATIENCE,
    ) -> None:
        self._signs = signs
        self._factory = factory
        self._patience = patience
        self._looking: asyncio.Task[Seen] | None = None
        self._seen: Seen | None = None

    async def seen(self) -> Seen:
        """What was found, now or at the first time."""
        while self._seen is None:
            if self._looking is None:
                self._looking = asyncio.create_task(self._look())
                self._looking.add_done_callback(self._looked)
            # Whoever waits may be cancelled; the others still want to know.
            await asyncio.shield(self._looking)
        return self._seen

    async def hardware(self) -> Hardware:
        """The whole computer, as it is at this moment."""
        await self.seen()
        found = self.guess()
        available, swap = await asyncio.to_thread(_free_memory)
        card = found.graphics
        free = 0
        if card and card.device == "cuda":
            free = await asyncio.to_thread(gpu_free_bytes, card.id)
        return replace(found, available=available, swap=swap, graphics_free=free)

    def guess(self) -> Hardware:
        """What there is, used or not, without waiting: for a card, what its driver says.

        The first call may ask the driver: not on an event loop.
        """
        seen = self._seen or _by_driver(self._signs)
        return Hardware(
            memory=memory_bytes(),
            cores=os.cpu_count() or 0,
            graphics=seen.graphics,
            trouble=seen.trouble,
            fix=seen.fix,
        )

    def forget(self) -> None:
        """Look again at the next question: the card did not do what it was said to do."""
        self._seen = None
        self._patience = min(self._patience, IMPATIENCE)  # its driver may hang now

    async def close(self) -> None:
        """End a look that is under way."""
        if self._looking:
            self._looking.cancel()
            await asyncio.wait({self._looking})

    def _looked(self, looking: asyncio.Task[Seen]) -> None:
        self._looking = None
        if not looking.cancelled():
            self._seen = looking.result()

    async def _look(self) -> Seen:
        if not await asyncio.to_thread(self._signs):
            return Seen()
        child = Child(self._factory, name="look at the graphics card")
        try:
            found: Seen = await child.call(timeout=self._patience)
        except JarvisError as error:
            log.info("No graphics card is used: %s", error.message)
            trouble = tr("The graphics card could not be looked at: {reason}", reason=error.message)
            return Seen(None, trouble, tr("Update the driver of the graphics card."))
        finally:
            await child.close()
        return found


def serve() -> Callable[[Report], Seen]:
    """The handler of the child."""
    quiet_libraries()

    def handle(report: Report) -> Seen:
        import torch

        return look(torch)

    return handle


def look(torch: Any) -> Seen:
    """What torch can compute on besides the processor, tried out; `torch` is the library."""
    try:
        if torch.version.cuda or torch.version.hip:
            torch.cuda.init()
            return Seen(_tried(torch, _largest(torch)))
        if torch.backends.mps.is_available():
            return Seen(_tried(torch, _apple(torch)))
    # What foreign code that cannot reach its card raises is of any kind.
    except Exception as error:  # noqa: BLE001
        return _explained(error)
    if torch.backends.mps.is_built():
        return Seen(
            None, tr("This macOS is too old for torch to use its GPU."), tr("Update macOS.")
        )
    trouble = tr("There is a graphics card, but this torch was built without it.")
    return Seen(None, trouble, tr(GET_TORCH))


def _largest(torch: Any) -> Graphics:
    cards = [torch.cuda.get_device_properties(at) for at in range(torch.cuda.device_count())]
    if not cards:
        raise RuntimeError("No CUDA GPUs are available")
    at = max(range(len(cards)), key=lambda index: int(cards[index].total_memory))
    torch.cuda.set_device(at)
    card = cards[at]
    named = len(cards) > 1 and torch.version.cuda
    return Graphics(
        card.name,
        memory=int(card.total_memory),
        bfloat16=bool(torch.cuda.is_bf16_supported(including_emulation=False)),
        id=f"GPU-{card.uuid}" if named else "",
    )


def _apple(torch: Any) -> Graphics:
    bfloat16 = True
    try:
        _multiply(torch, "mps", torch.bfloat16)
    except (RuntimeError, TypeError):  # before macOS 14
        bfloat16 = False
    memory = int(torch.mps.recommended_max_memory())
    return Graphics("Apple GPU", "mps", memory, bfloat16)


def _tried(torch: Any, card: Graphics) -> Graphics:
    """The card, after it multiplied in the numbers that experts will have there."""
    _multiply(torch, card.device, torch.bfloat16 if card.bfloat16 else torch.float16)
    return card


def _multiply(torch: Any, device: str, dtype: Any) -> None:
    ones = torch.ones((SIDE, SIDE), device=device, dtype=dtype)
    if float((ones @ ones).float().sum().item()) != SIDE**3:
        raise RuntimeError("it computes wrong numbers")


def _explained(error: Exception) -> Seen:
    words = " ".join(str(error).split())
    for signs, trouble, fix in REASONS:
        if all(sign in words.lower() for sign in signs):
            return Seen(None, tr(trouble), tr(fix))
    said = words[:200].rstrip(".") or type(error).__name__
    return Seen(
        None,
        tr("The graphics card does not compute: {reason}.", reason=said),
        tr("Update its driver."),
    )


def _free_memory() -> tuple[int, int]:
    return available_bytes(), swap_bytes()


def _by_driver(signs: Callable[[], bool]) -> Seen:
    memory = gpu_memory_bytes() if signs() else 0
    device = "mps" if sys.platform == "darwin" else "cuda"
    return Seen(Graphics("", device, memory)) if memory else Seen()
