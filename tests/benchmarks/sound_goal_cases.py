"""Goals over recordings, spoken by the shipped voice and heard by the shipped recogniser."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.agent_goal_cases import Check, GoalCase, Outcome
from tests.synthetic_speech import NEURAL, speak

MEMOS = (
    "Please call the dentist on Monday morning.",
    "We need milk, bread and four lemons.",
    "The meeting with Anna has moved to the second floor.",
)


def _memos(folder: Path, chance: random.Random) -> dict[str, str]:
    """Make a memo of each sentence, in another order each time; return them by name."""
    said = {f"memo_{at}.wav": text for at, text in enumerate(chance.sample(MEMOS, len(MEMOS)), 1)}
    for name, text in said.items():
        speak(text, folder / name, voice=NEURAL)
    return said


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.casefold()))


def dentist(folder: Path, chance: random.Random) -> Check:
    said = _memos(folder, chance)
    return lambda came: all(
        (name.removesuffix(".wav") in came.reply) == ("dentist" in text)
        for name, text in said.items()
    )


def counted(folder: Path, chance: random.Random) -> Check:
    said = _memos(folder, chance)

    def check(came: Outcome) -> bool:
        rows = [list(row.values()) for row in came.rows("words.csv")]
        return len(rows) == len(said) and all(
            any(name.removesuffix(".wav") in row[0] and row[-1] == str(len(text.split()))
                for row in rows)
            for name, text in said.items()
        )  # fmt: skip

    return check


def notes(folder: Path, chance: random.Random) -> Check:
    said = _memos(folder, chance)
    return lambda came: all(
        _words(text) <= _words(came.text("notes.txt")) for text in said.values()
    )


def longest(folder: Path, chance: random.Random) -> Check:
    said = _memos(folder, chance)
    best = max(said, key=lambda name: len(said[name].split()))
    others = [name.removesuffix(".wav") for name in said if name != best]
    return lambda came: came.says(best.removesuffix(".wav")) and not any(map(came.says, others))


SOUND: Sequence[GoalCase] = (
    GoalCase("Which of these voice memos is about the dentist?", dentist),
    GoalCase("Transcribe the memos and make words.csv with a row for each: its name, and how many "
             "words are said in it.", counted),
    GoalCase("Transcribe all the memos and write what is said in them to notes.txt", notes),
    GoalCase("In which of these recordings are the most words spoken?", longest),
)  # fmt: skip
