"""Lets a child process fail rather than fill the computer's memory."""

from __future__ import annotations

import sys


def limit(memory: int) -> None:
    """Let this process have so many bytes and no more, where the system can do that."""
    if sys.platform != "linux":
        return
    import resource

    # Not RLIMIT_AS: threads and native libraries reserve many times what they ever use.
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
