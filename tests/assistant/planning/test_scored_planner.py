from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.assistant.planning import request_parser, scored_planner
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Scores
from jarvis_desktop.core.task import Port, Ref, TaskType


def tool(name: str, takes: str, gives: Kind, summary: str = "") -> TaskType:
    kinds = [Kind(word) for word in takes.split()]
    ports = tuple(
        Port(f"{kind}_{place}", (kind,), required=False) for place, kind in enumerate(kinds, 1)
    )
    return TaskType(name, summary, ports, (gives,))


PAINT = tool("paint", "text", Kind.IMAGE)
DETECT = tool("detect", "image", Kind.TEXT)
LOOK = tool("look", "image text", Kind.TEXT, "Answers a question about a picture.")
SPEAK = tool("speak", "text", Kind.AUDIO)
COMPARE = tool("compare", "text text", Kind.TEXT)
SPLICE = tool("splice", "audio audio", Kind.AUDIO)
INVENTORY = (PAINT, DETECT, LOOK, SPEAK, COMPARE, SPLICE)


def planned(
    text: str, *asked: tuple[TaskType, str], links: tuple[tuple[int, int], ...] = ()
) -> Plan:
    """The plan where each asked task is spoken of at the place of a word of the text."""
    places = [INVENTORY.index(task_type) for task_type, _ in asked]
    size = range(len(INVENTORY))
    tasks = tuple(0.9 if place in places else 0.1 for place in size)
    linked = {(places[one], places[other]) for one, other in links}
    where = tuple(
        text.index(asked[places.index(place)][1]) if place in places else 0 for place in size
    )
    scores = Scores(
        tasks,
        tuple(tuple(0.9 if (one, other) in linked else 0.0 for other in size) for one in size),
        tuple(
            tuple(
                float(one in places and other in places and places.index(one) < places.index(other))
                for other in size
            )
            for one in size
        ),
        where,
    )
    given = tuple(
        Artifact(kind_of_name(item.name) or Kind.DOCUMENT, path=Path(item.text), name=item.name)
        for item in request_parser.find_files(text)
    )
    return scored_planner.plan_from_scores(text, scores, INVENTORY, given)


def args(plan: Plan, place: int = 0) -> list[object]:
    return [
        item.path.name if isinstance(item, Artifact) and item.path else item
        for _, item in plan.tasks[place].items()
    ]


def test_a_quotation_and_a_result():
    plan = planned(
        "Paint 'a red barn' and detect what is in it.",
        (PAINT, "Paint"),
        (DETECT, "detect"),
        links=((0, 1),),
    )
    assert [args(plan, place) for place in (0, 1)] == [["a red barn"], [Ref(0)]]


def test_a_task_takes_the_file_that_stands_nearest():
    text = "Detect the things in one.png, and tell me what colour the car in two.png is?"
    plan = planned(text, (DETECT, "Detect"), (LOOK, "colour"))
    assert args(plan) == ["one.png"]
    assert args(plan, 1)[0] == "two.png"


def test_a_question_goes_to_the_task_that_answers_one():
    text = "In a.png: 'What is this?' Then compare 'a dog' with the answer."
    plan = planned(text, (LOOK, "What"), (COMPARE, "compare"), links=((0, 1),))
    assert args(plan) == ["a.png", "What is this?"]
    assert args(plan, 1) == [Ref(0), "a dog"]


def test_a_question_without_quotation_marks():
    plan = planned("See a.png. How many cars are there? Thanks.", (LOOK, "cars"))
    assert args(plan) == ["a.png", "How many cars are there?"]


def test_one_question_serves_several():
    ask = "In a.png: 'What is this?'"
    second = tool("explain", "image text", Kind.TEXT, "Explains a question.")
    scores = Scores((0.9, 0.9), ((0.0,) * 2,) * 2, ((0.0, 1.0), (0.0, 0.0)), (0, 0))
    image = Artifact(Kind.IMAGE, path=Path("a.png"), name="a.png")
    plan = scored_planner.plan_from_scores(ask, scores, (LOOK, second), (image,))
    assert [args(plan, place)[1] for place in (0, 1)] == ["What is this?"] * 2


def test_a_question_that_is_none_is_the_clause():
    plan = planned("Look at a.png and tell me the colour of the car.", (LOOK, "colour"))
    assert args(plan)[1] == "Look at a.png and tell me the colour of the car."


def test_a_quoted_question_may_be_what_is_spoken():
    assert args(planned("Say 'how are you?' aloud.", (SPEAK, "Say"))) == ["how are you?"]


def test_a_text_behind_a_colon():
    assert args(planned("Say this: the train is late.", (SPEAK, "Say"))) == ["the train is late"]
    both = "The train is late. It comes at nine."
    assert args(planned(f"Say this: {both}", (SPEAK, "Say"))) == [both]


def test_a_text_in_brackets():
    assert args(planned("Say [the train is late] aloud.", (SPEAK, "Say"))) == ["the train is late"]


def test_a_file_in_brackets_is_no_text():
    assert args(planned("Detect what is in [one.png].", (DETECT, "Detect"))) == ["one.png"]
    assert args(planned("Speak what [one.png] is.", (SPEAK, "Speak"))) == [
        "Speak what [one.png] is."
    ]


def test_a_document_by_its_name():
    assert args(planned("Speak the text: 'notes.txt'.", (SPEAK, "Speak"))) == ["notes.txt"]


def test_the_clause_where_nothing_is_quoted():
    text = "I have an idea. Paint a barn at night, then speak about it."
    plan = planned(text, (PAINT, "Paint"), (SPEAK, "speak"))
    assert args(plan) == ["Paint a barn at night"]


def test_one_quotation_serves_several():
    text = "Paint and speak 'a red barn'."
    plan = planned(text, (PAINT, "Paint"), (SPEAK, "speak"))
    assert [args(plan, place) for place in (0, 1)] == [["a red barn"], ["a red barn"]]


def test_an_earlier_result_where_nothing_else_is_there():
    plan = planned("Paint 'a barn', detect things.", (PAINT, "Paint"), (DETECT, "detect"))
    assert args(plan, 1) == [Ref(0)]


def test_an_input_that_nothing_can_fill_stays_empty():
    assert args(planned("Splice them.", (SPLICE, "Splice"))) == []
    plan = planned("Splice a.wav with it.", (SPLICE, "Splice"))
    assert args(plan) == ["a.wav", "a.wav"]


def test_the_likeliest_task_alone_where_none_is_likely():
    size = len(INVENTORY)
    none = tuple((0.0,) * size for _ in range(size))
    scores = Scores((0.1, 0.3, 0.0, 0.0, 0.0, 0.0), none, none, (0,) * size)
    image = Artifact(Kind.IMAGE, path=Path("a.png"))
    assert [
        task.type for task in scored_planner.plan_from_scores("?", scores, INVENTORY, (image,))
    ] == [DETECT]


def test_a_required_input_that_is_not_there_is_refused():
    needs = TaskType("needs", "", (Port("image", (Kind.IMAGE,)),), (Kind.TEXT,))
    scores = Scores((0.9,), ((0.0,),), ((0.0,),), (0,))
    with pytest.raises(PlanError, match="image"):
        scored_planner.plan_from_scores("Look.", scores, (needs,), ())
