"""A server hears what is said, and this computer's recogniser where it cannot."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jarvis_desktop.core.errors import ExpertError, InputError, JarvisError, UnavailableError
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.speech import Segment, Transcript
from jarvis_desktop.platform.work_server import Work, WorkAddress, WorkServer
from jarvis_desktop.speech import server_recogniser
from jarvis_desktop.speech.server_recogniser import ServerRecogniser, ServerTranscriber, both
from tests.fake_voice import FakeRecogniser, write_wav
from tests.line_server import Answer
from tests.work_server import ScriptedServer, json_answer, running_work_server


def quiet(fraction: float | None, words: str) -> None:
    pass


def there(
    served: ScriptedServer | str, *, language: str | None = None, **choice: Any
) -> ServerTranscriber:
    address = served if isinstance(served, str) else served.address
    chosen = WorkAddress(address, **choice)
    server = WorkServer(
        Work.TRANSCRIPTION, lambda: chosen, Policy(Mode.LOCAL), key=lambda address: ""
    )
    return ServerTranscriber(server, lambda: language)


SEGMENTS = [
    {"id": 0, "start": 0.0, "end": 1.5, "text": " Good morning."},
    {"id": 1, "start": 1.5, "end": 2.5, "text": " Hello."},
]
WORDS = [
    {"word": "Good", "start": 0.0, "end": 0.5},
    {"word": "morning.", "start": 0.5, "end": 1.4},
    {"word": "Hello.", "start": 1.6, "end": 2.4},
]
VERBOSE = {"text": " Good morning. Hello.", "language": "english", "segments": SEGMENTS}


async def test_a_recording_is_sent_without_its_name(tmp_path: Path) -> None:
    audio = write_wav(tmp_path / "secret-plan.wav")
    with running_work_server(json_answer(VERBOSE | {"words": WORDS})) as served:
        heard = await there(served, language="de", model="tiny").transcribe(
            audio, quiet, words=True
        )
        assert served.form() == {
            "model": "tiny",
            "response_format": "verbose_json",
            "language": "de",
            "timestamp_granularities[]": "segment, word",
        }
        assert b"secret-plan" not in served.bodies[0]
        assert audio.read_bytes() in served.bodies[0]
    assert heard.text == "Good morning. Hello."
    assert heard.language == "en"
    assert heard.engine == f"tiny ({served.address.removeprefix('http://')})"
    first, second = heard.segments
    assert (first.start, first.end, first.text) == (0.0, 1.5, " Good morning.")
    assert [word.text for word in first.words] == [" Good", " morning."]
    assert second.words == (Segment(1.6, 2.4, " Hello."),)


async def test_a_model_without_times_is_asked_without_them(tmp_path: Path) -> None:
    refused = Answer(status=400, error="response_format 'verbose_json' is not compatible")
    with running_work_server(refused, json_answer({"text": "Hello."})) as served:
        heard = await there(served).transcribe(write_wav(tmp_path / "memo.wav"), quiet)
        assert [served.form(at)["response_format"] for at in (0, 1)] == ["verbose_json", "json"]
        assert served.bodies[1].count(b"RIFF") == 1
    assert (heard.text, heard.segments, heard.language) == ("Hello.", (), "")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(body=b"<html>Log in</html>"), "is not an OpenAI-compatible server"),
        (json_answer([1]), "is not an OpenAI-compatible server"),
        (json_answer({"text": 7}), "is not an OpenAI-compatible server"),
        (json_answer({"text": " ... "}), "heard no words"),
    ],
)
async def test_what_is_no_transcript_is_an_error(
    answer: Answer, words: str, tmp_path: Path
) -> None:
    with running_work_server(answer) as served, pytest.raises(JarvisError, match=words):
        await there(served).transcribe(write_wav(tmp_path / "memo.wav"), quiet)


@pytest.mark.parametrize(
    "segments",
    [
        "none",
        [7],
        [{"start": 0, "end": 1}],
        [{"start": 2, "end": 1, "text": "backwards"}],
        [{"start": -1, "end": 1, "text": "before"}],
        [{"start": 0, "end": 1e7, "text": "months"}],
        [{"start": 0, "end": 10**400, "text": "for ever"}],
        [{"start": "0", "end": 1, "text": "words"}],
    ],
)
async def test_times_that_make_no_sense_are_left_out(segments: object, tmp_path: Path) -> None:
    said = {"text": "\x1b[2JHello.", "language": ["en"], "segments": segments}
    with running_work_server(json_answer(said)) as served:
        heard = await there(served).transcribe(write_wav(tmp_path / "memo.wav"), quiet)
    assert (heard.text, heard.segments) == ("�[2JHello.", ())


async def test_a_missing_recording_and_a_huge_one_are_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_recogniser, "MAX_RECORDING_BYTES", 100)
    with running_work_server() as served:
        with pytest.raises(InputError, match=r"no recording gone\.wav"):
            await there(served).transcribe(tmp_path / "gone.wav", quiet)
        with pytest.raises(InputError, match="too large to be sent"):
            await there(served).transcribe(write_wav(tmp_path / "memo.wav"), quiet)
        assert served.requests == []


SPOKEN = b"\x00\x10\x00\xf0" * 8_000


def recogniser(served: ScriptedServer | str, local: FakeRecogniser, **choice: Any) -> Any:
    return ServerRecogniser(there(served, **choice), local)  # type: ignore[arg-type]


async def said(by: Any, pcm: bytes = SPOKEN) -> Transcript:
    hearing = by.hear()
    hearing.add(pcm)
    heard: Transcript = await hearing.finish()
    return heard


async def test_live_speech_is_heard_by_the_server() -> None:
    with running_work_server(json_answer({"text": "What time is it?"})) as served:
        local = FakeRecogniser(hears="what dime")
        heard = await said(recogniser(served, local))
        assert served.form() == {"model": "whisper-1", "response_format": "json"}
        assert local.hearings[0].pcm == SPOKEN
    assert (heard.text, heard.note) == ("What time is it?", "")


async def test_where_the_server_is_away_this_computer_heard_it_and_says_so() -> None:
    with running_work_server() as served:
        address = served.address
    by = recogniser(address, FakeRecogniser(note="It was loud."))
    heard = await said(by)
    host = address.removeprefix("http://")
    assert heard.text == "what time is it"
    assert heard.note == (
        f"The server does not run at {host}. This computer’s recogniser listened instead. "
        "It was loud."
    )
    again = await said(by)  # for a while it is not asked
    assert again.note == "It was loud."


async def test_where_neither_can_the_server_is_what_is_wrong() -> None:
    with running_work_server(Answer(status=500, error="no memory")) as served:
        local = FakeRecogniser(error=UnavailableError("It understands English only."))
        with pytest.raises(ExpertError, match="The server failed: no memory"):
            await said(recogniser(served, local))


async def test_silence_is_not_what_a_server_hears_in_it() -> None:
    with running_work_server(json_answer({"text": "Thank you for watching."})) as served:
        local = FakeRecogniser(error=InputError("There is no sound in your recording."))
        with pytest.raises(InputError, match="no sound"):
            await said(recogniser(served, local))


async def test_silence_is_not_sent() -> None:
    with running_work_server() as served:
        local = FakeRecogniser()
        assert (await said(recogniser(served, local), bytes(32_001))).engine == "fake"
        with pytest.raises(InputError, match="too short"):
            await recogniser(served, local).hear().finish()
        assert served.requests == []


async def test_what_is_dropped_is_not_sent() -> None:
    with running_work_server() as served:
        local = FakeRecogniser()
        hearing = recogniser(served, local).hear()
        hearing.add(bytes(100))
        hearing.drop()
        assert local.hearings[0].dropped
        assert served.requests == []


async def test_what_is_said_stays_here_if_the_user_wants_that(tmp_path: Path) -> None:
    with running_work_server() as served:
        by = recogniser(served, FakeRecogniser(), spoken=False)
        assert (await said(by)).engine == "fake"
        assert (await by.transcribe(write_wav(tmp_path / "a.wav"), quiet)).engine == "fake"
        assert served.requests == []


async def test_a_spoken_request_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audio = write_wav(tmp_path / "request.wav")
    answers = json_answer({"text": "Hello."}), json_answer({"text": "Bye."})
    with running_work_server(*answers) as served:
        local = FakeRecogniser()
        by = recogniser(served, local)
        assert (await by.transcribe(audio, quiet)).text == "Hello."
        assert local.heard == [audio]
        monkeypatch.setattr(server_recogniser, "REQUEST_BYTES", 10)
        assert (await by.transcribe(audio, quiet)).text == "Bye."
        assert local.heard == [audio]  # a long one is not heard twice


async def test_a_slow_local_recogniser_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_recogniser, "GRACE_S", 0.0)

    async def never() -> Transcript:
        await asyncio.Event().wait()
        raise AssertionError

    async def now() -> Transcript:
        return Transcript("Hello.", "there")

    assert (await both(never(), now())).text == "Hello."


class Files(FakeRecogniser):
    """Has a transcriber of recordings."""

    @property
    def files(self) -> Files:
        return self

    async def transcribe(self, audio: Path, report: Any, **wish: Any) -> Transcript:
        return await super().transcribe(audio, report)


async def test_recordings_of_the_command_line(tmp_path: Path) -> None:
    audio, wish = write_wav(tmp_path / "a.wav"), {"language": "de", "words": False, "found": print}
    answers = json_answer(VERBOSE), Answer(status=500, error="no memory")
    with running_work_server(*answers) as served:
        by = recogniser(served, Files(), spoken=False)
        assert (await by.write_down(audio, quiet, **wish)).text == "Good morning. Hello."
        assert served.form()["language"] == "de"
        heard = await by.write_down(audio, quiet, **wish)
        assert heard.engine == "fake"
        assert heard.note.startswith("The server failed: no memory. This computer’s")
    assert (await recogniser("", Files()).write_down(audio, quiet, **wish)).engine == "fake"
