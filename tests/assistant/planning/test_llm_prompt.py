"""What an LLM is told so that it can plan."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from jarvis_desktop.assistant.planning.llm_output import is_agent_goal, read_steps
from jarvis_desktop.assistant.planning.llm_prompt import (
    MAX_NAMES,
    PlanExample,
    list_files,
    load_examples,
    plan_schema,
    planning_prompt,
    short_planning_prompt,
)
from jarvis_desktop.assistant.planning.plan_builder import NamedArtifacts, build_plan
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.llm import MessageRole, Prompt, estimated_tokens
from jarvis_desktop.core.ports import Context, Resource
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.paths import shipped
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.planned import file
from tests.fakes import FakeLLM
from tests.families import some

PROMPTS = Prompts(shipped("resources", "prompts"))
NAMES = [task_type.name for task_type in INVENTORY]
TALK = Conversation(
    "c",
    tuple(
        Turn(str(at), datetime(2026, 1, 1, tzinfo=UTC), text=f"Request {at}. " * 20, reply="Done.")
        for at in range(30)
    ),
)


NOTHING = Context()


def told(window: int, context: Context = NOTHING, asked: str = "Request: x") -> Prompt:
    return planning_prompt(
        FakeLLM(window=window), PROMPTS, asked=asked, inventory=INVENTORY, context=context
    )


def whole(prompt: Prompt) -> int:
    """All that the LLM's window must hold: schema, answer, and one refusal with its answer."""
    return prompt.tokens + estimated_tokens(json.dumps(prompt.schema)) + 2 * prompt.longest


def has_examples(prompt: Prompt) -> bool:
    return len(prompt.messages) > 2


@pytest.mark.parametrize("example", load_examples(PROMPTS), ids=lambda item: item.request[:20])
def test_every_example_is_a_proper_plan_of_todays_tasks(example: PlanExample) -> None:
    kinds = {name: Kind(kind) for name, kind in example.files.items()}
    given = [Artifact(kind, path=file("x.png").path, name=name) for name, kind in kinds.items()]
    question, answer = example.messages
    found = read_steps(answer.text, NAMES)
    assert bool(found) is not (example.answer["direct"] or example.for_agent)
    assert is_agent_goal(answer.text) is example.for_agent
    plan = build_plan(found, INVENTORY, NamedArtifacts(Context(tuple(given))))
    assert [task.type.name for task in plan] == [task["task"] for task in example.answer["plan"]]
    for task, written in zip(plan, example.answer["plan"], strict=True):
        assert task.id == written["id"]
        assert set(task.args) == set(written["args"])
        assert task.wanted is written.get("wanted", False)
    assert json.dumps(example.request, ensure_ascii=False) in question.text


def test_the_examples_keep_to_the_schema() -> None:
    kinds: dict[str, Any] = {}
    for example in load_examples(PROMPTS):
        for task in example.answer["plan"]:
            kinds[task["task"]] = task["args"]
    for entry in plan_schema(INVENTORY, NamedArtifacts(Context()))["properties"]["plan"]["items"][
        "anyOf"
    ]:
        args = entry["properties"]["args"]
        for name in entry["properties"]["task"]["enum"]:
            given = kinds.get(name)
            assert given is None or set(args["required"]) <= set(given) <= set(args["properties"])


def test_the_schema_knows_every_task_and_only_files_that_are_there() -> None:
    context = Context((file("cat.png"), file("memo.wav")))
    schema = plan_schema(INVENTORY, NamedArtifacts(context))
    entries = schema["properties"]["plan"]["items"]["anyOf"]
    names = [name for entry in entries for name in entry["properties"]["task"]["enum"]]
    assert sorted(names) == sorted(NAMES)
    assert schema["$defs"]["image"]["anyOf"][0] == {"enum": ["cat.png"]}
    assert schema["$defs"]["video"] == {"type": "string", "pattern": "^<GENERATED>-[0-9]{1,3}$"}
    assert schema["$defs"]["text"] == {"type": "string"}
    many = Context(tuple(file(f"{at}.png") for at in range(MAX_NAMES + 1)))
    assert plan_schema(INVENTORY, NamedArtifacts(many))["$defs"]["image"] == {"type": "string"}


def test_where_there_is_room_all_is_told() -> None:
    traced: list[str] = []
    prompt = told(32768, Context(conversation=TALK, trace=traced.append))
    assert prompt.messages[0].role is MessageRole.SYSTEM
    assert [item.role for item in prompt.messages[1:3]] == [MessageRole.USER, MessageRole.ASSISTANT]
    assert "$defs" in (prompt.schema or {})
    assert "Request 29." in prompt.messages[-1].text
    assert prompt.messages[-1].text.endswith("Now plan this.\nRequest: x")
    assert traced[0] == "fake:1b plans by the prompt plan 2, with 10 of 10 examples."
    assert "earlier turn" in traced[1]


