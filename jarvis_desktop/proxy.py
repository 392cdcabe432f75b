"""The proxy through which this process, and those it starts, reach the network.

It is told by the environment, for everything that asks the network looks there by itself: httpx,
huggingface_hub, pip. What goes to this computer goes there directly.
"""

from __future__ import annotations

import os

NAMES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
DIRECT = ("no_proxy", "NO_PROXY")
HERE = "localhost,127.0.0.1,::1"

_before: dict[str, str | None] = {}
"""The variables as they were when the program began, while ours hold."""


def use(address: str) -> None:
    """Go through this proxy from now on; "" is the one that the system's environment names.

    Processes that run already do not hear of it.
    """
    for name, former in _before.items():
        if former is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = former
    _before.clear()
    if address:
        _before.update((name, os.environ.get(name)) for name in (*NAMES, *DIRECT))
        os.environ.update(dict.fromkeys(NAMES, address))
        for name in DIRECT:
            os.environ[name] = ",".join(filter(None, (os.environ.get(name), HERE)))
