from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from jarvis_desktop.assistant.agent.action_parser import (
    MAX_CHARS,
    branch_named,
    choice_schema,
    choose,
    describe_choice,
    parse_choice,
)
from jarvis_desktop.assistant.agent.roles import (
    ASSISTANT,
    CODER,
    LIBRARIAN,
    AgentRole,
    Branch,
    roles,
)
from jarvis_desktop.assistant.planning.llm_output import prompt_tokens
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.code import FunctionDraft, objections
from jarvis_desktop.core.errors import ExpertError, PlanError, UnavailableError
from jarvis_desktop.core.goal import BranchChoice
from jarvis_desktop.core.llm import Message, Prompt
from jarvis_desktop.core.llm import MessageRole as Speaker
from jarvis_desktop.llm.request import sendable
from tests.assistant.agent.scripted import ScriptedLLM, says, told

CODE = {"code": "print(1)", "purpose": ""}
DONE = {"steps": [{"id": 1, "state": "done", "note": ""}]}
FUNCTION: dict[str, Any] = {
    "name": "f",
    "code": "def f() -> None: ...",
    "tests": "def test_f(): ...",
    "packages": ["numpy", "pandas"],
    "replaces": "",
}


@pytest.mark.parametrize(
    ("role", "text", "branch", "args"),
    [
        (ASSISTANT, says("coder", task="Plot it"), "coder", {"task": "Plot it"}),
        # Around the object
        (ASSISTANT, f"Yes!\n```json\n{says('coder', task='x')}\n``` So.", "coder", {"task": "x"}),
        (
            ASSISTANT,
            '<think>{"branch": "coder", "args": {"task": "y"}}</think>' + says("coder", task="x"),
            "coder",
            {"task": "x"},
        ),
        (ASSISTANT, f"<think>I take {says('coder', task='x')}</think>", "coder", {"task": "x"}),
        (ASSISTANT, f"{says('coder')} {says('coder', task='x')}", "coder", {"task": "x"}),
        (ASSISTANT, f"[1, {says('coder', task='x')}]", "coder", {"task": "x"}),
        (ASSISTANT, "{branch: 'coder', args: {task: 'x',}", "coder", {"task": "x"}),
        # The name
        (ASSISTANT, says("callcoderbranch", task="x"), "coder", {"task": "x"}),
        (ASSISTANT, says("Coder ", task="x"), "coder", {"task": "x"}),
        (ASSISTANT, says("final-answer", text="May"), "final_answer", {"text": "May", "uses": []}),
        (ASSISTANT, says("Final Anser", text="May"), "final_answer", {"text": "May", "uses": []}),
        (ASSISTANT, says("call_coder", task="x"), "coder", {"task": "x"}),
        (ASSISTANT, says("python", task="x"), "coder", {"task": "x"}),
        (CODER, says("python", code="print(1)"), "run_code", CODE),
        (CODER, says("answer", text="May"), "finish", {"summary": "May", "uses": []}),
        (LIBRARIAN, says("save_function", **FUNCTION), "write_function", FUNCTION),
        # Where the name and the arguments stand
        (ASSISTANT, '{"branch": "coder", "task": "x"}', "coder", {"task": "x"}),
        (ASSISTANT, '{"coder": {"task": "x"}}', "coder", {"task": "x"}),
        (ASSISTANT, '{"command": "coder", "command_args": {"task": "x"}}', "coder", {"task": "x"}),
        (ASSISTANT, '{"action": "Plot it", "tool": "coder", "task": "x"}', "coder", {"task": "x"}),
        (ASSISTANT, '{"branch": {"name": "coder", "args": {"task": "x"}}}', "coder", {"task": "x"}),
        (
            ASSISTANT,
            '{"function": {"name": "coder", "arguments": "{\\"task\\": \\"x\\"}"}}',
            "coder",
            {"task": "x"},
        ),
        (ASSISTANT, '{"branch": "ask_user", "args": "When?"}', "ask_user", {"question": "When?"}),
        (ASSISTANT, '{"question": "When?"}', "ask_user", {"question": "When?"}),
        (CODER, "Here it is:\n```python\nprint(1)\n```", "run_code", CODE),
        # The arguments
        (ASSISTANT, says("ask_user", prompt="When?"), "ask_user", {"question": "When?"}),
        (ASSISTANT, says("ask_user", q="When?"), "ask_user", {"question": "When?"}),
        (ASSISTANT, says("coder", task=["a", "b"]), "coder", {"task": "a\nb"}),
        (ASSISTANT, says("coder", task=3), "coder", {"task": "3"}),
        (ASSISTANT, says("coder", task="x", note=None, more=1), "coder", {"task": "x"}),
        (ASSISTANT, says("coder", Task="x", task="y", instruction="z"), "coder", {"task": "y"}),
        (ASSISTANT, says("re_plan", why="It failed"), "re_plan", {"reason": "It failed"}),
        (
            ASSISTANT,
            '{"branch": "re_plan", "reason": "It failed"}',
            "re_plan",
            {"reason": "It failed"},
        ),
        (
            ASSISTANT,
            says("final_answer", text="May", uses="a.png, b.png"),
            "final_answer",
            {"text": "May", "uses": ["a.png", "b.png"]},
        ),
        (CODER, says("run_code", code="```py\nprint(1)\n```"), "run_code", CODE),
        (
            CODER,
            says("run_code", code="\n  a = 1\n  print(a)\n"),
            "run_code",
            {"code": "  a = 1\n  print(a)", "purpose": ""},
        ),
        (LIBRARIAN, says("write_function", **{**FUNCTION, "packages": "numpy; pandas"}),
         "write_function", FUNCTION),
        # Steps
        (ASSISTANT, says("update_plan", steps=[{"id": "1", "state": "Completed"}]),
         "update_plan", DONE),
        (ASSISTANT, says("update_plan", steps={"id": 1.0, "state": "done"}), "update_plan", DONE),
        (ASSISTANT, says("update_plan", steps={"1": "done"}), "update_plan", DONE),
        (ASSISTANT, says("update_plan", steps={"step 1": {"status": "done"}}),
         "update_plan", DONE),
        (ASSISTANT, '{"branch": "update_plan", "args": {"1": "done"}}', "update_plan", DONE),
        (ASSISTANT, says("update_plan", step=1, state="finished"), "update_plan", DONE),
        (ASSISTANT, says("update_plan", steps=[{"id": "step 1", "state": "Not started"}]),
         "update_plan", {"steps": [{"id": 1, "state": "open", "note": ""}]}),
        (ASSISTANT, says("update_plan", steps=[{"id": 1, "state": "canceled", "note": None}]),
         "update_plan", {"steps": [{"id": 1, "state": "dropped", "note": ""}]}),
        (ASSISTANT, says("update_plan", steps=[{"id": 1, "state": "Blocked"}]),
         "update_plan", {"steps": [{"id": 1, "state": "failed", "note": ""}]}),
        (ASSISTANT, says("update_plan", steps=[{"id": 1, "state": "current"}]),
         "update_plan", {"steps": [{"id": 1, "state": "doing", "note": ""}]}),
    ],
)  # fmt: skip
def test_what_is_meant_is_understood(
    role: AgentRole, text: str, branch: str, args: dict[str, Any]
) -> None:
    choice = parse_choice(text, role)
    assert (choice.branch, choice.args) == (branch, args)


