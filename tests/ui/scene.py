"""An application for the window to show: a scripted assistant and what else it needs."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from PySide6.QtWidgets import QLabel, QPushButton, QTextEdit, QWidget

from jarvis_desktop.app.experts import work_address
from jarvis_desktop.app.release import ReleaseChannel
from jarvis_desktop.app.single_instance import CommandHandler
from jarvis_desktop.app.updates import Updates
from jarvis_desktop.assistant.live_turn import replayed_events
from jarvis_desktop.assistant.speaker import AnswerSpeaker
from jarvis_desktop.assistant.talk.dictation import DictationSession
from jarvis_desktop.assistant.talk.talk import Talk
from jarvis_desktop.backends.inference_api.endpoints import Endpoints
from jarvis_desktop.backends.machines.backend import MachinesBackend
from jarvis_desktop.backends.machines.machines import Machines
from jarvis_desktop.backends.mcp.backend import McpBackend
from jarvis_desktop.backends.mcp.servers import McpServers
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.events import (
    Event,
    GoalTaken,
    PlanChanged,
    ReplyChunk,
    Transcribed,
    TurnFinished,
    TurnStarted,
    Waiting,
    WaitReason,
)
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Selection, Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.ports import Frontend, Unfinished
from jarvis_desktop.core.speech import FRAME, HotkeyStatus, Sound
from jarvis_desktop.core.task import Port, Ref, Task, TaskOption, TaskType
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.llm.choice import LLMChoice, LLMPreference
from jarvis_desktop.paths import Paths, user_paths
from jarvis_desktop.platform.work_server import Work, WorkServer
from jarvis_desktop.settings import Current, Settings
from jarvis_desktop.speech.devices import Device
from jarvis_desktop.speech.server_recogniser import ServerTranscriber
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.records import DictationLog
from jarvis_desktop.ui.conversation.turn_view import TurnView
from jarvis_desktop.ui.plan.list_view import TaskRow
from jarvis_desktop.ui.request.attachments import AttachmentChip
from tests.fake_fetcher import FakeFetcher
from tests.fake_house import fake_expert_manager
from tests.fake_voice import (
    FakeHotkey,
    FakeMicrophone,
    FakePlayer,
    FakeRecogniser,
    FakeTextInserter,
    FakeVoice,
)
from tests.tasks.calls import FakeTimers
from tests.ui.fake_history import FakeHistory

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)

READ = TaskType("image-to-text", "", (Port("image", (Kind.IMAGE,)),), (Kind.TEXT,))
SUM = TaskType(
    "summarization",
    "",
    (Port("text", (Kind.TEXT,)),),
    (Kind.TEXT,),
    (TaskOption("sentences", "", 3),),
)
SAY = TaskType("text-to-speech", "", (Port("text", (Kind.TEXT,)),), (Kind.AUDIO,))


def candidate(name: str, task: str = "image-to-text") -> Candidate:
    return Candidate(Expert(name, task), "builtin")


def three_steps(picture: Path) -> Plan:
    """Read a picture, summarise it, say it."""
    given = Artifact(Kind.IMAGE, path=picture, name=picture.name)
    return Plan(
        (
            Task(0, READ, {"image": given}),
            Task(1, SUM, {"text": Ref(0), "sentences": 2}),
            Task(2, SAY, {"text": Ref(1)}),
        )
    )


def selections(plan: Plan) -> tuple[Selection, ...]:
    return tuple(Selection(task.id, (candidate("first"), candidate("second")), "") for task in plan)


def done(task_id: int, *artifacts: Artifact, seconds: float = 0.5) -> TaskResult:
    attempts = (Attempt(candidate("first"), seconds),)
    return TaskResult(task_id, Status.DONE, artifacts, attempts)


def failed(task_id: int, reason: str) -> TaskResult:
    return TaskResult(task_id, Status.FAILED, (), (), reason)


def text(words: str) -> Artifact:
    return text_artifact(words)


Script = Callable[[Request, "Shown"], Awaitable[Status]]


class Shown:
    """Folds what a script shows into the turn that `handle` gives back."""

    def __init__(self, turn: Turn, frontend: Frontend) -> None:
        self.turn, self.frontend = turn, frontend

    def show(self, event: Event) -> None:
        self.turn = self.turn.apply(event)
        self.frontend.show(event)


async def echo(request: Request, shown: Shown) -> Status:
    """Answers with the words of the request."""
    shown.show(ReplyChunk(f"You said: {request.text}"))
    return Status.DONE


async def for_ever(request: Request, shown: Shown) -> Status:
    """Works until it is stopped."""
    await asyncio.Event().wait()
    return Status.DONE


@dataclass
class FakeAssistant:
    """Carries out a script per request, as the real one starts and ends its turns: those of a
    conversation one after another, except `instant` requests."""

    script: Script = echo
    handled: list[tuple[Request, str | None]] = field(default_factory=list)
    """The requests whose script has begun."""
    turns: list[Turn] = field(default_factory=list)
    left: list[Unfinished] = field(default_factory=list)
    """What was cut off before it started."""
    given_up: list[Unfinished] = field(default_factory=list)
    error: JarvisError | None = None
    """Raised instead of dealing with what was cut off."""
    interrupts: list[bool] = field(default_factory=list)
    """What each interruption says, the next one first; False without end after them."""
    interrupted: int = 0
    silenced: int = 0
    speech_ended: int = 0
    cut: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by an interruption that says True."""
    experts: Sequence[Candidate] = ()
    """Who can do any task."""
    revised: Plan | JarvisError | None = None
    """What becomes of a plan that is to be revised; None leaves it as it is."""
    revisions: list[str] = field(default_factory=list)
    """The words with which plans were revised."""
    changes: list[Plan] = field(default_factory=list)
    """What was to take the place of the plan that runs."""
    again: list[tuple[Turn, Plan, frozenset[int]]] = field(default_factory=list)
    running: Shown | None = None
    """The turn whose script runs."""
    instant: Collection[str] = ()
    """The words of requests that wait for nothing."""
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    unanswered: list[tuple[str | None, asyncio.Event]] = field(default_factory=list)

    def interrupt(self, turn_id: str = "") -> bool:
        self.interrupted += 1
        if not (self.interrupts and self.interrupts.pop(0)):
            return False
        self.cut.set()
        return True

    def silence(self) -> None:
        self.silenced += 1

    def end_speech(self) -> int:
        self.speech_ended += 1
        return 0

    def unfinished(self) -> Sequence[Unfinished]:
        return self.left

    async def resume(self, unfinished: Unfinished, frontend: Frontend) -> Turn:
        """Tells what there is, and does the script for the rest."""
        if self.error:
            raise self.error
        turn = unfinished.turn
        shown = Shown(Turn(turn.id, turn.started), frontend)
        if unfinished.goal:
            shown.show(TurnStarted(turn.id, turn.started, turn.text))
            shown.show(GoalTaken())
        else:
            for event in replayed_events(unfinished):
                shown.show(event)
        status = await self.script(Request(text=turn.text), shown)
        shown.show(TurnFinished(status, NOW))
        self.turns.append(shown.turn)
        return shown.turn

    def give_up(self, unfinished: Unfinished) -> Turn:
        if self.error:
            raise self.error
        self.given_up.append(unfinished)
        return unfinished.turn

    async def experts_for(self, task: Task) -> Sequence[Candidate]:
        if self.error:
            raise self.error
        return self.experts

    async def revise(self, plan: Plan, words: str, *, conversation: str | None) -> Plan:
        self.revisions.append(words)
        if isinstance(self.revised, JarvisError):
            raise self.revised
        return self.revised or plan

    async def change(
        self, plan: Plan, *, turn_id: str = "", afresh: frozenset[int] = frozenset()
    ) -> bool:
        """Taken up by the turn that runs, which the script goes on with."""
        if self.error:
            raise self.error
        if self.running is None or self.running.turn.plan is None:
            return False
        self.changes.append(plan)
        self.running.show(PlanChanged(plan, afresh))
        return True

    async def run_again(
        self,
        turn: Turn,
        plan: Plan,
        frontend: Frontend,
        *,
        conversation: str | None,
        afresh: frozenset[int] = frozenset(),
    ) -> Turn:
        self.again.append((turn, plan, afresh))
        return await self.handle(Request(text=turn.text), frontend, conversation=conversation)

    async def handle(
        self, request: Request, frontend: Frontend, *, conversation: str | None = None
    ) -> Turn:
        shown = Shown(Turn(f"turn-{next(self.numbers)}", NOW), frontend)
        shown.show(TurnStarted(shown.turn.id, NOW, request.text))
        if request.heard:
            shown.show(Transcribed(request.heard.text, request.heard.engine))
        earlier = [answered for place, answered in self.unanswered if place == conversation]
        ours = conversation, asyncio.Event()
        self.unanswered.append(ours)
        try:
            if earlier and request.text not in self.instant:
                shown.show(Waiting(WaitReason.REQUEST))
                for answered in earlier:
                    await answered.wait()
                shown.show(Waiting(WaitReason.NOTHING))
            self.handled.append((request, conversation))
            self.running = shown
            status = await self.script(request, shown)
        except asyncio.CancelledError:
            shown.show(TurnFinished(Status.CANCELLED, NOW))
            raise
        finally:
            self.running = None
            self.unanswered.remove(ours)
            ours[1].set()
        shown.show(TurnFinished(status, NOW))
        self.turns.append(shown.turn)
        return shown.turn


