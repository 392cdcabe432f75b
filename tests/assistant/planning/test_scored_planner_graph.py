from __future__ import annotations

from jarvis_desktop.assistant.planning.scored_planner import decode_scores
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.ports import Scores
from jarvis_desktop.core.task import Port, TaskType


def tool(name: str, takes: tuple[Kind, ...], gives: Kind, *, many: bool = False) -> TaskType:
    ports = tuple(Port(f"in{place}", (kind,), many=many) for place, kind in enumerate(takes))
    return TaskType(name, "", ports, (gives,))


READ = tool("read", (Kind.IMAGE,), Kind.TEXT)
TRANSLATE = tool("translate", (Kind.TEXT,), Kind.TEXT)
SPEAK = tool("speak", (Kind.TEXT,), Kind.AUDIO)
ASK = tool("ask", (Kind.IMAGE, Kind.TEXT), Kind.TEXT)
JOIN = tool("join", (Kind.TEXT,), Kind.TEXT, many=True)


def scores(
    inventory: list[TaskType],
    tasks: dict[str, float],
    links: dict[tuple[str, str], float] | None = None,
) -> Scores:
    names = [item.name for item in inventory]
    places = range(len(names))
    links = links or {}
    return Scores(
        tuple(tasks.get(name, 0.0) for name in names),
        tuple(tuple(links.get((one, other), 0.0) for other in names) for one in names),
        tuple(tuple(float(one < other) for other in places) for one in places),
        tuple(10 * place for place in places),
    )


def decoded(
    inventory: list[TaskType],
    tasks: dict[str, float],
    links: dict[tuple[str, str], float] | None = None,
) -> list[tuple[str, tuple[int, ...]]]:
    nodes = decode_scores(scores(inventory, tasks, links), inventory, least=0.5)
    return [(node.type.name, node.sources) for node in nodes]


def test_likely_tasks_are_taken_in_the_likeliest_order():
    assert decoded([TRANSLATE, READ, SPEAK], {"read": 0.9, "translate": 0.6, "speak": 0.4}) == [
        ("translate", ()),
        ("read", ()),
    ]


def test_none_is_taken_where_none_is_likely():
    assert decoded([TRANSLATE, READ], {"read": 0.2}) == []


def test_a_link_puts_its_source_first():
    assert decoded(
        [SPEAK, TRANSLATE, READ],
        {"read": 0.9, "translate": 0.9, "speak": 0.9},
        {("read", "translate"): 0.9, ("translate", "speak"): 0.8},
    ) == [("read", ()), ("translate", (0,)), ("speak", (1,))]


def test_no_link_where_kinds_do_not_fit_or_it_is_not_likely():
    assert decoded(
        [SPEAK, TRANSLATE],
        {"translate": 0.9, "speak": 0.9},
        {("speak", "translate"): 0.9, ("translate", "speak"): 0.1},
    ) == [("speak", ()), ("translate", ())]


def test_of_a_ring_only_the_likelier_link_stays():
    again = tool("again", (Kind.TEXT,), Kind.TEXT)
    third = tool("third", (Kind.TEXT,), Kind.TEXT)
    ring = {("translate", "again"): 0.9, ("again", "third"): 0.8, ("third", "translate"): 0.7}
    assert decoded(
        [TRANSLATE, again, third], dict.fromkeys(("translate", "again", "third"), 0.9), ring
    ) == [("translate", ()), ("again", (0,)), ("third", (1,))]


def test_an_input_takes_one_result_unless_it_takes_many():
    both = {("read", "translate"): 0.9, ("ask", "translate"): 0.8}
    found = decoded([READ, ASK, TRANSLATE], dict.fromkeys(("read", "ask", "translate"), 0.9), both)
    assert found[2] == ("translate", (0,))
    unsure = {("read", "join"): 0.9, ("ask", "join"): 0.4}
    found = decoded([READ, ASK, JOIN], dict.fromkeys(("read", "ask", "join"), 0.9), unsure)
    assert found[2] == ("join", (0,))
    many = {("read", "join"): 0.9, ("ask", "join"): 0.8}
    found = decoded([READ, ASK, JOIN], dict.fromkeys(("read", "ask", "join"), 0.9), many)
    assert found[2] == ("join", (0, 1))
