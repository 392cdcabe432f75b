"""The tasks that edit and restyle pictures, by Pillow and OpenCV. Edits run in child processes
only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import PROMPT, Call, Port, Preset, Report, TaskOption, Value
from jarvis_desktop.tasks.definition import define, presets
from jarvis_desktop.tasks.images.generation import AVOID, SEED, STRENGTH
from jarvis_desktop.tasks.images.io import EDITS
from jarvis_desktop.tasks.naming import PICTURE_WORDS
from jarvis_desktop.text.parts import COLOURS


def _after(*nouns: str) -> tuple[str, ...]:
    """Cues for drawings made from a picture; "a sketch of a cat" is drawn from nothing."""
    return tuple(
        f"{noun} of {which} {what}"
        for noun in nouns
        for which in ("the", "this", "my")
        for what in PICTURE_WORDS
    )


_PLACES = ("at the top of", "at the bottom of", "in the middle of")
PHRASES: tuple[tuple[Mapping[str, Value], Iterable[str]], ...] = (
    ({"edit": "grey"},
     "black and white|black-and-white|grey*|gray*|monochrome|b&w|b/w|without colour|"
     "without color|remove the colour|remove the color|desaturat*|take out the colour|"
     "take out the color|colourless|colorless"),
    ({"edit": "brightness", "amount": 30.0},
     "brighter|brighten*|lighter|lighten*|more light|too dark|increase the brightness|"
     "more brightness|brightness up|turn up the brightness"),
    ({"edit": "brightness", "amount": -30.0},
     "darker|darken*|dimmer|less bright|too bright|less light|decrease the brightness|"
     "reduce the brightness|lower the brightness|brightness down"),
    ({"edit": "contrast", "amount": 30.0},
     "more contrast|higher contrast|increase the contrast|raise the contrast|stronger contrast|"
     "punchier|contrast"),
    ({"edit": "contrast", "amount": -30.0},
     "less contrast|lower contrast|reduce the contrast|decrease the contrast|lower the contrast|"
     "softer contrast"),
    ({"edit": "colour", "amount": 40.0},
     "more colour*|more color*|colourful|colorful|vivid|more saturat*|increase the saturation|"
     "stronger colours|stronger colors|saturat*|vibrant|richer colours|richer colors"),
    ({"edit": "colour", "amount": -40.0},
     "less colour*|less color*|less saturat*|reduce the saturation|paler|muted|"
     "decrease the saturation|weaker colours|weaker colors"),
    ({"edit": "background-blur"},
     "blur the background|background blur*|blurry background|blurred background|"
     "blur what is behind|blur everything behind|bokeh|portrait mode|out of focus"),
    ({"edit": "blur"}, "blur|blurs|blurred|blurry|blurring|soften*"),
    ({"edit": "sharpen"}, "sharpen*|sharper|crisper|more crisp|clearer|unblur|deblur"),
    ({"edit": "rotate", "amount": -90.0},
     "rotate left|turn left|turn it to the left|rotate it to the left|to the left|"
     "counterclockwise|counter-clockwise|anticlockwise|anti-clockwise"),
    ({"edit": "rotate", "amount": 180.0}, "upside down|upside-down|on its head"),
    ({"edit": "rotate"},
     "rotate|rotates|rotated|rotating|rotation|turn it by|turn right|turn it to the right|"
     "sideways|clockwise|by 90 degrees|quarter turn|turn ... # degrees|tilt ... # degrees"),
    ({"edit": "flip", "direction": "vertical"},
     "flip vertically|flip it vertically|vertical flip|mirror vertically|top to bottom"),
    ({"edit": "flip", "direction": "horizontal"},
     "flip|flips|flipped|mirror*|left to right|reverse it|mirror image"),
    ({"edit": "crop", "direction": "left"},
     "left half|to the left half|remove the right half|cut off the right half"),
    ({"edit": "crop", "direction": "right"},
     "right half|to the right half|remove the left half|cut off the left half"),
    ({"edit": "crop", "direction": "top"},
     "upper half|top half|remove the lower half|remove the bottom half"),
    ({"edit": "crop", "direction": "bottom"},
     "lower half|bottom half|remove the upper half|remove the top half"),
    ({"edit": "crop"},
     "crop|crops|cropped|cropping|trim*|cut out the middle|cut off the edges|cut the edges|"
     "cut ... square|square out of|largest square|make it square|make it a square|to a square|"
     "quadratisch"),
    ({"edit": "resize", "size": "longest 256"}, "thumbnail*"),
    ({"edit": "resize"}, (
        *(f"{under} # {unit}" for under in ("under", "below", "smaller than", "less than")
          for unit in ("kb", "mb", "kilobytes", "megabytes")),
    )),
    ({"edit": "resize", "amount": 50.0},
     "half the size|half size|half as large|half as big|smaller|small version|shrink*|"
     "reduce the size|scale down|scale it down"),
    ({"edit": "resize"}, "compress|compressed|reduce the file size|smaller file"),
    ({"edit": "resize", "amount": 200.0},
     "twice the size|double the size|twice as large|twice as big|larger|bigger|enlarge*|scale up|"
     "scale it up|upscale*"),
    ({"edit": "resize"}, (
        "resize*", "resizing", "rescale*", "pixels wide",
        *(f'make the {what} #@#' for what in PICTURE_WORDS),
        *(f"make {it} # {pixels}" for it in ("it", "them", "this") for pixels in ("px", "pixels")),
    )),
    ({"edit": "sketch"}, (
        "pencil sketch", "pencil drawing", "sketch*", "line drawing", "pencil", "charcoal",
        "drawing of it", "sketch of it",
        *_after('sketch', 'drawing'),
    )),
    ({"edit": "cartoon"}, "cartoon*|comic*|toon|anime"),
    ({"edit": "painting"}, (
        "oil painting", "into a painting", "like a painting", "painted", "painterly",
        "watercolour", "watercolor", "painting of it",
        *_after('painting'),
    )),
    ({"edit": "caption"}, (
        *(f"{verb} ... {at}{end}" for verb in ("write", "print") for end in ("$", " in")
          for at in ("underneath", "below it", "under it", "on top", "at the bottom", "at the top",
                     "on it", "across it", "over it", "onto it")),
        "add text", "add a caption", "put a caption", "put text", "add the text", "put the text",
        "add the word*", "put the word*", "add the caption", "put the caption", "insert the text",
        *(f"{verb} the {what}" for verb in ("stick", "place") for what in ("text", "word*",
          "caption")),
        "watermark saying", "watermark that says", "xquote* on it$", "xquote* to it$",
        *(f"{verb} ... {at} {which}" for verb in ("write", "print")
          for at in ("on", "onto", "over", "across", "under", *_PLACES)
          for which in (*(f"the {what}" for what in (*PICTURE_WORDS, "video", "clip", "film")),
                        "this picture", "this video", "it$")),
        *(f"{verb} ... on {what} in {colour}" for verb in ("put", "stick") for colour in COLOURS
          for what in ("it", "the picture", "the photo", "the video")),
        *(f"xquote* {at} the {what}" for what in PICTURE_WORDS for at in ("on", "to", *_PLACES)),
        *(f"{verb} the {what} xquote*" for verb in ("caption", "label") for what in PICTURE_WORDS),
    )),
    ({"edit": "invert"}, "invert*|negative of|a negative|inverse colours|inverse colors"),
    ({"edit": "sepia"}, "sepia|old photo*|vintage|antique|brownish"),
    ({"edit": "border"}, (
        *(f"{what} {around}" for what in ("border", "frame") for around in ("around", "round")),
        *(f"{verb} a {what}" for verb in ("add", "put") for what in ("border", "frame")),
        *(f"{verb} a {colour} {what}" for verb in ("add", "put", "give ...") for colour in COLOURS
          for what in ("border", "frame")),
    )),
    ({"edit": "clean"}, (
        *(f"{verb} the {what}" for verb in ("strip", "remove", "delete", "erase", "take out")
          for what in ("location from", "location out of", "gps", "metadata", "meta data", "exif",
                       "exif data", "place from", "camera data")),
        "without metadata", "without the metadata", "without exif", "without the location",
    )),
    ({"edit": "enhance"}, "enhance*|improve*|look better|nicer|auto level*|touch up|retouch*"),
)  # fmt: skip
"""How people say it -> the edit and what else that settles. Longer phrases go before shorter."""

_ASKED = ("add", "put", "insert", "remove", "erase", "replace", "swap", "change", "turn")
_THERE = tuple(
    f"{at} the {what}" for at in ("in", "on", "to", "into", "from") for what in PICTURE_WORDS
)

AMOUNT = TaskOption(
    "amount",
    "how much; 0 = what is usual. brightness, contrast, colour: percent, above 0 more, below "
    "0 less (30 = a bit brighter, -30 = a bit darker). rotate: degrees clockwise (90, 180, "
    "-90). resize: percent of the present size (50 = half, 200 = double). crop: percent that "
    "is kept (80). blur, background-blur, border: pixels. sharpen: percent (120)",
    0.0,
    units=("degree*", "°", "percent", "%"),
)


EDIT_OPTIONS = (
    AMOUNT,
    TaskOption(
        "direction",
        "flip: horizontal (left and right change places) or vertical; rotate: left or right; "
        "crop: the part that is kept; caption: where it is written", "",
        choices=("", "horizontal", "vertical", "left", "right", "top", "bottom", "middle"),
    ),
    TaskOption("words", "caption: what is written on the picture", "", reads="written"),
    TaskOption(
        "colour", "of the letters of a caption, or of a border; white if empty", "",
        reads="colour",
    ),
    TaskOption(
        "size",
        'resize, crop: width and height in pixels, "800x600"; "800x", "x600" and '
        '"longest 800", for the longer side, keep the proportions. crop: the largest part '
        'with such sides, "16:9". resize: the largest size of the file, "500 KB" or "2 MB"',
        "",
        reads="picture-size",
    ),
)  # fmt: skip
"""What an edit needs to know besides its name."""


def edit_presets(edits: Iterable[str]) -> tuple[Preset, ...]:
    """Return how people ask for these edits."""
    wanted = frozenset(edits)
    return presets(*(group for group in PHRASES if group[0]["edit"] in wanted))


def edit(call: Call, report: Report) -> Iterable[Artifact]:
    """Apply the edit. Raises ExpertError for edits described in free words."""
    from jarvis_desktop.tasks.images.io import read_image, save_image, save_small

    path, name = call.file("image"), call.title("image")
    report(None, tr("Editing {name}", name=name))
    which = call.words("edit")
    if not which and call.text(PROMPT).strip():
        raise ExpertError(
            tr("Free-form edits need an expert for image-editing."),
            hint=tr(
                "What works without: black and white, brighter, blur, rotate, crop, resize ..."
            ),
        )
    which = which or "enhance"
    said = (call.words(option) for option in ("direction", "size", "words", "colour"))
    wish = EditRequest(call.number("amount"), *said)
    if which == "resize" and (limit := _bytes_of(wish.size)):
        return [save_small(read_image(path, name=name), call, which, limit)]
    return [save_image(apply_edit(read_image(path, name=name), which, wish), call, which)]


IMAGE_EDITING = define(
    name="image-editing", label="Change picture",
    summary="Edits a picture in a named way: black and white, brighter, darker, contrast, colour, "
    "blur, blur the background, sharpen, rotate, flip, crop, resize, pencil sketch, cartoon, "
    "painting, sepia, invert, enhance, caption; or as the prompt says, such as to add, remove or "
    "replace something.",
    ports=(Port("image", (Kind.IMAGE,)), Port(PROMPT, (Kind.TEXT,), required=False)),
    gives=(Kind.IMAGE,),
    options=(
        TaskOption("edit", "which edit, if it is one of these", "", choices=("", *EDITS)),
        *EDIT_OPTIONS,
        SEED,
    ),
    presets=edit_presets(EDITS),
    exact="edit",
    cues=(
        "edit the picture", "edit the image", "edit the photo", "edit this", "image editing",
        "change the picture", "change the photo", "make the picture", "make the photo",
        "make the image", "photo edit*", "edit my photo", "edit my picture", "^edit",
        "remove the ... from",
        *(f"{ask} ... {there}" for ask in _ASKED for there in _THERE),
        *(
            f"{ask} ... {at} the ... in the {what}"
            for ask in ("add", "put") for at in ("to", "on") for what in PICTURE_WORDS
        ),
        *(f"make the {what} look like" for what in PICTURE_WORDS),
        "take the ... out of the picture", "take the ... out of the photo", "erase the",
        "get rid of the", "replace the", "replace the ... with", "change the background",
        "change the sky",
        "change the season", "make it look like", "make him wear", "make her wear",
        "make it night", "make it winter", "make it summer",
    ),
    method=edit, note="named edits by Pillow and OpenCV; of a moving GIF, its first picture",
)  # fmt: skip


if TYPE_CHECKING:
    from PIL.Image import Image

    from jarvis_desktop.tasks.images.io import Pixels

MAX_SIDE = 20_000
MAX_PIXELS = 50_000_000


@dataclass(frozen=True, slots=True)
class EditRequest:
    """How to edit; 0.0 and "" stand for the edit's usual values."""

    amount: float = 0.0
    direction: str = ""
    size: str = ""
    words: str = ""
    colour: str = ""


