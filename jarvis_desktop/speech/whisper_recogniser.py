"""Whisper through faster-whisper, from weights on disk. Only imported in child processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jarvis_desktop.child_main import Handler
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.hearing import Segment, Transcript
from jarvis_desktop.speech.decoding import RATE, decode
from jarvis_desktop.speech.gate import SETTLE, Speech, find_speech
from jarvis_desktop.speech.live import Heard
from jarvis_desktop.speech.live_whisper import LiveWhisper
from jarvis_desktop.speech.one_hearing import OneHearing
from jarvis_desktop.speech.whisper_loading import load
from jarvis_desktop.speech.whisper_pass import Passes


def make() -> Handler:
    """The handler: "hear" a file and give the seconds of speech, then "recognise" it; "listen" to
    speech that goes on; "ready" loads what they need.

    All but "hear" end with the same arguments: a folder of CTranslate2 weights, which are kept
    until others are asked for, the language, words to expect, the device and how it computes.
    """
    state: dict[str, Any] = {}
    live = OneHearing()

    def handle(report: Report, what: str, *args: Any) -> float | Transcript | Heard | None:
        if what == "hear":
            (path,) = args
            state["name"] = path.name
            state["speech"] = find_speech(decode(path), path.name)
            return float(state["speech"].seconds)
        *given, folder, language, words, device, compute_type = args
        if state.get("loaded") != (folder, device, compute_type):
            state.pop("passes", None)  # two at once may be more than the memory holds
            state["passes"] = Passes(load(folder, device=device, compute_type=compute_type))
            state["loaded"] = folder, device, compute_type
            # The first pass takes longer than the others, and tells how fast this computer is.
            state["passes"].hear(np.zeros(RATE, np.float32), language="en")
        passes = state["passes"]
        if what == "ready":
            return None
        if what == "listen":
            return live.listen(lambda: LiveWhisper(passes, language, words), *given)
        heard = recognise(passes, state.pop("speech"), state["name"], language, words)
        report(1.0, "recognising speech")
        return heard

    return handle


def recognise(
    passes: Passes, speech: Speech, name: str, language: str | None, words: Sequence[str]
) -> Transcript:
    """The words of a recording: of speech that is told at once. Raises InputError where none were
    found."""
    pcm = (np.clip(speech.samples, -1, 1) * 32767).astype("<i2").tobytes()
    heard = LiveWhisper(passes, language, words, name=name).hear(pcm, final=True)
    assert heard.transcript
    before = SETTLE / RATE  # the silence that the gate put before it
    segments = tuple(
        Segment(max(0.0, each.start - before), max(0.0, each.end - before), each.text)
        for each in heard.transcript.segments
    )
    return replace(heard.transcript, segments=segments)
