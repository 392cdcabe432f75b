"""The interface of speech engines, and the neural voices that can be installed."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child_main import Handler
from jarvis_desktop.text.languages import language_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


USUAL_RATE = 175  # words a minute at which neural voices speak of themselves
MIN_NETWORK_PACE, MAX_NETWORK_PACE = 0.5, 2.0


@dataclass(frozen=True, slots=True)
class KnownVoice:
    """A voice that can be chosen; its `languages` are two- or three-letter codes, its own first."""

    id: str
    languages: tuple[str, ...] = ()

    def speaks(self, language: str) -> bool:
        """Whether it is made for this language."""
        return language in self.languages


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """A text to be spoken to a WAV file."""

    text: str
    to: Path
    rate: float = USUAL_RATE  # words a minute
    volume: float = 1.0  # 0 to 1
    voice: str = ""  # the id of the chosen voice
    language: str | None = None  # the two-letter code of the text's language; None if unknown
    seconds: float = 2.0  # the time limit

    @property
    def pace(self) -> float:
        """The speed relative to normal."""
        return self.rate / USUAL_RATE

    @property
    def network_pace(self) -> float:
        """The same, within what neural voices speak."""
        return min(max(self.pace, MIN_NETWORK_PACE), MAX_NETWORK_PACE)


class VoiceEngine(Protocol):
    """What each engine does in its child process."""

    def ready(self) -> None:
        """Load everything that takes time. Raises UnavailableError."""

    @property
    def voices(self) -> Sequence[KnownVoice]:
        """The available voices, the default one of each language first."""

    def speak(self, order: SpeechRequest, voice: KnownVoice | None) -> None:
        """Speak with this voice, or the default one. Raises JarvisError if there is no sound."""


def choose(voices: Sequence[KnownVoice], order: SpeechRequest) -> KnownVoice | None:
    """The voice for a text: the chosen one for its own languages and if the text's language is
    unknown, else one of the text's language. None is the engine's default."""
    chosen = next((voice for voice in voices if voice.id == order.voice), None)
    if order.language is None or (chosen and chosen.speaks(order.language)):
        return chosen or _of_language(voices, "en")
    return _of_language(voices, order.language) or chosen or _of_language(voices, "en")


def _of_language(voices: Sequence[KnownVoice], language: str) -> KnownVoice | None:
    return next((voice for voice in voices if voice.speaks(language)), None)


def make_handler(name: str, *made_with: object) -> Handler:
    """The handler of a child process, for the VoiceEngine that is named "module:class": ready,
    language(text), or speak(order), which returns a remark for the user, mostly ""."""
    module, _, engine = name.partition(":")
    started: list[VoiceEngine] = []

    def handle(report: Report, what: str, *args: object) -> object:
        if what == "language":
            return language_of(str(args[0]))
        if not started:
            made = getattr(importlib.import_module(f"{__package__}.{module}"), engine)(*made_with)
            made.ready()
            started.append(made)
        if what == "speak" and isinstance(order := args[0], SpeechRequest):
            voices = started[0].voices
            started[0].speak(order, choose(voices, order))
            if order.voice and order.voice not in {voice.id for voice in voices}:
                return f"There is no voice named {order.voice}; the usual one speaks."
        return ""

    return handle


SILENT = "The voice gave no sound for this text."


def audible(part: Path) -> bool:
    """Whether a WAV or AIFF file is complete and not silent."""
    try:
        if _is_wave(part):  # without a library that takes long to load
            with wave.open(str(part), "rb") as file:
                samples = file.readframes(file.getnframes())
                size = file.getnframes() * file.getnchannels() * file.getsampwidth()
                return len(samples) == size and samples.count(0) < size
        import soundfile

        with soundfile.SoundFile(part) as sound:
            return any(abs(block).max() > 0 for block in sound.blocks(65_536, dtype="int16"))
    except (OSError, EOFError, wave.Error, RuntimeError):
        return False


def _is_wave(part: Path) -> bool:
    with part.open("rb") as file:
        return file.read(4) == b"RIFF"


def keep(part: Path, to: Path) -> None:
    """Move an engine's file to its place, as WAV. Raises ExpertError if it is silent."""
    if not audible(part):
        raise ExpertError(SILENT)
    if _is_wave(part):
        part.replace(to)
    else:  # macOS writes AIFF whatever the name is
        import soundfile

        samples, rate = soundfile.read(part, dtype="int16")
        soundfile.write(to, samples, rate, format="WAV", subtype="PCM_16")


