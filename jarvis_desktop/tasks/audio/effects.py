"""The audio-to-audio task: denoising, speed, loudness and pauses, with numpy alone.

Samples are (channels, samples) from -1 to 1. Runs in a child process.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.audio.media import read_audio, write_wav
from jarvis_desktop.tasks.definition import define, presets
from jarvis_desktop.tasks.naming import original_stem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from jarvis_desktop.tasks.audio.media import Samples

    Frames = NDArray[np.floating]

BLOCK_FRAMES = 2000  # frames held in memory at once
QUIET_SHARE = 0.1  # the share of frames that is assumed to be noise only
FADE_SECONDS = 3.0
FLOOR = 0.08  # gain of pure noise, -22 dB: complete silence in its place would sound broken


def denoise(samples: Samples, rate: int, report: Report) -> Samples:
    """Reduce a steady noise. The noise's spectrum is that of the quietest frames, as in spectral
    gating (Sainburg, "noisereduce", 2019). The gain is Wiener's with the decision-directed estimate
    of Ephraim and Malah (1984), which avoids musical noise."""
    import numpy as np

    size = 1 << max(8, round(np.log2(rate * 0.032)))
    hop = size // 4
    result = np.empty_like(samples)
    for at, channel in enumerate(samples):
        padded = np.concatenate([np.zeros(size), channel, np.zeros(2 * size)]).astype(np.float32)
        noise = _noise(padded, size, hop)
        out = np.zeros(len(padded), dtype=np.float32)
        memory = noise.copy()
        for start, spectra in _spectra(padded, size, hop):
            report((at + start * hop / len(padded)) / len(samples), tr("Taking the noise away"))
            memory = _clean(spectra, noise, memory)
            _add(out, spectra, start, size, hop)
        result[at] = out[size : size + samples.shape[1]]
    return result


def _window(size: int) -> Frames:
    import numpy as np

    return np.sqrt(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size))


def _spectra(
    padded: Frames, size: int, hop: int
) -> Iterator[tuple[int, NDArray[np.complexfloating]]]:
    """Blocks of spectra, each with the number of its first frame."""
    import numpy as np

    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop]
    window = _window(size)
    for start in range(0, len(frames), BLOCK_FRAMES):
        yield start, np.fft.rfft(frames[start : start + BLOCK_FRAMES] * window, axis=1)


def _noise(padded: Frames, size: int, hop: int) -> Frames:
    """The mean power per frequency of the quietest frames that are not digital silence."""
    import numpy as np

    powers = np.concatenate(
        [(np.abs(spectra) ** 2).sum(axis=1) for _, spectra in _spectra(padded, size, hop)]
    )
    alive = powers[powers > 1e-9 * max(float(powers.max()), 1e-12)]
    limit = np.quantile(alive, QUIET_SHARE) if alive.size else 0.0
    total = np.zeros(size // 2 + 1)
    count = 0
    for start, spectra in _spectra(padded, size, hop):
        share = powers[start : start + len(spectra)]
        quiet = spectra[(share <= limit) & (share > 1e-9 * max(float(powers.max()), 1e-12))]
        total += (np.abs(quiet) ** 2).sum(axis=0)
        count += len(quiet)
    # The quietest frames are quieter than the noise is on average.
    return 1.5 * total / max(count, 1) + 1e-12


def _clean(spectra: NDArray[np.complexfloating], noise: Frames, memory: Frames) -> Frames:
    """Attenuate the noise in place; return the last cleaned frame's power for the next block."""
    import numpy as np

    for frame in spectra:
        posterior = np.abs(frame) ** 2 / noise
        prior = 0.96 * memory / noise + 0.04 * np.maximum(posterior - 1, 0)
        frame *= np.maximum(prior / (1 + prior), FLOOR)
        memory = np.abs(frame) ** 2
    return memory


