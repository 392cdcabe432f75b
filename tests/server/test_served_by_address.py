"""One JARVIS uses another by its address: the real recogniser and the real voice."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.app.build import build
from jarvis_desktop.app.server_trial import try_server
from jarvis_desktop.network_settings import ServersSettings
from jarvis_desktop.paths import user_paths
from jarvis_desktop.platform import api_keys
from jarvis_desktop.platform.work_server import Work
from jarvis_desktop.settings import Settings
from jarvis_desktop.tasks.audio.recognition import AUTOMATIC_SPEECH_RECOGNITION
from tests.machines import keyring_in_memory
from tests.server.serving import TOKEN, Served
from tests.synthetic_speech import speak


def quiet(fraction: float | None, words: str) -> None:
    pass


async def test_it_hears_what_the_other_hears(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with keyring_in_memory(monkeypatch):
        api_keys.keep(served.base, TOKEN)
        servers = ServersSettings(transcription=served.base, speech=served.base)
        app = build(Settings(processes=1, servers=servers), user_paths())
        try:
            server = app.servers[Work.TRANSCRIPTION]
            assert await server.models() == ("jarvis",)
            assert "This is how I sound" in (await try_server(app, Work.TRANSCRIPTION)).words
            assert "It spoke for" in (await try_server(app, Work.SPEECH)).words
            said = await app.speech.speaking.synthesise("Good morning.", tmp_path / "said.wav")
            heard = await app.recogniser.transcribe(said, quiet)
            assert heard.text.strip(" .").lower() == "good morning"
            audio = speak("set a timer for six seconds", tmp_path / "request.wav")
            heard = await app.speech.hearing.transcribe(audio, quiet)
            host = served.base.removeprefix("http://")
            assert heard.text.strip(" .").lower() == "set a timer for six seconds"
            assert heard.engine == f"whisper-1 ({host})"
            (first, *_) = app.catalogue.candidates(AUTOMATIC_SPEECH_RECOGNITION.type.name)
            assert (first.backend, first.provider, first.remote) == ("server", host, False)
        finally:
            await app.close()
