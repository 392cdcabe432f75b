"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import sys
from typing import TypeAlias

from jarvis_desktop.core.policy import Mode

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_shared(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def add_yes(parser: argparse.ArgumentParser) -> None:
    """Add --yes, for questions that are answered with yes or no."""
    parser.add_argument(
        "--yes",
        action="store_true",
        help="agree to every question in advance; not to the plan of a goal, nor to code",
    )


def count(text: str) -> int:
    """The type of an argument that counts things: 1 or more."""
    number = int(text)
    if number < 1:
        raise ValueError
    return min(number, sys.maxsize)


def add_mode(parser: argparse.ArgumentParser) -> None:
    """Add --mode."""
    parser.add_argument(
        "--mode",
        choices=[mode.value for mode in Mode],
        help="how far the request may travel (default: the setting, at first “local”)",
    )