@pytest.mark.no_cover
@pytest.mark.parametrize("window", some(range(4096, 20000, 300), 6))
@pytest.mark.parametrize("context", [Context(), Context(conversation=TALK)])
def test_it_always_fits(window: int, context: Context) -> None:
    prompt = told(window, context)
    assert whole(prompt) <= window
    assert prompt.messages[-1].text.endswith("Request: x")


@pytest.mark.no_cover
def test_what_is_left_out_goes_in_this_order() -> None:
    """Details of the schema, examples, earlier turns, what the tasks are for; then it gives up."""
    context = Context(conversation=TALK)
    seen = []
    for window in range(20000, 3000, -100):
        try:
            prompt = told(window, context)
        except ExpertError:
            seen.append("nothing")
            continue
        has = {
            "schema": "$defs" in (prompt.schema or {}),
            "examples": has_examples(prompt),
            "talk": "Request 29." in prompt.messages[-1].text,
            "summaries": INVENTORY[0].summary in prompt.messages[0].text,
        }
        seen.append(" ".join(name for name, there in has.items() if there))
    parts = ["schema", "examples", "talk", "summaries"]
    assert seen[0].split() == parts
    assert (
        sorted(parts, key=lambda part: [part in has.split() for has in seen].index(False)) == parts
    )
    assert seen[-1] == "nothing"


def test_a_request_that_does_not_fit_is_refused_never_cut() -> None:
    with pytest.raises(ExpertError, match="do not fit into the window of fake:1b"):
        told(8192, asked="word " * 8000)


def test_examples_of_tasks_that_cannot_run_are_not_shown() -> None:
    few = [item for item in INVENTORY if item.name in ("clock", "calculator", "timer")]
    prompt = planning_prompt(FakeLLM(), PROMPTS, asked="x", inventory=few, context=Context())
    assert len(prompt.messages) == 2 + 2 * 2


def test_files_of_a_long_conversation() -> None:
    given = tuple(Resource(f"image {at}", file(f"{at}.png"), given=True) for at in range(1, 61))
    context = Context((file("cat.png"),), resources=given)
    listed = list_files(NamedArtifacts(context), context)
    assert listed[:2] == ['"cat.png" (image)', "20 older ones, numbered in the same way"]
    assert listed[2] == '"image 21" (image, given before, "21.png")'
    assert len(listed) == 42


def test_names_are_unique_and_on_one_line() -> None:
    odd = replace(file("a.png"), name="a\n.png\u202e")
    other = Artifact(Kind.IMAGE, path=file("b.png").path, name="a.png")
    upper = Artifact(Kind.IMAGE, path=file("c.png").path, name="A.png")
    same = replace(other, path=file("d.png").path)
    text = text_artifact("secret words")
    named = NamedArtifacts(Context((odd, other, upper, same, text, other)))
    assert [name for name, _ in named] == ["a .png�", "a.png", "A.png", "a.png (2)", "text"]
    assert named.find("A.png", ()) is upper
    assert named.find("a.PNG", ()) is upper
    assert named.find(" 'a.png (2)' ", ()) is same
    assert named.find("e.png", (Kind.IMAGE,)) is None
    assert named.find("the text", (Kind.TEXT,)) is text


def test_the_newest_of_two_earlier_files_of_one_name_is_meant() -> None:
    first, second = file("a.png"), replace(file("a.png"), path=file("x.png").path)
    earlier = (Resource("image 1", first, given=True), Resource("image 2", second, given=True))
    named = NamedArtifacts(Context(resources=earlier))
    assert named.find("a.png", ()) is second
    assert named.find("Image 1", ()) is first
    here = NamedArtifacts(Context((first,), resources=earlier))
    assert [name for name, _ in here] == ["a.png", "image 2"]
    assert here.find("a.png", ()) is first


def test_the_short_prompt_tells_of_earlier_turns_and_leaves_out_what_does_not_fit() -> None:
    traced: list[str] = []
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    turns = tuple(Turn(str(at), moment, f"q{at} " * 9, reply="a " * 90) for at in range(9))
    context = Context(conversation=Conversation("c", turns), trace=traced.append)
    few = [item for item in INVENTORY if item.name in ("summarization", "translation")]
    prompt = short_planning_prompt(
        FakeLLM(), PROMPTS, asked="Request: x", inventory=few, context=context
    )
    assert "What was said before:" in prompt.messages[-1].text
    assert any(item.startswith("Left out of the prompt: ") for item in traced)
    with pytest.raises(ExpertError, match="do not fit into the window"):
        short_planning_prompt(
            FakeLLM(window=600), PROMPTS, asked="Request: x", inventory=few, context=context
        )
