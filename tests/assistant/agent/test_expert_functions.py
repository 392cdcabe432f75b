"""What scripts have experts do: by plans of one task, on the road that every plan takes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent.expert_functions import experts_prompt, needed_functions
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.code import ExpertCall
from jarvis_desktop.core.errors import ExpertError, InputError, PlanError
from jarvis_desktop.core.events import PlanAccepted
from jarvis_desktop.core.expert import Candidate, Expert, Status
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Port, Ref, Task, TaskOption, TaskType
from tests.assistant.agent.expert_room import TYPES, Room
from tests.types import CLOCK, JOIN, READ, SHORTEN

SAVE = TaskType("save-file", "Saves.", (Port("content", (Kind.TEXT,)),), (), acts=True)
OPEN = TaskType("open", "Opens.", (Port("file", (Kind.TEXT,)),), (), guarded=True)
DRAW = TaskType(
    "text-to-image",
    "Draws.",
    (Port("prompt", (Kind.TEXT,)),),
    (Kind.IMAGE,),
    (TaskOption("seed", "which", 0),),
)


@pytest.fixture
async def room(tmp_path: Path) -> Room:
    return Room(tmp_path, "cat.png", inventory=(*TYPES, SAVE, OPEN, DRAW))


def copy(room: Room, name: str, content: str = "cat.png") -> Artifact:
    """A copy of a file of a script's folder, under a name of the sandbox."""
    folder = room.store.workdir()
    (folder / name).write_text(content)
    return Artifact(Kind.IMAGE, path=folder / name, name=name)


async def texts(room: Room, task: str, **args: object) -> list[str | None]:
    found = await room.functions().call(room.goal_run, ExpertCall(task, args))  # type: ignore[arg-type]
    return [item.text for item in found]


async def test_a_call_is_a_step_of_the_turn(room: Room) -> None:
    found = await texts(room, "image-to-text", image=copy(room, "dog.png"))
    assert found == ["image-to-text of dog.png"]
    (accepted,) = room.shown(PlanAccepted)
    (task,) = accepted.plan
    assert (task.id, task.type) == (0, READ)
    item = task.args["image"]
    assert room.store.holds(item.path)
    assert item.source is None
    assert room.goal_run.live.turn.plan == accepted.plan
    assert room.goal_run.live.turn.results[0].status is Status.DONE
    assert room.journal.kept["g"][1].turn.results.keys() == {0}


async def test_what_is_given_is_converted_first(room: Room) -> None:
    assert await texts(room, "summarization", text=copy(room, "dog.png"), sentences=2) == [
        "summarization of image-to-text of dog.png"
    ]
    turn = room.goal_run.live.turn
    assert turn.plan
    assert [(task.type, task.args.get("text")) for task in turn.plan] == [
        (READ, None),
        (SHORTEN, Ref(0)),
    ]


async def test_the_same_is_not_done_twice(room: Room) -> None:
    stored = room.files[0]
    room.store.take_in = lambda path: stored  # type: ignore[method-assign]
    first = await texts(room, "summarization", text=copy(room, "cat.png"))
    second = await texts(room, "summarization", text=copy(room, "cat.png"))
    assert first == second
    assert room.done == ["image-to-text", "summarization"]
    assert len(room.shown(PlanAccepted)) == 1
    await texts(room, "summarization", text=copy(room, "cat.png"), sentences=1)
    await texts(room, "join", texts=("a", "b"))
    assert room.done == ["image-to-text", "summarization", "summarization", "join"]
    assert room.goal_run.live.turn.plan
    assert [task.id for task in room.goal_run.live.turn.plan] == [0, 1, 2, 3]


async def test_a_wish_in_words_is_fulfilled_each_time(room: Room) -> None:
    await texts(room, "text-to-image", prompt="a cat")
    await texts(room, "text-to-image", prompt="a cat")
    assert room.done == ["text-to-image"] * 2


async def test_plans_of_the_goal_stay(room: Room) -> None:
    room.planner.planned = Plan((Task(0, READ, {"image": room.files[0]}),))
    await room.ask()
    await texts(room, "summarization", text="Words.")
    turn = room.goal_run.live.turn
    assert turn.plan
    assert [task.type for task in turn.plan] == [READ, SHORTEN]
    assert turn.results.keys() == {0, 1}


