"""Reads and writes pictures for the tasks that work on them, in child processes only.

An untrusted picture is measured before it is decoded, and any error of its decoder becomes one
sentence that names the file.
"""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call
from jarvis_desktop.tasks.naming import original_stem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

    Pixels = NDArray[np.uint8]

FORMATS = (
    *("PNG", "JPEG", "GIF", "BMP", "DIB", "TIFF", "WEBP", "AVIF", "ICO", "PPM"),
    *("JPEG2000", "TGA", "PCX"),
)
MAX_PIXELS = 50_000_000
MAX_ANIMATION_PIXELS = 250_000_000
MAX_PAGES = 50
MIN_SIDE = 32
"""Pixels below which a picture is not shrunk to save bytes."""
EDITS = (
    *("enhance", "grey", "brightness", "contrast", "colour", "blur", "sharpen", "rotate", "flip"),
    *("crop", "resize", "sketch", "cartoon", "painting", "background-blur", "invert", "sepia"),
    *("caption", "border", "clean"),
)
"""The built-in edits; their results are named after them."""
_OTHER_EDITS = (
    "found", "parts", "cut-out", "mask", "canny", "hed", "mlsd", "scribble", "seg", "depth",
    "normal", "openpose", "edited", "restyled", "inpainted",
)  # fmt: skip

_BROKEN = (
    *(OSError, SyntaxError, ValueError, TypeError, LookupError, ArithmeticError, EOFError),
    *(MemoryError, AttributeError, struct.error),
)
"""What Pillow's decoders raise for damaged data."""


def read_image(path: Path, *, name: str = "") -> Image:
    """Read a picture upright, as RGB, or RGBA if any of it is transparent; the first of several.
    `name` is what the user calls the file. Raises InputError if it is not a picture, is damaged, or
    has more than 50 million pixels."""
    with _open(path, name or path.name) as image:
        return _upright(image, name or path.name)


def read_pages(path: Path, *, name: str = "") -> Iterator[Image]:
    """Yield the pages of a TIFF, at most 50; of any other picture, the first."""
    name = name or path.name
    with _open(path, name) as image:
        count = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
        for page in range(min(count, MAX_PAGES)):
            image.seek(page)
            _check_size(image, name)
            upright = _upright(image, name)
            yield upright.copy() if upright is image else upright


def read_frames(path: Path, *, name: str = "") -> list[tuple[Image, int]]:
    """Return the pictures of an animation, each with how many milliseconds it is shown. Raises
    InputError as `read_image` does, and if all of them have more than 250 million pixels."""
    name = name or path.name
    with _open(path, name) as image:
        count = getattr(image, "n_frames", 1) if image.format in ("GIF", "WEBP", "PNG") else 1
        if count * image.width * image.height > MAX_ANIMATION_PIXELS:
            raise InputError(
                tr("{name} is too large an animation to be converted.", name=name),
                hint=tr("Make it smaller or shorter first."),
            )
        frames = []
        for at in range(count):
            image.seek(at)
            upright = _upright(image, name).copy()
            frames.append((upright, int(image.info.get("duration", 100))))
        return frames


def frame_count(path: Path, *, name: str = "") -> int:
    """The number of frames or pages; an animated GIF has several."""
    with _open(path, name or path.name) as image:
        return int(getattr(image, "n_frames", 1))


def save_image(image: Image, call: Call, what: str, *, port: str = "image") -> Artifact:
    """Save `image` in the call's folder, named after its input: photo-sketch.jpg. A JPEG stays a
    JPEG; everything else becomes a lossless PNG."""
    suffix = Path(call.title(port)).suffix.lower()
    photo = image.mode == "RGB" and suffix in (".jpg", ".jpeg")
    return _save(image, call, f"{_stem(call, port)}-{what}", ".jpg" if photo else ".png")


def save_small(image: Image, call: Call, what: str, limit: int) -> Artifact:
    """Save `image` as a JPEG of at most `limit` bytes: the quality gives way first, then the number
    of pixels. Raises InputError if it would be smaller than a stamp."""
    from PIL import Image as images

    plain = smaller = on_white(image)
    share = 1.0
    while min(smaller.size) >= MIN_SIDE or share == 1.0:
        for quality in (95, 88, 80, 70, 60):
            data = io.BytesIO()
            smaller.save(data, "JPEG", quality=quality, comment=b"")
            if data.tell() <= limit:
                path = _path(call, f"{_stem(call, 'image')}-{what}", ".jpg")
                path.write_bytes(data.getbuffer())
                return Artifact(Kind.IMAGE, path=path, name=path.name)
        share *= 0.8
        size = max(1, round(plain.width * share)), max(1, round(plain.height * share))
        smaller = plain.resize(size, images.Resampling.LANCZOS)
    raise InputError(
        tr("{name} cannot be made so small.", name=call.title("image")),
        hint=tr("Ask for a larger file."),
    )


