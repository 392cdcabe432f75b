"""The LLM backend: the LLM does tasks itself, by prompts; its inputs are marked as data."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from jarvis_desktop.backends.draft import Draft, TextFilter, UnfilteredText
from jarvis_desktop.backends.result_checks import checked, early_doubt
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.context import current_draft
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, Fault, InputError, UnavailableError
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.llm import (
    LLM,
    MAX_IMAGE_TOKENS,
    LLMs,
    Message,
    MessageRole,
    Prompt,
    answer,
    estimated_tokens,
)
from jarvis_desktop.core.task import Call, Report, report_part
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.images.classification import labels_of as picture_labels_of
from jarvis_desktop.tasks.text.classification import labels_of
from jarvis_desktop.text.quotation import ANY_MARK, marked_off
from jarvis_desktop.text.sentences import paragraphs, sentences

MAX_ANSWER_TOKENS = 2048
MIN_ANSWER_TOKENS = 64  # an answer must have room for these
OVERHEAD_TOKENS = 128  # added to a prompt by a provider
MAX_OPTION_CHARS = 500
MAX_TABLE_BYTES = 100_000  # of a table that is put into a prompt; a larger one does not fit anyway
MAX_PARTS = 200  # of a long text: more would take hours


class PromptTemplate(Protocol):
    """A prompt with slots."""

    def filled(self, **values: str) -> str:
        """Fill the slots. Raises StorageError if one has no value."""


class PromptTemplates(Protocol):
    """The prompts: `task` is put around each of the others, which are named after their tasks."""

    def template(self, name: str) -> PromptTemplate:
        """Return a prompt by name. Raises StorageError."""


@dataclass(frozen=True, slots=True)
class LLMMethod:
    """How an LLM does a task."""

    order: str = ""  # the port with the instruction, which is therefore not marked as data
    sees: bool = False  # whether it needs a vision LLM
    labels: Callable[[Call], Sequence[str]] | None = None  # the answer must be one of them
    says: str = "{}"  # the result, around the label
    parts: str = ""  # the port whose text is done in parts if it is too long
    again: bool = False  # whether the joined results of the parts are done again
    faithful: bool = False
    """Whether the answer must not name files or links that are not in the call."""
    temperature: float = 0.0


LLM_METHODS: Mapping[str, LLMMethod] = {
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
"""The tasks with a good prompt: resources/prompts/task_NAME.md."""


class LLMBackend:
    """The "llm" backend: uses the current LLM."""

    name = "llm"
    lane = "llm"

    def __init__(
        self,
        llms: LLMs,
        templates: PromptTemplates,
        definitions: Mapping[str, Definition],
        *,
        ways: Mapping[str, LLMMethod] = LLM_METHODS,
        guard: Callable[[str], TextFilter] = lambda given: UnfilteredText(),
        cannot_know: Callable[[str], str] = lambda text: "",
    ) -> None:
        """`guard(given)` removes files and links that are not in `given` from an answer.

        `cannot_know` returns why no LLM can know what a text asks for, else ""; it may block.
        """
        self._llms = llms
        self._templates = templates
        self._definitions = definitions
        self._ways = ways
        self._guard = guard
        self._cannot_know = cannot_know

    @staticmethod
    def can_do(task: str, llm: LLM) -> bool:
        """Whether there is a good prompt for the task, and the LLM can see if it must."""
        way = LLM_METHODS.get(task)
        return way is not None and (llm.sees or not way.sees)

    def question(self, call: Call) -> str:
        """An LLM only answers, and the mode has allowed that, so there is nothing to ask."""
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """Return the LLM's answer. Raises JarvisError; cancelling stops the LLM."""
        way = self._ways.get(call.task)
        llm = await self._llms.current()
        if way is None or llm is None or (way.sees and not llm.sees):
            raise UnavailableError(
                tr("There is no LLM that could do this now."),
                hint=tr("See what is missing with: jarvis-desktop doctor."),
            )
        if set(call.inputs) == {way.order}:  # it is asked for words out of nothing
            words = call.text(way.order)
            if reason := await asyncio.to_thread(self._cannot_know, words):
                raise InputError(reason)
        guard = self._guard if way.faithful else lambda given: UnfilteredText()
        work = _LLMTaskRun(llm, way, call, self._instruction(call), report, guard)
        return checked([text_artifact(await work.result())], self._definitions[call.task].type)

    def _instruction(self, call: Call) -> str:
        options = {
            name: one_line(str(value), limit=MAX_OPTION_CHARS)
            for name, value in call.options.items()
        }
        own = self._templates.template(f"task_{call.task}").filled(**options)
        return self._templates.template("task").filled(instruction=own, mark=ANY_MARK)


