"""The log: a small file that is rotated, for the window and the command line alike."""

from __future__ import annotations

import logging
import logging.handlers

from jarvis_desktop.paths import Paths


def log_to_file(paths: Paths) -> None:
    """Send the log to a small rotating file; nothing a person said or gave is written there."""
    # A log that cannot be written, on a full disk, must not fill the terminal with tracebacks.
    logging.raiseExceptions = False
    try:
        paths.logs.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(
            paths.logs / "jarvis-desktop.log", maxBytes=1_000_000, backupCount=2, encoding="utf-8"
        )
    except OSError:
        # Without a log everything else still works, and what does not will say so itself.
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in ("httpx", "httpcore"):
        # They log whole addresses, which may hold a password.
        logging.getLogger(name).setLevel(logging.WARNING)
