"""Makes small real media files with the libraries that will read them."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import av
import numpy as np
from PIL import Image


def picture(form: str) -> bytes:
    """A small picture in one of Pillow's formats."""
    out = io.BytesIO()
    Image.effect_noise((32, 32), 50).convert("RGB").save(out, form)
    return out.getvalue()


def container(path: Path, *, sound: str = "", film: str = "", form: str | None = None) -> bytes:
    """A tenth of a second of sound, film or both, with these codecs."""
    with av.open(str(path), "w", format=form) as file:
        # FFmpeg aborts the process where a stream is added after the first packet was written.
        pictures = file.add_stream(film, rate=10) if film else None
        track = file.add_stream(sound, rate=48000) if sound else None
        if isinstance(track, av.AudioStream):
            track.layout, track.bit_rate = "mono", 64_000
        if isinstance(pictures, av.VideoStream):
            pictures.width, pictures.height, pictures.pix_fmt = 32, 32, "yuv420p"
            frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
            file.mux(pictures.encode(frame))
            file.mux(pictures.encode(None))
        if isinstance(track, av.AudioStream):
            samples = np.zeros((1, 4800), np.int16)
            heard = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
            heard.sample_rate = 48000
            for piece in av.AudioResampler(track.format, "mono", 48000, 960).resample(heard):
                file.mux(track.encode(piece))
            file.mux(track.encode(None))
    return path.read_bytes()


def office(*parts: str, first: tuple[str, str] | None = None) -> bytes:
    """A ZIP archive with the parts by which an office file is known."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        if first:
            archive.writestr(*first, compress_type=zipfile.ZIP_STORED)
        for part in parts:
            archive.writestr(part, "<xml/>" * 50)
    return out.getvalue()
