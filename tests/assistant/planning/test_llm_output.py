"""What LLMs write: a corpus of bad outputs, and properties that hold for any text at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_desktop.assistant.planning.llm_output import MAX_CHARS, WrittenStep, read_steps
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.serialization import plan_to_wire
from jarvis_desktop.tasks.registry import INVENTORY
from jarvis_desktop.text.lenient_json import MAX_TRIES, LenientJsonReader
from tests.assistant.planning.llm_plans import CONTEXT, corpus, lines, outcome, planned
from tests.families import some
from tests.types import BLUR

CORPUS = corpus()
AT_HAND = {*CONTEXT.attachments, *(item.artifact for item in CONTEXT.resources)}
NAMES = [task_type.name for task_type in INVENTORY]

FRAGMENTS = st.sampled_from(
    [
        *"{}[]()\"'`“”:,;#/\\-.19<>\n \t",
        *("//", "/*", "*/", "```json", "...", "\\u", "\\ud800", "</think>", "<think>", "&quot;"),
        *('{"task": "', '"args": {', '"id": 0', '"dep": [-1]', "<GENERATED>-0", "<GENERATED>"),
        *("clock", "clock(", "image-to-text", "cat.png", "text", "true", "None", "NaN", "1e999"),
        *('[{"task": "clock", "id": 0, "args": {}}]', '{"direct": true}', "tool_calls", "9" * 30),
    ]
)
SOUP = st.lists(FRAGMENTS, max_size=40).map("".join)


def nested(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Values of JSON."""
    return st.recursive(
        st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=12,
    )


JSON = nested(st.text(max_size=8))
PROPER = nested(st.text("abcdefgh_-", min_size=1, max_size=8))
VALUE: st.SearchStrategy[Any] = st.sampled_from(
    [
        *("<GENERATED>-0", "<GENERATED>-1", "<GENERATED>-0,1", "<GENERATED>", "cat.png"),
        *("memo.wav", "image 1", "/etc/hosts.txt", "a few words", "", None, 0, 3.5, True, "-1", {}),
    ]
)
PLAN = st.lists(
    st.fixed_dictionaries(
        {"task": st.sampled_from([*NAMES, "image_to_text", "Summarize", "fly", ""])},
        optional={
            "id": st.integers(-2, 4) | st.sampled_from(["0", "1", "a", "task_1", None, 2.0]),
            "dep": st.lists(st.integers(-1, 4), max_size=2) | st.sampled_from(["0", None, -1]),
            "args": st.dictionaries(
                st.sampled_from(["image", "text", "audio", "question", "content", "name", "x"]),
                VALUE | st.lists(VALUE, max_size=3),
                max_size=3,
            )
            | VALUE,
        },
    ),
    max_size=6,
)

SLIPPED = [
    {"task": "image-to-text", "id": 0, "dep": [-1], "args": {"image": "cat.png"}},
    {"task": "translation", "id": 1, "args": {"text": "<GENERATED>-0", "language": "Welsh"}},
    {"task": "text-to-speech", "id": 2, "dep": [1], "args": {"text": "<GENERATED>-1"}},
]


@pytest.mark.parametrize(
    ("answer", "expected"), [entry[1:] for entry in CORPUS], ids=[entry[0] for entry in CORPUS]
)
def test_bad_outputs_come_to_what_was_meant_or_to_a_sentence(
    answer: str, expected: list[str]
) -> None:
    found = outcome(answer)
    if expected[0].startswith("refused: "):
        assert found[0].startswith("refused: ")
        assert expected[0].removeprefix("refused: ") in found[0]
    else:
        assert found == expected


def test_the_corpus_is_large() -> None:
    assert len(CORPUS) >= 100


def is_a_plan_or_a_sentence(answer: str) -> None:
    """The property: a plan over what is at hand, or one sentence of a bearable length."""
    found = outcome(answer)
    if found[0].startswith("refused: "):
        assert found[0].endswith(".")
        assert "\n" not in found[0]
        assert len(found[0]) < 500
        return
    plan = planned(answer)
    for task in plan or ():
        assert task.type in INVENTORY
        for _, item in task.items():
            assert not isinstance(item, Artifact) or item in AT_HAND
    if plan:
        json.dumps(plan_to_wire(plan)).encode()


