import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.events import (
    ExpertsSelected,
    GoalTaken,
    OutlineChanged,
    PlanProposed,
    RoundEnded,
    TaskChunk,
    TaskFinished,
    TaskProgress,
    TurnFinished,
)
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Selection, Status, TaskResult
from jarvis_desktop.core.goal import Outline, OutlineStep, StepState
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.serialization import plan_from_wire, plan_to_wire, to_wire
from jarvis_desktop.core.speech import Transcript
from jarvis_desktop.core.task import Port, Ref, Task, TaskOption, TaskType
from jarvis_desktop.core.turn import Round, Turn
from tests.types import CLOCK

READ = TaskType("read", "", (Port("image", (Kind.IMAGE, Kind.DOCUMENT)),), (Kind.TEXT,))
JOIN = TaskType(
    "join",
    "",
    (Port("text", (Kind.TEXT, Kind.DOCUMENT), many=True),),
    (Kind.TEXT,),
    (
        TaskOption("count", "", 3),
        TaskOption("ratio", "", 0.5),
        TaskOption("loud", "", False),
        TaskOption("voice", "", "en"),
    ),
)
INVENTORY = {kind.name: kind for kind in (READ, JOIN)}
SCAN = Artifact(Kind.IMAGE, path=Path("/files/scan.png"), name="scan.png")
PLAN = Plan(
    (
        Task(1, READ, {"image": SCAN}),
        Task(2, JOIN, {"text": (Ref(1), "and this"), "count": 2, "loud": True, "ratio": 0.25}),
    )
)
WIRE = [
    {"task": "read", "id": 1, "dep": [-1], "args": {"image": "/files/scan.png"}},
    {
        "task": "join",
        "id": 2,
        "dep": [1],
        "args": {"text": ["<GENERATED>-1", "and this"], "count": 2, "loud": True, "ratio": 0.25},
    },
]


def test_a_plan_has_the_form_of_hugginggpt():
    assert plan_to_wire(PLAN) == WIRE


def test_that_form_gives_the_plan_back():
    assert plan_from_wire(json.loads(json.dumps(WIRE)), INVENTORY) == PLAN


def test_wanted_is_written_where_it_is_true():
    plan = Plan((Task(1, READ, {"image": SCAN}, wanted=True),))
    assert plan_to_wire(plan)[0]["wanted"] is True
    assert plan_from_wire(plan_to_wire(plan), INVENTORY) == plan


def test_a_text_artifact_becomes_its_text():
    plan = Plan((Task(1, JOIN, {"text": text_artifact("hello")}),))
    assert plan_to_wire(plan)[0]["args"] == {"text": "hello"}


@pytest.mark.parametrize(
    "artifact",
    [
        Artifact(Kind.DOCUMENT, path=Path("/files/a.pdf"), name="report.pdf", made_by=4),
        Artifact(Kind.TEXT, text="", name="empty"),
    ],
)
def test_the_whole_form_loses_nothing(artifact: Artifact):
    plan = Plan((Task(1, JOIN, {"text": (artifact, "words")}),))
    wire = json.loads(json.dumps(plan_to_wire(plan, whole=True)))
    assert plan_from_wire(wire, INVENTORY) == plan


def test_where_a_file_was_taken_from_is_not_told():
    own = Path("/home/ann/report.pdf")
    artifact = Artifact(Kind.DOCUMENT, path=Path("/files/a.pdf"), name="report.pdf", source=own)
    plan = Plan((Task(1, JOIN, {"text": (artifact, "words")}),))
    assert "ann" not in json.dumps([plan_to_wire(plan, whole=True), to_wire(artifact)])


def test_ids_may_be_digits_and_dep_is_not_read():
    wire = [{**WIRE[0], "id": "1", "dep": ["nonsense"]}, {**WIRE[1], "id": "2", "dep": [7]}]
    assert plan_from_wire(wire, INVENTORY) == PLAN


@pytest.mark.parametrize(
    ("given", "kind"),
    [("a.pdf", Kind.DOCUMENT), ("a.PNG", Kind.IMAGE), ("a.mp3", Kind.IMAGE), ("a", Kind.IMAGE)],
)
def test_a_files_kind_follows_its_name_among_the_kinds_of_the_port(given: str, kind: Kind):
    plan = plan_from_wire([{"task": "read", "id": 0, "args": {"image": f"/x/{given}"}}], INVENTORY)
    assert plan.task(0).args["image"] == Artifact(kind, path=Path("/x", given), name=given)


