import subprocess
import sys

import numpy as np
import pytest
from faster_whisper.vad import get_vad_model

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.speech import FRAME
from jarvis_desktop.speech import vad
from jarvis_desktop.speech.decoding import decode
from jarvis_desktop.speech.vad import Silero


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    to = tmp_path_factory.mktemp("silero") / "said.wav"
    subprocess.run(("espeak-ng", "-w", str(to), "what time is it in the kitchen"), check=True)
    samples = decode(to)
    return samples[: len(samples) // FRAME * FRAME]


def test_it_tells_the_same_as_faster_whispers_own(sound):
    theirs = get_vad_model()(sound.copy()).ravel()
    ours = Silero().hear(sound)
    # The end of the very last frame is zeroed there.
    assert ours[:-1] == pytest.approx(theirs[:-1].tolist(), abs=1e-6)
    assert max(ours) > 0.9


def test_portions_of_any_size_tell_the_same_as_the_whole(sound):
    random, whole = np.random.default_rng(0), Silero()
    heard: tuple[float, ...] = ()
    rest = sound
    while len(rest):
        size = int(random.integers(1, 1500))
        heard += whole.hear(rest[:size])
        rest = rest[size:]
    assert heard == pytest.approx(Silero().hear(sound), abs=1e-6)


def test_an_incomplete_frame_waits_for_its_end():
    detector = Silero()
    assert detector.hear(np.zeros(FRAME - 1, np.float32)) == ()
    assert len(detector.hear(np.zeros(1, np.float32))) == 1


def test_the_process_that_only_listens_does_not_load_a_recogniser():
    program = (
        "import sys; from jarvis_desktop.speech import audio_input; "
        "from jarvis_desktop.speech.vad import Silero; Silero(); "
        "print(*({'faster_whisper', 'ctranslate2', 'av', 'tokenizers'} & set(sys.modules)))"
    )
    loaded = subprocess.run((sys.executable, "-c", program), capture_output=True, check=True)
    assert loaded.stdout.split() == []


def test_a_missing_file_is_a_stated_reason(monkeypatch):
    monkeypatch.setattr(vad, "WEIGHTS", "silero_v99.onnx")
    with pytest.raises(UnavailableError, match="detector of speech is missing"):
        vad._session.__wrapped__()
