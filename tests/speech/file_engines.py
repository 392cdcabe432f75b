"""Engines of files that go wrong, and probes of graphics cards; loaded in child processes."""

import os
import time

from jarvis_desktop.core.speech import Segment
from jarvis_desktop.speech.transcription import OpenedRecording, TranscriptPart

WINDOWS = (25.0, 20.0, 22.0, 23.0, 5.0, 5.0)


def scripted():
    """Hears a word in each window; the file's text says where and how it goes wrong.

    "crash 2" ends the process at window 2, "together" where several are asked for at once, and
    "cuda" wherever a card is to be used; "doubtful" says that all was decoded twice. With the
    weights "shipped" nothing goes wrong.
    """
    script = ""

    def handle(report, what, *args):
        nonlocal script
        if what == "open":
            script = args[0].read_text()
            return OpenedRecording(120.0, WINDOWS if "short" not in script else WINDOWS[:2])
        chosen, words, weights, language, expected, device, _ = args
        places = range(*chosen.indices(len(WINDOWS)))
        if weights.name == "shipped":
            script = ""
        if f"crash {places[0]}" in script or ("together" in script and len(places) > 1):
            os.abort()
        if "cuda" in script and device == "cuda":
            os.abort()
        if f"hang {places[0]}" in script:
            time.sleep(60)
        if "quiet" in script:
            return TranscriptPart((), "en", 95.0)
        how = f"{language}/{device}/{len(places)}/{'+'.join(expected)}/{words}"
        found = tuple(Segment(at * 20, at * 20 + 1, f"word {at} {how}") for at in places)
        again = len(places) if "doubtful" in script and len(places) > 1 else 0
        return TranscriptPart(found, language or "fr", 20.0 * places[-1] + 15, again)

    return handle


def finding_a_card():
    """A probe that finds one."""
    return lambda report, weights: ("cuda", "float16")


def aborting():
    """A probe in which a library is missing."""
    return lambda report, weights: os.abort()


def hanging():
    """A driver that never answers."""
    return lambda report, weights: time.sleep(60)


def broken_weights():
    """A probe that was given weights which nobody can use."""
    from jarvis_desktop.core.errors import UnavailableError

    def handle(report, weights):
        raise UnavailableError("They are broken.")

    return handle


def wordy():
    """Hears more than a request."""
    return lambda report, what, path, most: None