def _add(
    out: Frames, spectra: NDArray[np.complexfloating], start: int, size: int, hop: int
) -> None:
    import numpy as np

    # Four squared root-Hann windows overlap everywhere and sum to two.
    frames = np.fft.irfft(spectra, size, axis=1) * _window(size) / 2
    for at, frame in enumerate(frames):
        begin = (start + at) * hop
        out[begin : begin + size] += frame


def stretch(samples: Samples, rate: int, factor: float, report: Report) -> Samples:
    """Play `factor` times as fast at the same pitch.

    WSOLA (Verhelst and Roelands, "An overlap-add technique based on waveform similarity for high
    quality time-scale modification of speech", ICASSP 1993): frames overlap by half, each taken
    from the place that continues the previous one best.
    """
    import numpy as np

    hop = max(int(rate * 0.02), 16)
    size, search = 2 * hop, max(int(rate * 0.01), 8)
    length = int(samples.shape[1] / factor)
    margin = size + search
    padded = np.pad(samples, ((0, 0), (margin, 2 * margin + hop)))
    mixed = padded.mean(axis=0)
    out = np.zeros((len(samples), length + 2 * size), dtype=np.float32)
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)).astype(np.float32)
    previous = margin
    for number, at in enumerate(range(0, length + hop, hop)):
        wanted = margin + int((at - hop) * factor)
        if number % 500 == 0:
            report(at / (length + hop), tr("Changing the speed"))
        if wanted + margin + size > padded.shape[1]:
            break
        expected = mixed[previous + hop : previous + hop + size]
        here = mixed[max(wanted - search, 0) : wanted + search + size]
        best = int(np.argmax(_likeness(expected, here))) + max(wanted - search, 0)
        out[:, at : at + size] += padded[:, best : best + size] * window
        previous = min(best, padded.shape[1] - 2 * size)
    return out[:, hop : hop + length]


def _likeness(expected: Frames, here: Frames) -> Frames:
    """The normalised correlation of `expected` with each place in `here`."""
    import numpy as np

    size = len(expected)
    length = 1 << (len(here) + size - 1).bit_length()
    products = np.fft.irfft(
        np.fft.rfft(here, length) * np.conj(np.fft.rfft(expected, length)), length
    )[: len(here) - size + 1]
    sums = np.concatenate([[0.0], np.cumsum(here.astype(np.float64) ** 2)])
    likeness: Frames = products / np.sqrt(np.maximum(sums[size:] - sums[:-size], 1e-9))
    return likeness


def normalise(samples: Samples, rate: int) -> Samples:
    """Bring everything but silence to -20 dB below full scale, with no peak above -1 dB."""
    import numpy as np

    levels = _levels(samples, max(int(rate * 0.05), 1))
    loudest = float(levels.max())
    if loudest < 1e-5:
        raise InputError(tr("The recording is silent: there is nothing to make louder."))
    active = levels[levels > loudest * 0.03]
    gain = 0.1 / float(np.sqrt((active**2).mean()))
    return _soft_clip(samples * np.float32(gain))


def amplify(samples: Samples, decibels: float) -> Samples:
    """Make it louder, or quieter for negative decibels; peaks are rounded off, not cut."""
    import numpy as np

    return _soft_clip(samples * np.float32(10 ** (decibels / 20)))


def trim(samples: Samples, rate: int) -> Samples:
    """Remove silence at the ends, and shorten long pauses to a third of a second."""
    import numpy as np

    size = max(int(rate * 0.02), 1)
    levels = _levels(samples, size)
    threshold = max(float(np.quantile(levels, 0.95)) * 0.03, 1e-5)
    loud = levels > threshold
    if not loud.any():
        raise InputError(tr("The recording is silent from beginning to end."))
    # Keep a tenth of a second around each sound: soft beginnings, fading ends.
    reach = np.convolve(loud, np.ones(11), mode="same") > 0
    pause = int(0.33 * rate / size)
    keep = reach.copy()
    edges = np.flatnonzero(np.diff(np.concatenate([[1], reach.astype(np.int8), [1]])))
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        if begin > 0 and end < len(reach):
            keep[begin : begin + pause] = True
    mask = np.repeat(keep, size)[: samples.shape[1]]
    return samples[:, mask]


