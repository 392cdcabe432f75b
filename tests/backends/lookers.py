"""Looks at graphics cards that go wrong, for the child process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from jarvis_desktop.backends.local.gpu_probe import GpuProbeResult
from jarvis_desktop.core.placement import Graphics
from jarvis_desktop.core.task import Report


def crashing() -> Callable[[Report], GpuProbeResult]:
    def handle(report: Report) -> GpuProbeResult:
        os.abort()

    return handle


def hanging() -> Callable[[Report], GpuProbeResult]:
    def handle(report: Report) -> GpuProbeResult:
        while True:
            time.sleep(60)

    return handle


def finding() -> Callable[[Report], GpuProbeResult]:
    def handle(report: Report) -> GpuProbeResult:
        return GpuProbeResult(Graphics(f"card of process {os.getpid()}", memory=8 << 30))

    return handle