@settings(deadline=None)
@given(SOUP)
def test_any_soup_of_json_is_a_plan_or_a_sentence(text: str) -> None:
    is_a_plan_or_a_sentence(text)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_a_plan_or_a_sentence(text: str) -> None:
    is_a_plan_or_a_sentence(text)


@pytest.mark.no_cover
@settings(deadline=None)
@given(PLAN)
def test_any_list_of_tasks_is_a_plan_or_a_sentence(tasks: list[dict[str, Any]]) -> None:
    is_a_plan_or_a_sentence(json.dumps(tasks))


@settings(deadline=None)
@given(st.sampled_from(CORPUS), st.data())
def test_a_damaged_answer_is_a_plan_or_a_sentence(
    entry: tuple[str, str, list[str]], data: st.DataObject
) -> None:
    answer = entry[1]
    start = data.draw(st.integers(0, len(answer)))
    end = data.draw(st.integers(start, min(len(answer), start + 12)))
    is_a_plan_or_a_sentence(answer[:start] + data.draw(SOUP) + answer[end:])


@pytest.mark.no_cover
@settings(deadline=None)
@given(st.lists(JSON, max_size=3) | st.dictionaries(st.text(max_size=8), JSON, max_size=3))
def test_proper_json_is_read_as_it_is(value: object) -> None:
    assert list(LenientJsonReader(f"So: {json.dumps(value)}.").values()) == [value]


@pytest.mark.no_cover
@settings(deadline=None)
@given(PROPER.filter(lambda value: isinstance(value, dict | list) and value))
def test_json_with_a_comma_too_many_is_read_all_the_same(value: object) -> None:
    text = json.dumps(value)
    loose = LenientJsonReader(f"{text[:-1]},{text[-1]}")
    assert list(loose.values()) == [value]
    assert not loose.broken_off


def test_an_escaped_mark_belongs_to_the_text():
    assert list(LenientJsonReader(r'["\"",]').values()) == [['"']]
    assert list(LenientJsonReader(r'["say \"yes\"", "\"",]').values()) == [['say "yes"', '"']]


UNITS = [
    *("{", "[", "(", '{"a":', "[{", "{]", "]{", '{"', "['", '"', "'", "\\", "/*", "//\n", "#"),
    *("{'a':", '" ', '", "', '":"', '"}', "\\u", "```", "<think>", "</think>", "clock(", "a=("),
    *('{"task":"clock"}', "[0]", "{}", "[],", "&quot;", '\\"', '"a" "b"', "“", "“a”:", "<"),
]


