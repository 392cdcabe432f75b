"""Real, small implementations of the ports for tests; each passes its port's contract suite."""

from __future__ import annotations

import asyncio
import re
import shutil
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from jarvis_desktop.assistant.planning.inputs import resources_of
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.code import Allow, CodeRequest, Verdict
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, InputError, JarvisError
from jarvis_desktop.core.events import Event
from jarvis_desktop.core.expert import Candidate, Experience, Expert
from jarvis_desktop.core.goal import Outline
from jarvis_desktop.core.llm import LLM, Ability, Prompt
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Fact, Recap, Resource, Review
from jarvis_desktop.core.task import Call, Port, Report, TaskOption, TaskType
from jarvis_desktop.core.turn import Conversation, Turn


@dataclass
class FakeFrontend:
    """Keeps what it was shown, and answers as scripted."""

    events: list[Event] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    consent: bool = True
    answer: str = ""
    edit: Callable[[Plan], Plan | None] = lambda plan: plan
    outlines: list[Outline] = field(default_factory=list)
    revise: Callable[[Outline], Review | None] = Review
    codes: list[CodeRequest] = field(default_factory=list)
    judge: Callable[[CodeRequest], Verdict] = lambda code: Verdict(Allow.ONCE, code.source)

    def show(self, event: Event) -> None:
        self.events.append(event)

    async def review(self, plan: Plan) -> Plan | None:
        return self.edit(plan)

    async def confirm(self, question: str, *, yes: str = "") -> bool:
        self.questions.append(question)
        return self.consent

    async def ask(self, question: str) -> str:
        self.questions.append(question)
        return self.answer

    async def review_outline(self, outline: Outline, why: str) -> Review | None:
        self.outlines.append(outline)
        return self.revise(outline)

    async def review_code(self, code: CodeRequest) -> Verdict:
        self.codes.append(code)
        return self.judge(code)


@dataclass
class FakeBackend:
    """Runs calls with a given coroutine function, and remembers them."""

    name: str = "builtin"
    lane: str = "instant"
    does: Callable[[Candidate, Call], Sequence[Artifact]] | None = None
    calls: list[Call] = field(default_factory=list)
    ask: str = ""

    def question(self, call: Call) -> str:
        return self.ask

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        self.calls.append(call)
        await asyncio.sleep(0)
        return self.does(candidate, call) if self.does else ()


def server_tools(count: int) -> tuple[TaskType, ...]:
    """Tools of an MCP server: "s-0" and so on."""
    words, form = Port("words", (Kind.TEXT,)), TaskOption("form", "", "", ("", "short", "long"))
    return tuple(
        TaskType(f"s-{number}", f"Does {number}.", (words,), (Kind.TEXT,), (form,), server="s")
        for number in range(count)
    )


@dataclass
class FakeCatalogue:
    """One built-in candidate per task, unless scripted."""

    listed: dict[str, tuple[Candidate, ...]] = field(default_factory=dict)
    to_fetch: dict[str, tuple[Expert, ...]] = field(default_factory=dict)
    beyond: dict[str, tuple[Expert, ...]] = field(default_factory=dict)
    prompted: frozenset[str] = frozenset()
    """Tasks that an LLM can do as well."""

    def candidates(self, task: str) -> Sequence[Candidate]:
        default = (Candidate(Expert(f"builtin/{task}", task), "builtin"),)
        return self.listed.get(task, default)

    def by_llm(self, task: str, llm: LLM) -> Candidate | None:
        if task not in self.prompted:
            return None
        return Candidate(Expert(llm.name, task), "llm", remote=llm.remote)

    def obtainable(self, task: str, request: str = "") -> Sequence[Expert]:
        return self.to_fetch.get(task, ())

    def out_of_reach(self, task: str) -> Sequence[Expert]:
        return self.beyond.get(task, ())


@dataclass
class FakeTrackRecord:
    """Keeps runs in memory; what is known is as scripted."""

    known: dict[str, Experience] = field(default_factory=dict)
    noted: list[tuple[str, str, bool]] = field(default_factory=list)
    """Expert, task, and whether it worked."""
    seconds: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def note(
        self, expert_id: str, task: str, *, seconds: float, worked: bool, size: int = 0
    ) -> None:
        self.noted.append((expert_id, task, worked))
        self.seconds.append(seconds)
        self.sizes.append(size)

    def of(self, task: str) -> Mapping[str, Experience]:
        return self.known


