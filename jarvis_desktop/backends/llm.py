"""Lets the LLM do tasks itself, by prompts: what it works on is data to it, marked off."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from jarvis_desktop.backends.result_checks import checked
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, Fault, UnavailableError
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import (
    LLM,
    PICTURE,
    LLMs,
    Message,
    MessageRole,
    Prompt,
    answer,
    estimated_tokens,
)
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.images.classification import labels_of as picture_labels_of
from jarvis_desktop.tasks.text.classification import labels_of
from jarvis_desktop.text.sentences import paragraphs, sentences

LONGEST = 2048
"""Tokens of an answer, where the LLM has room for so many."""

SHORTEST = 64
"""Tokens that an answer must have room for."""

MARGIN = 128
"""Tokens for what a provider adds to a prompt."""

LONGEST_OPTION = 500
"""Characters."""

LARGEST_TABLE = 100_000
"""Bytes of a table that is put into a prompt whole; a larger one fits no window."""

MOST_PARTS = 200
"""Parts of a long text: more would take hours."""


class Filled(Protocol):
    """A prompt with slots."""

    def filled(self, **values: str) -> str:
        """The text with its slots filled. Raises StorageError on a slot without a value."""
        ...


class Templates(Protocol):
    """Where the prompts are: `task` around each of them, and one named for each task."""

    def template(self, name: str) -> Filled:
        """The prompt of that name. Raises StorageError."""
        ...


@dataclass(frozen=True, slots=True)
class LLMMethod:
    """How an LLM does one task."""

    order: str = ""
    """The port that says what to do and is therefore no data."""
    sees: bool = False
    """Whether it takes an LLM that sees."""
    labels: Callable[[Call], Sequence[str]] | None = None
    """Of which the answer must be one."""
    says: str = "{}"
    """The result around such a label."""
    parts: str = ""
    """The port whose text may be done in parts where it is too long."""
    again: bool = False
    """Whether the results of the parts are done once more, as one text."""
    faithful: bool = False
    """Whether the answer names no file or link that the call does not name."""
    temperature: float = 0.0


WAYS: Mapping[str, LLMMethod] = {
    "text-generation": LLMMethod(order="prompt", temperature=0.7),
    "summarization": LLMMethod(parts="text", again=True, faithful=True),
    "translation": LLMMethod(parts="text", faithful=True),
    "question-answering": LLMMethod(faithful=True),
    "table-question-answering": LLMMethod(faithful=True),
    "token-classification": LLMMethod(faithful=True),
    "fill-mask": LLMMethod(),
    "sentence-similarity": LLMMethod(),
    "text-classification": LLMMethod(
        labels=lambda call: ("positive", "negative", "neutral"), says="That sounds {}."
    ),
    "zero-shot-classification": LLMMethod(labels=lambda call: labels_of(call.words("labels"))),
    "zero-shot-image-classification": LLMMethod(
        sees=True, labels=lambda call: picture_labels_of(call.words("labels"))
    ),
    "image-to-text": LLMMethod(sees=True),
    "visual-question-answering": LLMMethod(order="question", sees=True),
    "document-question-answering": LLMMethod(order="question", sees=True),
}
"""The tasks for which there is a good prompt: resources/prompts/task_NAME.md."""


class LLMBackend:
    """The "llm" backend: the LLM that is there at the time of the call."""

    name = "llm"
    lane = "llm"

    def __init__(
        self,
        llms: LLMs,
        templates: Templates,
        definitions: Mapping[str, Definition],
        *,
        ways: Mapping[str, LLMMethod] = WAYS,
        guard: Callable[[str, str], str] = lambda given, said: said,
    ) -> None:
        """`guard` takes out of what was said the files and links that were not given."""
        self._llms = llms
        self._templates = templates
        self._definitions = definitions
        self._ways = ways
        self._guard = guard

    @staticmethod
    def can_do(task: str, llm: LLM) -> bool:
        """Whether there is a good prompt for the task, and the LLM has the senses for it."""
        way = WAYS.get(task)
        return way is not None and (llm.sees or not way.sees)

    def question(self, call: Call) -> str:
        """An LLM only answers, and the mode has said whether it may be asked: nothing to ask."""
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """The LLM's answer. Raises JarvisError; cancelling stops the LLM."""
        way = self._ways.get(call.task)
        llm = await self._llms.current()
        if way is None or llm is None or (way.sees and not llm.sees):
            raise UnavailableError(
                tr("There is no LLM that could do {task} now.", task=call.task),
                hint=tr("See what is missing with: jarvis-desktop doctor."),
            )
        mark = f"data-{secrets.token_hex(4)}"
        guard = self._guard if way.faithful else lambda given, said: said
        work = _Work(llm, way, call, self._instruction(call, mark), mark, report, guard)
        return checked([text_artifact(await work.result())], self._definitions[call.task].type)

    def _instruction(self, call: Call, mark: str) -> str:
        options = {
            name: one_line(str(value), limit=LONGEST_OPTION) for name, value in call.options.items()
        }
        own = self._templates.template(f"task_{call.task}").filled(**options)
        return self._templates.template("task").filled(instruction=own, mark=mark)