@pytest.mark.parametrize("unit", some(UNITS))
@pytest.mark.parametrize(
    "start", ["", '[{"task": "', '{"plan": [{"task": "clock", "args": {"a": "']
)
def test_endless_repetition_ends(unit: str, start: str) -> None:
    text = start + unit * ((MAX_CHARS - len(start)) // len(unit))
    is_a_plan_or_a_sentence(text)


def test_an_answer_beyond_all_bounds_is_refused_unread() -> None:
    with pytest.raises(PlanError, match="too long"):
        read_steps("[" * (MAX_CHARS + 1), NAMES)


def test_too_many_tasks_are_refused() -> None:
    with pytest.raises(PlanError, match="at most 32"):
        read_steps(json.dumps([{"task": "clock", "id": number} for number in range(33)]), NAMES)


def test_proper_json_is_tried_first_only_so_often() -> None:
    broken = "{'a': 1} " * MAX_TRIES
    assert list(LenientJsonReader(f'{broken} {{"b": 2}}').values()) == [{"a": 1}] * MAX_TRIES + [
        {"b": 2}
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "C:\\Users\\me", b: -1.5e2}', {"a": "C:\\Users\\me", "b": -150.0}),
        ('{"a": "tab\\there", "b": "\\u00e9", }', {"a": "tab\there", "b": "é"}),
        ("{'a': \"\"\"x 'y' z\"\"\", 'b': (1, 2)}", {"a": "x 'y' z", "b": [1, 2]}),
        ("{'a': '''never ends}", {"a": "never ends"}),
        ("{'a': '''never ends", {"a": "never ends"}),
        ("{'a': +7, 'b': .5, 'c': 1_0, 'd': 12345678901234567890}",
         {"a": 7, "b": 0.5, "c": "1_0", "d": "12345678901234567890"}),
        ('{"a" {"b": 1}, "c": , "d": }', {"a": {"b": 1}, "c": None, "d": None}),
        ('["task": "clock", "id": 0]', {"task": "clock", "id": 0}),
        ('{"a": ["x", "y"}', {"a": ["x", "y"]}),
        ('{"a": [1, 2, "b": 3}', {"a": [1, 2], "b": 3}),
        ("{“a”: ‘b’, «c»: 1}", {"a": "b", "c": 1}),
        ('{"a": see http://x.org/y // so\n, "b": 1}', {"a": "see http://x.org/y", "b": 1}),
        ('{"a": "x", :}', {"a": "x", "": None}),
        ('{"a": 1)}', {"a": 1}),
        ("[1 2, :, ```json\n3]", ["1 2", ":", 3]),
        ("['a\" b'  'c']", ['a" b', "c"]),
        ('{"a": "use "b" here", "c": "d" }, ', {"a": 'use "b" here', "c": "d"}),
    ],
)  # fmt: skip
def test_broken_json(text: str, value: object) -> None:
    assert next(LenientJsonReader(text).values()) == value


def test_a_string_ends_at_its_first_mark_where_no_other_fits_better() -> None:
    assert list(LenientJsonReader("{'a': 'x' y z 'u' v w").values()) == [
        {"a": "x", "y": None, "z": "u", "v": None, "w": None}
    ]


@pytest.mark.parametrize("quote", ['"', "'"])
def test_nearly_every_single_slip_is_mended(quote: str) -> None:
    text = json.dumps(SLIPPED).replace('"', quote)
    expected = outcome(json.dumps(SLIPPED))
    slips = [
        damaged
        for at, mark in enumerate(text)
        if mark in "{}[],:" + quote
        for damaged in (text[:at] + text[at + 1 :], text[:at] + mark + text[at:])
    ]
    mended = [outcome(slip) == expected for slip in slips]
    assert sum(mended) >= 0.95 * len(slips)


def test_steps_keep_what_was_written() -> None:
    answer = '{"name": "clock", "task_id": 3, "depends_on": [1], "parameters": {"what": "day"}}'
    assert read_steps(answer, NAMES) == [WrittenStep("clock", 3, [1], {"what": "day"})]


def test_wrappers_within_wrappers_end_somewhere() -> None:
    deep: object = [{"task": "clock", "args": {}}]
    for _ in range(10):
        deep = {"inner": deep}
    assert outcome(json.dumps(deep))[0].startswith("refused: There is no plan")


def test_prose_that_names_a_task_with_brackets_is_no_call() -> None:
    assert outcome("You could use clock(the clock) or image_to_text(image).")[0].startswith(
        "refused"
    )


def test_the_lines_of_a_plan() -> None:
    plan = planned('[{"task": "clock", "id": 4, "wanted": true}]')
    assert plan
    assert lines(plan) == ["4 clock *"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("yes", True),
        ("False", False),
        (True, True),
        (None, None),
        ("none", None),
        ("maybe", "refused"),
    ],
)
def test_yes_or_no(value: object, expected: object) -> None:
    answer = json.dumps([{"task": BLUR.name, "args": {"image": "cat.png", "strong": value}}])
    if expected == "refused":
        with pytest.raises(PlanError, match="takes yes or no as its strong"):
            planned(answer, [BLUR])
    else:
        plan = planned(answer, [BLUR])
        assert plan
        assert plan.task(0).args.get("strong") is expected
