import asyncio
import itertools
import subprocess

import pytest
import pytest_asyncio

from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.speech import Partial, Transcript
from jarvis_desktop.platform.work_server import Work, WorkAddress, WorkServer
from jarvis_desktop.speech import server_recogniser
from jarvis_desktop.speech.decoding import decode
from jarvis_desktop.speech.recogniser import LocalRecogniser
from jarvis_desktop.speech.server_recogniser import ServerRecogniser, ServerTranscriber
from tests.fake_voice import FakeRecogniser, write_wav
from tests.work_server import json_answer, running_work_server

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = "what time is it, and what is the name on that invoice?"


def quiet(fraction, message):
    pass


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def local():
    """One for all tests: to load Whisper takes longer than to recognise a sentence."""
    local = LocalRecogniser()
    yield local
    await local.close()


@pytest_asyncio.fixture(
    loop_scope="module", params=["fake", "whisper", "server", "server that is away"]
)
async def recogniser(request, local, monkeypatch):
    monkeypatch.setattr(server_recogniser, "GRACE_S", 60.0)  # of a busy computer
    if request.param.startswith("server"):
        with running_work_server(json_answer({"text": QUESTION})) as served:
            if request.param != "server":
                served.die()
            choice = WorkAddress(served.address)
            server = WorkServer(Work.TRANSCRIPTION, lambda: choice, Policy(), key=lambda place: "")
            there = ServerTranscriber(server, lambda: None)
            yield ServerRecogniser(there, local)
    elif request.param == "fake":
        recogniser = FakeRecogniser(
            partials=[Partial("", "what"), Partial("what", "tie"), Partial("what time", "is")]
        )
        yield recogniser
        await recogniser.close()
    else:
        yield local


@pytest.fixture
def question(tmp_path):
    to = tmp_path / "question.wav"
    subprocess.run(("espeak-ng", "-v", "en-us", "-w", str(to), QUESTION), check=True)
    return to


async def test_it_hears_words_in_speech(recogniser, question):
    heard = await recogniser.transcribe(question, quiet)
    assert isinstance(heard, Transcript)
    assert heard.text.strip()
    assert heard.engine
    assert all(0 <= segment.start <= segment.end for segment in heard.segments)


async def test_a_missing_recording_is_named(recogniser, tmp_path):
    with pytest.raises(InputError, match=r"gone\.wav"):
        await recogniser.transcribe(tmp_path / "gone.wav", quiet)


async def test_silence_is_an_answer_with_a_reason(recogniser, tmp_path):
    if isinstance(recogniser, FakeRecogniser):
        recogniser.error = InputError("There is no sound in memo.wav.")
    with pytest.raises(JarvisError, match="no sound"):
        await recogniser.transcribe(write_wav(tmp_path / "memo.wav", seconds=1), quiet)


def portions(recording):
    """The sound of a recording as a microphone gives it, 32 ms at a time."""
    pcm = (decode(recording) * 32767).astype("<i2").tobytes()
    return [pcm[at : at + 1024] for at in range(0, len(pcm), 1024)]


async def test_it_hears_words_while_they_are_spoken(recogniser, question):
    shown: list[Partial] = []
    hearing = recogniser.hear(shown.append)
    *first, last = portions(question)
    for portion in first:
        hearing.add(portion)
    async with asyncio.timeout(60):
        while not shown:
            await asyncio.sleep(0.01)
    hearing.add(last)
    heard = await hearing.finish()
    assert heard.text.strip()
    assert heard.engine
    assert all(0 <= segment.start <= segment.end for segment in heard.segments)
    settled = [partial.settled for partial in shown]
    assert all(after.startswith(before) for before, after in itertools.pairwise(settled))


async def test_where_nothing_was_heard_the_reason_is_told(recogniser):
    with pytest.raises(InputError, match=r"too short|no sound"):
        await recogniser.hear().finish()


async def test_live_silence_is_an_answer_with_a_reason(recogniser):
    if isinstance(recogniser, FakeRecogniser):
        recogniser.error = InputError("There is no sound in your recording.")
    shown: list[Partial] = []
    hearing = recogniser.hear(shown.append)
    for _ in range(40):
        hearing.add(bytes(1024))
    with pytest.raises(InputError, match="no sound in your recording"):
        await hearing.finish()
    assert shown == [] or isinstance(recogniser, FakeRecogniser)


async def test_what_is_dropped_keeps_nothing_from_what_is_said_next(recogniser, question):
    dropped = recogniser.hear()
    for portion in portions(question):
        dropped.add(portion)
    dropped.drop()
    hearing = recogniser.hear()
    for portion in portions(question):
        hearing.add(portion)
    assert (await hearing.finish()).text.strip()


async def test_speech_begun_while_the_last_is_finished_waits_for_it(recogniser, question):
    first, second = recogniser.hear(), recogniser.hear()
    for portion in portions(question):
        first.add(portion)
    finished = asyncio.create_task(first.finish())
    for portion in portions(question):
        second.add(portion)
    assert (await second.finish()).text
    assert (await finished).text