SPEECH = Sound(b"\x00\x10" * FRAME, level=0.4, speech=(0.9,))
"""One thirtieth of a second in which somebody speaks."""


def talking() -> FakeMicrophone:
    """Somebody speaks into it as soon as it is open."""
    return FakeMicrophone(sounds=[SPEECH] * 6)


def no_llms() -> LLMChoice:
    """None is wanted, and none is looked for."""
    return LLMChoice(LLMPreference("none"), Policy(), on_disk=lambda: ())


MICROPHONE = Device("Desk microphone, ALSA", 1, 0, True, False)
LIVE = HotkeyStatus("x11", "Ctrl+Alt+Space", holds=True, why="The portal is not there.")
HEADSET = Device("Headset, ALSA", 1, 2, False, True)


@dataclass(frozen=True)
class FakeAccount:
    name: str = "anna"
    may_call: bool | None = True


@dataclass
class FakeApi:
    """Knows whose key it is."""

    whose: FakeAccount = field(default_factory=FakeAccount)
    error: JarvisError | None = None
    forgotten: int = 0

    async def account(self, key: str = "") -> FakeAccount:
        if self.error:
            raise self.error
        return self.whose

    def forget_key(self) -> None:
        self.forgotten += 1


class FakeDictation:
    """Dictates what `recogniser` hears into what `inserter` keeps."""

    def __init__(self, microphone: FakeMicrophone, recogniser: FakeRecogniser, kept: Path) -> None:
        self.inserter, self.log, self.key = FakeTextInserter(), DictationLog(kept), FakeHotkey()
        self.private = False
        self.session = DictationSession(
            Talk(microphone, recogniser, way="hold"),
            self.inserter,
            keep=self.log.add,
            clean_up=self.as_it_is,
        )

    async def as_it_is(self, text: str) -> str:
        return text


