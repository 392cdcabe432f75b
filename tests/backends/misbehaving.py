"""The worker as it is, with an expert that does what a test asks of it, also the worst."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from jarvis_desktop.backends.local import worker
from jarvis_desktop.backends.local.residency import ResidencyKey
from jarvis_desktop.backends.local.worker import ExpertLoader
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.process.child import Child
from jarvis_desktop.process.model_files import MARKER
from tests.backends import methods

MB = 1_000_000

METHODS = {name: each.method for name, each in methods.BY_NAME.items() if each.method}


def start(key: ResidencyKey, *args: object) -> Child:
    """What a LocalBackend starts instead."""
    return Child("tests.backends.misbehaving:hold", *args, name=key.expert.id)


def hold(
    loading: ExpertLoader, most: int, card: str
) -> Callable[[Report, Call], worker.WorkerResult]:
    """Runs in the child process."""
    worker._load = lambda loading, task: run
    return worker.serve_measured(loading, most, card)


def run(call: Call, report: Report) -> Iterable[Artifact]:
    report(None, "working")
    if call.task in METHODS:
        return METHODS[call.task](call, report)
    do, _, amount = call.text("do").partition(" ")
    match do:
        case "pid":
            return [text_artifact(str(os.getpid()))]
        case "card":
            return [text_artifact(os.environ.get("CUDA_VISIBLE_DEVICES", "all"))]
        case "fill":
            return [text_artifact(str(len(bytearray(int(amount) * MB))))]
        case "refuse":
            raise InputError("It will not.")
        case "fail":
            raise ZeroDivisionError("a slip")
        case "exhaust":
            raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        case "break":
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        case "abort":
            os.abort()
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(0)
        case "close":
            os.close(0)
            sys.stdout.close()
            return [text_artifact("closed")]
        case "hang":
            while True:
                time.sleep(60)
    raise AssertionError(do)


def installed(folder: Path) -> Path:
    """A folder of an expert whose marker is true."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text("{}")
    digest = hashlib.sha256((folder / "config.json").read_bytes()).hexdigest()
    files = {"config.json": {"size": 2, "sha256": digest}}
    (folder / MARKER).write_text(json.dumps({"files": files}))
    return folder


class Folder:
    """Where every expert is."""

    def __init__(self, path: Path) -> None:
        self.path = installed(path)

    def folder(self, expert: Expert) -> Path | None:
        return self.path

    def used(self, expert: Expert) -> None:
        """Nobody cleans up here."""