@pytest.mark.parametrize("words", ["/x/report.pdf", "<GENERATED>-x", "see <GENERATED>-1", ""])
def test_where_text_is_taken_a_string_stays_text(words: str):
    wire = [{"task": "join", "id": 0, "args": {"text": [words, "more"]}}]
    assert plan_from_wire(wire, INVENTORY).task(0).args["text"] == (words, "more")


READING = {"task": "read", "id": 1, "args": {"image": "a.png"}}
NAME = "The argument 'image' of the task 'read'"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "A plan is a list of tasks."),
        (["read"], "A task of a plan is an object with task, id and args."),
        ([{"id": 1}], "A task of the plan has no name."),
        ([{"task": "fly\nhigh"}], "There is no task called 'fly high'."),
        ([{**READING, "args": []}], "The args of the task 'read' are not an object."),
        *(
            (
                [{**READING, "id": bad}],
                "The task 'read' has no id that is a whole number from 0.",
            )
            for bad in (None, True, -1, 1.5, "x", "²", "1" * 5000, 10**9, [1])
        ),
        ([READING, READING], "Two tasks of the plan have the id 1."),
        ([{**READING, "args": {}}], "Task 1 (read) is missing its image."),
        ([{**READING, "args": {"image": " "}}], f"{NAME} names no file."),
        ([{**READING, "args": {"image": float("nan")}}], f"{NAME} is not a finite number."),
        (
            [{**READING, "args": {"image": None}}],
            f"{NAME} is neither text, number, yes or no, nor a list of these.",
        ),
        ([{**READING, "args": {"image": "\ud800"}}], f"{NAME} has invalid characters."),
        *(
            ([{**READING, "args": {"image": bad}}], f"{NAME} is an object, but not an artifact.")
            for bad in (
                {},
                {"kind": "smell", "text": "x"},
                {"kind": "text"},
                {"kind": "text", "text": "x", "path": "y"},
                {"kind": "text", "text": 1},
                {"kind": "image", "path": "y", "name": None},
                {"kind": "image", "path": "y", "made_by": True},
            )
        ),
        (
            [{**READING, "args": {"image": {"kind": "image", "path": "a\ud800"}}}],
            f"{NAME} has invalid characters.",
        ),
        (
            [{**READING, "args": {"image": "<GENERATED>-9"}}],
            "Task 1 (read) takes the result of task 9, which is not there.",
        ),
    ],
)
def test_what_is_no_plan_is_refused_with_a_reason(data: object, message: str):
    with pytest.raises(PlanError) as caught:
        plan_from_wire(data, INVENTORY)
    assert caught.value.message == message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
tasks = st.fixed_dictionaries(
    {"task": st.sampled_from(["read", "join", "other"]), "id": st.integers(0, 3)},
    optional={
        "args": st.dictionaries(
            st.sampled_from(["image", "text", "count", "voice"]),
            json_values | st.sampled_from(["<GENERATED>-0", "<GENERATED>-1", "a.png"]),
        )
    },
)


@given(json_values | st.lists(tasks, max_size=4))
def test_any_json_gives_a_plan_or_a_plan_error(data: object):
    plan, reason = None, ""
    try:
        plan = plan_from_wire(data, INVENTORY)
    except PlanError as error:
        reason = error.message
    assert len(reason.splitlines()) == (plan is None)
    if plan is not None:
        assert plan_from_wire(plan_to_wire(plan, whole=True), INVENTORY) == plan


AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
EXPERT = Expert("builtin/read", "read", languages=("en",))
WIRED_EXPERT = {
    "id": "builtin/read",
    "task": "read",
    "summary": "",
    "revision": "",
    "download_mb": 0,
    "licence": "",
    "languages": ["en"],
    "verified": False,
}
HELLO = {"kind": "text", "text": "hello", "path": None, "name": "", "made_by": 1}


def test_events_name_themselves_first():
    wire = to_wire(TurnFinished(Status.PARTLY, AT))
    assert list(wire.items()) == [
        ("event", "turn_finished"),
        ("status", "partly"),
        ("at", "2026-03-01T12:30:00+00:00"),
        ("waited", 0.0),
    ]
    assert to_wire(PlanProposed(PLAN)) == {"event": "plan_proposed", "plan": WIRE}