def write(samples: NDArray[np.float32], rate: int, to: Path, volume: float) -> None:
    """Write samples between -1 and 1 to a WAV file. Raises ExpertError if they are silent."""
    import numpy as np

    if not samples.size or not np.isfinite(samples).all() or np.abs(samples).max() < 1 / 32768:
        raise ExpertError(SILENT)
    whole = (np.clip(samples, -1, 1) * volume * 32767).astype("<i2")
    part = to.with_name(f".{to.stem}.part.wav")
    try:
        with wave.open(str(part), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(whole.tobytes())
        part.replace(to)
    finally:
        part.unlink(missing_ok=True)


QUIET = 1e-3
MARGIN_S = 0.02  # kept after the last sound; before the first one, it would only delay the answer


def trimmed(samples: NDArray[np.float32], rate: int) -> NDArray[np.float32]:
    """Samples without most of the silence around them, some tenths of a second with neural
    voices."""
    import numpy as np

    loud = np.flatnonzero(np.abs(samples) > QUIET)
    if not loud.size:
        return samples[:0]
    return samples[loud[0] : loud[-1] + round(MARGIN_S * rate)]


ESPEAK_HINT = mark(
    "Install it: sudo apt install espeak-ng (Debian, Ubuntu) or brew install espeak-ng (macOS)."
)

KOKORO_PLACE = "https://github.com/thewh1teagle/kokoro-onnx/releases/tag/model-files-v1.0"
KOKORO_STYLES = "voices-v1.0.bin"
KOKORO_WEIGHTS = {
    "kokoro-v1.0.onnx": 325_532_387,
    "kokoro-v1.0.fp16.onnx": 177_464_787,
    "kokoro-v1.0.int8.onnx": 92_361_271,
}
"""Bytes. The best first; any one of them is enough."""
KOKORO_STYLES_BYTES = 28_214_398
KOKORO_LANGUAGES = {
    "a": ("en", "en-us"),
    "b": ("en", "en-gb"),
    "e": ("es", "es"),
    "f": ("fr", "fr-fr"),
    "h": ("hi", "hi"),
    "i": ("it", "it"),
    "p": ("pt", "pt-br"),
}
"""By the first letter of a voice's name: our code and espeak-ng's. Its Chinese and Japanese voices
need other phonemes than espeak-ng's."""
PIPER_PLACE = "https://github.com/OHF-Voice/piper1-gpl"
PIPER_VOICES = "https://huggingface.co/rhasspy/piper-voices"
CHARACTERS_PER_SECOND = 20.0
"""A neural voice slower than this, the speed of human speech, is hung."""


@dataclass(frozen=True, slots=True)
class HibariVoice:
    """Hibari, which is installed with JARVIS."""

    args: tuple[object, ...] = ("hibari:HibariEngine",)

    def lacking(self) -> UnavailableError | None:
        """Nothing, unless its package was removed."""
        if importlib.util.find_spec("hibari"):
            return None
        return UnavailableError(
            tr("Hibari cannot speak, for its package is not installed."),
            hint=tr("Install it: pip install hibari-tts"),
        )

    def speaks(self, language: str) -> bool:
        """English alone."""
        return language == "en"


@dataclass(frozen=True, slots=True)
class KokoroVoice:
    """Kokoro with its weights in this folder."""

    folder: Path

    @property
    def args(self) -> tuple[object, ...]:
        """Those of `make_handler`."""
        return "kokoro:KokoroEngine", self.folder

    def lacking(self) -> UnavailableError | None:
        """Its weights, or espeak-ng, which converts text to phonemes."""
        if kokoro_weights(self.folder) is None or not (self.folder / KOKORO_STYLES).is_file():
            (weights, size), *_ = KOKORO_WEIGHTS.items()
            return UnavailableError(
                tr("Kokoro cannot speak, for its weights are not here."),
                hint=tr(
                    "Fetch {weights} ({size}) and {kokoro_styles} "
                    "({kokoro_styles_bytes}) from {kokoro_place} and put both into "
                    "{folder}.",
                    weights=weights,
                    size=_megabytes(size),
                    kokoro_styles=KOKORO_STYLES,
                    kokoro_styles_bytes=_megabytes(KOKORO_STYLES_BYTES),
                    kokoro_place=KOKORO_PLACE,
                    folder=self.folder,
                ),
            )
        if not shutil.which("espeak-ng"):
            return UnavailableError(
                tr("Kokoro cannot speak, for the program espeak-ng is not installed."),
                hint=tr(ESPEAK_HINT),
            )
        return None

    def speaks(self, language: str) -> bool:
        """Seven languages, two of them English."""
        return any(language == ours for ours, _ in KOKORO_LANGUAGES.values())


@dataclass(frozen=True, slots=True)
class PiperVoice:
    """Piper with its voices in this folder; `program` is its command or path."""

    folder: Path
    program: str = "piper"

    @property
    def args(self) -> tuple[object, ...]:
        """Those of `make_handler`."""
        return "piper:PiperEngine", self.folder, self.program

    def lacking(self) -> UnavailableError | None:
        """The program, or a voice."""
        if not shutil.which(self.program):
            return UnavailableError(
                tr("Piper cannot speak, for the program is not installed."),
                hint=tr(
                    "Install it from {piper_place}, so that the command {program} works.",
                    piper_place=PIPER_PLACE,
                    program=self.program,
                ),
            )
        if not piper_weights(self.folder):
            return UnavailableError(
                tr("Piper cannot speak, because no Piper voice is installed."),
                hint=tr(
                    "Fetch one from {piper_voices}, such as en_US-lessac-medium (63 MB), and put "
                    "its .onnx file and its .onnx.json file into {folder}.",
                    piper_voices=PIPER_VOICES,
                    folder=self.folder,
                ),
            )
        return None

    def speaks(self, language: str) -> bool:
        """Whether a voice in the folder speaks it."""
        return any(piper_language(each) == language for each in piper_weights(self.folder))


NeuralVoice = HibariVoice | KokoroVoice | PiperVoice
"""Its child process is made with `args`. `lacking` returns what must be installed
first, and how; `speaks` whether it has a voice for a language."""


def neural_voice(name: str, folder: Path) -> NeuralVoice | None:
    """The engine of this name, with its weights in a folder of `folder`; None is the system's."""
    if name == "hibari":
        return HibariVoice()
    if name == "kokoro":
        return KokoroVoice(folder / "kokoro")
    return PiperVoice(folder / "piper") if name == "piper" else None


def import_voice(source: Path, folder: Path) -> str:
    """Copy the voices in a folder to where `neural_voice` finds them, and return the name of their
    engine; "" if there are none."""
    weights, styles = kokoro_weights(source), source / KOKORO_STYLES
    if weights and styles.is_file():
        name, files = "kokoro", [weights, styles]
    else:
        name, voices = "piper", piper_weights(source)
        files = [*voices, *(voice.with_suffix(".onnx.json") for voice in voices)]
    if not files:
        return ""
    (folder / name).mkdir(parents=True, exist_ok=True)
    for file in files:
        part = folder / name / f"{file.name}.part"
        shutil.copyfile(file, part)
        part.replace(part.with_suffix(""))
    return name


def kokoro_weights(folder: Path) -> Path | None:
    """The best weights in a folder."""
    files = (folder / name for name in KOKORO_WEIGHTS)
    return next((file for file in files if file.is_file()), None)


def piper_weights(folder: Path) -> list[Path]:
    """The complete Piper voices in a folder, by name."""
    return sorted(
        file for file in folder.glob("*.onnx") if file.with_suffix(".onnx.json").is_file()
    )


def piper_language(file: Path) -> str:
    """The language of a file such as de_DE-thorsten-medium.onnx."""
    return file.name.partition("-")[0].partition("_")[0].lower()


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


def phoneme_parts(sounds: str, longest: int) -> list[str]:
    """Split phonemes that are too many for a network, after a mark or between words."""
    parts = []
    while len(sounds) > longest:
        head = sounds[:longest]
        at = max(head.rfind(mark) for mark in (", ", "; ", ": ", ". ")) + 1 or head.rfind(" ")
        at = at if at > 0 else longest
        parts.append(sounds[:at])
        sounds = sounds[at:].lstrip()
    return [*parts, sounds]


PROGRAM = "espeak-ng"
_MARKS = r"[;:,.!?…—–\"“”()]"
_PAUSE = re.compile(rf"((?:^|\s+){_MARKS}+\s*|{_MARKS}+(?:\s+{_MARKS}*|$))")
_SWITCH = re.compile(r"\([a-z-]+\)")  # what espeak-ng prints before a word of another language


def phonemes(text: str, language: str, *, timeout: float) -> str:
    """The phonemes of a text in the International Phonetic Alphabet, with its punctuation, which
    controls the pauses.

    espeak-ng is run as a program, because its library and the Python packages around it are GPL.
    Raises UnavailableError without it, ExpertError if it fails or takes longer than `timeout`.
    """
    pieces = _PAUSE.split(" ".join(text.split()))
    words = [piece for piece in pieces[::2] if piece.strip()]
    said = _said("\n\n".join(words), language, timeout).splitlines()
    if len(said) != len(words):  # it found additional pauses
        said = [" ".join(_said(piece, language, timeout).split()) for piece in words]
    spoken = iter(said)
    sounds = [
        next(spoken) if at % 2 == 0 and piece.strip() else piece for at, piece in enumerate(pieces)
    ]
    return " ".join("".join(sounds).split())


def _said(text: str, language: str, timeout: float) -> str:
    program = shutil.which(PROGRAM)
    if not program:
        raise UnavailableError(
            tr("This voice needs the program espeak-ng, which is not installed."),
            hint=tr(ESPEAK_HINT),
        )
    try:
        done = subprocess.run(
            [program, "-q", "--ipa", "-v", language, "--stdin"],
            input=text,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
            check=True,
        )
    except (OSError, subprocess.SubprocessError, UnicodeError) as error:
        raise ExpertError(tr("espeak-ng could not say how this text sounds.")) from error
    lines = (line.strip() for line in _SWITCH.sub("", done.stdout).splitlines())
    return "\n".join(line for line in lines if line)
