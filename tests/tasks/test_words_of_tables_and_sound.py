"""What people say for vectors, for filling in tables, for music and for transcripts with times."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, kind_of_name
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import Task
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.planned import PLANNER


async def planned(text: str, *names: str) -> tuple[Task, ...]:
    given = [
        Artifact(kind, path=Path(f"/{name}"), name=name)
        for name in names
        if (kind := kind_of_name(name))
    ]
    plan = await PLANNER.plan(text, INVENTORY, Context(tuple(given), None))
    return tuple(plan.tasks) if isinstance(plan, Plan) else ()


@pytest.mark.parametrize(
    ("text", "names", "task", "options"),
    [
        *(
            (text, ["sales.csv"], "table-question-answering", {"question": text})
            for text in (
                "what is in this table", "describe this table", "what's in this spreadsheet",
                "what does this csv contain", "what does sales.csv contain", "describe sales.csv",
                "show me the first rows of this table", "what columns does this table have",
            )
        ),
        ("make embeddings of notes.txt", ["notes.txt"], "feature-extraction", {}),
        (
            "embeddings of each sentence of notes.txt",
            ["notes.txt"],
            "feature-extraction",
            {"each": "sentence"},
        ),
        (
            "compute a vector for every line in notes.txt",
            ["notes.txt"],
            "feature-extraction",
            {"each": "line"},
        ),
        (
            "predict the missing churn values in customers.csv",
            ["customers.csv"],
            "tabular-classification",
            {"column": "predict the missing churn values in customers.csv"},
        ),
        ("fill in the column kind in flowers.csv", ["flowers.csv"], "tabular-classification", {}),
        ("classify each row of flowers.csv", ["flowers.csv"], "tabular-classification", {}),
        ("compose a song of 20 seconds", [], "text-to-audio", {"seconds": 20.0}),
        (
            "transcribe talk.mp3 with timestamps",
            ["talk.mp3"],
            "automatic-speech-recognition",
            {"timestamps": True},
        ),
        ("subtitles for talk.mp3", ["talk.mp3"], "automatic-speech-recognition",
         {"timestamps": True, "format": "srt"}),
        ("transcribe talk.mp3 as vtt", ["talk.mp3"], "automatic-speech-recognition",
         {"format": "vtt"}),
    ],
)  # fmt: skip
async def test_is_heard(text, names, task, options):
    tasks = await planned(text, *names)
    found = [each for each in tasks if each.type.name == task]
    assert found, [each.type.name for each in tasks]
    assert len(tasks) <= 2  # a document may have to be read first
    for name, value in options.items():
        assert found[0].args[name] == value


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("predict the weather", []),
        ("fill in the blank: the ___ sat", []),
        ("what is missing in this sentence", []),
        ("make a vector drawing of a cat", []),
        ("what's the average in sales.csv", ["sales.csv"]),
        ("classify the text 'I love it'", []),
        ("classify the picture", ["cat.png"]),
        ("which column is the largest in sales.csv", ["sales.csv"]),
        ("embed the picture in the document", ["cat.png"]),
        ("wait ten seconds", []),
        ("what did she say about the time", []),
    ],
)
async def test_everyday_words_are_not_caught(text, names):
    wrong = {"feature-extraction", "tabular-classification", "text-to-audio"}
    assert not wrong & {task.type.name for task in await planned(text, *names)}