@dataclass(frozen=True, slots=True)
class _LLMTaskRun:
    """One call."""

    llm: LLM
    way: LLMMethod
    call: Call
    instruction: str
    report: Report
    guard: Callable[[str], TextFilter]

    def _error(
        self,
        message: str,
        *,
        hint: str = "",
        fault: Fault = Fault.OTHER,
        retryable: bool = False,
        **values: object,
    ) -> ExpertError:
        """Return an error with a marked message, in which {name} is the LLM."""
        words = tr(message, name=self.llm.name, **values)
        return ExpertError(words, hint=hint, fault=fault, retryable=retryable)

    async def result(self) -> str:
        """The LLM's result for the call, in parts if it is long."""
        self.report(None, tr("{name} is at work", name=self.llm.name))
        port = self.way.parts
        if not port:
            return await self._answer({})
        text = self.call.text(port)
        while len(parts := self._parts(text)) > 1:
            done: list[str] = []
            for at, part in enumerate(parts):
                report_part(self.report, at, len(parts))
                done.append(await self._answer({port: part}, at))
            longer, text = text, "\n\n".join(done)
            if not self.way.again:
                return text
            if len(text) > len(longer) * 3 // 4:  # it might never fit
                raise self._error(mark("{name} did not make the text shorter."), fault=Fault.ANSWER)
        return await self._answer({port: text})

    async def _answer(self, instead: Mapping[str, str], part: int | None = None) -> str:
        """One answer; `instead` replaces the texts of ports. `part` is its number, from 0, if it is
        not the whole result."""
        labels = self.way.labels(self.call) if self.way.labels else ()
        prompt = self._prompt(instead, labels)
        draft = self._draft(prompt, part)
        await answer(self.llm, prompt, take=draft.feed)
        text = draft.finished()
        if not labels:
            return text
        label = _label_in(text, labels)
        if label is None:
            raise self._error(
                mark("{name} chose none of: {labels}."),
                labels=", ".join(labels),
                retryable=True,
                fault=Fault.ANSWER,
            )
        return self.way.says.format(label)

    def _draft(self, prompt: Prompt, part: int | None) -> Draft:
        """Show an answer while it is written, unless it is a label or will be summarised again."""
        show, before = current_draft.get(), "\n\n" if part else ""

        def show_after(piece: str) -> None:
            nonlocal before
            show(before + piece)
            before = ""

        guard = self.guard("\n".join(message.text for message in prompt.messages))
        if self.way.labels or (part is not None and self.way.again):
            return Draft(lambda piece: None, guard)
        if part is not None:  # if one were held back, the next ones would be out of order
            return Draft(show_after, guard)
        return Draft(show, guard, doubt=partial(early_doubt, call=self.call))

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
                    raise self._error(mark("{name} cannot read {title}."), title=item.title)
        messages = (
            Message(MessageRole.SYSTEM, self.instruction),
            Message(MessageRole.USER, "\n\n".join(said) or "The picture.", tuple(pictures)),
        )
        choice = {"label": {"enum": list(labels)}}
        schema = {"type": "object", "properties": choice, "required": ["label"]} if labels else None
        room = self.llm.window - Prompt(messages).tokens - MAX_IMAGE_TOKENS * len(pictures)
        room -= estimated_tokens(json.dumps(schema)) + OVERHEAD_TOKENS  # providers add it
        if room < MIN_ANSWER_TOKENS:
            raise self._error(
                mark("The text is too long for {name}."), hint=tr("Give it only a part of it.")
            )
        return Prompt(
            messages, schema, longest=min(MAX_ANSWER_TOKENS, room), temperature=self.way.temperature
        )

    def _said(self, port: str, item: Artifact, instead: Mapping[str, str]) -> str:
        """A text of the call; only the user's own words are an instruction."""
        text = instead.get(port, item.text or "")
        if port == self.way.order and item.made_by is None:
            return text
        return f"{port}:\n{marked_off(text, self.call.task)}"

    def _parts(self, text: str) -> list[str]:
        """Split the text into whole paragraphs or sentences, each with room for its answer."""
        fixed = estimated_tokens(self.instruction) + OVERHEAD_TOKENS
        room = (self.llm.window - fixed) * 2 // 5
        if not self.way.again:  # the answer is about as long as the text, or twice that
            room = min(room, MAX_ANSWER_TOKENS // 2)
        if room < MIN_ANSWER_TOKENS:
            raise self._error(
                mark("{name} has too small a context for {task}."), task=self.call.task
            )
        if estimated_tokens(text) <= room:
            return [text]
        parts: list[str] = []
        for piece in _pieces(text, room):
            if parts and estimated_tokens(f"{parts[-1]}\n\n{piece}") <= room:
                parts[-1] += f"\n\n{piece}"
            else:
                parts.append(piece)
        if len(parts) > MAX_PARTS:
            raise self._error(
                mark("The text is too long for {name}."), hint=tr("Give it a shorter one.")
            )
        return parts


def _plain(path: Path) -> str:
    """The text of a small table that is written as one; "" for any other."""
    written = path.suffix.lower() in (".csv", ".tsv", ".json", ".jsonl")
    if not written or path.stat().st_size > MAX_TABLE_BYTES:
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
            step = room * 3 // 4  # a character has up to four bytes, a token about three
            yield from (sentence[at : at + step] for at in range(0, len(sentence), step))


def _label_in(text: str, labels: Sequence[str]) -> str | None:
    """The one label that an answer names; None if it names none or several."""
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
