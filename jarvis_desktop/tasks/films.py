"""Writes films that every player shows: MP4 with H.264. Runs in child processes only."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.wording import tr

if TYPE_CHECKING:
    from PIL.Image import Image

CODECS = (("libx264", {"crf": "18", "preset": "medium"}), ("mpeg4", {"q": "3"}))
"""How frames are packed, with what settings, the better way first; some builds of FFmpeg lack
H.264, whose older sister any player knows as well."""


def write_film(path: Path, frames: Iterable[Image], rate: float) -> Path:
    """Write pictures of one size as an MP4 of `rate` pictures a second, without sound.

    Sides are made even, as the codecs want them. Raises ExpertError where there is no picture,
    UnavailableError where this computer's PyAV can write no film.
    """
    import av

    av.logging.set_level(av.logging.PANIC)
    pictures = iter(frames)
    first = next(pictures, None)
    if first is None:
        raise ExpertError(tr("The film has no pictures."))
    size = (max(2, first.width // 2 * 2), max(2, first.height // 2 * 2))
    codec, settings = _codec()
    pack: Any = av.VideoFrame.from_image
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream: Any = container.add_stream(
            codec, rate=Fraction(rate).limit_denominator(1000), options=dict(settings)
        )
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        for picture in (first, *pictures):
            shown = picture.convert("RGB")
            shown = shown if shown.size == size else shown.resize(size)
            container.mux(stream.encode(pack(shown)))
        container.mux(stream.encode(None))
    return path


def _codec() -> tuple[str, dict[str, str]]:
    import av

    for name, settings in CODECS:
        try:
            av.Codec(name, "w")
        except av.codec.codec.UnknownCodecError:
            continue
        return name, settings
    raise UnavailableError(
        tr("Films cannot be written on this computer: PyAV knows neither H.264 nor MPEG-4."),
        hint=tr("Install PyAV from its own builds: pip install --force-reinstall av."),
    )