def test_a_result_with_its_attempts():
    attempt = Attempt(Candidate(EXPERT, "builtin"), 0.5, "too dark")
    result = TaskResult(1, Status.DONE, (text_artifact("hello", made_by=1),), (attempt,))
    wire = to_wire(TaskFinished(result))
    assert wire["event"] == "task_finished"
    assert wire["result"]["status"] == "done"
    assert wire["result"]["artifacts"] == [HELLO]
    [tried] = wire["result"]["attempts"]
    assert (tried["seconds"], tried["error"]) == (0.5, "too dark")
    assert tried["candidate"]["backend"] == "builtin"
    assert WIRED_EXPERT.items() <= tried["candidate"]["expert"].items()


def test_a_turn_with_all_it_may_hold():
    turn = Turn(
        "t",
        AT,
        text="read it",
        attachments=(SCAN,),
        plan=PLAN,
        selections=(Selection(1, (Candidate(EXPERT, "builtin"),), "the only one"),),
        running=frozenset({2, 1}),
        progress={1: TaskProgress(1, float("nan"), "reading")},
        results={1: TaskResult(1, Status.DONE)},
    )
    wire = json.loads(json.dumps(to_wire(turn), allow_nan=False))
    assert wire["plan"] == WIRE
    assert wire["attachments"][0]["path"] == "/files/scan.png"
    assert wire["running"] == [1, 2]
    assert wire["progress"] == {"1": {"task_id": 1, "fraction": None, "message": "reading"}}
    assert wire["results"]["1"]["status"] == "done"
    assert wire["finished"] is None
    assert wire["selections"][0]["reason"] == "the only one"


def test_a_piece_of_a_text_that_a_task_writes():
    wire = {"event": "task_chunk", "task_id": 1, "text": "One "}
    assert to_wire(TaskChunk(1, "One ")) == wire


def test_values_that_are_no_events_have_no_event_key():
    assert to_wire(Transcript("hi", "fake")) == {
        "text": "hi",
        "engine": "fake",
        "language": "",
        "segments": [],
        "note": "",
    }
    assert to_wire([Kind.TEXT, 1.5]) == ["text", 1.5]
    assert to_wire(ExpertsSelected(())) == {"event": "experts_selected", "selections": []}


@pytest.mark.parametrize("foreign", [object(), Turn, b"bytes"])
def test_foreign_values_have_no_json_form(foreign: object):
    with pytest.raises(TypeError, match="has no JSON form"):
        to_wire(foreign)


def test_events_of_agent_mode_have_a_json_form():
    outline = Outline((OutlineStep(1, "Plot", StepState.DONE, "as plot.png"),))
    steps = [{"id": 1, "text": "Plot", "state": "done", "note": "as plot.png"}]
    assert to_wire(GoalTaken()) == {"event": "goal_taken"}
    wired = to_wire(OutlineChanged(outline, why="You changed it."))
    assert wired == {
        "event": "outline_changed",
        "outline": {"steps": steps, "highest": 1},
        "path": "assistant",
        "accepted": True,
        "why": "You changed it.",
    }
    ended = RoundEnded(2, Status.DONE, "Drawn.", (SCAN,), "plot()")
    wired = json.loads(json.dumps(to_wire(ended)))
    assert (wired["event"], wired["number"], wired["status"]) == ("round_ended", 2, "done")
    assert wired["artifacts"][0]["path"] == "/files/scan.png"
    turn = Turn(
        "t",
        datetime(2026, 1, 1, tzinfo=UTC),
        agentic=True,
        outline=outline,
        inner_outlines={"assistant/coder": outline},
        rounds={2: Round(2, "assistant", "coder", "Plot", status=Status.DONE, artifacts=(SCAN,))},
    )
    wired = json.loads(json.dumps(to_wire(turn)))
    assert wired["agentic"] is True
    assert wired["outline"]["steps"] == wired["inner_outlines"]["assistant/coder"]["steps"] == steps
    assert wired["rounds"]["2"]["artifacts"][0]["name"] == "scan.png"


def test_an_expert_that_the_person_chose_is_written_and_read() -> None:
    inventory = {CLOCK.name: CLOCK}
    plan = Plan((Task(0, CLOCK, expert="sun-dial"), Task(1, CLOCK)))
    wire = plan_to_wire(plan)
    assert [task.get("expert") for task in wire] == ["sun-dial", None]
    assert plan_from_wire(wire, inventory) == plan
    for odd in (5, "\ud800"):
        with pytest.raises(PlanError, match="ask 'clock'"):
            plan_from_wire([{"task": "clock", "id": 0, "expert": odd}], inventory)