def fade(samples: Samples, rate: int, effect: str, seconds: float = 0.0) -> Samples:
    """Let the sound begin or end softly, or both, over some seconds: three if `seconds` is 0. A
    fade of both ends takes at most half of the recording for each."""
    import numpy as np

    length = samples.shape[1]
    longest = length // 2 if effect == "fade" else length
    count = min(round((seconds or FADE_SECONDS) * rate), longest)
    gain = np.ones(length, dtype=np.float32)
    ramp = np.sin(0.5 * np.pi * np.arange(count) / max(count, 1)).astype(np.float32) ** 2
    if effect != "fade-out":
        gain[:count] = ramp
    if effect != "fade-in":
        gain[length - count :] *= ramp[::-1]
    return samples * gain


def _levels(samples: Samples, size: int) -> Frames:
    """The loudness (root mean square) of each stretch of `size` samples."""
    import numpy as np

    mixed = np.sqrt((samples**2).mean(axis=0))
    padded = np.pad(mixed, (0, -len(mixed) % size)).reshape(-1, size)
    levels: Frames = np.sqrt((padded**2).mean(axis=1))
    return levels


def _soft_clip(samples: Samples) -> Samples:
    import numpy as np

    knee = 0.7
    loud = np.abs(samples)
    rounded = knee + (0.89 - knee) * np.tanh((loud - knee) / (0.89 - knee))
    return np.where(loud > knee, np.sign(samples) * rounded, samples).astype(np.float32)


EFFECTS = (
    "denoise", "normalise", "faster", "slower", "louder", "quieter", "reverse", "trim-silence",
    "fade-in", "fade-out", "fade",
)  # fmt: skip

EFFECT_PRESETS = presets(
    ({"effect": "denoise"}, "noise|rauschen|denois*|denoise|hiss|the hum|humming|clean up|"
     "clean the recording|clean the sound|background noise|clearer|crackl*|noisy|buzz*|"
     "improve the sound|improve the audio"),
    ({"effect": "normalise"}, "normali*|same volume|even volume|even out|level the|too quiet|"
     "consistent volume"),
    ({"effect": "faster", "amount": 2.0},
     "twice as fast|double speed|double the speed|2x|two times"),
    ({"effect": "faster", "amount": 1.5}, "1.5x|one and a half times|much faster"),
    ({"effect": "faster"}, "faster|schneller|speed up|speed ... up|quicker|accelerat*|"
     "change the speed"),
    ({"effect": "slower", "amount": 0.5},
     "half speed|half the speed|half as fast|twice as slow|0.5x|much slower"),
    ({"effect": "slower"}, "slower|langsamer|slow down|slow ... down|slow motion"),
    ({"effect": "louder", "amount": 12.0}, "much louder"),
    ({"effect": "louder"}, ["louder", "amplif*", "amplify", "turn xfile* up", "turn up ... xfile*",
     "turn up xfile*", "turn the volume up", "volume up", "lauter",
     *(f"{raise_} ... {it}" for raise_ in ("turn up", "boost", "raise", "increase")
       for it in ("volume", "sound", "recording"))]),
    ({"effect": "quieter", "amount": 12.0}, "much quieter"),
    ({"effect": "quieter"}, ["quieter", "turn xfile* down", "turn down ... xfile*",
     "turn down xfile*", "turn the volume down", "volume down", "leiser", "less loud",
     *(f"{lower} ... {it}" for lower in ("turn down", "lower", "reduce")
       for it in ("volume", "sound", "recording"))]),
    ({"effect": "reverse"}, "revers*|backward*"),
    ({"effect": "fade-in"}, "fade in|fades in|fade ... in$|fade ... in over|fade ... in for|"
     "fade-in|fading in|einblenden|blende ... ein"),
    ({"effect": "fade-out"}, "fade out|fades out|fade away|fade ... out|fade-out|fading out|"
     "ausblenden|blende ... aus|fade ... at the end|fade the end"),
    ({"effect": "fade"}, "fade in and out|fade ... in and out|fade it at both ends|"
     "ein- und ausblenden"),
    ({"effect": "trim-silence"}, "silence*|silent parts|pauses|trim|dead air|gaps"),
)  # fmt: skip


