"""Changes a recording: less noise, another speed or loudness. Runs in a child process."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Option, Port, Preset, TaskType, Value
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks import sound_effects
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.media import read_audio, write_wav

if TYPE_CHECKING:
    from jarvis_desktop.tasks.media import Samples

EFFECTS = (
    "denoise", "normalise", "faster", "slower", "louder", "quieter", "reverse", "trim-silence",
)  # fmt: skip

_PHRASES: tuple[tuple[str, dict[str, Value], str], ...] = (
    ("denoise", {}, "noise|denois*|denoise|hiss|the hum|humming|clean up|"
     "clean the recording|clean the sound|background noise|clearer|crackl*|noisy|buzz*|"
     "improve the sound|improve the audio"),
    ("normalise", {}, "normali*|same volume|even volume|even out|level the|too quiet|"
     "consistent volume"),
    ("faster", {"amount": 2.0}, "twice as fast|double speed|double the speed|2x|two times"),
    ("faster", {"amount": 1.5}, "1.5x|one and a half times|much faster"),
    ("faster", {}, "faster|speed up|speed it up|quicker|accelerat*|change the speed"),
    ("slower", {"amount": 0.5}, "half speed|half the speed|half as fast|twice as slow|0.5x|"
     "much slower"),
    ("slower", {}, "slower|slow down|slow it down|slow motion"),
    ("louder", {"amount": 12.0}, "much louder"),
    ("louder", {}, "louder|amplif*|amplify|turn up ... recording|turn up ... sound|"
     "turn xfile* up|turn up ... xfile*|turn up xfile*|boost the sound|boost the volume|"
     "increase the volume of"),
    ("quieter", {"amount": 12.0}, "much quieter"),
    ("quieter", {}, "quieter|turn down ... recording|turn down ... sound|"
     "turn down ... xfile*|turn down xfile*|"
     "turn xfile* down|less loud|reduce the volume of|lower the volume of"),
    ("reverse", {}, "revers*|backward*"),
    ("trim-silence", {}, "silence|silent parts|pauses|trim|dead air|gaps"),
)  # fmt: skip

EFFECT_CUES: dict[str, tuple[str, dict[str, Value]]] = {
    phrase: (effect, options)
    for effect, options, phrases in _PHRASES
    for phrase in phrases.split("|")
}
"""Phrases by which people ask for an effect: (effect, options). The longest that fits counts."""

TYPE = TaskType(
    name="audio-to-audio",
    summary="Changes a recording: cleans noise, changes speed or loudness, cuts silence.",
    ports=(Port("audio", (Kind.AUDIO,)),),
    gives=(Kind.AUDIO,),
    options=(
        Option("effect", "what is done to the sound", "denoise", choices=EFFECTS),
        Option("amount", "speed factor, or decibels of loudness; 0 for the usual", 0.0,
               units=("times", "decibel*", "db")),
    ),
    cues=(
        "clean the audio", "clean the recording", "audio quality", "improve the", "audio to audio",
        "edit the audio", "edit the recording", "change the speed",
    ),
    presets=tuple(
        Preset(phrase, (("effect", effect), *options.items()))
        for phrase, (effect, options) in EFFECT_CUES.items()
    ),
)  # fmt: skip

LONGEST_STEM = 60
_DEFAULTS = {"faster": 1.25, "slower": 0.8, "louder": 6.0, "quieter": 6.0}


def _stem(name: str) -> str:
    """The name of the original: of several effects in a row, a name tells the last alone."""
    stem = PurePath(name).stem
    ends = tuple(f"-{effect}" for effect in EFFECTS)
    while (end := next((end for end in ends if stem.endswith(end)), "")) and stem != end:
        stem = stem.removesuffix(end)
    return stem[:LONGEST_STEM].strip()


def change(call: Call, report: Report) -> Iterable[Artifact]:
    """The changed sound as a WAV. Raises InputError where the amount makes no sense."""
    name = call.title("audio")
    effect = call.words("effect")
    amount = call.number("amount") or _DEFAULTS.get(effect, 0.0)
    samples, rate = read_audio(call.file("audio"), name=name)
    if not samples.size:
        raise InputError(tr("{name} holds no sound.", name=name))
    changed = _apply(effect, samples, rate, amount, report)
    to = call.workdir / "changed.wav"
    write_wav(to, changed, rate)
    return [Artifact(Kind.AUDIO, path=to, name=f"{_stem(name)}-{effect}.wav")]


def _apply(effect: str, samples: Samples, rate: int, amount: float, report: Report) -> Samples:
    match effect:
        case "normalise":
            return sound_effects.normalise(samples, rate)
        case "faster" | "slower":
            # "Slower by 1.5" means what "slower by 0.67" means.
            factor = 1 / amount if (amount < 1) == (effect == "faster") else amount
            if not 0.25 <= factor <= 4:
                raise InputError(tr("The speed can be changed by a factor of 4 at most."))
            return sound_effects.stretch(samples, rate, factor, report)
        case "louder" | "quieter":
            if not 0 < amount <= 40:
                raise InputError(tr("The loudness can be changed by 40 decibels at most."))
            return sound_effects.amplify(samples, amount if effect == "louder" else -amount)
        case "reverse":
            return samples[:, ::-1]
        case "trim-silence":
            return sound_effects.trim(samples, rate)
        case _:
            return sound_effects.denoise(samples, rate, report)


DEFINITION = Definition(
    TYPE, method=change, note="denoise, normalise, speed, loudness, reverse, cut silence (numpy)"
)