@dataclass
class FakeHistory:
    """Keeps turns in memory."""

    kept: dict[str, list[Turn]] = field(default_factory=dict)
    recaps: dict[str, Recap] = field(default_factory=dict)
    error: JarvisError | None = None

    def open_conversation(self, conversation_id: str | None = None) -> Conversation:
        if conversation_id is None:
            return Conversation(uuid.uuid4().hex)
        return Conversation(conversation_id, tuple(self.kept.get(conversation_id, ())))

    def save(self, conversation_id: str, turn: Turn) -> None:
        if self.error:
            raise self.error
        turns = self.kept.setdefault(conversation_id, [])
        place = next((at for at, old in enumerate(turns) if old.id == turn.id), None)
        if place is not None:
            turns[place] = turn
            return
        ended = turn.finished or turn.started
        overtook = (
            at
            for at, old in enumerate(turns)
            if old.started > turn.started and (old.finished or old.started) <= ended
        )
        turns.insert(next(overtook, len(turns)), turn)

    def amend(self, conversation_id: str, turn: Turn) -> bool:
        there = any(old.id == turn.id for old in self.kept.get(conversation_id, ()))
        if there:
            self.save(conversation_id, turn)
        return there

    def since(self, conversation_id: str, turn_id: str) -> Sequence[Turn]:
        turns = self.kept.get(conversation_id, [])
        ids = [turn.id for turn in turns]
        return tuple(turns[ids.index(turn_id) + 1 :] if turn_id in ids else turns)

    def resources(self, conversation_id: str) -> Sequence[Resource]:
        if self.error:
            raise self.error
        return resources_of(self.kept.get(conversation_id, ()))

    def recap(self, conversation_id: str) -> Recap | None:
        return self.recaps.get(conversation_id)

    def keep_recap(self, conversation_id: str, recap: Recap) -> None:
        if any(turn.id == recap.through for turn in self.kept.get(conversation_id, ())):
            self.recaps[conversation_id] = recap

    def delete(self, conversation_id: str, turn_id: str) -> None:
        self.kept[conversation_id] = [
            turn for turn in self.kept[conversation_id] if turn.id != turn_id
        ]
        self.recaps.pop(conversation_id, None)


@dataclass
class FakeFacts:
    """Keeps facts in memory, at most three."""

    kept: tuple[Fact, ...] = ()
    given: int = 0

    def list(self) -> Sequence[Fact]:
        return self.kept

    def add(self, text: str) -> Fact:
        text = " ".join(text.split())
        others = tuple(fact for fact in self.kept if _bare(fact.text) != _bare(text))
        if not _bare(text) or len(text) > 300 or len(others) >= 3:
            raise InputError("That cannot be remembered.")
        self.given += 1
        self.kept = (*others, Fact(self.given, text))
        return self.kept[-1]

    def remove(self, number: int) -> None:
        if all(fact.number != number for fact in self.kept):
            raise InputError(f"I remember nothing with the number {number}.")
        self.kept = tuple(fact for fact in self.kept if fact.number != number)

    def clear(self) -> int:
        count, self.kept = len(self.kept), ()
        return count


@dataclass
class FakeLists:
    """Keeps lists in memory."""

    kept: dict[str, list[str]] = field(default_factory=dict)

    def names(self) -> Sequence[str]:
        return sorted(name for name, items in self.kept.items() if items)

    def items(self, name: str) -> Sequence[str]:
        return tuple(self.kept.get(name, ()))

    def add(self, name: str, items: Sequence[str]) -> Sequence[str]:
        if not items or any(len(item) > 500 for item in items):
            raise InputError("An entry of a list has 1 to 500 characters.")
        known = {item.casefold() for item in self.items(name)}
        fresh = [item for item in dict.fromkeys(items) if item.casefold() not in known]
        if len(known) + len(fresh) > 500:
            raise InputError("The list has 500 entries, the most.")
        self.kept.setdefault(name, []).extend(fresh)
        return fresh

    def remove(self, name: str, items: Sequence[str]) -> Sequence[str]:
        wanted = {item.casefold() for item in items}
        gone = [item for item in self.items(name) if item.casefold() in wanted]
        self.kept[name] = [item for item in self.items(name) if item not in gone]
        return gone

    def clear(self, name: str) -> int:
        return len(self.kept.pop(name, ()))


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