@dataclass
class FakeApp:
    assistant: FakeAssistant = field(default_factory=FakeAssistant)
    history: FakeHistory = field(default_factory=FakeHistory)
    microphone: FakeMicrophone = field(default_factory=talking)
    recogniser: FakeRecogniser = field(default_factory=FakeRecogniser)
    voice: FakeVoice = field(default_factory=FakeVoice)
    player: FakePlayer = field(default_factory=lambda: FakePlayer(hold=True))
    talk: Talk = field(init=False)
    dictation: FakeDictation = field(init=False)
    mcp: McpBackend = field(init=False)
    machines: MachinesBackend = field(init=False)
    servers: Mapping[Work, WorkServer] = field(init=False)
    endpoints: Endpoints = field(init=False)
    speech: SimpleNamespace = field(init=False)
    store: FileStore = field(init=False)
    speaker: AnswerSpeaker = field(init=False)
    hotkey: FakeHotkey = field(default_factory=lambda: FakeHotkey(status=LIVE))
    quick_key: FakeHotkey = field(default_factory=FakeHotkey)
    timers: FakeTimers = field(default_factory=FakeTimers)
    sound_devices: Sequence[Device] = (MICROPHONE, HEADSET)
    no_devices: JarvisError | None = None
    adopted: list[Settings] = field(default_factory=list)
    waits: Collection[str] = ()
    """The settings that wait for a restart."""
    settings: Settings = field(default_factory=Settings)
    mode: Mode = Mode.LOCAL
    llms: LLMChoice = field(default_factory=no_llms)
    weights: FakeFetcher = field(default_factory=FakeFetcher)
    api: FakeApi = field(default_factory=FakeApi)
    experts: Sequence[Expert] = ()
    inventory: Mapping[str, TaskType] = field(
        default_factory=lambda: {item.name: item for item in (READ, SUM, SAY)}
    )
    policy: Policy = field(default_factory=Policy)
    paths: Paths = field(default_factory=user_paths)
    commands: Mapping[str, CommandHandler] = field(default_factory=dict)
    """What other processes may ask of the window."""
    updates: Updates = field(init=False)
    closed: int = 0
    woken: int = 0

    def __post_init__(self) -> None:
        self.store = FileStore(self.paths.artifacts)
        self.machines = MachinesBackend({}, Machines(self.paths.machines), self.policy)
        self.mcp = McpBackend(
            McpServers(self.paths.mcp_servers, self.paths.mcp_tools),
            taken=self.inventory.__contains__,
            online=lambda: self.policy.allows_downloads,
        )
        self.endpoints = Endpoints(self.paths.endpoints, Policy(), sorted(self.inventory)[:2])
        self.servers = {
            work: WorkServer(work, partial(work_address, cast(Current, self), work), self.policy)
            for work in Work
        }
        transcription = self.servers[Work.TRANSCRIPTION]
        self.speech = SimpleNamespace(
            transcriber=ServerTranscriber(transcription, lambda: None), speaking=self.voice
        )
        self.updates = Updates(
            self.paths.updates, ReleaseChannel(), online=lambda: self.policy.allows_downloads
        )
        self.speaker = AnswerSpeaker(self.voice, self.player, self.store)
        self.expert_manager = fake_expert_manager(self)
        self.talk = Talk(self.microphone, self.recogniser, way="hold")
        self.dictation = FakeDictation(
            self.microphone, self.recogniser, self.paths.data / "dictations.json"
        )

    def build(self) -> Application:
        """This one, for a session that starts: it has what the window uses of the real one."""
        return cast("Application", self)

    async def devices(self) -> Sequence[Device]:
        if self.no_devices:
            raise self.no_devices
        return self.sound_devices

    async def adopt(self, settings: Settings) -> Collection[str]:
        self.adopted.append(settings)
        self.settings, self.mode = settings, settings.mode
        return self.waits

    async def start(self) -> None:
        pass

    def wake(self) -> None:
        self.woken += 1

    def be_reached(self, commands: Mapping[str, CommandHandler]) -> None:
        self.commands = commands

    async def close(self) -> None:
        await self.expert_manager.close()
        await self.mcp.close()
        await self.talk.close()
        await self.dictation.session.close()
        self.closed += 1


