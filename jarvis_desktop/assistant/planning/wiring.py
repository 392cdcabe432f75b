"""Give each step its inputs, and make the tasks of a plan from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from jarvis_desktop.assistant.planning import inputs, planned_step, steps
from jarvis_desktop.assistant.planning.inputs import PortSource
from jarvis_desktop.assistant.planning.planned_step import PlannedStep
from jarvis_desktop.assistant.planning.request_parser import ParsedRequest
from jarvis_desktop.assistant.planning.table_phrases import MADE_WITH, SAVES
from jarvis_desktop.core.artifact import WRITTEN_TABLES, Artifact, Kind, kind_of_name
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import Arg, Item, Port, Ref, Task, TaskType
from jarvis_desktop.text import parts
from jarvis_desktop.text.lazy_re import lazy_re

_in_language = lazy_re(
    rf"\s*\b(?:in|into|to) (?:{'|'.join(planned_step.LANGUAGES)})$", re.IGNORECASE
)


_VERDICTS = frozenset(
    {"language-identification", "text-classification", "zero-shot-classification"}
    | {inputs.SIMILARITY, inputs.FILE_DETAILS}
)
"""Tasks whose result is only a word about their text."""
_EXTRACTS = frozenset(
    {inputs.COLLECT, inputs.COUNT_WORDS, "keyword-extraction", "token-classification"}
)
"""Tasks whose result is a list of words from their text, which nobody sums up."""

_ANSWERS = frozenset(
    {"document-question-answering", "question-answering", "visual-question-answering"}
)

SPEAKS_OF_WRITING = lazy_re(
    r"\b(?:text|words?|(?:reads?|sa(?:ys?|id))(?! (?:it|this|that|them)\b)|written|letter|mail|"
    r"e-?mail|sign|receipt|invoice|bill|"
    r"scan|page|note|document|screenshot|recipe|menu|label|poster|form|article|message)\b"
)
"""Words that speak of writing, as in "reply to the letter in this picture"."""


DESCRIBING = "image-to-text"
"""The task that says what a picture shows."""

_manner = lazy_re(
    r"(?:(?:(?:very|really|quite|a (?:bit|little)|more|and)\s+)*"
    r"(?:\w+ly|aloud|(?:out )?loud|fast|slow)(?:\s+|$))+"
)
"""Words that say how something is read, not what; a voice reads at its own pace, ..."""
_spoken = lazy_re(r"aloud|(?:out )?loud|loudly|vocally|orally")
"""... and these only say that it reads."""
_from_a_page = lazy_re(r"\bfrom(?= (?:the )?page \d)(?!.*\b(?:onwards?|on|to|until|till)\b)")


class MissingInputError(Exception):
    """A step has nothing to work on: which task, and which port."""

    def __init__(self, task_type: TaskType, port: Port) -> None:
        super().__init__(port.name)
        self.task_type = task_type
        self.port = port


LANGUAGE, SPEAKING = "language", "text-to-speech"
_a_language = lazy_re(rf"\b(?:{'|'.join(planned_step.LANGUAGES)})\b")
_several_languages = lazy_re(
    rf"\b(?:in|into|to)\s+(?:{'|'.join(planned_step.LANGUAGES)})"
    rf"(?:(?:\s*,\s*|\s+)(?:and\s+|then\s+)?(?:(?:in|into|to)\s+)?(?:{'|'.join(planned_step.LANGUAGES)}))+\b"
)
_counted = lazy_re(r"\b(?:words|letters|characters|sentences|lines)\b")
_with_words = (Kind.TEXT, Kind.DOCUMENT, Kind.TABLE)
"""In what words are counted; those of a picture or a recording have to be read first."""
_under_a_name = r"(?:,?\s*\b(?:as|to|in|into|called|named)\s+(?:an?\s+(?:\w+\s+)?)?)?"
_with_sound = (Kind.AUDIO, Kind.VIDEO)
_kept = {inputs.CUT: {(kind,) for kind in Kind}, inputs.JOIN: {(kind,) for kind in _with_sound}}
"""Kinds that stay what they are."""
_refers_back = {
    "calculator": lazy_re(r"\b(?:that|this|it|the (?:result|answer|sum|total))\b"),
    "clock": lazy_re(
        r"\b(?:till|until|til|to)(?: (?:then|it|that(?: day| date)?))?\W*$"
        r"|\bthe (?:first|second|last|former|latter)(?: (?:one|date|day|of \w+(?: two)?))?\W*$"
        r"|\b(?:week)?day (?:is|was) that\W*$"
    ),
}
"""Words that mean the result of an earlier task of the same type."""
_thing_in_it = lazy_re(r"(?:the|my|our|this|that)(?: [\w'-]+){1,3}")
"""What is read aloud of a document: "the packing list"."""
_to_a_file = lazy_re(
    r"\s+(?:as|in|to|into|under|als|unter)(?:\s+(?:an?|eine[rm]?)\s+(?:\w+\s+)?"
    r"(?:file|table|csv|list|sheet|datei|tabelle|liste))?$",
    re.IGNORECASE,
)
AS_A_TABLE = ", as a table"
"""The end of a question whose answer is to be a table."""


_side_by_side = lazy_re(
    r"\b(?:two|three|four|five|several|different|\d) (?:\w+ )?(?:versions|variants|copies)\b|"
    r"\bone (?:(?:copy|version) )?(?:in|as|with)\b.*\b(?:one|another)\b|"
    r"\bversion\b.*\bversion\b"
)
"""Words that ask for changes side by side, each of the file as it was."""
_behind = lazy_re(
    r"\b(?:(?:behind|after|to the end of|at the end of)|append xfile\S* to) (?:the )?xfile\d+x"
)
"""Words between two files that are to be joined the other way round."""
_older_behind = lazy_re(
    r"\bxfile\d+x\w* (?:\w+ ){0,3}?(?:compared (?:with|to)|since|as against) (?:the )?xfile\d+x"
)
"""Words between two texts of which the second is the older one: "what is new in b since a"."""
_before_format = lazy_re(r".*?(?=\b(?:(?:in)?to|as|an?)\b)")
_called = lazy_re(r"\b(?:the|my|this|that) (\w+)")


_several = lazy_re(r"\b[a-z]+s\b")


class PlanWiring:
    """Builds the tasks of one plan, step by step."""

    def __init__(
        self,
        reading: ParsedRequest,
        inventory: Sequence[TaskType],
        context: Context,
        *,
        tasks: Sequence[Task] = (),
    ) -> None:
        """`tasks` exist already."""
        self._reading = reading
        self._inventory = inventory
        self._given = [inputs.artifact_source(item) for item in context.attachments]
        self._earlier = inputs.conversation_sources(context)
        self._resources = inputs.conversation_resources(context)
        self._converted: dict[tuple[PortSource, str], PortSource] = {}
        self._routes: dict[tuple[tuple[Kind, ...], tuple[Kind, ...]], bool] = {}
        self._used: set[PortSource] = set()
        self._kinds: dict[int, tuple[Kind, ...]] = {}
        """The kinds of the results of each task."""
        self._groups = [[self._result(task)] for task in tasks]
        """The results of each step so far; several if it was done to several files."""
        self.unread: list[str] = []
        """What was asked besides and is in no task: no wish is dropped without a word."""
        self._wanted = {task.id for task in tasks if task.wanted}
        self._tasks = list(tasks)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks made so far."""
        return tuple(replace(task, wanted=task.id in self._wanted) for task in self._tasks)

    def add(self, step: PlannedStep) -> None:
        """Add the task or tasks of a step. Raises MissingInputError."""
        options: dict[str, Arg] = {**planned_step.read_options(step, self._reading)}
        words = self._reading.text[step.start : step.end]
        options |= self._with_earlier(step, options)
        content = [port for port in step.type.ports if port.name != inputs.QUESTION]
        if step.type.name == inputs.CHART and (asked := self._asked_of_table(step)):
            self._groups.append([self._append(step.type, {**options, **asked})])
            return
        if step.type.name == inputs.FILE_DETAILS:
            counted = _counted.search(planned_step.clause(step, self._reading).lower())
            kinds = tuple(k for k in content[0].kinds if not counted or k in _with_words)
            content = [replace(content[0], kinds=kinds if counted else kinds[:-1])]
        if step.type.port(inputs.QUESTION):
            options[inputs.QUESTION] = self._question(step)
        if step.type.port(inputs.PROMPT) and (material := step.type.port(inputs.MATERIAL)):
            given = self._order(step, material)
        else:
            given = self._inputs(step, content) if content else [{}]
        options |= self._free_wish(step, options)
        self.unread += step.unread
        said = self._said(step).lower() if step.type.name == SPEAKING else ""
        said = said.removeprefix("out ").removeprefix("loud ").removeprefix("aloud ")
        if _manner.fullmatch(said) and not _spoken.fullmatch(said):
            self.unread += [said] * all(said not in item.values() for item in given)
        extracts = step.type.name in _EXTRACTS
        spoken_of = self._steps_behind(given, of_several=extracts)
        if step.type.name in (inputs.CONVERT, inputs.SAVE):
            self._want_answers(spoken_of)
        if step.type.name == inputs.CONVERT:  # "into HTML, and then into a PDF as well"
            spoken_of = [item for item in spoken_of if item.step == inputs.CONVERT]
        elif (
            step.type.name not in _VERDICTS and not extracts
        ):  # "clean the recording, transcribe it"
            only_told = step.type.gives[:1] == (Kind.TEXT,)
            spoken_of = [it for it in spoken_of if only_told and it.kinds[0] is not Kind.TEXT]
        self._wanted |= {it.value.task_id for it in spoken_of if isinstance(it.value, Ref)}
        ways = [{**options, LANGUAGE: each} for each in self._languages(step)]
        if step.type.name == inputs.CONVERT:
            ways = [{**options, "format": each} for each in parts.formats_asked(words)]
        ways = ways or [options]
        self._groups.append(
            [self._append(step.type, {**item, **way}) for item in given for way in ways]
        )

    def _with_earlier(self, step: PlannedStep, options: Mapping[str, Arg]) -> dict[str, Arg]:
        """Return words that mean what was asked before, with that: "that times 3: 250 divided by
        8", "days till then: what day is Christmas"."""
        refers = _refers_back.get(step.type.name)
        for option in step.type.options:
            said = options.get(option.name)
            if option.reads != "clause" or not isinstance(said, str):
                continue
            if refers and refers.search(said.lower()):
                before = [it.args.get(option.name) for it in self._tasks if it.type == step.type]
                said_before = planned_step.without_joints(
                    self._reading.words(0, step.start)
                ).strip()
                earlier = next(reversed(before), said_before or self._reading.last_reply)
                if earlier:
                    return {option.name: f"{said.rstrip(' ?.!')}: {earlier}"}
        return {}

    def _question(self, step: PlannedStep) -> str:
        """Return the words of a step without the names of files to write, which ask nothing."""
        asked = planned_step.clause(step, self._reading)
        for item in self._reading.files_in(step.start, step.end):
            if item.output:
                asked = re.sub(rf"{_under_a_name}{re.escape(item.text)}", "", asked)
        return asked.strip(" ,")

    def _asked_of_table(self, step: PlannedStep) -> dict[str, Arg]:
        """Return what to draw if "it" is the answer about a table: its table and its question."""
        newest = next(iter(self._outputs), None)
        words = self._reading.text[step.start : step.end]
        if newest is None or newest.step != inputs.ASK_TABLE or not inputs.PRONOUN.search(words):
            return {}
        answer = next(task for task in self._tasks if Ref(task.id) == newest.value)
        question = f"{self._question(step)}: {answer.args[inputs.QUESTION]}"
        self._wanted.add(answer.id)
        self.unread += step.unread
        return {**answer.args, inputs.QUESTION: question}

    def _steps_behind(
        self, given: Sequence[Mapping[str, Arg]], *, of_several: bool
    ) -> list[PortSource]:
        """Return the results of steps that are used, as they are or converted; `of_several` also
        those that are used together with others."""
        made = {item.value: item for item in self._outputs}
        args = {Ref(task.id): task.args for task in self._tasks}
        found, used = [], list(given)
        for each in used:
            values = list(each.values())
            if of_several:
                values += [it for many in values if isinstance(many, tuple) for it in many]
            for ref in (item for item in values if isinstance(item, Ref)):
                if ref in made:
                    found.append(made[ref])
                else:
                    used.append(args[ref])
        return found

    def _languages(self, step: PlannedStep) -> list[str]:
        """Return the languages of a translation into several: "into French and German"."""
        if all(option.name != LANGUAGE for option in step.type.options):
            return []
        found = _several_languages.search(self._reading.text, step.start)
        if found is None or found.start() >= step.end:
            return []
        return [each[0].capitalize() for each in _a_language.finditer(found[0])]

    def save_as(self, task_type: TaskType, names: Sequence[str]) -> None:
        """Save the newest results under the names that the words gave them: a picture as that of
        a picture, whatever was answered after it."""
        kinds = _written_as(names)
        fits = (group for group in reversed(self._groups) if group[0].kinds[0] in kinds)
        for name, source in zip(names, next(fits, self._groups[-1]), strict=False):
            self._want_answers([source])
            args: dict[str, Arg] = {"content": source.value, "name": name}
            self._append(task_type, args)

    def _append(self, task_type: TaskType, args: dict[str, Arg]) -> PortSource:
        for task in self._tasks:
            if task.type == task_type and task.args == args:
                return self._result(task)
        fresh = max((task.id for task in self._tasks), default=-1) + 1
        self._tasks.append(Task(fresh, task_type, args))
        self._kinds[fresh] = self._kinds_made(self._tasks[-1])
        if task_type.name == inputs.SAVE and str(args.get("name", "")).endswith(WRITTEN_TABLES):
            self._answer_as_table(self._tasks[-1].depends_on)
        return self._result(self._tasks[-1])

    def _result(self, task: Task) -> PortSource:
        return PortSource(Ref(task.id), self._kinds.get(task.id, task.type.gives), task.type.name)

    def _kinds_made(self, task: Task) -> tuple[Kind, ...]:
        """Return the kinds of a task's results: those of one that takes any kind follow from its
        format or its file."""
        made = kind_of_name(f"x.{task.args.get('format')}")
        if task.type.name in (inputs.CONVERT, inputs.JOIN) and made:
            return (made,)
        if task.type.name in (inputs.CUT, inputs.JOIN):
            _, item = next(task.items())
            maker = item.task_id if isinstance(item, Ref) else -1
            kinds = (item.kind,) if isinstance(item, Artifact) else self._kinds.get(maker, ())
            return kinds if kinds[:1] in _kept[task.type.name] else task.type.gives
        return task.type.gives

    def _answer_as_table(self, ids: Collection[int]) -> None:
        """Save the rows of an answer as a table, and tell the sentence with them, or a doubt."""
        for place, task in enumerate(self._tasks):
            if task.id in ids and task.type.name == inputs.ASK_TABLE:
                asked = str(task.args[inputs.QUESTION]).rstrip(" ?.!")
                begun = MADE_WITH.match(asked.lower()) or SAVES.match(asked.lower())
                asked = _to_a_file.sub("", asked)
                question = f"{asked[begun.end() if begun else 0 :]}{AS_A_TABLE}"
                args = {**task.args, inputs.QUESTION: question}
                self._tasks[place] = replace(task, args=args)
                self._wanted.add(task.id)

    def _inputs(self, step: PlannedStep, content: list[Port]) -> list[dict[str, Arg]]:
        """Return what the content ports get, for each task to make."""
        required = [port for port in content if port.required]
        first = (required or content)[0]
        alike = [port for port in required if port.kinds == first.kinds] or [first]
        found = [self._part(step, item) for item in self._choose(step, first, len(alike))]
        if spare := [
            p for p in content if not p.required and p.kinds == first.kinds != (Kind.TEXT,)
        ]:
            found, alike = _with_spare(found, [*alike, *spare], len(alike))
        if not found and not required:
            return [{}]
        if len(found) < len(alike):
            raise MissingInputError(step.type, first)
        if step.type.name == inputs.JOIN and len(found) == 1:  # "and append b.pdf"
            found = [*self._joined_to(found[0], first), *found]
        elif (
            step.type.name == inputs.JOIN
            and _behind.search(self._reading.text, step.start, step.end)
        ) or (
            step.type.name == inputs.DIFFERENCES
            and _older_behind.search(self._reading.text, step.start, step.end)
        ):
            found.reverse()
        others = {port.name: self._one(step, port) for port in required if port not in alike}
        if len(alike) > 1:
            pairs = zip(alike, found, strict=False)
            return [{port.name: self._bring(item, port) for port, item in pairs} | others]
        brought = [self._bring(item, first) for item in found]
        if first.many:
            return [{first.name: tuple(brought), **others}]
        return [{first.name: item, **others} for item in brought]

    def _joined_to(self, last: PortSource, port: Port) -> list[PortSource]:
        """Return what a single file is joined to: the newest result, else the other files."""
        made = [item for item in self._outputs if set(item.kinds) & set(port.kinds)][:1]
        return [item for item in made or self._given if item != last]

    def _part(self, step: PlannedStep, source: PortSource) -> PortSource:
        """Cut out the pages or seconds that the words name: "summarise the first page"."""
        cut = next((item for item in self._inventory if item.name == inputs.CUT), None)
        named = inputs.PARTS.get(source.kinds[0])
        own = {option.reads for option in step.type.options} & {"pages", "times", "moment"}
        if cut is None or named is None or own:
            return source
        words = self._reading.text[step.start : step.end]
        if source.kinds[0] in step.type.gives and step.type.name != inputs.CONVERT:
            # An effect is for the whole recording, but a fade is at its end.
            asked_for = planned_step.read_options(step, self._reading).values()
            fades = any(str(value).startswith("fade") for value in asked_for)
            self.unread += filter(None, ["" if fades else parts.named_stretch(words)])
            return source
        asked = parts.pages_asked if named == "pages" else parts.times_asked
        part = asked(_from_a_page.sub("of", words))
        if not part or part.startswith("every"):
            return source
        action = {"action": "remove"} if steps.LEAVING_OUT.search(words) else {}
        made = self._append(cut, {cut.ports[0].name: source.value, **action, named: part})
        return replace(made, kinds=source.kinds)

    def _free_wish(self, step: PlannedStep, options: Mapping[str, Arg]) -> dict[str, Arg]:
        """Return a free wish in the user's words, unless a word named the edit."""
        port = step.type.port(inputs.PROMPT)
        if port is None or port.required or options.get(step.type.exact):
            return {}
        quoted = self._reading.quotes_in(step.start, step.end)
        told = planned_step.wish if step.type.exact else planned_step.prompt
        text = quoted[0] if quoted else told(step, self._reading)
        return {port.name: text} if text else {}

    def _order(self, step: PlannedStep, material: Port) -> list[dict[str, Arg]]:
        """Return the user's words as the prompt, each time with a text that they are about, if they
        are about one. A picture is about its text only if the words speak of one: of a photo that
        gets a caption it is said what it shows."""
        prompt: dict[str, Arg] = {inputs.PROMPT: planned_step.clause(step, self._reading)}
        port = replace(material, name=inputs.PROMPT)
        found = [item for item in self._choose(step, port, 1) if not isinstance(item.value, str)]
        if not SPEAKS_OF_WRITING.search(self._reading.text):
            found = [self._seen(step, item) for item in found]
            found = [item for item in found if Kind.IMAGE not in item.kinds]
        brought = [{**prompt, material.name: self._bring(item, material)} for item in found]
        return brought or [prompt]

    def _seen(self, step: PlannedStep, source: PortSource) -> PortSource:
        """Return in words what a picture shows, if the step is about it: who writes the text does
        not see it. Without an expert for that the step says so."""
        words = self._reading.text[step.start : step.end]
        spoken_of = (
            Kind.IMAGE in inputs.mentioned_kinds(words)
            or inputs.PRONOUN.search(words)
            or source in self._named(step)
        )
        describe = next((it for it in self._inventory if it.name == DESCRIBING), None)
        if Kind.IMAGE not in source.kinds or not spoken_of or describe is None:
            return source
        args: dict[str, Arg] = {describe.ports[0].name: source.value, "what": "caption"}
        return self._append(describe, args)

    def _one(self, step: PlannedStep, port: Port) -> Arg:
        found = self._choose(step, port, 1, direct=True) or self._choose(step, port, 1)
        if not found:
            raise MissingInputError(step.type, port)
        return self._bring(found[0], port)

    def _choose(
        self, step: PlannedStep, port: Port, count: int, *, direct: bool = False
    ) -> list[PortSource]:
        """Return the sources for a port, from the most to the least clear reference. `direct`
        leaves out those that would have to be converted."""
        words = self._reading.text[step.start : step.end]
        arranges = step.type.name == inputs.ARRANGE
        looks: tuple[Callable[[], list[PortSource]], ...] = (
            lambda: self._named(step) or self._called_by_kind(step, words),
            lambda: self._quoted(step, port),
            lambda: self._referred(step),
            lambda: self._rest(words),
            lambda: [] if arranges else self._ordinal(words, port),  # "copies of each other"
            lambda: self._meant(step, words, port),
            lambda: self._plural(words, port),
            lambda: self._pointed_at(step, words, port),
            lambda: self._partly(step, words),
            lambda: self._spoken_words(step, port),
            lambda: self._following(step, port),
            lambda: self._attached(words, port, step),
            lambda: self._several(port, count),
            lambda: self._pasted(port),
            lambda: self._literal(step, port),
            lambda: self._best(self._outputs, port),
            lambda: self._best(self._of_conversation(step, words), port),
        )
        for look in looks:
            fitting = [
                item
                for item in look()
                if (set(item.kinds) & set(port.kinds) if direct else self._leads(item, port))
                and self._can_become(item, step)
            ]
            if arranges:  # "rename the photos" leaves the rest alone
                called = inputs.mentioned_kinds(" ".join(_several.findall(words)))
                fitting = [item for item in fitting if called & set(item.kinds)] or fitting
            if fitting and len(fitting) >= count:
                return fitting
        return []

    def _can_become(self, source: PortSource, step: PlannedStep) -> bool:
        """Return whether a step may take a source: sound is only made of recordings and videos, and
        an edit of a picture takes no still of a video unless the words speak of one."""
        ports = step.type.ports[:1]
        if Kind.VIDEO in source.kinds and step.type.gives[:1] == (Kind.IMAGE,):
            words = self._reading.text[step.start : step.end]
            return Kind.VIDEO in ports[0].kinds or inputs.OF_A_STILL.search(words) is not None
        if step.type.name != inputs.CONVERT:
            return True
        asked = planned_step.read_options(step, self._reading).get("format")
        made = kind_of_name(f"x.{asked}")
        return made is not Kind.AUDIO or not set(source.kinds).isdisjoint(_with_sound)

    @property
    def _outputs(self) -> list[PortSource]:
        """The results of the steps so far, the newest first."""
        return [item for group in reversed(self._groups) for item in group]

    def _outputs_for(self, step: PlannedStep) -> list[PortSource]:
        """The results that "it" may be in this step: a verdict may be said, and saved if there is
        nothing else, but what is translated or answered is the text that it is about."""
        told = _VERDICTS | ({inputs.ASK_TABLE} if step.type.name == inputs.ASK_TABLE else set())
        if step.type.name in (*_VERDICTS, *_EXTRACTS, steps.SUMMARY):
            told |= _EXTRACTS | _ANSWERS
        if step.type.name in _EXTRACTS:  # "summarise it and list who is mentioned in it"
            told |= {steps.SUMMARY}
        found = [item for item in self._outputs if item.step not in told]
        if not any(Kind.AUDIO in port.kinds for port in step.type.ports):
            found = [item for item in found if item.step != SPEAKING]
        if step.type.name == SPEAKING:
            return self._outputs
        if step.type.name == inputs.SAVE:
            named = self._reading.files_in(step.start, step.end)
            kinds = _written_as([item.name for item in named if item.output])
            spoken = {it.args["text"] for it in self._tasks if it.type.name == SPEAKING}
            said = [self._result(it) for it in self._tasks if Ref(it.id) in spoken]
            pool = [*(found or self._outputs), *said]
            return sorted(pool, key=lambda item: item.kinds[0] not in kinds)
        if step.type.name == inputs.CONVERT:
            # The file itself is converted, and not what was read in it, said about it or saved.
            made = [item for item in found if item.step != inputs.SAVE] or found
            as_text = "txt" in planned_step.read_options(step, self._reading).values()
            read = [item for item in made if as_text or item.step != "document-to-text"]
            return read if self._given else made or self._outputs
        return found

    def _named(self, step: PlannedStep) -> list[PortSource]:
        names = [
            item.name.lower()
            for item in self._reading.files_in(step.start, step.end)
            if not item.output
        ]
        known = {**_by_name(self._earlier), **_by_name(self._given)}
        return list(dict.fromkeys(known[name] for name in names if name in known))

    def _called_by_kind(self, step: PlannedStep, words: str) -> list[PortSource]:
        """Return the one of several given files that a conversion calls by its kind or ending, and
        that no step has changed: "the PDF to Word and the picture to JPG"."""
        if step.type.name != inputs.CONVERT or len(self._given) < 2:
            return []
        what = _before_format.match(words)
        called = set(_called.findall(what[0] if what else words))
        taken = {value for task in self._tasks for value in task.args.values()}
        found = []
        for item in self._given:
            artifact = item.value
            ending = PurePath(artifact.title).suffix[1:] if isinstance(artifact, Artifact) else ""
            kinds = {inputs.NOUNS.get(noun) for noun in called}
            if (ending.lower() in called or item.kinds[0] in kinds) and artifact not in taken:
                found.append(item)
        return found if len(found) == 1 else []

    def _of_conversation(self, step: PlannedStep, words: str) -> list[PortSource]:
        """Return what a step without a clear reference may mean of the conversation: nothing if it
        names a file that it does not take as it is, or if it takes none of those that came with
        the request, since another file is not meant."""
        ports = [it for it in step.type.ports if it.name not in (inputs.QUESTION, inputs.PROMPT)]
        if self._given and not any(self._leads(it, port) for it in self._given for port in ports):
            return []
        kinds = {kind for port in ports for kind in port.kinds}
        named = self._named(step)
        if named and not any(kinds & set(item.kinds) for item in named):
            return []
        return self._spoken_of(step, words) or self._earlier

    def _quoted(self, step: PlannedStep, port: Port) -> list[PortSource]:
        if Kind.TEXT not in port.kinds:
            return []
        quoted = self._reading.quotes_in(step.start, step.end)
        if step.type.name == inputs.EDIT_TEXT:  # replace “this” with “that”: neither is the text
            quoted = [] if self._given or len(quoted) == 2 else quoted[-1:]
        return [PortSource(text, (Kind.TEXT,)) for text in quoted]

    def _referred(self, step: PlannedStep) -> list[PortSource]:
        made = (*self._outputs, *self._earlier)
        return [item for item in made if item.step in step.refers_to][:1]

    def _ordinal(self, words: str, port: Port) -> list[PortSource]:
        fitting = [item for item in self._given if self._leads(item, port)]
        if parts.pages_asked(words):  # "without the first page" means no file
            fitting = [item for item in fitting if Kind.DOCUMENT not in item.kinds]
        index = inputs.parse_ordinal(words, len(fitting))
        return [fitting[index]] if index is not None and len(fitting) > 1 else []

    def _meant(self, step: PlannedStep, words: str, port: Port) -> list[PortSource]:
        """Return what words such as "the first picture I gave you" mean in the conversation. Raises
        MissingInputError if they mean something that never existed."""
        if not self._resources:
            return []
        pool = {
            item: source
            for item in self._resources
            if self._leads(source := inputs.artifact_source(item.artifact), port)
        }
        newest_here = self._outputs and inputs.NEWEST.search(words)
        found = inputs.find_references(words, list(pool), outright=bool(self._given or newest_here))
        if found == [] and not self._given:
            raise MissingInputError(step.type, port)
        return [pool[item] for item in found or ()]

    def _plural(self, words: str, port: Port) -> list[PortSource]:
        if not inputs.PLURAL.search(words) or self._groups:
            return []
        return [item for item in self._given if self._leads(item, port)]

    def _rest(self, words: str) -> list[PortSource]:
        """Return the given files that no step has used yet: "the other two"."""
        taken = {item for task in self._tasks for _, item in task.items()}
        left = [item for item in self._given if item.value not in taken]
        return left if inputs.OTHERS.search(words) and taken else []

    def _several(self, port: Port, count: int) -> list[PortSource]:
        """Return the given files, if a task needs more than one: "and how similar are they?"."""
        return [it for it in self._given if self._leads(it, port)] if count > 1 else []

    def _pasted(self, port: Port) -> list[PortSource]:
        """Return the text that all of a request is about, at its end behind a colon."""
        text = self._reading.quotes[-1:] if self._reading.has_body else ()
        return [PortSource(each, (Kind.TEXT,)) for each in text if Kind.TEXT in port.kinds]

    def _pointed_at(self, step: PlannedStep, words: str, port: Port) -> list[PortSource]:
        """Return what "it" is: the previous result, else what the conversation had last."""
        rest = self._without_cue(step, words)
        if not inputs.PRONOUN.search(rest):
            return []
        outputs = self._outputs_for(step)
        pool = outputs if self._given else [*outputs, *self._earlier]
        if spoken_of := inputs.mentioned_kinds(rest):
            meant = [item for item in (*pool, *self._given) if set(item.kinds) & spoken_of]
            pool = meant or pool
        return self._best(pool, port)

    def _spoken_of(self, step: PlannedStep, words: str) -> list[PortSource]:
        """Return what earlier turns have of the kinds that the words mention: "the letter"."""
        kinds = inputs.mentioned_kinds(self._without_cue(step, words))
        return [item for item in self._earlier if set(item.kinds) & kinds]

    def _without_cue(self, step: PlannedStep, words: str) -> str:
        cue = self._reading.text[step.cue.start : step.cue.end]
        return words.replace(cue, " ", 1)

    def _partly(self, step: PlannedStep, words: str) -> list[PortSource]:
        """Return the given files of which the words name a part: "translate the last page"."""
        if step.type.name == inputs.CUT or not parts.pages_asked(words):
            return []
        return [item for item in self._given if Kind.DOCUMENT in item.kinds]

    def _spoken_words(self, step: PlannedStep, port: Port) -> list[PortSource]:
        """Return the words themselves, for a task that takes a few words: "then say hello"."""
        takes_words = step.type.name in inputs.FOLLOWING and port.kinds == (Kind.TEXT,)
        if takes_words and _manner.fullmatch(self._said(step).lower()):
            return []  # unless there is nothing else: "say slowly"
        speaks_of = inputs.mentioned_kinds(self._said(step).lower())
        return self._literal(step, port) if takes_words and not speaks_of else []

    def _following(self, step: PlannedStep, port: Port) -> list[PortSource]:
        """Return the previous result if this kind of task continues with it implicitly."""
        if step.type.name in inputs.FOLLOWING:
            found = self._best(self._outputs_for(step), port)
            self._want_changes(found if step.type.name == inputs.SAVE else ())
            return found
        if _side_by_side.search(self._reading.text):
            return []
        changes_files = step.type.gives[:1] == port.kinds[:1] and Kind.TEXT not in port.kinds
        changes_files |= any(item.step in inputs.EDITING for item in self._outputs)
        same = [item for item in self._outputs if item.kinds[0] in port.kinds]
        if step.type.name == inputs.FILE_DETAILS:
            changes_files |= any(item.kinds[0] is not Kind.TEXT for item in same[:1])
        if step.type.name not in (inputs.EDIT_TABLE, inputs.CONVERT):
            self._want_changes(same[:1])
        return self._best(same, port) if changes_files else []

    def _want_answers(self, used: Sequence[PortSource]) -> None:
        """An answer is told even if it is then saved."""
        told = _VERDICTS | _ANSWERS | {inputs.ASK_TABLE}
        self._wanted |= {
            item.value.task_id for item in used if item.step in told and isinstance(item.value, Ref)
        }

    def _want_changes(self, used: Sequence[PortSource]) -> None:
        """A table that was changed is shown even if it is then asked, drawn or saved."""
        self._wanted |= {
            item.value.task_id
            for item in used
            if item.step == inputs.EDIT_TABLE and isinstance(item.value, Ref)
        }

    def _attached(self, words: str, port: Port, step: PlannedStep) -> list[PortSource]:
        fitting = [item for item in self._given if self._leads(item, port)]
        # A list of files is a table or text itself.
        arranged = step.type.name == inputs.ARRANGE
        spoken_of = set() if arranged else inputs.mentioned_kinds(words)
        fitting = [item for item in fitting if set(item.kinds) & spoken_of] or fitting
        named = any(not item.output for item in self._reading.files)
        fresh = [item for item in fitting if item not in self._used] or fitting
        if port.many and not named:  # a second question is about all the tables too
            fresh = fitting
        direct = [item for item in fresh if set(item.kinds) & set(port.kinds)] or fresh
        # The first step takes all attached files; a later one those left over, or the first.
        chosen = direct if not named and (port.many or not self._groups) else direct[:1]
        self._used.update(chosen)
        return chosen

    def _literal(self, step: PlannedStep, port: Port) -> list[PortSource]:
        if Kind.TEXT not in port.kinds or step.type.port(inputs.QUESTION):
            return []
        text = self._said(step)
        if port.name == inputs.PROMPT:
            steered = step.type.ports[0] is not port
            told = planned_step.described if steered else planned_step.prompt
            text = told(step, self._reading)
        short = step.type.gives[:1] != (Kind.TEXT,) or step.type.name in inputs.FOLLOWING
        fewest = 1 if short or port.name == inputs.PROMPT else planned_step.MIN_TEXT_WORDS
        if port.name == inputs.PROMPT and not text:
            text = planned_step.clause(step, self._reading)
        return [PortSource(text, (Kind.TEXT,))] if len(text.split()) >= fewest else []

    def _said(self, step: PlannedStep) -> str:
        """Return the words to work on."""
        asked = step.type.name == "translation" and planned_step.to_translate(step, self._reading)
        behind = asked or _in_language.sub("", planned_step.after_cue(step, self._reading))
        said = behind or planned_step.between_cues(step, self._reading)
        of_file = step.type.name == SPEAKING and any(
            item.kinds[:1] == (Kind.DOCUMENT,) for item in self._given
        )
        names = planned_step.ONLY_A_PART.fullmatch(said.lower())
        return "" if names or (of_file and _thing_in_it.fullmatch(said.lower())) else said

    def _best(self, pool: Sequence[PortSource], port: Port) -> list[PortSource]:
        """Return the first source whose main kind fits, else that fits at all, else that can be
        converted. If its step worked on several files, the other results of the step come with it.
        """
        accepts: tuple[Callable[[PortSource], bool], ...] = (
            lambda item: item.kinds[0] in port.kinds,
            lambda item: bool(set(item.kinds) & set(port.kinds)),
            lambda item: self._leads(item, port),
        )
        for accept in accepts:
            if found := next((item for item in pool if accept(item)), None):
                return next((group for group in self._groups if found in group), [found])
        return []

    def _leads(self, source: PortSource, port: Port) -> bool:
        ends = (source.kinds, port.kinds)
        if ends not in self._routes:  # a long conversation has many artifacts of few kinds
            self._routes[ends] = inputs.find_route(*ends, self._inventory) is not None
        return self._routes[ends]

    def _bring(self, source: PortSource, port: Port) -> Item:
        """Return the source as the port takes it, through converters if necessary."""
        converters = list(inputs.find_route(source.kinds, port.kinds, self._inventory) or ())
        if port.through and not self._is_already(source, port):
            converters += [item for item in self._inventory if item.name == port.through]
        for converter in converters:
            key = (source, converter.name)
            if key not in self._converted:
                self._converted[key] = self._asked_for(source, converter) or self._append(
                    converter, {converter.ports[0].name: source.value}
                )
            source = self._converted[key]
        return source.value

    def _is_already(self, source: PortSource, port: Port) -> bool:
        """Return whether it is already what the port's `through` would make of it, by origin or
        name."""
        if source.step == port.through:
            return True
        if not port.known_as:
            return False
        names = "|".join(re.escape(name).replace(r"\ ", r"[\s_-]+") for name in port.known_as)
        title = source.value.title if isinstance(source.value, Artifact) else ""
        return bool(
            re.search(rf"(?:^|[\W_])(?:{names})(?:$|[\W_])", title.lower())
            or re.search(rf"\b(?:this|that|my) (?:{names})\b", self._reading.text)
        )

    def _asked_for(self, source: PortSource, converter: TaskType) -> PortSource | None:
        """Return the result of a step that did this conversion because it was asked for."""
        for task in self._tasks:
            value = task.args.get(converter.ports[0].name)
            if task.type == converter and value == source.value:
                self._wanted.add(task.id)
                return PortSource(Ref(task.id), converter.gives, converter.name)
        return None


def _written_as(names: Sequence[str]) -> set[Kind | None]:
    """Return the kinds of results that files of these names are written of as they are."""
    kinds = {kind_of_name(name) for name in names}
    drawn = any(name.endswith(".svg") for name in names)
    return kinds | ({Kind.TEXT} if Kind.DOCUMENT in kinds and not drawn else set())


def _with_spare(
    found: list[PortSource], ports: list[Port], needed: int
) -> tuple[list[PortSource], list[Port]]:
    """Pair sources and ports if there is one for an optional port, such as a mask. That is the
    source with a fitting name, else the last one."""
    if len(found) < len(ports):
        return found, ports[:needed]
    for at, port in enumerate(ports[needed:], needed):
        names = tuple(port.known_as)
        called = [item for item in found if any(name in _title(item) for name in names)]
        if called:
            rest = [item for item in found if item is not called[0]]
            found = [*rest[:at], called[0], *rest[at:]]
    return found, ports


def _title(source: PortSource) -> str:
    return source.value.title.lower() if isinstance(source.value, Artifact) else ""


def _by_name(found: Sequence[PortSource]) -> dict[str, PortSource]:
    return {
        item.value.title.lower(): item
        for item in reversed(found)
        if isinstance(item.value, Artifact)
    }