def test_the_reason_is_kept_on_one_line() -> None:
    assert parse_choice(says("coder", why="a\nb", task="x"), ASSISTANT).why == "a b"


@pytest.mark.parametrize(
    ("role", "text", "why"),
    [
        (ASSISTANT, "I would download it.", "no JSON object"),
        (ASSISTANT, "[1, 2]", "no JSON object"),
        (ASSISTANT, '{"a": ' * 100, "too many brackets"),
        (ASSISTANT, "x" * (MAX_CHARS + 1), "too long"),
        (ASSISTANT, says("frobnicate"), "no branch “frobnicate”; take one of run_experts, coder"),
        (ASSISTANT, '{"text": "May"}', "names no “branch”"),
        (ASSISTANT, "{}", "names no “branch”"),
        (ASSISTANT, '{"coder": {"task": "x"}, "re_plan": {"reason": "x"}}', "names no “branch”"),
        (ASSISTANT, says("coder"), "“coder” needs the argument “task”"),
        (ASSISTANT, says("coder", task=" "), "“task” of “coder” is empty"),
        (ASSISTANT, says("coder", task={"a": 1}), "“task” must be a text"),
        (ASSISTANT, says("coder", task="x" * 40_001), "“task” is too long"),
        (ASSISTANT, says("update_plan"), "needs the argument “steps”"),
        (ASSISTANT, says("update_plan", steps=[]), "“steps” of “update_plan” is empty"),
        (ASSISTANT, says("update_plan", steps="1 done"), "“steps[0]” must be an object"),
        (
            ASSISTANT,
            says("update_plan", steps=["x"]),
            "“steps[0]” must be an object with id, state",
        ),
        (ASSISTANT, says("update_plan", steps=[{"id": 1}]), "“steps[0]” needs “state”"),
        (
            ASSISTANT,
            says("update_plan", steps=[{"id": "a", "state": "done"}]),
            "“steps[0].id” must be a whole number",
        ),
        (
            ASSISTANT,
            says("update_plan", steps=[{"id": True, "state": "done"}]),
            "“steps[0].id” must be a whole number",
        ),
        (
            ASSISTANT,
            says("update_plan", steps=[{"id": 1, "state": "perhaps"}]),
            "must be one of open, doing, done, failed, dropped",
        ),
        (ASSISTANT, says("final_answer", text="x", uses=["a"] * 61), "at most 60 items"),
        (CODER, '{"branch": "run_code", "args": {"code": "print(1', "breaks off"),
        (CODER, "```python\na\n```\n```python\nb\n```", "no JSON object"),
        (LIBRARIAN, says("write_function", name="f"), "needs the argument “code”"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(
    role: AgentRole, text: str, why: str
) -> None:
    with pytest.raises(PlanError) as caught:
        parse_choice(text, role)
    assert why in caught.value.message
    assert caught.value.message.endswith(".")


def test_a_name_that_may_be_either_is_neither() -> None:
    twins = AgentRole("r", "p", "", (Branch("read_file", ""), Branch("read_files", "")))
    assert branch_named("read_fil", twins) is None
    alone = AgentRole("r", "p", "", (Branch("read_file", ""),))
    assert branch_named("read_fil", alone) == alone.branches[0]


def test_a_branch_without_arguments_takes_none() -> None:
    role = AgentRole("r", "p", "", (Branch("wait", "Wait."),))
    assert parse_choice('{"branch": "wait", "args": "a while"}', role) == BranchChoice("wait", {})


@pytest.mark.parametrize(
    ("branch", "args", "shown"),
    [
        ("run_code", {"code": "a\nb", "purpose": "To see"}, "To see"),
        ("run_code", {"code": "a\nb", "purpose": ""}, "a b"),
        ("finish", {"summary": "Well", "uses": ["a"]}, "Well"),
        (
            "run_experts",
            {"request": "Blur it", "uses": ["a.png", "b.png"]},
            "Blur it (a.png, b.png)",
        ),
        ("run_experts", {"request": "x" * 400, "uses": []}, "x" * 199 + "…"),
        ("run_experts", {"request": "x" * 400, "uses": ["a.png"]}, "x" * 191 + "… (a.png)"),
        ("update_plan", {"steps": [{"id": 1, "state": "done", "note": ""}]}, "1 done"),
        ("write_function", {"packages": ["a", "b"]}, "a, b"),
        ("finish", {}, ""),
    ],
)
def test_a_round_is_told_in_a_line(branch: str, args: dict[str, Any], shown: str) -> None:
    known = [
        each
        for role in (ASSISTANT, CODER, LIBRARIAN)
        for each in role.branches
        if each.name == branch
    ]
    assert describe_choice(known[0], args) == shown


def test_abilities_stand_in_the_summary_of_the_experts() -> None:
    known = roles(["Describe a picture", "Translate"])
    assert set(known) == {"assistant", "coder", "librarian"}
    first = known["assistant"].branches[0]
    assert first.summary.endswith("They can do: Describe a picture; Translate.")
    assert known["coder"].branch("nothing") is None


@pytest.mark.parametrize("role", [ASSISTANT, CODER, LIBRARIAN], ids=lambda role: role.name)
def test_the_example_in_a_prompt_is_a_choice(role: AgentRole, prompts: Prompts) -> None:
    text = prompts.template(role.prompt).text
    choice = parse_choice(text.partition("For example:\n")[2].partition("\n\n")[0], role)
    assert choice.why
    if choice.branch == "write_function":
        args = choice.args
        assert objections(FunctionDraft(args["name"], args["code"], args["tests"])) == ()


def test_the_schema_has_a_variant_for_each_branch() -> None:
    variants = choice_schema(CODER)["anyOf"]
    names = [variant["properties"]["branch"]["enum"] for variant in variants]
    assert names == [[branch.name] for branch in CODER.branches]
    assert "default" not in json.dumps(variants)


def asking(role: AgentRole = ASSISTANT) -> Prompt:
    return Prompt((Message(Speaker.USER, "Choose."),), schema=choice_schema(role), longest=500)


def test_a_prompt_counts_as_it_is_sent() -> None:
    assert prompt_tokens(asking()) >= sendable(asking()).tokens
    assert prompt_tokens(Prompt(asking().messages)) == Prompt(asking().messages).tokens


async def chosen(llm: ScriptedLLM, timeout: float = 60.0) -> tuple[BranchChoice, int]:
    spent: list[int] = []
    traced: list[str] = []
    choice = await choose(
        llm, asking(), ASSISTANT, timeout=timeout, trace=traced.append, spend=spent.append
    )
    assert len(traced) == len(llm.prompts) - 1
    return choice, sum(spent)


async def test_a_refused_answer_goes_back_with_the_reason() -> None:
    llm = ScriptedLLM(["Hm.", "x" * 5000, says("coder", task="x")])
    choice, spent = await chosen(llm)
    assert choice.branch == "coder"
    second, third = llm.prompts[1:]
    assert [message.role for message in second.messages] == ["user", "assistant", "user"]
    assert "Hm." in told(second)
    assert "There is no JSON object in that." in told(second)
    assert "Hm." not in told(third)
    assert len(told(third)) < 2000
    assert spent > sum(sendable(prompt).tokens for prompt in llm.prompts)


async def test_it_is_given_up_after_three_refusals() -> None:
    llm = ScriptedLLM(["", "{}", "Hm."])
    with pytest.raises(PlanError, match="no JSON object"):
        await chosen(llm)
    assert len(llm.prompts) == 3
    assert "(nothing)" in told(llm.prompts[1])


async def test_an_llm_that_says_nothing_is_not_waited_for() -> None:
    llm = ScriptedLLM([says("coder", task="x")], hold=asyncio.Event())
    with pytest.raises(ExpertError, match="took longer than 0 seconds"):
        await chosen(llm, timeout=0.0)
    assert llm.stopped <= 1


async def test_what_the_llm_raises_is_raised() -> None:
    with pytest.raises(UnavailableError):
        await chosen(ScriptedLLM([UnavailableError("Gone.")]))