def save_png(image: Image, call: Call, what: str, *, port: str = "image") -> Artifact:
    """Like `save_image`, but always a PNG: for masks, lines and cut-outs."""
    return _save(image, call, f"{_stem(call, port)}-{what}", ".png")


def to_array(image: Image) -> Pixels:
    """The picture's RGB values (height, width, 3), with transparent parts on white."""
    import numpy as np

    return np.asarray(on_white(image), np.uint8)


def on_white(image: Image) -> Image:
    """The picture without transparency."""
    from PIL import Image as images

    if image.mode == "RGB":
        return image
    white = images.new("RGBA", image.size, "white")
    return images.alpha_composite(white, image.convert("RGBA")).convert("RGB")


def _stem(call: Call, port: str) -> str:
    return original_stem(call.title(port), (*EDITS, *_OTHER_EDITS)) or "picture"


def _path(call: Call, stem: str, suffix: str) -> Path:
    # A name is shown and stored; a title made from a text may contain anything.
    safe = "".join(c if c.isalnum() or c in " -_.()" else "_" for c in stem)[:100].strip()
    return call.workdir / f"{safe}{suffix}"


def _save(image: Image, call: Call, stem: str, suffix: str) -> Artifact:
    path = _path(call, stem, suffix)
    if suffix == ".jpg":
        image.save(path, quality=95, comment=b"")  # else Pillow writes that of the original
    else:
        image.save(path, compress_level=3)
    return Artifact(Kind.IMAGE, path=path, name=path.name)


@contextmanager
def _open(path: Path, name: str) -> Iterator[Image]:
    from PIL import Image as images

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", images.DecompressionBombWarning)
        try:
            with _identify(path, name) as image:
                _check_size(image, name)
                yield image
        except (images.DecompressionBombError, images.DecompressionBombWarning) as error:
            raise InputError(
                tr("{name} claims to be larger than any picture that can be processed.", name=name),
                hint=tr("Pictures may have 50 million pixels."),
            ) from error


def _identify(path: Path, name: str) -> Image:
    from PIL import Image as images

    try:
        if not path.stat().st_size:
            raise InputError(
                tr("{name} is empty.", name=name), hint=tr("Give the original file again.")
            )
        images.init()  # `formats` may name only plugins that are loaded
        return images.open(path, formats=FORMATS)
    except (images.DecompressionBombError, images.DecompressionBombWarning):
        raise
    except _BROKEN as error:
        raise InputError(
            tr("{name} is not a picture that can be read.", name=name),
            hint=tr(
                "It may be damaged, or of another type than its name says; PNG, JPEG, WebP, GIF, "
                "BMP and TIFF can be read."
            ),
        ) from error


def _check_size(image: Image, name: str) -> None:
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise InputError(
            tr(
                "{name} is too large: {width} by {height} pixels.",
                name=name,
                width=width,
                height=height,
            ),
            hint=tr("Pictures may have 50 million pixels; make it smaller first."),
        )


def _upright(image: Image, name: str) -> Image:
    from PIL import Image as images
    from PIL import ImageOps

    try:
        image.load()
    except (images.DecompressionBombError, images.DecompressionBombWarning):
        raise
    except _BROKEN as error:
        reason = " ".join(str(error).split()) or "its data end too early"
        raise InputError(
            tr("{name} is damaged: {reason}.", name=name, reason=reason),
            hint=tr("Give the original file again."),
        ) from error
    try:
        turned = ImageOps.exif_transpose(image)
    except _BROKEN:  # a picture is worth showing even if its EXIF data is garbage
        turned = image
    return _plain(turned)


def _plain(image: Any) -> Image:
    """Convert to RGB, or RGBA if a pixel is transparent. Samples of 16 bits and more are scaled
    down."""
    import numpy as np
    from PIL import Image as images

    if image.mode.startswith(("I", "F")):
        values = np.nan_to_num(np.asarray(image, np.float32))
        top = 65535.0 if values.max(initial=0.0) > 255 else 255.0
        image = images.fromarray(np.clip(values * (255.0 / top), 0, 255).astype(np.uint8))
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        clear = image.convert("RGBA")
        if clear.getchannel("A").getextrema()[0] < 255:
            return clear  # type: ignore[no-any-return]
        image = clear
    return image.convert("RGB")  # type: ignore[no-any-return]