def apply_edit(image: Image, edit: str, wish: EditRequest) -> Image:
    """Apply a named edit; transparent parts stay transparent. Raises InputError."""
    if edit in _SHAPES:
        return _SHAPES[edit](image, wish)
    changed = _COLOURS[edit](image.convert("RGB"), wish)
    if image.mode == "RGBA":
        changed.putalpha(image.getchannel("A"))
    return changed


def _rotate(image: Image, wish: EditRequest) -> Image:
    from PIL import Image as images

    degrees = wish.amount or (-90.0 if wish.direction == "left" else 90.0)
    quarters, rest = divmod(degrees % 360, 90)
    if rest == 0:
        ways = (None, images.Transpose.ROTATE_270, images.Transpose.ROTATE_180)
        way = (*ways, images.Transpose.ROTATE_90)[int(quarters)]
        return image.transpose(way) if way is not None else image.copy()
    # The corners left free are white if they cannot be transparent.
    fill = (255, 255, 255, 0) if image.mode == "RGBA" else (255, 255, 255)
    bicubic = images.Resampling.BICUBIC
    return image.rotate(-degrees, expand=True, resample=bicubic, fillcolor=fill)


def _flip(image: Image, wish: EditRequest) -> Image:
    from PIL import ImageOps

    upright = wish.direction in ("vertical", "top", "bottom")
    return ImageOps.flip(image) if upright else ImageOps.mirror(image)


