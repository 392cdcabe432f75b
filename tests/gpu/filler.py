"""Takes a graphics card's memory away, in a process of its own."""

from __future__ import annotations

from collections.abc import Callable

from jarvis_desktop.core.task import Report

MIB = 1 << 20


def serve() -> Callable[[Report, int], int]:
    """Leaves so many bytes free; how many really are."""
    held = []

    def handle(report: Report, leave: int) -> int:
        import torch

        free, _ = torch.cuda.mem_get_info()
        while free - leave >= MIB:
            held.append(
                torch.empty(min(free - leave, 1024 * MIB), dtype=torch.uint8, device="cuda")
            )
            left, _ = torch.cuda.mem_get_info()
            if left >= free:
                break
            free = left
        return int(free)

    return handle