@dataclass(frozen=True, slots=True)
class _Work:
    """One call under way."""

    llm: LLM
    way: LLMMethod
    call: Call
    instruction: str
    mark: str
    report: Report
    guard: Callable[[str, str], str]

    async def result(self) -> str:
        """What the LLM makes of the call, in parts where it is long."""
        self.report(None, f"{self.llm.name} is at work")
        port = self.way.parts
        if not port:
            return await self._answer({})
        text = self.call.text(port)
        while len(parts := self._parts(text)) > 1:
            done = []
            for at, part in enumerate(parts):
                self.report(at / len(parts), f"part {at + 1} of {len(parts)}")
                done.append(await self._answer({port: part}))
            longer, text = text, "\n\n".join(done)
            if not self.way.again:
                return text
            if len(text) > len(longer) * 3 // 4:  # or it might never fit
                raise ExpertError(
                    tr("{name} did not make the text shorter.", name=self.llm.name),
                    fault=Fault.ANSWER,
                )
        return await self._answer({port: text})

    async def _answer(self, instead: Mapping[str, str]) -> str:
        """One answer; `instead` has the texts that take the place of a port's own."""
        labels = self.way.labels(self.call) if self.way.labels else ()
        prompt = self._prompt(instead, labels)
        text = _without_fence((await answer(self.llm, prompt)).strip())
        if not labels:
            return self.guard("\n".join(message.text for message in prompt.messages), text)
        label = _label_in(text, labels)
        if label is None:
            raise ExpertError(
                tr("{name} chose none of: {labels}.", name=self.llm.name, labels=", ".join(labels)),
                retryable=True,
                fault=Fault.ANSWER,
            )
        return self.way.says.format(label)

    def _prompt(self, instead: Mapping[str, str], labels: Sequence[str]) -> Prompt:
        said, pictures = [], []
        for port, items in self.call.inputs.items():
            for item in items:
                if item.path is None:
                    said.append(self._said(port, item, instead))
                elif item.kind is Kind.IMAGE:
                    pictures.append(item.path)
                elif item.kind is Kind.TABLE and (rows := _plain(item.path)):
                    said.append(self._said(port, text_artifact(rows), instead))
                else:
                    raise ExpertError(
                        tr("{name} cannot look into {title}.", name=self.llm.name, title=item.title)
                    )
        messages = (
            Message(MessageRole.SYSTEM, self.instruction),
            Message(MessageRole.USER, "\n\n".join(said) or "The picture.", tuple(pictures)),
        )
        schema = _choice_of(labels) if labels else None
        room = self.llm.window - Prompt(messages).tokens - PICTURE * len(pictures)
        room -= estimated_tokens(json.dumps(schema)) + MARGIN  # providers add it to the words
        if room < SHORTEST:
            raise ExpertError(
                tr("The text is too long for {name}.", name=self.llm.name),
                hint=tr("Give it a part of it."),
            )
        return Prompt(
            messages, schema, longest=min(LONGEST, room), temperature=self.way.temperature
        )

    def _said(self, port: str, item: Artifact, instead: Mapping[str, str]) -> str:
        """A text of the call; only the person's own words may say what is to be done."""
        text = instead.get(port, item.text or "")
        if port == self.way.order and item.made_by is None:
            return text
        return f"{port}:\n<{self.mark}>\n{text.replace(self.mark, 'data')}\n</{self.mark}>"

    def _parts(self, text: str) -> list[str]:
        """The text in parts of whole paragraphs, or sentences, each with room for its answer."""
        fixed = estimated_tokens(self.instruction) + MARGIN
        room = (self.llm.window - fixed) * 2 // 5
        if not self.way.again:  # then the answer is about as long as the text, or twice that
            room = min(room, LONGEST // 2)
        if room < SHORTEST:
            raise ExpertError(
                tr(
                    "{name} takes too few tokens for {task}.",
                    name=self.llm.name,
                    task=self.call.task,
                )
            )
        if estimated_tokens(text) <= room:
            return [text]
        parts: list[str] = []
        for piece in _pieces(text, room):
            if parts and estimated_tokens(f"{parts[-1]}\n\n{piece}") <= room:
                parts[-1] += f"\n\n{piece}"
            else:
                parts.append(piece)
        if len(parts) > MOST_PARTS:
            raise ExpertError(
                tr("The text is too long for {name}.", name=self.llm.name),
                hint=tr("Give it a shorter one."),
            )
        return parts


def _plain(path: Path) -> str:
    """The text of a table that is a plain one and not large; "" where it is anything else."""
    if path.suffix.lower() not in (".csv", ".tsv") or path.stat().st_size > LARGEST_TABLE:
        return ""
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        return ""


def _pieces(text: str, room: int) -> Iterable[str]:
    for paragraph in paragraphs(text, numbers=True):
        if estimated_tokens(paragraph) <= room:
            yield paragraph
            continue
        for sentence in sentences(paragraph):
            step = room * 3 // 4  # a character has up to four bytes, and a token about three
            yield from (sentence[at : at + step] for at in range(0, len(sentence), step))


def _choice_of(labels: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"label": {"enum": list(labels)}},
        "required": ["label"],
    }


def _without_fence(text: str) -> str:
    """The text out of the code fence that LLMs like to put a whole answer in."""
    found = re.fullmatch(r"```[\w-]*\n(.*?)\n?```", text, re.DOTALL)
    return found[1] if found and "```" not in found[1] else text


def _label_in(text: str, labels: Sequence[str]) -> str | None:
    """The one label that an answer names; None where it names none or several."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = text
    said = str(data.get("label", "") if isinstance(data, dict) else data).casefold()
    exact = [label for label in labels if said.strip(" .\"'*") == label.casefold()]
    named = [
        label for label in labels if re.search(rf"(?<!\w){re.escape(label.casefold())}(?!\w)", said)
    ]
    return (exact or named)[0] if len(exact or named) == 1 else None