_DEFAULTS = {"faster": 1.25, "slower": 0.8, "louder": 6.0, "quieter": 6.0}


def apply_effect(call: Call, report: Report) -> Iterable[Artifact]:
    """Apply the effect and write a WAV. Raises InputError if the amount makes no sense."""
    name = call.title("audio")
    effect = call.words("effect")
    amount = call.number("amount") or _of_percent(effect, call.number("percent"))
    samples, rate = read_audio(call.file("audio"), name=name)
    if not samples.size:
        raise InputError(tr("{name} contains no sound.", name=name))
    changed = _apply(effect, samples, rate, amount, report, call.number("seconds"))
    to = call.workdir / "changed.wav"
    write_wav(to, changed, rate)
    return [Artifact(Kind.AUDIO, path=to, name=f"{original_stem(name, EFFECTS)}-{effect}.wav")]


def _of_percent(effect: str, percent: float) -> float:
    """The speed factor or the decibels of "by 50 percent"; the usual amount if none is said."""
    if not percent:
        return _DEFAULTS.get(effect, 0.0)
    down = effect in ("slower", "quieter")
    factor = max(0.01, 1 - percent / 100 if down else 1 + percent / 100)
    return abs(20 * math.log10(factor)) if effect in ("louder", "quieter") else factor


def _apply(
    effect: str, samples: Samples, rate: int, amount: float, report: Report, seconds: float
) -> Samples:
    match effect:
        case "normalise":
            return normalise(samples, rate)
        case "faster" | "slower":
            # "Slower by 1.5" means the same as "slower by 0.67".
            factor = 1 / amount if (amount < 1) == (effect == "faster") else amount
            if not 0.25 <= factor <= 4:
                raise InputError(tr("The speed can be changed by a factor of 4 at most."))
            return stretch(samples, rate, factor, report)
        case "louder" | "quieter":
            if not 0 < amount <= 40:
                raise InputError(tr("The loudness can be changed by 40 decibels at most."))
            return amplify(samples, amount if effect == "louder" else -amount)
        case "reverse":
            return samples[:, ::-1]
        case "fade-in" | "fade-out" | "fade":
            return fade(samples, rate, effect, seconds)
        case "trim-silence":
            return trim(samples, rate)
        case _:
            return denoise(samples, rate, report)


AUDIO_TO_AUDIO = define(
    name="audio-to-audio", label="Change recording",
    summary="Changes a recording: cleans noise, changes speed or loudness, fades in and out, "
    "cuts silence.",
    ports=(Port("audio", (Kind.AUDIO,)),), gives=(Kind.AUDIO,),
    options=(
        TaskOption("effect", "what is done to the sound", "denoise", choices=EFFECTS),
        TaskOption("amount", "speed factor, or decibels of loudness; 0 for the usual", 0.0,
               units=("times", "decibel*", "db")),
        TaskOption("percent", "by how many percent, instead of an amount", 0.0,
               units=("percent", "%", "prozent")),
        TaskOption("seconds", "how long a fade lasts; 0 for the usual", 0.0, reads="fade"),
    ),
    cues=(
        "clean the audio", "clean the recording", "audio quality", "improve the", "audio to audio",
        "edit the audio", "edit the recording", "change the speed",
    ),
    presets=EFFECT_PRESETS,
    method=apply_effect,
    note="denoise, normalise, speed, loudness, fades, reverse, cut silence (numpy)",
)  # fmt: skip
