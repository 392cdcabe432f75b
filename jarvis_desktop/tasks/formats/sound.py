"""Writes sound files with PyAV, a block at a time, so that their length does not matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.tasks.audio.media import audio_blocks, open_media

if TYPE_CHECKING:
    from jarvis_desktop.tasks.audio.media import Samples

Span = tuple[float, float]
"""A beginning and an end in seconds; the end may be infinite."""


@dataclass(frozen=True, slots=True)
class SoundFormat:
    """How PyAV writes files of one ending."""

    container: str
    codec: str
    samples: str
    bitrate: int = 0
    deep: tuple[str, str] | None = None
    """Codec and samples for a source of more than 16 bits."""


SOUNDS = {
    "mp3": SoundFormat("mp3", "libmp3lame", "s16p", 192_000),
    "flac": SoundFormat("flac", "flac", "s16", deep=("flac", "s32")),
    # PyAV's wheels have no Vorbis; what plays one plays the other.
    "ogg": SoundFormat("ogg", "libopus", "s16", 128_000),
    "opus": SoundFormat("ogg", "libopus", "s16", 128_000),
    "m4a": SoundFormat("ipod", "aac", "fltp", 160_000),
    "wav": SoundFormat("wav", "pcm_s16le", "s16", deep=("pcm_s24le", "s32")),
}
"""By ending."""
_KEPT_TAGS = frozenset(
    "title artist album album_artist composer date year genre track disc comment copyright".split()
)
_EXACT = ("pcm_s24", "pcm_s32", "pcm_f", "flac", "alac", "wavpack", "tta")
"""Codecs whose bits all count."""


@dataclass(frozen=True, slots=True)
class SoundSource:
    """What is known of a file's sound before it is decoded."""

    rate: int
    channels: int
    bits: int
    tags: Mapping[str, str]


def sound_source(path: Path, *, name: str) -> SoundSource:
    """Look into a file. Raises InputError if it has no sound."""
    with open_media(path, name=name) as container:
        if not container.streams.audio:
            raise InputError(
                tr("{name} has no sound track.", name=name),
                hint=tr("Give a recording, or a video with sound."),
            )
        stream = container.streams.audio[0]
        found = {**container.metadata, **stream.metadata}
        tags = {key.lower(): text for key, text in found.items() if key.lower() in _KEPT_TAGS}
        context = stream.codec_context
        exact = context is not None and context.name.startswith(_EXACT)
        bits = context.format.bits if exact and context.format else 16
        return SoundSource(stream.rate or 0, stream.channels or 0, bits, tags)


def save_sound(source: Path, to: Path, *, name: str, spans: Sequence[Span] = ()) -> None:
    """Write the sound of a recording or film in the format of the ending of `to`, only the `spans`
    if there are any. Raises InputError."""
    join_sounds([(source, name)], to, spans=spans)


def join_sounds(
    sources: Sequence[tuple[Path, str]], to: Path, *, spans: Sequence[Span] = ()
) -> None:
    """Write several recordings in turn, each given by its path and name, at the rate of
    the first, in stereo if one of them is. Raises InputError."""
    import av

    form = SOUNDS[to.suffix[1:]]
    first, *rest = (sound_source(path, name=name) for path, name in sources)
    rate = _rate(form.codec, first.rate)
    channels = 2 if max(item.channels for item in (first, *rest)) > 1 else 1
    deep = max(item.bits for item in (first, *rest)) > 16
    name = sources[0][1]
    blocks = (
        _spread(block, channels)
        for path, name in sources
        for block in cut_blocks(audio_blocks(path, rate=rate, name=name), spans)
    )
    try:
        written = encode(blocks, to, rate, channels, deep=deep, tags=first.tags if not rest else {})
    except (av.FFmpegError, ValueError) as error:
        raise InputError(
            tr("{name} cannot be saved as {ending} here.", name=name, ending=to.suffix),
            hint=tr("It can be saved as .wav."),
        ) from error
    if not written:
        raise InputError(tr("{name} contains no sound.", name=name))


def encode(
    blocks: Iterable[Samples],
    to: Path,
    rate: int,
    channels: int,
    *,
    deep: bool = False,
    tags: Mapping[str, str] | None = None,
) -> int:
    """Encode blocks of samples, (channels, samples) from -1 to 1; return how many samples each
    channel has. `deep` keeps 24 bits if the format can."""
    import av
    import numpy as np

    form = SOUNDS[to.suffix[1:]]
    codec, samples = form.deep if deep and form.deep else (form.codec, form.samples)
    layout = "mono" if channels == 1 else "stereo"
    count = 0
    with av.open(str(to), "w", format=form.container) as container:
        container.metadata.update(tags or {})
        stream: Any = container.add_stream(codec, rate=rate, layout=layout)
        stream.codec_context.format = samples
        if form.bitrate:
            stream.codec_context.bit_rate = form.bitrate // 2 * channels
        resampler, fifo = av.AudioResampler(samples, layout, rate), av.AudioFifo()
        for block in blocks:
            count += block.shape[1]
            frame = av.AudioFrame.from_ndarray(
                np.ascontiguousarray(np.clip(block, -1, 1)), format="fltp", layout=layout
            )
            frame.sample_rate = rate
            for part in resampler.resample(frame):
                fifo.write(part)
            while ready := fifo.read(stream.codec_context.frame_size or 4096):
                container.mux(stream.encode(ready))
        if rest := fifo.read(0, partial=True):
            container.mux(stream.encode(rest))
        container.mux(stream.encode(None))
    return count


def cut_blocks(blocks: Iterator[tuple[Samples, int]], spans: Sequence[Span]) -> Iterator[Samples]:
    """Yield what lies in the spans, which are in order; everything if there are none."""
    at = 0
    for block, rate in blocks:
        if not spans:
            yield block
            continue
        for begin, end in spans:
            first, last = round(begin * rate) - at, min(end * rate, 1e15) - at
            part = block[:, max(0, first) : max(0, round(last))]
            if part.shape[1]:
                yield part
        at += block.shape[1]


def _spread(block: Samples, channels: int) -> Samples:
    return block if len(block) == channels else block.repeat(channels, axis=0)


def _rate(codec: str, rate: int) -> int:
    """Return the codec's rate that is next to the given one, rather a higher one."""
    import av

    rates = av.Codec(codec, "w").audio_rates
    if not rates or rate in rates:
        return rate
    return min((each for each in rates if each >= rate), default=max(rates))
