import json
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.platform.work_server import Work, WorkAddress, WorkServer
from jarvis_desktop.speech.server_voice import ServerVoice, VoiceWithServer
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.speech.voices.engine import HibariVoice, KokoroVoice, PiperVoice
from tests.fake_voice import FakeVoice, tone
from tests.line_server import Answer
from tests.speech.neural import piper_program, piper_voices, tiny_kokoro
from tests.work_server import ScriptedServer, running_work_server


class Speaking(ScriptedServer):
    """Speaks a tone, the shorter the faster it is to speak."""

    def next_answer(self) -> Answer:
        return Answer(body=tone(1 / json.loads(self.bodies[-1])["speed"]))


@contextmanager
def speaking_server() -> Iterator[str]:
    with running_work_server(kind=Speaking) as served:
        yield served.address


def told(error):
    raise error


def made(kind: str, folder: Path) -> FakeVoice | LocalVoice:
    if kind == "fake":
        return FakeVoice()
    if kind == "system":
        return LocalVoice(tell=told)
    if kind == "hibari":
        return LocalVoice(engine=HibariVoice(), tell=told)
    if kind == "kokoro":
        return LocalVoice(engine=KokoroVoice(tiny_kokoro(folder)), tell=told)
    program = piper_program(folder / "piper", speaks_json=kind == "piper")
    return LocalVoice(engine=PiperVoice(piper_voices(folder), program), tell=told)


@pytest.fixture(params=["fake", "system", "hibari", "kokoro", "piper", "newer piper", "server"])
async def voice(request, tmp_path_factory):
    if request.param == "server":
        with speaking_server() as address:
            choice = WorkAddress(address)
            server = WorkServer(Work.SPEECH, lambda: choice, Policy(), key=lambda place: "")
            yield VoiceWithServer(ServerVoice(server, lambda: (175, 1.0)), FakeVoice(), told)
        return
    voice = made(request.param, tmp_path_factory.mktemp("voice"))
    yield voice
    await voice.close()


def seconds(path: Path) -> float:
    with wave.open(str(path)) as file:
        return float(file.getnframes() / file.getframerate())


async def test_it_speaks_into_a_wav_file(voice, tmp_path):
    to = tmp_path / "said.wav"
    assert await voice.synthesise("The text is read.", to) == to
    with wave.open(str(to)) as file:
        assert file.getnframes() > 0
        assert file.getsampwidth() == 2
        assert file.getnchannels() == 1
    assert [*tmp_path.glob("*.wav"), *tmp_path.glob(".*.wav")] == [to]


async def test_nothing_to_say_is_refused(voice, tmp_path):
    with pytest.raises(JarvisError, match="nothing to say"):
        await voice.synthesise(" \n", tmp_path / "said.wav")


async def test_a_faster_pace_is_shorter(voice, tmp_path):
    text = "The meeting was moved to Tuesday."
    usual = await voice.synthesise(text, tmp_path / "usual.wav")
    fast = await voice.synthesise(text, tmp_path / "fast.wav", pace=1.5)
    slow = await voice.synthesise(text, tmp_path / "slow.wav", pace=0.75)
    if isinstance(voice, FakeVoice):
        assert voice.paces == [1.0, 1.5, 0.75]
    else:
        assert seconds(fast) < seconds(usual) * 0.8 < seconds(slow) * 0.8
