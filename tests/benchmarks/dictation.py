"""Recorded speech through the whole road of dictation into an editor, beside the recogniser alone.

    python3 -m tests.benchmarks.dictation FOLDER [--people 50]

FOLDER holds recordings of people and a manifest.jsonl with a line for each: "file" and "transcript"
("" if nobody speaks). The microphone gives each recording in stretches of 30 ms; `Talk`, the
recogniser of the box, the dictation and the way of X11 are real, and so is the editor, on a screen
of its own. The recogniser alone hears the same stretches. The texts and so their word error rates
should be equal.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from pathlib import Path

import jiwer
import numpy as np

from jarvis_desktop.assistant.talk.dictation import DictationSession
from jarvis_desktop.assistant.talk.talk import Talk
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.speech import RATE, Sound
from jarvis_desktop.platform.insertion_x11 import X11Inserter
from jarvis_desktop.speech.decoding import decode
from jarvis_desktop.speech.recogniser import LocalRecogniser
from jarvis_desktop.speech.vad import Silero
from tests.benchmarks.recognition import NORMALISED
from tests.fake_voice import FakeMicrophone
from tests.platform.editor import Editor
from tests.screen import start_screen

POLL = round(0.03 * RATE)


def recordings(folder: Path, most: int) -> list[tuple[str, list[Sound]]]:
    """What people say, and its sound in stretches."""
    found: list[tuple[str, list[Sound]]] = []
    for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row.get("transcript") and len(found) < most:
            samples, silero = decode(folder / row["file"]), Silero()
            parts = np.split(samples, range(POLL, len(samples), POLL))
            pcm = [(np.clip(part, -1, 1) * 32767).astype("<i2").tobytes() for part in parts]
            sounds = [
                Sound(each, 0.5, silero.hear(part)) for each, part in zip(pcm, parts, strict=True)
            ]
            found.append((row["transcript"], sounds))
    return found


async def alone(recogniser: LocalRecogniser, sounds: list[Sound]) -> str:
    """What the recogniser understands."""
    hearing = recogniser.hear(lambda partial: None)
    for sound in sounds:
        hearing.add(sound.pcm)
        await asyncio.sleep(0)
    try:
        return (await hearing.finish()).text
    except InputError:
        return ""


async def dictated(session: DictationSession, microphone: FakeMicrophone) -> tuple[str, str]:
    """What was shown as written, and why nothing was written."""
    session.dismiss()
    session.talk.press()
    while not (microphone.state == "open" and microphone.heard):
        await asyncio.sleep(0.01)
    session.talk.release()
    while session.state.phase not in ("written", "failed"):
        await asyncio.sleep(0.01)
    await session.settled()
    state = session.state
    return (state.words.text, "") if state.phase == "written" else ("", state.message)


async def measure(said: list[tuple[str, list[Sound]]], screen: str) -> None:
    """Print the figures."""
    editor = await asyncio.to_thread(Editor, screen)
    microphone, recogniser = FakeMicrophone(), LocalRecogniser(language="en")
    talk = Talk(microphone, recogniser, way="hold")
    kept: list[str] = []

    async def unchanged(text: str) -> str:
        return text

    inserter = X11Inserter()
    session = DictationSession(talk, inserter, keep=kept.append, clean_up=unchanged)
    session.spaces = True
    own, shown, expected = list[str](), list[str](), ""
    await recogniser.warm()
    for _, sounds in said:
        own.append(session.rules.written(await alone(recogniser, sounds)))
        microphone.sounds = sounds
        text, why = await dictated(session, microphone)
        shown.append(text)
        expected += f"{text} " if text else ""
        if text != own[-1]:
            print(f"  alone    {own[-1]!r}\n  dictated {text!r} {why}", flush=True)
    arrived = await asyncio.to_thread(editor.wait_for, expected)
    await session.close()
    await recogniser.close()
    editor.stop()
    references = [reference for reference, _ in said]
    for name, texts in (("alone", own), ("dictated", shown)):
        rate = jiwer.wer(
            references,
            [text or "∅" for text in texts],
            reference_transform=NORMALISED,
            hypothesis_transform=NORMALISED,
        )
        print(f"word error rate, {name}: {rate:.4f}")
    equal = sum(a == b for a, b in zip(own, shown, strict=True))
    print(f"equal texts: {equal} of {len(said)}; kept {len(kept)}")
    print(f"arrived in the editor as shown: {arrived == expected} ({len(expected)} characters)")


def main() -> None:
    """Measure on a screen of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--people", type=int, default=50)
    chosen = parser.parse_args()
    screen = start_screen()
    for variable in ("WAYLAND_DISPLAY", "XAUTHORITY"):
        os.environ.pop(variable, None)
    os.environ |= {"DISPLAY": screen.name, "XDG_SESSION_TYPE": "x11"}
    try:
        asyncio.run(measure(recordings(chosen.folder, chosen.people), screen.name))
    finally:
        screen.stop()


if __name__ == "__main__":
    main()