@pytest.mark.parametrize("task", ["save-file", "open", "clock", "no\nsuch"])
async def test_only_tasks_without_effects_can_be_called(room: Room, task: str) -> None:
    with pytest.raises(InputError, match=r"Experts do nothing called “.*” for code"):
        await texts(room, task, content="x")
    assert CLOCK in room.inventory
    assert room.done == []


async def test_what_does_not_fit_is_refused(room: Room) -> None:
    for args in ({"text": "x", "sentences": "two"}, {"pages": 3}, {"text": ("x", "y")}, {}):
        with pytest.raises(PlanError):
            await texts(room, "summarization", **args)
    with pytest.raises(PlanError, match="takes image as its image, not text"):
        await texts(room, "image-to-text", image="a text")
    assert room.shown(PlanAccepted) == []


async def test_the_first_failure_is_the_reason(room: Room) -> None:
    room.breaks("image-to-text")
    with pytest.raises(ExpertError, match=r"It\nbroke\."):
        await texts(room, "summarization", text=copy(room, "dog.png"))
    # Nothing that failed is left in the plan, and it can be tried again.
    room.breaks()
    assert await texts(room, "join", texts="x")
    turn = room.goal_run.live.turn
    assert turn.plan
    assert [task.type for task in turn.plan] == [JOIN]


async def test_the_policy_holds_for_scripts(room: Room) -> None:
    away = Candidate(Expert("far/away", "summarization"), "builtin", remote=True)
    room.catalogue.listed["summarization"] = (away,)
    with pytest.raises(ExpertError, match="The mode “local” allows none of its experts"):
        await texts(room, "summarization", text="secret")
    assert room.done == []


async def test_what_asks_first_asks_here_too(room: Room) -> None:
    room.backend.ask = "Send it away?"
    room.person.consent = False
    with pytest.raises(ExpertError, match="You did not agree to it"):
        await texts(room, "summarization", text="secret")
    assert room.person.questions == ["Send it away?"]
    assert room.done == []


async def test_a_task_can_be_taken_out_while_it_runs(room: Room) -> None:
    functions = room.functions()
    room.backend.holds = "summarization"
    call = ExpertCall("summarization", {"text": "x"})
    calling = asyncio.create_task(functions.call(room.goal_run, call))
    await room.backend.held.wait()
    running = functions._replanning_runner.running_plan(room.goal_run.live.turn.id)
    assert running
    running.change(Plan(()))
    with pytest.raises(ExpertError, match="It was taken out of the plan"):
        await calling


@pytest.mark.parametrize(
    ("goal", "names", "functions"),
    [
        ("Count the words in this recording.", ["talk.mp3"], ["transcribe"]),
        ("What is said?", ["film.mp4", "a.csv"], ["transcribe"]),
        ("Translate the notes into French.", ["notes.txt"], ["translate"]),
        ("Übersetze das.", ["a.txt"], ["translate"]),
        ("Summarize each text.", ["a.txt", "b.pdf"], ["summarize"]),
        ("Summarize the sales by region.", ["sales.csv"], []),
        ("Draw a chart of the sales.", ["sales.csv"], []),
        ("Resize all pictures to 400 pixels.", ["a.png", "b.jpg"], []),
        ("Sort the pictures by what they show.", ["a.png"], ["ask", "caption", "read_picture"]),
        ("Add up the receipts.", ["a.jpg"], ["ask", "caption", "read_picture"]),
        ("Plan my week.", [], []),
    ],
)
def test_needed_functions(goal: str, names: Sequence[str], functions: Sequence[str]) -> None:
    assert sorted(needed_functions(goal, names)) == functions


def test_the_prompt_names_the_needed_functions_alone() -> None:
    text = Prompts(Path("resources/prompts")).template("code_experts").text
    told = experts_prompt(text, {"transcribe"})
    assert told.startswith("jarvis also has experts")
    assert [line for line in told.splitlines() if "jarvis." in line] == [
        '- jarvis.transcribe("talk.mp3"): the words that are spoken in a sound or film.'
    ]
    every = {"ask", "caption", "read_picture", "summarize", "transcribe", "translate"}
    assert experts_prompt(text, every) == text
