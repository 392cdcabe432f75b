"""The libraries with which experts run on this computer, such as torch.

They are in the environment of the application, as the extra "experts", or in a separate folder,
the engine, which only the child processes of experts have on their path.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from jarvis_desktop.core.task import Report
from jarvis_desktop.process.model_files import quiet_libraries

LIBRARIES = ("torch", "transformers", "diffusers", "accelerate", "scipy", "sentencepiece")


def _none() -> Path | None:
    return None


_installed: Callable[[], Path | None] = _none


def use(installed: Callable[[], Path | None]) -> None:
    """Set what finds the folder of the installed engine, for processes started from now on."""
    global _installed
    _installed = installed


def in_environment() -> bool:
    """Whether the libraries are installed beside the application. None is imported."""
    return all(find_spec(name) for name in LIBRARIES)


def folder() -> Path | None:
    """Return the folder of the engine; None if there is none, or none is needed."""
    return None if in_environment() else _installed()


def ready() -> bool:
    """Whether experts can run on this computer."""
    return in_environment() or _installed() is not None


def serve_check() -> Callable[[Report], str]:
    """Return the handler of a process that imports all libraries and computes with torch.

    It returns the version of torch.
    """
    quiet_libraries()

    def handle(report: Report) -> str:
        for name in LIBRARIES:
            import_module(name)
        torch = sys.modules["torch"]
        if float(torch.ones(2).sum()) != 2:
            raise ArithmeticError("torch computes wrong numbers")
        return str(torch.__version__)

    return handle
