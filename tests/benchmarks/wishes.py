"""How many wishes of requests with two and three of them are done, without a language model.

    .venv/bin/python -m tests.benchmarks.wishes [--show] [--set first] [--only WORDS]

Every request of `wish_cases.py` is answered by the whole application, in an empty home and beside
files made here. A wish is right if its result passes a check by code. Otherwise it is named, if the
answer says that it was not done and the request counts as done in part, or else wrong or lost.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.benchmarks.eighth_wish_cases import eighth, ninth, write_eighth_files
from tests.benchmarks.fresh_wish_cases import (
    fifth,
    fourth,
    seventh,
    sixth,
    write_more_files,
)
from tests.benchmarks.wish_cases import (
    Check,
    Outcome,
    Wishes,
    first,
    second,
    third,
    write_files,
)


async def _answer(app: Any, case: Wishes, given: Path) -> tuple[Outcome, Any]:
    """Answer a request beside its files; return what it brought, and its turn."""
    from jarvis_desktop.cli import output
    from jarvis_desktop.cli.terminal import TerminalFrontend
    from jarvis_desktop.core.turn import Request

    attached, _, near = case.files.partition("|")
    kept = Path(tempfile.mkdtemp(dir=given.parent))
    folder = kept / "here"
    folder.mkdir()
    for name in (*attached.split(), *near.split()):
        shutil.copy(given / name, folder)
    before, waiting = set(folder.iterdir()), set(app.timers.pending())
    request = Request(case.text, files=tuple(folder / it for it in attached.split()), folder=folder)
    frontend = TerminalFrontend(quiet=True, consent=True)
    turn = await app.assistant.handle(request, frontend)
    files = {path.name: path for path in folder.iterdir() if path not in before}
    for number, each in enumerate(turn.artifacts):
        if each.path is not None:
            copy = Path(shutil.copy(each.path, kept / f"{number}{each.path.suffix}"))
            files[f"{number} {each.title}"] = copy
    minutes = tuple(
        (each.due - turn.started).total_seconds() / 60
        for each in app.timers.pending()
        if each not in waiting
    )
    said = "\n".join((turn.reply, *turn.notes))
    return Outcome(said, files, output.exit_code(turn.status), minutes), turn


RIGHT, NAMED, OTHER = "right", "named", "WRONG OR LOST"


def _state(words: str, check: Check, outcome: Outcome) -> str:
    with suppress(Exception):  # a file that cannot be read is not right
        if check(outcome):
            return RIGHT
    told = any(word in outcome.said.lower() for word in words.lower().split() if len(word) > 2)
    return NAMED if outcome.code == 1 or (outcome.code == 3 and told) else OTHER


async def _measure(app: Any, name: str, cases: list[Wishes], given: Path, *, show: bool) -> None:
    count: Counter[str] = Counter()
    for case in cases:
        outcome, turn = await _answer(app, case, given)
        states = {words: _state(words, check, outcome) for words, check in case.wishes.items()}
        count.update(states.values())
        if show:
            print(f"=== {case.text} [{case.files}], exit code {outcome.code}")
            print(*(f"    {state}: {words}" for words, state in states.items()), sep="\n")
            print(*(f"    task: {task.id} {task.type.name}" for task in turn.plan or ()), sep="\n")
            print(*(f"    | {line[:200]}" for line in outcome.said.splitlines()[:14]), sep="\n")
            print(*(f"    file: {title}" for title in outcome.files), sep="\n", flush=True)
    print(
        f"{name}: {len(cases)} requests, {count.total()} wishes: "
        + ", ".join(f"{count[state]} {state.lower()}" for state in (RIGHT, NAMED, OTHER))
    )


async def _run(args: argparse.Namespace, folder: Path) -> None:
    from jarvis_desktop import settings as settings_file
    from jarvis_desktop.app.build import build
    from jarvis_desktop.paths import user_paths

    given = folder / "given"
    given.mkdir()
    write_files(given)
    write_more_files(given)
    write_eighth_files(given)
    paths = user_paths()
    app = build(settings_file.load(paths.settings)[0], paths)
    try:
        for name, cases in SETS.items():
            if args.set in (None, name):
                chosen = [case for case in cases if args.only.lower() in case.text.lower()]
                await _measure(app, name, chosen, given, show=args.show)
    finally:
        await app.close()


SETS = {
    "first": first,
    "second": second,
    "third": third,
    "fourth": fourth,
    "fifth": fifth,
    "sixth": sixth,
    "seventh": seventh,
    "eighth": eighth,
    "ninth": ninth,
}


def main() -> None:
    """Print the figures of the sets."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--show", action="store_true", help="print every answer")
    options.add_argument("--set", choices=tuple(SETS))
    options.add_argument("--only", default="", help="only requests with these words")
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.environ["HOME"] = name
        for each in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            os.environ.pop(each, None)
        asyncio.run(_run(args, Path(name)))


if __name__ == "__main__":
    main()
