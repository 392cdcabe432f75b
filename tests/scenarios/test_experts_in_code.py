"""A small LLM writes a script that has an expert listen, and goes on with what it heard."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from jarvis_desktop.app.build import build
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import CodeTerms, Terms
from jarvis_desktop.core.turn import Request
from jarvis_desktop.paths import Paths
from jarvis_desktop.settings import LLMSettings, Settings
from tests.fakes import FakeFrontend
from tests.films import write_film
from tests.line_server import Answer, running
from tests.ollama import Ollama, Shown, _Handler
from tests.scenarios.conftest import steps
from tests.synthetic_speech import speak

SAID = "What time is it?"
SCRIPTS = (
    """import jarvis
words = jarvis.transcribe(jarvis.files()[0]).split()
print(f"{len(words)} words are said, the last one is {words[-1]}")""",
    """import jarvis
found = jarvis.transcribe("note.NNN").split()
print(len(found), "words; at the end:", found[-1])""",
)


@dataclass
class Small(Ollama):
    """Writes one script after the other, if it is told that it can."""

    file: str = ""
    written: int = 0

    def next_answer(self) -> Answer:
        text = "\n".join(message["content"] for message in self.asked[-1]["messages"])
        if "jarvis.transcribe(" not in text:
            return Answer(("I cannot hear.",))
        self.written += 1
        script = SCRIPTS[min(self.written, len(SCRIPTS)) - 1].replace("note.NNN", self.file)
        return Answer((f"```python\n{script}\n```",))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("note.wav", ["automatic-speech-recognition"]),
        ("note.mp4", ["video-to-audio", "automatic-speech-recognition (0,)"]),
    ],
)
async def test_words_of_a_recording_are_counted(
    tmp_path: Path, name: str, wanted: list[str]
) -> None:
    paths = Paths(*(tmp_path / name for name in ("config", "data", "cache", "logs")))
    spoken = speak(SAID, tmp_path / "note.wav")
    if name.endswith(".mp4"):
        write_film(tmp_path / name, sound=spoken)
    frontend = FakeFrontend()
    small = Small(llms={"small:1.5b": Shown(parameters="1.5B")}, file=name)
    with running(small, _Handler) as llm:
        settings = LLMSettings(provider="ollama", address=llm.address)
        app = build(Settings(llm=settings, processes=1), paths)
        request = Request(
            "How many words are said in this recording, and which one is the last?",
            files=(tmp_path / name,),
            terms=Terms(code=CodeTerms.SANDBOXED),
        )
        turn = await app.assistant.handle(request, frontend)
        await app.close()
    (_, result) = max(turn.results.items())
    words = (result.artifacts[0].text or "").split()
    assert words[-1] == "it?"
    # No query hears a recording, so that nothing confirms what was counted.
    unsure, found = turn.reply.split("\n\n")
    assert "could not confirm it" in unsure
    assert found == f"{len(words)} words are said, the last one is it?"
    assert turn.status is Status.PARTLY
    assert steps(turn) == wanted
    assert frontend.codes == []