def _crop(image: Image, wish: EditRequest) -> Image:
    width, height = image.size
    if ratio := re.fullmatch(r"\s*([1-9]\d?)\s*:\s*([1-9]\d?)\s*", wish.size):
        across, down = int(ratio[1]), int(ratio[2])
        wide = min(width, max(1, round(height * across / down)))
        high = min(height, max(1, round(width * down / across)))
    elif wish.size:
        wide, high = _parse_size(wish.size, image)
        wide, high = min(wide, width), min(high, height)
    else:
        share = (wish.amount or (50.0 if wish.direction else 80.0)) / 100
        if not 0 < share <= 1:
            raise InputError(tr("A crop keeps between 1 and 100 percent of a picture."))
        sideways, upright = wish.direction in ("left", "right"), wish.direction in ("top", "bottom")
        wide = width if upright else max(1, round(width * share))
        high = height if sideways else max(1, round(height * share))
    left = {"left": 0, "right": width - wide}.get(wish.direction, (width - wide) // 2)
    top = {"top": 0, "bottom": height - high}.get(wish.direction, (height - high) // 2)
    return image.crop((left, top, left + wide, top + high))


def _caption(image: Image, wish: EditRequest) -> Image:
    """Write words on a picture, with an outline that contrasts, as large as fits."""
    from PIL import ImageColor, ImageDraw, ImageFont

    from jarvis_desktop.tasks.formats.document_pdf import font_with

    if not wish.words:
        raise InputError(
            tr("Say which words are to be written."),
            hint=tr("Such as: write “Happy birthday” on the picture."),
        )
    if (found := font_with(wish.words)) is None:
        raise InputError(
            tr("No font on this computer has all letters of “{words}”.", words=wish.words)
        )
    shown = image.copy()
    draw, (wide, high) = ImageDraw.Draw(shown), image.size
    for size in range(max(9, min(wide, high) // 7), 7, -1):
        font = ImageFont.truetype(str(found), size)
        lines = [""]
        for word in wish.words.split():
            longer = f"{lines[-1]} {word}".strip()
            if draw.textlength(longer, font) <= 0.9 * wide or not lines[-1]:
                lines[-1] = longer
            else:
                lines.append(word)
        text, line = "\n".join(lines), max(1, size // 12)
        left, top, right, bottom = draw.multiline_textbbox((0, 0), text, font, stroke_width=line)
        if right - left <= 0.95 * wide and bottom - top <= 0.9 * high:
            break
    edge = min(wide, high) * 0.04
    across = {"left": edge, "right": wide - (right - left) - edge}
    down = {"top": edge, "bottom": high - (bottom - top) - edge, "": high - (bottom - top) - edge}
    x = across.get(wish.direction, (wide - (right - left)) / 2) - left
    y = down.get(wish.direction, (high - (bottom - top)) / 2) - top
    try:
        inside = ImageColor.getrgb(wish.colour or "white")
    except ValueError as error:
        raise InputError(tr("“{colour}” is not a colour.", colour=wish.colour)) from error
    outside = "black" if sum(inside[:3]) > 200 else "white"
    draw.multiline_text(
        (x, y), text, inside, font, align="center", stroke_width=line, stroke_fill=outside
    )
    return shown


def _resize(image: Image, wish: EditRequest) -> Image:
    from PIL import Image as images

    if ":" in wish.size:
        return _crop(image, wish)
    if wish.size:
        wide, high = _parse_size(wish.size, image)
    else:
        share = (wish.amount or 50.0) / 100
        wide, high = max(1, round(image.width * share)), max(1, round(image.height * share))
    if wish.amount < 0 or wide * high > MAX_PIXELS or max(wide, high) > MAX_SIDE:
        raise InputError(
            tr("A picture of {wide} by {high} pixels cannot be made.", wide=wide, high=high),
            hint=tr("Ask for at most 50 million pixels."),
        )
    return image.resize((wide, high), images.Resampling.LANCZOS)


def _bytes_of(size: str) -> int:
    """The bytes in "500 KB" or "1.5 MB"; 0 for a size in pixels."""
    match = re.fullmatch(r"\s*(\d{1,6}(?:\.\d{1,3})?)\s*([km])i?b\s*", size.lower())
    return int(float(match[1]) * {"k": 10**3, "m": 10**6}[match[2]]) if match else 0


def _parse_size(size: str, image: Image) -> tuple[int, int]:
    """Width and height from "800x600"; "800x", "x600" and "longest 800" keep the proportions, as
    does "at most 800x600", which makes nothing larger."""
    if limit := re.fullmatch(r"\s*at most (.+)", size.lower()):
        most = re.fullmatch(r"(\d{1,6})x(\d{1,6})", limit[1].strip())
        sides = [f"{most[1]}x", f"x{most[2]}"] if most else [limit[1]]
        return min([image.size, *(_parse_size(side, image) for side in sides)])
    if longest := re.fullmatch(r"\s*longest (\d{1,6})\s*", size.lower()):
        size = f"{longest[1]}x" if image.width >= image.height else f"x{longest[1]}"
    match = re.fullmatch(r"\s*(\d{1,6})?\s*(?:[x×*]|by)?\s*(\d{1,6})?\s*", size.lower())
    wide, high = (int(part or 0) for part in match.groups()) if match else (0, 0)
    if not wide and not high:
        raise InputError(
            tr("“{size}” is not a size.", size=size), hint=tr("Give it in pixels, such as 800x600.")
        )
    wide = wide or max(1, round(high * image.width / image.height))
    return wide, high or max(1, round(wide * image.height / image.width))


def _radius(wish: EditRequest) -> float:
    """The pixels of a blur, 0 if they are not said: "blur it by 8 pixels" names a length."""
    pixels = re.fullmatch(r"longest (\d+)", wish.size)
    return float(pixels[1]) if pixels else abs(wish.amount)


def _blur(image: Image, wish: EditRequest) -> Image:
    from PIL import ImageFilter

    radius = _radius(wish) or max(2.0, max(image.size) / 100)
    soft = ImageFilter.GaussianBlur(min(radius, max(image.size) / 2))
    if image.mode == "RGBA":  # weighted by opacity, or hidden colours would bleed out
        return image.convert("RGBa").filter(soft).convert("RGBA")
    return image.filter(soft)


def _grey(image: Image, wish: EditRequest) -> Image:
    return image.convert("L").convert("RGB")


def _invert(image: Image, wish: EditRequest) -> Image:
    from PIL import ImageOps

    return ImageOps.invert(image)


def _brighten(image: Image, wish: EditRequest) -> Image:
    # A gamma curve keeps black and white in place: multiplying would wash out the sky.
    percent = max(-100.0, min(wish.amount or 30.0, 300.0))
    if percent <= -99:
        return image.point([0] * 768)
    gamma = 1 / (1 + percent / 100)
    curve = [round(255 * (value / 255) ** gamma) for value in range(256)]
    return image.point(curve * 3)


def _adjust_contrast(image: Image, wish: EditRequest) -> Image:
    from PIL import ImageEnhance

    return ImageEnhance.Contrast(image).enhance(_factor(wish.amount or 30.0))


def _adjust_colour(image: Image, wish: EditRequest) -> Image:
    from PIL import ImageEnhance

    return ImageEnhance.Color(image).enhance(_factor(wish.amount or 40.0))


def _factor(percent: float) -> float:
    return max(0.0, min(1 + percent / 100, 6.0))


def _sharpen(image: Image, wish: EditRequest) -> Image:
    from PIL import ImageFilter

    percent = int(min(abs(wish.amount) or 120.0, 500.0))
    radius = max(1.2, max(image.size) / 900)
    return image.filter(ImageFilter.UnsharpMask(radius=radius, percent=percent, threshold=2))


def _enhance(image: Image, wish: EditRequest) -> Image:
    from PIL import ImageOps

    stretched = ImageOps.autocontrast(image, cutoff=(0.5, 0.5), preserve_tone=True)
    return _sharpen(_adjust_colour(stretched, EditRequest(12.0)), EditRequest(60.0))


def _sepia(image: Image, wish: EditRequest) -> Image:
    from PIL import ImageOps

    return ImageOps.colorize(image.convert("L"), "#150a02", "#fff3d6", mid="#a87f52")


def _sketch(image: Image, wish: EditRequest) -> Image:
    """Pencil strokes where the light changes: the grey picture divided by its blurred copy."""
    import cv2
    import numpy as np
    from PIL import Image as images

    grey = cv2.cvtColor(np.asarray(image), cv2.COLOR_RGB2GRAY)
    side = max(image.size)
    # Fine grain would turn into dirt on the paper.
    calm = cv2.bilateralFilter(grey, 5, 30, 3) if side < 3000 else cv2.GaussianBlur(grey, (5, 5), 0)
    soft = cv2.GaussianBlur(calm, (0, 0), max(2.0, side / 110))
    strokes = cv2.divide(calm, np.maximum(soft, 1), scale=255)
    curve = np.array([255 * (value / 255) ** 2.2 for value in range(256)], np.uint8)
    shade = cv2.addWeighted(cv2.LUT(strokes, curve), 0.88, calm, 0.12, 0)
    white = max(1.0, float(np.percentile(shade, 99)))
    return images.fromarray(cv2.convertScaleAbs(shade, alpha=255 / white)).convert("RGB")


def _cartoon(image: Image, wish: EditRequest) -> Image:
    import cv2
    import numpy as np
    from PIL import Image as images

    small = image.copy()
    small.thumbnail((1100, 1100))
    pixels = np.asarray(small)
    for _ in range(4):
        pixels = cv2.bilateralFilter(pixels, 9, 30, 7)
    flat = cv2.pyrMeanShiftFiltering(cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), 6, 18)
    hsv = cv2.cvtColor(flat, cv2.COLOR_BGR2HSV)
    hsv[:, :, 1] = cv2.convertScaleAbs(hsv[:, :, 1], alpha=1.35)
    flat = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)
    grey = cv2.medianBlur(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), 7)
    block = max(9, max(small.size) // 80 | 1)
    mean, below = cv2.ADAPTIVE_THRESH_GAUSSIAN_C, cv2.THRESH_BINARY
    lines = np.asarray(cv2.adaptiveThreshold(grey, 255, mean, below, block, 5), np.uint8)
    ink = cv2.GaussianBlur(_without_specks(lines), (3, 3), 0).astype(np.float32)[:, :, None] / 255
    drawn = images.fromarray((flat * (0.15 + 0.85 * ink)).astype(np.uint8))
    return drawn.resize(image.size, images.Resampling.LANCZOS)


def _without_specks(lines: Pixels) -> Pixels:
    """The outlines (black) without isolated dots."""
    import cv2
    import numpy as np

    _, labels, stats, _ = cv2.connectedComponentsWithStats(255 - lines, connectivity=8)
    least = max(12, lines.size // 12_000)
    small = stats[:, cv2.CC_STAT_AREA] < least
    return np.where(small[labels], 255, lines).astype(np.uint8)


def _painting(image: Image, wish: EditRequest) -> Image:
    """Patches of colour as by a broad brush, slightly more saturated."""
    import cv2
    import numpy as np
    from PIL import Image as images

    small = image.copy()
    small.thumbnail((1200, 1200))
    calm = cv2.edgePreservingFilter(np.asarray(small), flags=1, sigma_s=40, sigma_r=0.4)
    pixels = cv2.pyrMeanShiftFiltering(cv2.medianBlur(calm, 7), 8, 16)
    large = images.fromarray(pixels).resize(image.size, images.Resampling.LANCZOS)
    return _adjust_colour(large, EditRequest(25.0))


def _blur_background(image: Image, wish: EditRequest) -> Image:
    import numpy as np
    from PIL import Image as images

    from jarvis_desktop.tasks.images.segmentation import foreground

    radius = _radius(wish) or max(4.0, max(image.size) / 60)
    mask = images.fromarray(foreground(np.asarray(image)))
    return images.composite(image, _blur(image, EditRequest(radius)), mask)


def _border(image: Image, wish: EditRequest) -> Image:
    from PIL import ImageOps

    width = round(min(abs(wish.amount) or max(4, max(image.size) * 0.04), MAX_SIDE / 10))
    return ImageOps.expand(image, width, wish.colour or "white")


def _clean(image: Image, wish: EditRequest) -> Image:
    """The picture as it is: what is saved has no metadata."""
    return image


_SHAPES: dict[str, Callable[[Image, EditRequest], Image]] = {
    "rotate": _rotate, "flip": _flip, "crop": _crop, "resize": _resize, "blur": _blur,
    "caption": _caption, "border": _border, "clean": _clean,
}  # fmt: skip
_COLOURS: dict[str, Callable[[Image, EditRequest], Image]] = {
    "grey": _grey, "brightness": _brighten, "contrast": _adjust_contrast, "colour": _adjust_colour,
    "sharpen": _sharpen, "enhance": _enhance, "invert": _invert, "sepia": _sepia, "sketch": _sketch,
    "cartoon": _cartoon, "painting": _painting, "background-blur": _blur_background,
}  # fmt: skip


STYLES = ("sketch", "cartoon", "painting", "sepia", "grey", "invert")


def restyle(call: Call, report: Report) -> Iterable[Artifact]:
    """Apply one of the named styles."""
    from jarvis_desktop.tasks.images.io import read_image, save_image

    path, name, style = call.file("image"), call.title("image"), call.words("edit")
    if style not in STYLES:
        raise ExpertError(
            tr(
                "The styles I have are pencil sketch, cartoon, painting, sepia, black and white, "
                "and negative."
            ),
            hint=tr("Ask for one of them; any other style needs an expert for image-to-image."),
        )
    report(None, tr("Drawing {name} anew", name=name))
    return [save_image(apply_edit(read_image(path, name=name), style, EditRequest()), call, style)]


IMAGE_TO_IMAGE = define(
    name="image-to-image", label="Change style",
    summary="Turns a picture into another style: pencil sketch, cartoon, painting, sepia, black "
    "and white, negative; any other style as the prompt says. Everything else is image-editing.",
    ports=(Port("image", (Kind.IMAGE,)), Port(PROMPT, (Kind.TEXT,), required=False)),
    gives=(Kind.IMAGE,),
    options=(TaskOption("edit", "the style", "", choices=("", *STYLES)), STRENGTH, AVOID, SEED),
    presets=edit_presets(STYLES),
    exact="edit",
    cues=(
        "in the style of", "into the style", "style of a", "another style", "restyle*", "stylise*",
        "stylize*", "style transfer", "transform the picture", "transform the image",
        "transform this image", "turn the picture into", "turn the photo into",
        "turn this photo into", "turn this picture into", "turn the image into", "image to image",
        "image-to-image", "into a drawing", "into a sketch", "into a pencil sketch",
        "into a cartoon", "into a comic", "into a painting",
    ),
    method=restyle, note="six named styles by OpenCV; any other style needs an expert",
)  # fmt: skip
