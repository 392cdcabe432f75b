"""A registry of methods that do what built-in experts do, and what they must not do."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Call, Port, Report, TaskType
from jarvis_desktop.tasks.definition import Definition


def shout(call: Call, report: Report) -> Iterable[Artifact]:
    report(0.5, "half")
    return [text_artifact(call.text("text").upper())]


def pid(call: Call, report: Report) -> Iterable[Artifact]:
    return [text_artifact(str(os.getpid()))]


def write(call: Call, report: Report) -> Iterable[Artifact]:
    to = call.workdir / "out.png"
    to.write_bytes(call.text("text").encode())
    return [Artifact(Kind.IMAGE, path=to)]


def forget(call: Call, report: Report) -> Iterable[Artifact]:
    return [Artifact(Kind.IMAGE, path=call.workdir / "forgotten.png")]


def link(call: Call, report: Report) -> Iterable[Artifact]:
    to = call.workdir / "link.png"
    to.symlink_to(__file__)
    return [Artifact(Kind.IMAGE, path=to)]


def wrong(call: Call, report: Report) -> Iterable[Artifact]:
    return [text_artifact("a text for a picture")]


def nothing(call: Call, report: Report) -> Iterable[Artifact]:
    return []


def odd(call: Call, report: Report) -> Iterable[Artifact]:
    return ["not an artifact"]  # type: ignore[list-item]


def refuse(call: Call, report: Report) -> Iterable[Artifact]:
    raise InputError("x.png is not a picture.", hint="Give another.")


def crash(call: Call, report: Report) -> Iterable[Artifact]:
    os._exit(7)


def fail(call: Call, report: Report) -> Iterable[Artifact]:
    raise ZeroDivisionError("by\nzero")


def hang(call: Call, report: Report) -> Iterable[Artifact]:
    report(None, str(os.getpid()))
    while True:
        time.sleep(3600)


def bomb(call: Call, report: Report) -> Iterable[Artifact]:
    return [text_artifact("x" * (8 << 30))]


kept: list[bytes] = []


def hoard(call: Call, report: Report) -> Iterable[Artifact]:
    kept.append(os.urandom(80 << 20))
    return pid(call, report)


def meet(call: Call, report: Report) -> Iterable[Artifact]:
    """Ends only where another call of it runs at the same time."""
    mine, other = call.text("text").split()
    (call.workdir / mine).touch()
    while not (call.workdir / other).exists():
        time.sleep(0.005)
    return [text_artifact(mine)]


def once(call: Call, report: Report) -> Iterable[Artifact]:
    """Ends badly the first time: "how folder", where the folder remembers that it did."""
    how, folder = call.text("text").split(maxsplit=1)
    mark = Path(folder) / how
    if mark.exists():
        return [text_artifact(f"{how} was survived")]
    mark.write_text(str(os.getpid()))
    (call.workdir / "half").touch()
    report(0.5, str(os.getpid()))
    match how:
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "stopped":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "aborted":
            os.abort()
        case "exhausted":
            raise MemoryError
        case "raised":
            raise ValueError("a shape is wrong")
    return hang(call, report)


TEXT = (Port("text", (Kind.TEXT,), required=False),)


def _define(method, *gives: Kind) -> Definition:
    return Definition(TaskType(method.__name__, "", TEXT, gives), method=method)


DEFINITIONS = (
    *(_define(each, Kind.TEXT) for each in (shout, pid, nothing, odd, refuse, crash, fail)),
    *(_define(each, Kind.TEXT) for each in (hang, bomb, hoard, meet, once)),
    *(_define(each, Kind.IMAGE) for each in (write, forget, link, wrong)),
    Definition(
        TaskType("delete", "", (), (Kind.TEXT,)),
        method=nothing,
        question=lambda call: "Delete it?",
    ),
    Definition(TaskType("undone", "", (), (Kind.TEXT,))),
)
BY_NAME = {each.type.name: each for each in DEFINITIONS}
