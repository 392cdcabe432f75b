"""The sounds of a text in the International Phonetic Alphabet, by the program espeak-ng.

It is run as a program of its own: its library, and the Python packages around it, are GPL.
"""

from __future__ import annotations

import re
import shutil
import subprocess

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.speech.voices.neural import ESPEAK_HINT

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
