"""Tiny weights that a run builds once, by a process of its own, for all its workers and checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[1]


def built_once(factory: pytest.TempPathFactory, module: str) -> Path:
    """Return the folder that `python -m MODULE FOLDER` has filled."""
    base = factory.getbasetemp()
    # Every pytest-xdist worker has a folder of its own inside that of the run, and all checks
    # together have one.
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    root = Path(os.environ.get("JARVIS_TESTS_BUILT", shared)) / module
    with FileLock(f"{root}.lock"):
        if not (root / "done").exists():
            subprocess.run(
                [sys.executable, "-W", "ignore", "-m", module, str(root)],
                check=True,
                cwd=ROOT,
                env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(root / "none")},
                capture_output=True,
            )
            (root / "done").touch()
    return root
