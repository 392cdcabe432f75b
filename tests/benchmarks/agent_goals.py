"""Measures agent mode: twenty goals over files that are made here, and a check of each outcome.

A goal is *reached* if it ends as done and the check of its answer and files passes, and a *false
done* if the check fails. It is *not sure* if what was made is shown as not confirmed, and an honest
no otherwise.

With --plain each goal is a request to an application without an LLM, and its files are in the
folder from which it is asked.

Run: python -m tests.benchmarks.agent_goals --address http://127.0.0.1:8077/v1 --llm NAME [--only N]
     python -m tests.benchmarks.agent_goals --plain [--goals SET]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_desktop.app.application import Application
from jarvis_desktop.app.build import build
from jarvis_desktop.assistant.agent import code_loop
from jarvis_desktop.core.events import Event, RoundEnded
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import CodeTerms, Terms
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.paths import Paths
from jarvis_desktop.settings import LLMSettings, Settings
from jarvis_desktop.tasks.documents.table_qa import is_doubtful
from tests.benchmarks.agent_goal_cases import GOALS, UNSEEN, GoalCase, Outcome
from tests.benchmarks.errand_goal_cases import ERRANDS
from tests.benchmarks.fresh_goal_cases import FRESH
from tests.benchmarks.later_goal_cases import LATER
from tests.benchmarks.other_goal_cases import OTHERS
from tests.benchmarks.sound_goal_cases import SOUND
from tests.fakes import FakeFrontend

SETS = {
    "tuned": GOALS,
    "unseen": UNSEEN,
    "fresh": FRESH,
    "others": OTHERS,
    "sound": SOUND,
    "errands": ERRANDS,
    "later": LATER,
}


@dataclass
class CountingFrontend(FakeFrontend):
    """Keeps the rounds."""

    ended: list[RoundEnded] = field(default_factory=list)

    def show(self, event: Event) -> None:
        super().show(event)
        if isinstance(event, RoundEnded):
            self.ended.append(event)


async def work_on(
    app: Application, case: GoalCase, folder: Path, *, shows: bool, plain: bool
) -> tuple[Any, ...]:
    """Return how a goal ended: the verdict, rounds, seconds, and the reply."""
    folder.mkdir()
    check = case.make(folder, random.Random(case.goal))
    given = tuple(sorted(folder.iterdir()))
    frontend = CountingFrontend()
    request = Request(case.goal, files=given, folder=folder)
    if not plain:
        terms = Terms(plan_accepted=True, code=CodeTerms.SANDBOXED)
        request = Request(case.goal, files=given, terms=terms)
    began = time.monotonic()
    turn: Turn = await app.assistant.handle(request, frontend)
    seconds = time.monotonic() - began
    files = {item.title: item.path for item in turn.artifacts if item.path}
    files |= {path.name: path for path in folder.iterdir() if path not in given}
    right = check(Outcome(turn.reply, files))
    if turn.status is Status.DONE and is_doubtful(turn.reply):
        verdict = "right, not sure" if right else "wrong, not sure"
    elif turn.status is Status.DONE:
        verdict = "reached" if right else "FALSE DONE"
    elif turn.status is Status.PARTLY:
        verdict = "right, not sure" if right else "wrong, not sure"
    else:
        verdict = "honest no"
    if shows:
        for entry in frontend.ended:
            sys.stdout.write(f"--- {entry.status}\n{entry.code}\n>>> {entry.observation[:1500]}\n")
        kinds = [(task.type.name, dict(task.args)) for task in turn.plan or ()]
        sys.stdout.write(f"    {kinds}\n    {sorted(files)}\n")
    return verdict, len(frontend.ended), seconds, turn.reply


async def main(args: argparse.Namespace) -> None:
    """Work on the goals, one after the other."""
    code_loop.MAX_SECONDS = args.seconds or code_loop.MAX_SECONDS
    verdicts: Counter[str] = Counter()
    spent: list[float] = []
    with tempfile.TemporaryDirectory() as root:
        paths = Paths(*(Path(root, name) for name in ("config", "data", "cache", "logs")))
        settings = Settings()
        if not args.plain:
            settings = Settings(
                llm=LLMSettings(provider="openai", address=args.address, id=args.llm)
            )
        app = build(settings, paths)
        try:
            for number, case in enumerate(SETS[args.goals], 1):
                if args.only and number not in args.only:
                    continue
                verdict, rounds, seconds, reply = await work_on(
                    app, case, Path(root, f"goal {number}"), shows=args.show, plain=args.plain
                )
                verdicts[verdict] += 1
                spent.append(seconds)
                words = " ".join(reply.split())[:400]
                sys.stdout.write(
                    f"{number:2} {verdict:<16}{rounds:2} rounds {seconds:6.1f} s  {words}\n"
                )
                sys.stdout.flush()
        finally:
            await app.close()
    sys.stdout.write(f"{dict(verdicts)}, median {statistics.median(spent):.1f} s\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address")
    parser.add_argument("--llm", default="")
    parser.add_argument("--plain", action="store_true", help="as requests, without an LLM")
    parser.add_argument("--only", type=int, nargs="*", default=[])
    parser.add_argument("--goals", choices=SETS, default="tuned", help="which set")
    parser.add_argument("--show", action="store_true", help="print each script and its output")
    parser.add_argument(
        "--seconds", type=float, help="for one goal: more where other programs use the processor"
    )
    asyncio.run(main(parser.parse_args()))