@dataclass
class FakeStore:
    """Copies files into a folder under their own names, and goes by these names."""

    root: Path
    made: int = 0
    held: set[Path] = field(default_factory=set)

    def take_in(self, path: Path) -> Artifact:
        if path.is_symlink() or not path.is_file() or not path.stat().st_size:
            raise InputError(f"There is no file {one_line(path.name)} with something in it.")
        kept = self._new_folder() / path.name
        shutil.copyfile(path, kept)
        self.held.add(kept)
        kind = kind_of_name(path) or Kind.DOCUMENT
        return Artifact(kind, path=kept, name=path.name, source=path)

    def keep(self, artifact: Artifact) -> Artifact:
        if artifact.path is None:
            return artifact
        if not artifact.path.is_file() or not artifact.path.stat().st_size:
            raise ExpertError(f"The expert returned no usable file for {artifact.title}.")
        kept = self._new_folder() / artifact.path.name
        artifact.path.rename(kept)
        self.held.add(kept)
        return replace(artifact, path=kept, name=artifact.name or kept.name)

    def holds(self, path: Path) -> bool:
        return path in self.held and path.is_file()

    def lend(self, artifact: Artifact) -> Path:
        path = artifact.path
        assert path is not None
        if artifact.source and artifact.source.is_file():
            return artifact.source
        return (
            shutil.copyfile(path, self._new_folder() / artifact.title) if self.holds(path) else path
        )

    def workdir(self) -> Path:
        return self._new_folder()

    def discard(self, workdir: Path) -> None:
        shutil.rmtree(workdir)

    def _new_folder(self) -> Path:
        self.made += 1
        folder = self.root / str(self.made)
        folder.mkdir(parents=True)
        return folder


@dataclass
class FakeLLM:
    """Answers as scripted, word by word; the last answer is repeated.

    An answer is a text, a sequence of pieces, or an error that is raised instead; an error as the
    last of the pieces breaks the answer off there. `hold` keeps it silent after its first piece.
    """

    answers: Sequence[str | JarvisError | Sequence[str | JarvisError]] = ("Yes.",)
    name: str = "fake:1b"
    provider: str = "ollama"
    remote: bool = False
    window: int = 8192
    sees: bool = False
    ability: Ability = Ability.FULL_PLANS
    enforces_schema: bool = False
    hold: bool = False
    prompts: list[Prompt] = field(default_factory=list)
    """All that it was asked, in order."""
    stopped: int = 0
    """How many answers were left before their end."""

    async def stream(self, prompt: Prompt) -> AsyncIterator[str]:
        if prompt.tokens + prompt.longest > self.window:
            raise ExpertError(f"The prompt is too long for {self.name}.")
        answer = self.answers[min(len(self.prompts), len(self.answers) - 1)]
        self.prompts.append(prompt)
        ended = False
        try:
            for piece in _pieces(answer):
                await asyncio.sleep(0)
                if isinstance(piece, JarvisError):
                    raise piece
                yield piece
                if self.hold:
                    await asyncio.Event().wait()
            ended = True
        except JarvisError:
            ended = True
            raise
        finally:
            self.stopped += not ended


def _pieces(
    answer: str | JarvisError | Sequence[str | JarvisError],
) -> Sequence[str | JarvisError]:
    if isinstance(answer, JarvisError):
        return (answer,)
    return re.findall(r"\s*\S+|\s+\Z", answer) if isinstance(answer, str) else answer


@dataclass
class FakeLLMs:
    """The LLM that it is given, if one."""

    llm: LLM | None = None
    asked: int = 0

    async def current(self) -> LLM | None:
        self.asked += 1
        return self.llm
