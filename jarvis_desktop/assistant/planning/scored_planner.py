"""Plan over any inventory from the scores of its tasks.

The scores decode into a graph: which tasks are asked for, in which order, and what flows. The words
of the request give the inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from jarvis_desktop.assistant.planning import request_parser
from jarvis_desktop.assistant.planning.request_parser import Mention
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Scores
from jarvis_desktop.core.task import Arg, Item, Port, Ref, Task, TaskType

MIN_LINK, MIN_FURTHER_LINK = 0.25, 0.5
"""A task takes one result from the first probability on, and further ones from the second."""


@dataclass(frozen=True, slots=True)
class TaskNode:
    """One task of the graph."""

    type: TaskType
    where: int
    """The character of the request at which it is mentioned."""
    sources: tuple[int, ...]
    """Positions in the graph of the tasks whose results it takes, the likeliest first."""


def decode_scores(scores: Scores, inventory: Sequence[TaskType], *, least: float) -> list[TaskNode]:
    """Return the tasks that are at least `least` likely, in running order. Two tasks are linked
    only if kinds fit, an input takes one result, and no cycle arises."""
    chosen = [index for index, value in enumerate(scores.tasks) if value >= least]
    links = _links(scores, inventory, chosen)
    order = _order(scores, chosen, links)
    position = {index: place for place, index in enumerate(order)}
    return [
        TaskNode(
            inventory[index],
            scores.where[index],
            tuple(position[source] for source, target in links if target == index),
        )
        for index in order
    ]


def _links(
    scores: Scores, inventory: Sequence[TaskType], chosen: Sequence[int]
) -> list[tuple[int, int]]:
    """Return (source, target) pairs, the likeliest first."""
    likely = sorted(
        (-scores.links[source][target], source, target)
        for source in chosen
        for target in chosen
        if source != target and scores.links[source][target] >= MIN_LINK
    )
    free = {index: list(inventory[index].ports) for index in chosen}
    after: dict[int, set[int]] = {index: {index} for index in chosen}
    links: list[tuple[int, int]] = []
    for unlikely, source, target in likely:
        gives = inventory[source].gives
        port = next((item for item in free[target] if set(item.kinds) & set(gives)), None)
        taken = any(other == target for _, other in links)
        if port is None or source in after[target] or (taken and -unlikely < MIN_FURTHER_LINK):
            continue
        if not port.many:
            free[target].remove(port)
        links.append((source, target))
        for reached in after.values():
            if source in reached:
                reached |= after[target]
    return links


def _order(scores: Scores, chosen: Sequence[int], links: Sequence[tuple[int, int]]) -> list[int]:
    """Return a running order: sources first, otherwise by what most likely comes first."""
    rank = {
        index: sum(scores.order[index][other] for other in chosen if other != index)
        for index in chosen
    }
    order: list[int] = []
    while len(order) < len(chosen):
        waiting = {target for source, target in links if source not in order}
        ready = [index for index in chosen if index not in order and index not in waiting]
        order.append(max(ready, key=rank.__getitem__))
    return order


MIN_PROBABILITY = 0.55
"""A task is planned from this probability on, ..."""
MIN_BEST_PROBABILITY = 0.1
"""... and if none is that likely, the likeliest one, unless it is below this."""

MIN_TEXT_CHARS = 8
"""Characters of a text after a colon."""
MAX_NAME_CHARS = 80

_clause_end = re.compile(
    r"[.!?;\n]+(?=\s|$)|,?\s+(?:and then|then|and finally|finally|after that|afterwards)\b"
)
_asks = re.compile(r"\?\W*$")
_pasted = re.compile(r":\s+(?=\S)")
_bracketed = re.compile(r"\[([^\[\]\n]{3,4000})\]")


def plan_from_scores(
    text: str, scores: Scores, inventory: Sequence[TaskType], attachments: Sequence[Artifact]
) -> Plan:
    """Return the plan for these scores, without tasks if none is asked for. Raises PlanError if a
    required input is neither named, quoted, attached nor made."""
    least = (
        min(MIN_PROBABILITY, max(MIN_BEST_PROBABILITY, *scores.tasks))
        if scores.tasks
        else MIN_PROBABILITY
    )
    nodes = decode_scores(scores, inventory, least=least)
    inputs = _InputFinder(text, attachments)
    return Plan(
        tuple(
            Task(place, node.type, inputs.of(place, node, nodes))
            for place, node in enumerate(nodes)
        )
    )


@dataclass(slots=True)
class _InputFinder:
    """Finds the inputs of each task; tasks take quotations and files in turn."""

    text: str
    attachments: Sequence[Artifact]
    quotes: list[Mention] = field(init=False)
    unused: list[Mention] = field(init=False)
    used: list[Artifact] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.quotes = _texts(self.text)
        self.unused = list(self.quotes)

    def of(self, place: int, node: TaskNode, nodes: Sequence[TaskNode]) -> dict[str, Arg]:
        """Return the arguments of one task."""
        args: dict[str, Arg] = {}
        sources = list(node.sources)
        asked = _question_port(node.type)
        for port in node.type.ports:
            found = _first_fitting(port, sources, nodes)
            if port is asked and (quote := self._take(question=True)):
                args[port.name] = quote
            elif found is not None:
                sources.remove(found)
                args[port.name] = Ref(found)
            elif (item := self._named(port, node, question=port is asked)) is not None:
                args[port.name] = item
            elif (earlier := _first_fitting(port, range(place - 1, -1, -1), nodes)) is not None:
                args[port.name] = Ref(earlier)
            elif Kind.TEXT in port.kinds:
                args[port.name] = self._words(node)
        return args

    def _named(self, port: Port, node: TaskNode, *, question: bool) -> Item | None:
        """Return what the request names or quotes for the port."""
        if Kind.TEXT not in port.kinds:
            return self._file(port)
        if question:
            return self._asked(node)
        return self._take(question=False) or self._document() or self._take(question=True)

    def _words(self, node: TaskNode) -> str:
        """Return a quotation that another task uses too, or the clause about the task."""
        return next((item.text for item in self.quotes), "") or self._clause(node)

    def _file(self, port: Port) -> Item | None:
        """Return the first file of the kind that no other task has yet, else the first."""
        fitting = [item for item in self.attachments if item.kind in port.kinds]
        fresh = [item for item in fitting if item not in self.used] or fitting
        self.used += fresh[:1]
        return fresh[0] if fresh else None

    def _document(self) -> Item | None:
        named = [
            item.text
            for item in request_parser.find_files(self.text)
            if kind_of_name(item.name) not in (Kind.IMAGE, Kind.AUDIO, Kind.VIDEO)
        ]
        return named[0] if named else None

    def _take(self, *, question: bool) -> str | None:
        """Return the first quotation of that sort that no other task has."""
        fitting = (item for item in self.unused if bool(_asks.search(item.text)) is question)
        found = next(fitting, None)
        if found is None:
            return None
        self.unused.remove(found)
        return found.text

    def _asked(self, node: TaskNode) -> str:
        """Return a question that another task uses too, or an unquoted one, or the clause."""
        quoted = (item.text for item in self.quotes if _asks.search(item.text))
        open_ones = (item.text for item in _clauses(self.text) if _asks.search(item.text))
        found = next(quoted, "") or next(open_ones, "")
        return _pasted.split(found)[-1] or self._clause(node)

    def _clause(self, node: TaskNode) -> str:
        around = [item for item in _clauses(self.text) if item.start <= node.where <= item.end]
        return around[-1].text if around else self.text.strip()


def _first_fitting(port: Port, places: Iterable[int], nodes: Sequence[TaskNode]) -> int | None:
    fitting = (place for place in places if set(nodes[place].type.gives) & set(port.kinds))
    return next(fitting, None)


def _texts(text: str) -> list[Mention]:
    """Return the quoted or bracketed texts, else the text after the last colon."""
    quoted = request_parser.find_quotes(text)
    if not quoted:
        for match in _bracketed.finditer(text):
            if kind_of_name(match[1]) is None:
                quoted.append(Mention(match.start(), match.end(), match[1].strip()))
    if not quoted and (colons := list(_pasted.finditer(text))):
        start = colons[0].end()
        body = text[start:].strip().strip("'\"")
        if body.find(".") == len(body) - 1:  # the end of the request, not of a text
            body = body[:-1]
        if len(body) >= MIN_TEXT_CHARS and not request_parser.find_files(body[:MAX_NAME_CHARS]):
            quoted.append(Mention(start, len(text), body))
    return quoted


def _question_port(task_type: TaskType) -> Port | None:
    """Return the port that takes a question, by the name or the summary of the task."""
    about = f"{task_type.title} {task_type.summary}".lower()
    texts = [port for port in task_type.ports if Kind.TEXT in port.kinds]
    return texts[-1] if texts and "question" in about else None


def _clauses(text: str) -> list[Mention]:
    starts, ends = [0], []
    for match in _clause_end.finditer(text):
        ends.append(match.end() if text[match.start()] in ".!?;" else match.start())
        starts.append(match.end())
    ends.append(len(text))
    return [
        Mention(start, end, text[start:end].strip())
        for start, end in zip(starts, ends, strict=True)
        if text[start:end].strip()
    ]
