"""The answer that an LLM writes: what it is given, and what comes of what it says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jarvis_desktop.assistant.answer_writer import MISSING_FILE, AnswerWriter
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, JarvisError, StorageError, UnavailableError
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Status, TaskResult
from jarvis_desktop.core.llm import MAX_IMAGE_TOKENS, MessageRole, Prompt
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.paths import shipped
from jarvis_desktop.text.quotation import ANY_MARK, marked_off
from tests.fakes import FakeLLM, FakeLLMs
from tests.types import BLUR, READ
from tests.virtual import VirtualLoop, run

PICTURE = Artifact(Kind.IMAGE, path=Path("x/ab.png"), name="scan.png")
MADE = Artifact(Kind.IMAGE, path=Path("x/cd.png"), name="scan-blur.png")
WHEN = datetime(2026, 1, 1, tzinfo=UTC)
GONE = UnavailableError("The server is gone.", hint="Start it.")


class Desk:
    """An answerer with an LLM, and all that came of it."""

    def __init__(self, llm: FakeLLM | None, prompts: Path | None = None) -> None:
        self.llm = llm
        self.said: list[str] = []
        self.traced: list[str] = []
        self.context = Context(trace=self.traced.append)
        folder = shipped("resources", "prompts")
        self._answerer = AnswerWriter(FakeLLMs(llm), Prompts(folder, prompts))

    @property
    def reply(self) -> str:
        return "".join(self.said)

    @property
    def prompt(self) -> str:
        assert self.llm
        return "\n\n".join(item.text for item in self.llm.prompts[-1].messages)

    async def direct(self, text: str, *, within: float | None = None) -> Status:
        return await self._answerer.direct(text, self.context, self.said.append, within=within)

    async def warm(self) -> None:
        await self._answerer.warm()

    async def of_results(self, turn: Turn) -> Status:
        return await self._answerer.of_results(turn, self.context, self.said.append)


def llm(*answers: str | JarvisError | Sequence[str | JarvisError], window: int = 8192) -> FakeLLM:
    return FakeLLM(answers, window=window)


def turn(*results: TaskResult, text: str = "blur it and read it") -> Turn:
    plan = Plan((Task(0, BLUR, {"image": PICTURE}), Task(1, READ, {"image": PICTURE})))
    attempt = Attempt(Candidate(Expert("trocr", "any"), "local"), 1.0)
    known = results or (
        TaskResult(0, Status.DONE, (MADE,), (attempt,)),
        TaskResult(1, Status.DONE, (text_artifact("No entry."),), (attempt,)),
    )
    return Turn(
        "t", WHEN, text, attachments=(PICTURE,), plan=plan,
        results={item.task_id: item for item in known},
    )  # fmt: skip


async def test_a_direct_answer_streams_as_it_comes() -> None:
    desk = Desk(llm((" \n", "Paris", " is", " the capital", ".")))
    assert await desk.direct("What is the capital of France?") is Status.DONE
    assert desk.said == ["Paris ", "is the ", "capital."]
    assert desk.traced == ["Prompt: direct 2.", "The answer is written by fake:1b (ollama)."]
    prompt = desk.llm.prompts[0] if desk.llm else None
    assert prompt is not None
    assert [item.role for item in prompt.messages] == [MessageRole.SYSTEM, MessageRole.USER]
    assert prompt.messages[-1].text == "What is the capital of France?"


async def test_a_direct_answer_knows_the_conversation_and_the_facts() -> None:
    desk = Desk(llm("Ja."))
    earlier = Turn("a", WHEN, "What is a fjord?", reply="A long inlet.")
    desk.context = replace(
        desk.context,
        conversation=Conversation("c", (earlier,)),
        facts=("Always answer in German.",),
        attachments=(PICTURE,),
    )
    await desk.direct("Is it deep?")
    assert "Always answer in German." in desk.prompt
    assert "A long inlet." in desk.prompt
    assert desk.prompt.endswith("Is it deep?\n[Given: image “scan.png”]")


@pytest.mark.parametrize("sees", [True, False])
async def test_pictures_go_to_an_llm_that_sees(sees: bool) -> None:
    desk = Desk(replace(FakeLLM(), sees=sees))
    desk.context = replace(desk.context, attachments=(PICTURE,))
    await desk.direct("What is this?")
    assert desk.llm
    images = desk.llm.prompts[0].messages[-1].images
    assert images == ((Path("x/ab.png"),) if sees else ())


async def test_the_request_is_never_cut_and_the_trace_says_what_was() -> None:
    desk = Desk(llm("Yes.", window=2048))
    turns = tuple(Turn(str(n), WHEN, f"q{n} " * 90, reply="a " * 900) for n in range(30))
    desk.context = replace(desk.context, conversation=Conversation("c", turns))
    text = "How so? " * 300
    await desk.direct(text)
    assert desk.llm
    prompt = desk.llm.prompts[0]
    assert prompt.messages[-1].text == text
    assert prompt.tokens + prompt.longest <= 2048
    assert any(item.startswith("Left out of the prompt: ") for item in desk.traced)


async def test_without_an_llm_the_reason_is_said() -> None:
    with pytest.raises(UnavailableError, match="There is no language model"):
        await Desk(None).direct("Why?")


async def test_a_failure_before_the_first_word_is_raised() -> None:
    desk = Desk(llm((GONE,)))
    with pytest.raises(UnavailableError, match="The server is gone"):
        await desk.direct("Why?")
    assert desk.said == []


async def test_a_failure_in_the_middle_keeps_what_was_said() -> None:
    desk = Desk(llm(("Because", " of", " the", GONE)))
    assert await desk.direct("Why?") is Status.PARTLY
    assert desk.reply == (
        "Because of the\n\nThe answer broke off here: The server is gone. Start it."
    )


@pytest.mark.parametrize("nothing", [(), ("", " ", "\n")])
async def test_an_empty_answer_is_a_failure(nothing: tuple[str, ...]) -> None:
    desk = Desk(llm(nothing))
    with pytest.raises(ExpertError, match="fake:1b gave an empty answer"):
        await desk.direct("Why?")


async def test_ten_thousand_pieces() -> None:
    desk = Desk(llm(tuple(f"word{number} " for number in range(10_000))))
    assert await desk.direct("Tell me everything.") is Status.DONE
    assert len(desk.said) == 10_000
    assert desk.reply.endswith("word9999 ")


async def test_an_invented_file_does_not_come_through() -> None:
    desk = Desk(llm("I saved it as /tmp/cat.png, see `setup.toml`."))
    await desk.direct("Draw a cat.")
    assert desk.reply == f"I saved it as {MISSING_FILE}, see `setup.toml`."
    assert desk.traced[-1] == "Names that nobody gave, taken out of the answer: 1."


TEMPLATE = "Image editing: Here is the picture scan-blur.png.\n\nImage to text: No entry."
BOTH = "Image to text (scan.png): No entry.\n\nImage to text (scan-blur.png): Exit 3."


def signs(text: str = "Which of these signs is about leaving?", *results: TaskResult) -> Turn:
    """A question about two pictures that were only read."""
    plan = Plan((Task(0, READ, {"image": PICTURE}), Task(1, READ, {"image": MADE})))
    attempt = Attempt(Candidate(Expert("trocr-1", "any"), "local"), 1.0)
    known = results or (
        TaskResult(0, Status.DONE, (text_artifact("No entry."),), (attempt,)),
        TaskResult(1, Status.DONE, (text_artifact("Exit 3."),), (attempt,)),
    )
    return Turn("t", WHEN, text, plan=plan, results={item.task_id: item for item in known})


async def test_results_are_the_answer() -> None:
    desk = Desk(llm("Never."))
    assert await desk.of_results(turn()) is Status.DONE
    assert desk.reply == TEMPLATE
    assert desk.llm
    assert desk.llm.prompts == []


async def test_words_about_results_follow_them_if_they_are_asked_for() -> None:
    desk = Desk(llm("The second one, scan-blur.png, like cat.png."))
    assert await desk.of_results(signs()) is Status.DONE
    assert desk.said[0] == BOTH
    assert desk.reply == f"{BOTH}\n\nThe second one, scan-blur.png, like {MISSING_FILE}."
    request = "Which of these signs is about leaving?"
    opening, closing = marked_off("\n", request).split()
    assert desk.prompt.count(opening) == desk.prompt.count(closing) == 1
    assert f"between <{ANY_MARK}> and </{ANY_MARK}>" in desk.prompt
    assert desk.prompt.endswith("My request: Which of these signs is about leaving?")
    assert desk.traced[0] == "Prompt: answer 3."


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "it tells the user what to do"),
        ("You can use the second one.", "it tells the user what to do"),
        ("To read them, follow these steps: open both.", "it tells the user what to do"),
        ("By trocr-1 the second one.", "it names a task or an expert"),
        ("After image-to-text the second one.", "it names a task or an expert"),
        ("The second one, on line 17.", "it has numbers that the results have not"),
        ("Das zweite ist es, und das ist auch gut.", "it is in another language"),
    ],
)
async def test_words_about_results_that_are_of_no_use_are_left_out(words: str, why: str) -> None:
    desk = Desk(llm(words))
    assert await desk.of_results(signs()) is Status.DONE
    assert desk.reply == BOTH
    assert desk.traced[-1] == f"What the LLM said about the results is left out: {why}."


async def test_words_about_results_may_be_in_the_language_of_the_request() -> None:
    desk = Desk(llm("Das zweite ist es."))
    await desk.of_results(signs("Welches davon ist ein Ausgang?"))
    assert desk.reply.endswith("Das zweite ist es.")


async def test_what_failed_is_said_and_no_llm_is_asked_about_one_text() -> None:
    desk = Desk(llm("Here it is."))
    failed = TaskResult(0, Status.FAILED, reason="The picture is too large.")
    long = TaskResult(1, Status.DONE, (text_artifact("No entry. " * 40),))
    assert await desk.of_results(turn(failed, long, text="What is it?")) is Status.PARTLY
    assert desk.reply == (
        f"{'No entry. ' * 40}\n\nNot done: Image editing. The picture is too large."
    )


async def test_long_results_are_cut_for_the_prompt_only() -> None:
    desk = Desk(llm("It says no entry.", window=2048))
    texts = [text_artifact("No entry. " * 4000), text_artifact("Exit.")]
    done = (TaskResult(at, Status.DONE, (text,)) for at, text in enumerate(texts))
    await desk.of_results(signs("What is it?", *done))
    assert desk.llm
    prompt = desk.llm.prompts[0]
    assert prompt.tokens + prompt.longest <= 2048
    assert "Too long for the prompt, so cut: 1 of the results." in desk.traced
    assert "No entry. " * 4000 in desk.reply


@pytest.mark.parametrize("answers", [None, (GONE,)])
async def test_without_an_llm_nothing_is_added(answers: tuple[JarvisError, ...] | None) -> None:
    desk = Desk(None if answers is None else llm(answers))
    assert await desk.of_results(signs()) is Status.DONE
    assert desk.reply == BOTH
    if answers:
        assert desk.traced[-1] == "Nothing is added to the results: The server is gone. Start it."


async def test_a_turn_that_failed_stays_failed_when_the_answer_breaks_off() -> None:
    desk = Desk(llm(("I", " could", " not", GONE)))
    failed = (TaskResult(n, Status.FAILED, reason="No.") for n in range(2))
    assert await desk.of_results(turn(*failed)) is Status.FAILED


async def test_a_prompt_of_ones_own_is_used_or_the_reason_is_traced(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text("Be kind. <{{mark}}>")
    desk = Desk(llm("Kindly."), tmp_path)
    await desk.of_results(signs())
    assert desk.prompt.startswith("Be kind. <data-")
    assert str(tmp_path) in desk.traced[0]
    (tmp_path / "answer.md").write_bytes(b"\xff")
    desk = Desk(llm("Kindly."), tmp_path)
    await desk.of_results(signs())
    assert desk.reply == BOTH
    (tmp_path / "direct.md").write_bytes(b"\xff")
    with pytest.raises(StorageError):
        await desk.direct("Why?")


async def test_room_is_left_for_pictures_and_for_thinking() -> None:
    desk = Desk(replace(FakeLLM(), sees=True))
    turns = tuple(Turn(str(n), WHEN, f"q{n} " * 90, reply="a " * 900) for n in range(30))
    desk.context = replace(
        desk.context, conversation=Conversation("c", turns), attachments=(PICTURE, MADE)
    )
    await desk.direct("What is this?")
    assert desk.llm
    prompt = desk.llm.prompts[0]
    spare = desk.llm.window - prompt.tokens - prompt.longest - 2 * MAX_IMAGE_TOKENS
    assert len(prompt.messages) > 2
    assert spare >= prompt.tokens // 2


async def test_an_llm_here_reads_the_beginning_of_a_prompt_in_advance() -> None:
    desk = Desk(llm("Y", "Paris."))
    await desk.warm()
    await desk.warm()
    await desk.direct("What is the capital of France?")
    assert desk.llm
    early, asked = desk.llm.prompts
    assert early.longest == 1
    assert early.messages[0] == asked.messages[0]


@pytest.mark.parametrize("away", [None, replace(FakeLLM(), remote=True), FakeLLM((GONE,))])
async def test_an_llm_elsewhere_or_none_is_not_warmed(away: FakeLLM | None) -> None:
    desk = Desk(away)
    await desk.warm()
    assert desk.said == []
    assert away is None or len(away.prompts) == (0 if away.remote else 1)


@dataclass
class Slow(FakeLLM):
    """Begins after some seconds, and takes a minute for the rest."""

    seconds: float = 0.0

    async def stream(self, prompt: Prompt) -> AsyncIterator[str]:
        pause = self.seconds
        async for piece in super().stream(prompt):
            await asyncio.sleep(pause)
            yield piece
            pause = 60.0


def test_an_answer_must_begin_in_time_and_may_then_be_long() -> None:
    desk = Desk(Slow(((" ", "Yes,", " it", " is."),), seconds=4))
    run(desk.direct("Is it?", within=65), VirtualLoop())
    assert desk.reply == "Yes, it is."
    late = Desk(Slow(("Yes.",), seconds=8))
    with pytest.raises(ExpertError, match="did not begin to answer in time"):
        run(late.direct("Is it?", within=7), VirtualLoop())
    assert late.llm
    assert (late.said, late.llm.stopped) == ([], 1)
