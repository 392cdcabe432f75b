"""Brings a result into the format that a file name's ending asks for. Runs in a child process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.media import audio_blocks

TEXTS = frozenset({".txt", ".md", ".csv", ".tsv", ".json", ".html", ".log", ".srt", ".vtt"})
_CODECS = {
    ".mp3": ("mp3", "libmp3lame", "s16p"),
    ".flac": ("flac", "flac", "s16"),
    # PyAV's wheels have no Vorbis; what plays one plays the other.
    ".ogg": ("ogg", "libopus", "s16"),
    ".opus": ("ogg", "libopus", "s16"),
    ".m4a": ("ipod", "aac", "fltp"),
    ".wav": ("wav", "pcm_s16le", "s16"),
}
_PICTURES = {
    ".png": "PNG", ".jpg": "JPEG", ".webp": "WEBP", ".bmp": "BMP", ".tif": "TIFF", ".gif": "GIF",
}  # fmt: skip
_SAME = {".jpeg": ".jpg", ".tiff": ".tif", ".htm": ".html", ".text": ".txt", ".markdown": ".md",
         ".oga": ".ogg", ".wave": ".wav", ".yml": ".yaml", ".mpeg": ".mpg"}  # fmt: skip
_OTHERS = frozenset(
    ".mp4 .mkv .mov .avi .webm .pdf .docx .doc .xlsx .xls .pptx .odt .rtf .eml .zip .aac .svg .exe "
    ".py .sh .bat .js .xml .yaml .mpg .heic .epub .ods .aiff .wma".split()
)
OPUS_RATE = 48_000


def is_ending(suffix: str) -> bool:
    """Whether a suffix is the ending of a format rather than a part of the name."""
    ending = _plain(suffix)
    return ending in _OTHERS or ending in TEXTS or ending in _CODECS or ending in _PICTURES


def bring_into(item: Artifact, ending: str, workdir: Path, report: Report) -> Path:
    """A file with the content in that format. Raises InputError where it cannot be."""
    wanted = _plain(ending)
    if item.path is None:
        if wanted not in TEXTS:
            raise InputError(
                tr("A text cannot be saved as {wanted}.", wanted=wanted),
                hint=tr("It can be saved as .txt or .md; to hear it, have it spoken first."),
            )
        to = workdir / f"saved{wanted}"
        text = item.text or ""
        to.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        return to
    own = _plain(item.path.suffix)
    if wanted == own or not wanted:
        return item.path
    to = workdir / f"saved{wanted}"
    if item.kind is Kind.AUDIO and wanted in _CODECS:
        report(None, f"Converting into {wanted}")
        _encode(item.path, to, wanted, item.title)
        return to
    if item.kind is Kind.IMAGE and wanted in _PICTURES:
        _redraw(item.path, to, wanted, item.title)
        return to
    raise InputError(
        tr(
            "{title} is {own} and cannot be saved as {wanted}.",
            title=item.title,
            own=own or "of another format",
            wanted=wanted,
        ),
        hint=tr("It can be saved as {own}.", own=own) if own else "",
    )


def _plain(suffix: str) -> str:
    ending = suffix.casefold()
    return _SAME.get(ending, ending)


def _encode(source: Path, to: Path, ending: str, name: str) -> None:
    import av
    import numpy as np

    container_format, codec, sample_format = _CODECS[ending]
    rate = OPUS_RATE if codec == "libopus" else None
    try:
        with av.open(str(to), "w", format=container_format) as container:
            stream: Any = None
            fifo = av.AudioFifo()
            for block, at in audio_blocks(source, rate=rate, name=name):
                if stream is None:
                    layout = "mono" if len(block) == 1 else "stereo"
                    stream = container.add_stream(codec, rate=at, layout=layout)
                    stream.codec_context.format = sample_format
                    resampler = av.AudioResampler(format=sample_format, layout=layout, rate=at)
                frame = av.AudioFrame.from_ndarray(
                    np.ascontiguousarray(np.clip(block, -1, 1)), format="fltp", layout=layout
                )
                frame.sample_rate = at
                for part in resampler.resample(frame):
                    fifo.write(part)
                while ready := fifo.read(stream.codec_context.frame_size or 4096):
                    container.mux(stream.encode(ready))
            if stream is None:
                raise InputError(tr("{name} holds no sound.", name=name))
            if rest := fifo.read(0, partial=True):
                container.mux(stream.encode(rest))
            container.mux(stream.encode(None))
    except (av.FFmpegError, ValueError) as error:
        raise InputError(
            tr("{name} cannot be saved as {ending} here.", name=name, ending=ending),
            hint=tr("It can be saved as .wav."),
        ) from error


def _redraw(source: Path, to: Path, ending: str, name: str) -> None:
    from jarvis_desktop.tasks.pictures import on_white, read_image

    image = read_image(source, name=name)
    if ending in (".jpg", ".bmp"):
        image = on_white(image)
    try:
        image.save(to, format=_PICTURES[ending], **({"quality": 92} if ending == ".jpg" else {}))
    except (OSError, ValueError) as error:
        raise InputError(
            tr("{name} cannot be saved as {ending}.", name=name, ending=ending)
        ) from error
