"""Prints how many of people's requests the embedded planner understands, and what it misreads.

Run: python -m tests.benchmarks.understanding FOLDER [--split val|test] [--show]

FOLDER holds CLINC150 as clinc150_train.jsonl (or clinc150_test.jsonl): lines of split, intent and
text. Recall is over the intents that one of our tasks does, and a plan is right if it has that task
and no other. Of all other intents and of what is out of scope, any plan is false. The shipped
weights were trained on the split "train"; the threshold was chosen on "val".
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from pathlib import Path

from jarvis_desktop.app.application import embedded_planner
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context
from jarvis_desktop.tasks.registry import INVENTORY

TASKS = {
    "time": "clock",
    "date": "clock",
    "timezone": "clock",
    "timer": "timer",
    "alarm": "timer",
    "calculator": "calculator",
    "measurement_conversion": "calculator",
    "spelling": "spell",
    "translate": "translation",
    "flip_coin": "chance",
    "roll_dice": "chance",
    "repeat": "repeat",
    "what_can_i_ask_you": "help",
    "greeting": "help",
    "goodbye": "help",
    "thank_you": "help",
}
"""The intents that one of our tasks does. Those about lists, which one does since, stay among the
others, so that the figures can be compared."""
UNDECIDED = frozenset(
    "reminder reminder_update are_you_a_bot what_is_your_name who_made_you who_do_you_work_for "
    "how_old_are_you where_are_you_from what_are_your_hobbies do_you_have_pets meaning_of_life "
    "change_user_name user_name cancel yes no maybe exchange_rate definition recipe tell_joke "
    "fun_fact change_language change_speed next_holiday text play_music".split()
)
"""Intents that a task does in part, or with an LLM: not counted."""
RECALL_GOAL, FALSE_GOAL = 92.0, 2.0
"""Percent."""


async def measure(path: Path, split: str) -> tuple[Counter[str], Counter[str], list[str]]:
    """Requests and right (or, of the others, false) plans by intent, and what went wrong."""
    planner = embedded_planner()
    counts, planned = Counter[str](), Counter[str]()
    odd = []
    for line in path.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        intent = item["intent"]
        if not item["split"].endswith(split) or intent in UNDECIDED:
            continue
        plan = await planner.plan(item["text"], INVENTORY, Context())
        names = {task.type.name for task in plan} if isinstance(plan, Plan) else set()
        wanted = TASKS.get(intent, "")
        counts[intent] += 1
        planned[intent] += names == {wanted} if wanted else bool(names)
        if names != ({wanted} if wanted else set()):
            why = "" if isinstance(plan, Plan) else f" ({plan.reason})"
            odd.append(f"{intent:24} {item['text']} -> {' + '.join(sorted(names)) or 'none'}{why}")
    return counts, planned, odd


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", choices=("val", "test"), default="val")
    parser.add_argument("--show", action="store_true", help="each request that went wrong")
    args = parser.parse_args()
    name = "clinc150_train.jsonl" if args.split == "val" else "clinc150_test.jsonl"
    counts, planned, odd = asyncio.run(measure(args.folder / name, args.split))
    for intent in TASKS:
        print(f"{intent:24} {planned[intent]:4} of {counts[intent]}")
    ours = sum(counts[intent] for intent in TASKS)
    right = sum(planned[intent] for intent in TASKS)
    others, false = counts.total() - ours, planned.total() - right
    print(f"recall                   {100 * right / ours:5.1f} %   goal {RECALL_GOAL}")
    rate = 100 * false / others
    print(f"planned, none does it    {rate:5.1f} %   goal {FALSE_GOAL}, of {others}")
    if args.show:
        print(*odd, sep="\n")


if __name__ == "__main__":
    main()
