"""The voices that must be installed first: what they need, where it is fetched, what they speak.

The sounds of a text in the International Phonetic Alphabet, by the program espeak-ng.

It is run as a program of its own: its library, and the Python packages around it, are GPL."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr

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
"""Bytes. The best first; any one of them will do."""
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
want other sounds than espeak-ng's."""

PIPER_PLACE = "https://github.com/OHF-Voice/piper1-gpl"
PIPER_VOICES = "https://huggingface.co/rhasspy/piper-voices"

CHARACTERS_PER_SECOND = 20.0
"""Slower than this, which is how fast a person speaks, a neural voice is hung."""


class Neural(Protocol):
    """An engine that runs where all it needs is there."""

    @property
    def factory(self) -> str:
        """Of its child process."""
        ...

    @property
    def args(self) -> tuple[object, ...]:
        """For the factory."""
        ...

    def lacking(self) -> UnavailableError | None:
        """What keeps it from speaking, and what to fetch; None where nothing does."""
        ...

    def speaks(self, language: str) -> bool:
        """Whether it has a voice for this language."""
        ...


@dataclass(frozen=True, slots=True)
class KokoroVoice:
    """Kokoro with its weights in this folder."""

    folder: Path
    factory: str = "jarvis_desktop.speech.voices.kokoro:make"

    @property
    def args(self) -> tuple[object, ...]:
        """Where it is."""
        return (self.folder,)

    def lacking(self) -> UnavailableError | None:
        """Its weights, or the program that tells how words sound."""
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
    """Piper with its voices in this folder; `program` is its command, or where it is."""

    folder: Path
    program: str = "piper"
    factory: str = "jarvis_desktop.speech.voices.piper:make"

    @property
    def args(self) -> tuple[object, ...]:
        """Where both are."""
        return self.folder, self.program

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
                tr("Piper cannot speak, for there is no voice of it here."),
                hint=tr(
                    "Fetch one from {piper_voices}, such as en_US-lessac-medium (63 MB), and put "
                    "its .onnx file and its .onnx.json file into {folder}.",
                    piper_voices=PIPER_VOICES,
                    folder=self.folder,
                ),
            )
        return None

    def speaks(self, language: str) -> bool:
        """Those of the voices in the folder."""
        return any(piper_language(each) == language for each in piper_weights(self.folder))


def neural(name: str, folder: Path) -> Neural | None:
    """The engine of this name, whose weights are in a folder of `folder`; None is the system's."""
    if name == "kokoro":
        return KokoroVoice(folder / "kokoro")
    return PiperVoice(folder / "piper") if name == "piper" else None


def kokoro_weights(folder: Path) -> Path | None:
    """The best weights in a folder."""
    files = (folder / name for name in KOKORO_WEIGHTS)
    return next((file for file in files if file.is_file()), None)


def piper_weights(folder: Path) -> list[Path]:
    """The voices of Piper in a folder, by name; only those that are complete."""
    return sorted(
        file for file in folder.glob("*.onnx") if file.with_suffix(".onnx.json").is_file()
    )


def piper_language(file: Path) -> str:
    """Of a file such as de_DE-thorsten-medium.onnx."""
    return file.name.partition("-")[0].partition("_")[0].lower()


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


PROGRAM = "espeak-ng"
_MARKS = r"[;:,.!?…—–\"“”()]"
_PAUSE = re.compile(rf"((?:^|\s+){_MARKS}+\s*|{_MARKS}+(?:\s+{_MARKS}*|$))")
_SWITCH = re.compile(r"\([a-z-]+\)")
"""What espeak-ng prints where it takes a word for one of another language."""


def phonemes(text: str, language: str, *, timeout: float) -> str:
    """How the text sounds, with its marks where they were, for they are what pauses are read from.

    Raises UnavailableError without espeak-ng, ExpertError where it fails or takes longer than
    `timeout` in seconds.
    """
    pieces = _PAUSE.split(" ".join(text.split()))
    words = [piece for piece in pieces[::2] if piece.strip()]
    said = _said("\n\n".join(words), language, timeout).splitlines()
    if len(said) != len(words):  # it found pauses of its own
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