HOSTILE = (
    "<img src='/dev/zero'>",
    '<img src="file:///dev/zero" width=9999999>',
    "<b>bold</b><script>alert(1)</script>",
    "![x](/dev/zero) [click](file:///etc/passwd)",
    "<html><body bgcolor=red><h1>big</h1></body></html>",
    "<table>" * 2000,
    "&amp;&lt;&#0;&nbsp; &copy & %1 %s {0} $text",
    "a" * 50_000,
    "word " * 20_000,
    "\n" * 3000,
    "\t" * 3000,
    "\u202egnp.exe\u2066\u2069",
    "Z" + "\u0301" * 2000,
    "👩‍👩‍👧‍👦🏳️‍🌈" * 200,
    "مرحبا بالعالم שלום עולם",
    "日本語のテキスト" * 300,
    "\x00\x01\x02\x1b[31mred\x07",
    "broken \udcff name \ud800",
    "\ufeff\ufffe\uffff",
    "",
    "   ",
)


def iter_files(plan: Plan) -> Iterator[Artifact]:
    """The artifacts that a plan is given."""
    return (item for task in plan for _, item in task.items() if isinstance(item, Artifact))


def rows(view: TurnView) -> list[TaskRow]:
    return view.findChildren(TaskRow)


def words(view: QWidget) -> str:
    """All that can be read."""
    labels = [label for label in view.findChildren(QLabel) if label.isVisible()]
    texts = [field for field in view.findChildren(QTextEdit) if field.isVisible()]
    buttons = [button for button in view.findChildren(QPushButton) if button.isVisible()]
    return "\n".join(
        [label.accessibleName() or label.text() for label in labels]
        + [field.toPlainText() for field in texts]
        + [button.text() for button in buttons]
    )


def visible_chips(view: QWidget) -> list[AttachmentChip]:
    """The files that are shown."""
    return [chip for chip in view.findChildren(AttachmentChip) if not chip.isHidden()]
