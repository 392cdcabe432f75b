"""Checks whether the graphics card works with torch, by computing on it in a child process.

The driver may be too old, the card too old for torch, or torch built without CUDA. Some of that
shows only when something is computed, and some of it ends the process.
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
from jarvis_desktop.process import engine
from jarvis_desktop.process.child import Child
from jarvis_desktop.process.model_files import quiet_libraries

log = logging.getLogger(__name__)

FACTORY = "jarvis_desktop.backends.local.gpu_probe:serve"
TIMEOUT_S = 120.0  # for the libraries and the driver to start, from a slow disk
RETRY_TIMEOUT_S = 30.0  # the same for a card that has worked before
MATRIX_SIZE = 64  # of the matrices that are multiplied
GET_TORCH = mark("Install torch for your graphics card: https://pytorch.org/get-started/locally")
REASONS = (
    (("driver", "too old"), mark("The graphics card's driver is too old for torch."),
     mark("Update the driver of the graphics card, and restart the computer.")),
    (("no kernel image",), mark("The graphics card is too old, or too new, for this torch."),
     GET_TORCH),
    (("out of memory",), mark("The graphics card's memory is taken by other programs."),
     mark("Close programs that use the graphics card, such as games.")),
    (("no nvidia driver",), mark("The driver of the graphics card is not loaded."),
     mark("Install the driver of the graphics card, and restart the computer.")),
    (("no cuda gpus are available",), mark("The driver of the graphics card finds no card."),
     mark("Restart the computer; if that does not help, reinstall the driver.")),
)  # fmt: skip
"""Parts of torch's error messages, what they mean, and what to do."""


@dataclass(frozen=True, slots=True)
class GpuProbeResult:
    """A graphics card that works, or why there is none."""

    graphics: Graphics | None = None
    trouble: str = ""
    fix: str = ""


class GpuProbe:
    """Probes the card once, when first asked, and again after `forget`. `signs` says whether there
    may be a card; if not, no process is started. If the process hangs or crashes, no card is
    used."""

    def __init__(
        self,
        *,
        signs: Callable[[], bool] = seems_to_have_graphics,
        factory: str = FACTORY,
        timeout: float = TIMEOUT_S,
    ) -> None:
        self._signs = signs
        self._factory = factory
        self._timeout = timeout
        self._looking: asyncio.Task[GpuProbeResult] | None = None
        self._seen: GpuProbeResult | None = None

    async def result(self) -> GpuProbeResult:
        """The result; probes the card first, if need be."""
        while self._seen is None:
            if self._looking is None:
                self._looking = asyncio.create_task(self._look())
                self._looking.add_done_callback(self._looked)
            # A caller may be cancelled while others still wait. To await a task that is done gives
            # its callback no time to run, so that the result is taken here.
            self._seen = await asyncio.shield(self._looking)
        return self._seen

    async def hardware(self) -> Hardware:
        """The whole computer as it is now."""
        await self.result()
        found = self.guess()
        available, swap = await asyncio.to_thread(lambda: (available_bytes(), swap_bytes()))
        card = found.graphics
        free = 0
        if card and card.device == "cuda":
            free = await asyncio.to_thread(gpu_free_bytes, card.id)
        return replace(found, available=available, swap=swap, graphics_free=free)

    def guess(self) -> Hardware:
        """The computer without waiting; before the first probe, the card is what its driver says.
        The first call may ask the driver, so not on an event loop."""
        seen = self._seen or _by_driver(self._signs)
        return Hardware(
            memory=memory_bytes(),
            cores=os.cpu_count() or 0,
            graphics=seen.graphics,
            trouble=seen.trouble,
            fix=seen.fix,
        )

    def forget(self) -> None:
        """Probe again at the next call, because the card did not work as expected."""
        self._seen = None
        self._timeout = min(self._timeout, RETRY_TIMEOUT_S)  # the driver may hang now

    async def close(self) -> None:
        """End a running probe."""
        if self._looking:
            self._looking.cancel()
            await asyncio.wait({self._looking})

    def _looked(self, looking: asyncio.Task[GpuProbeResult]) -> None:
        self._looking = None
        if not looking.cancelled():
            self._seen = looking.result()

    async def _look(self) -> GpuProbeResult:
        if not await asyncio.to_thread(self._signs):
            return GpuProbeResult()
        if not engine.ready():
            trouble = tr("The graphics card is used when torch is installed.")
            return GpuProbeResult(None, trouble, "jarvis-desktop engine install")
        child = Child(self._factory, name="look at the graphics card", libraries=engine.folder)
        try:
            found: GpuProbeResult = await child.call(timeout=self._timeout)
        except JarvisError as error:
            log.info("No graphics card is used: %s", error.message)
            trouble = tr("The graphics card could not be checked: {reason}", reason=error.message)
            return GpuProbeResult(None, trouble, tr("Update the driver of the graphics card."))
        finally:
            await child.close()
        return found


def serve() -> Callable[[Report], GpuProbeResult]:
    """The handler of the child process."""
    quiet_libraries()

    def handle(report: Report) -> GpuProbeResult:
        import torch

        return look(torch)

    return handle


def look(torch: Any) -> GpuProbeResult:
    """Find a device besides the processor that works with `torch`, the library."""
    try:
        if torch.version.cuda or torch.version.hip:
            torch.cuda.init()
            return GpuProbeResult(_tried(torch, _largest(torch)))
        if torch.backends.mps.is_available():
            return GpuProbeResult(_tried(torch, _apple(torch)))
    # A library that cannot reach its card raises anything.
    except Exception as error:  # noqa: BLE001
        return _explained(error)
    if torch.backends.mps.is_built():
        return GpuProbeResult(
            None, tr("This macOS is too old for torch to use its GPU."), tr("Update macOS.")
        )
    trouble = tr("There is a graphics card, but this torch was built without it.")
    return GpuProbeResult(None, trouble, tr(GET_TORCH))


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
    """Return the card after it has multiplied in the type that experts will use there."""
    _multiply(torch, card.device, torch.bfloat16 if card.bfloat16 else torch.float16)
    return card


def _multiply(torch: Any, device: str, dtype: Any) -> None:
    ones = torch.ones((MATRIX_SIZE, MATRIX_SIZE), device=device, dtype=dtype)
    if float((ones @ ones).float().sum().item()) != MATRIX_SIZE**3:
        raise RuntimeError("it computes wrong numbers")


def _explained(error: Exception) -> GpuProbeResult:
    words = " ".join(str(error).split())
    for signs, trouble, fix in REASONS:
        if all(sign in words.lower() for sign in signs):
            return GpuProbeResult(None, tr(trouble), tr(fix))
    said = words[:200].rstrip(".") or type(error).__name__
    return GpuProbeResult(
        None,
        tr("The graphics card does not compute: {reason}.", reason=said),
        tr("Update its driver."),
    )


def _by_driver(signs: Callable[[], bool]) -> GpuProbeResult:
    memory = gpu_memory_bytes() if signs() else 0
    device = "mps" if sys.platform == "darwin" else "cuda"
    return GpuProbeResult(Graphics("", device, memory)) if memory else GpuProbeResult()
