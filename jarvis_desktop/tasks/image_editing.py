"""Edits a picture in a named way: grey, brighter, rotated, cropped, a pencil sketch ..."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.task import PROMPT, Option, Port, Preset, TaskType, Value
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.naming import PICTURE_WORDS
from jarvis_desktop.tasks.painting import SEED

EDITS = (
    *("enhance", "grey", "brightness", "contrast", "colour", "blur", "sharpen", "rotate", "flip"),
    *("crop", "resize", "sketch", "cartoon", "painting", "background-blur", "invert", "sepia"),
)


def _after(*nouns: str) -> tuple[str, ...]:
    """ "a sketch of the picture" is made from it; "a sketch of a cat" is drawn from nothing."""
    return tuple(
        f"{noun} of {which} {what}"
        for noun in nouns
        for which in ("the", "this", "my")
        for what in PICTURE_WORDS
    )


EDIT_CUES: dict[str, tuple[str, dict[str, Value]]] = {
    **dict.fromkeys(
        ("black and white", "black-and-white", "grey*", "gray*", "monochrome", "b&w", "b/w",
         "without colour", "without color", "remove the colour", "remove the color", "desaturat*",
         "take out the colour", "take out the color", "colourless", "colorless"),
        ("grey", {}),
    ),
    **dict.fromkeys(
        ("brighter", "brighten*", "lighter", "lighten*", "more light", "too dark",
         "increase the brightness", "more brightness", "brightness up", "turn up the brightness"),
        ("brightness", {"amount": 30.0}),
    ),
    **dict.fromkeys(
        ("darker", "darken*", "dimmer", "less bright", "too bright", "less light",
         "decrease the brightness", "reduce the brightness", "lower the brightness",
         "brightness down"),
        ("brightness", {"amount": -30.0}),
    ),
    **dict.fromkeys(
        ("more contrast", "higher contrast", "increase the contrast", "raise the contrast",
         "stronger contrast", "punchier", "contrast"),
        ("contrast", {"amount": 30.0}),
    ),
    **dict.fromkeys(
        ("less contrast", "lower contrast", "reduce the contrast", "decrease the contrast",
         "lower the contrast", "softer contrast"),
        ("contrast", {"amount": -30.0}),
    ),
    **dict.fromkeys(
        ("more colour*", "more color*", "colourful", "colorful", "vivid", "more saturat*",
         "increase the saturation", "stronger colours", "stronger colors", "saturat*", "vibrant",
         "richer colours", "richer colors"),
        ("colour", {"amount": 40.0}),
    ),
    **dict.fromkeys(
        ("less colour*", "less color*", "less saturat*", "reduce the saturation", "paler", "muted",
         "decrease the saturation", "weaker colours", "weaker colors"),
        ("colour", {"amount": -40.0}),
    ),
    **dict.fromkeys(
        ("blur the background", "background blur*", "blurry background", "blurred background",
         "blur what is behind", "blur everything behind", "bokeh", "portrait mode", "out of focus"),
        ("background-blur", {}),
    ),
    **dict.fromkeys(("blur", "blurs", "blurred", "blurry", "blurring", "soften*"), ("blur", {})),
    **dict.fromkeys(
        ("sharpen*", "sharper", "crisper", "more crisp", "clearer", "unblur", "deblur"),
        ("sharpen", {}),
    ),
    **dict.fromkeys(
        ("rotate left", "turn left", "turn it to the left", "rotate it to the left",
         "to the left", "counterclockwise", "counter-clockwise", "anticlockwise", "anti-clockwise"),
        ("rotate", {"amount": -90.0}),
    ),
    **dict.fromkeys(("upside down", "upside-down", "on its head"), ("rotate", {"amount": 180.0})),
    **dict.fromkeys(
        ("rotate", "rotates", "rotated", "rotating", "rotation", "turn it by", "turn right",
         "turn it to the right", "sideways", "clockwise", "by 90 degrees", "quarter turn"),
        ("rotate", {}),
    ),
    **dict.fromkeys(
        ("flip vertically", "flip it vertically", "vertical flip", "mirror vertically",
         "top to bottom"),
        ("flip", {"direction": "vertical"}),
    ),
    **dict.fromkeys(
        ("flip", "flips", "flipped", "mirror*", "left to right", "reverse it", "mirror image"),
        ("flip", {"direction": "horizontal"}),
    ),
    **dict.fromkeys(
        ("left half", "to the left half", "remove the right half", "cut off the right half"),
        ("crop", {"direction": "left"}),
    ),
    **dict.fromkeys(
        ("right half", "to the right half", "remove the left half", "cut off the left half"),
        ("crop", {"direction": "right"}),
    ),
    **dict.fromkeys(
        ("upper half", "top half", "remove the lower half", "remove the bottom half"),
        ("crop", {"direction": "top"}),
    ),
    **dict.fromkeys(
        ("lower half", "bottom half", "remove the upper half", "remove the top half"),
        ("crop", {"direction": "bottom"}),
    ),
    **dict.fromkeys(
        ("crop", "crops", "cropped", "cropping", "trim*", "cut out the middle", "cut off the edges",
         "cut the edges"),
        ("crop", {}),
    ),
    **dict.fromkeys(
        ("half the size", "half size", "half as large", "half as big", "smaller", "shrink*",
         "reduce the size", "scale down", "scale it down"),
        ("resize", {"amount": 50.0}),
    ),
    **dict.fromkeys(
        ("twice the size", "double the size", "twice as large", "twice as big", "larger", "bigger",
         "enlarge*", "scale up", "scale it up", "upscale*"),
        ("resize", {"amount": 200.0}),
    ),
    **dict.fromkeys(("resize*", "resizing", "rescale*", "pixels wide",
                     *(f"make the {what} #@#" for what in PICTURE_WORDS)), ("resize", {})),
    **dict.fromkeys(
        ("pencil sketch", "pencil drawing", "sketch*", "line drawing", "pencil", "charcoal",
         "drawing of it", "sketch of it", *_after("sketch", "drawing")),
        ("sketch", {}),
    ),
    **dict.fromkeys(("cartoon*", "comic*", "toon", "anime"), ("cartoon", {})),
    **dict.fromkeys(
        ("oil painting", "into a painting", "like a painting", "painted", "painterly",
         "watercolour", "watercolor", "painting of it", *_after("painting")),
        ("painting", {}),
    ),
    **dict.fromkeys(
        ("invert*", "negative of", "a negative", "inverse colours", "inverse colors"),
        ("invert", {}),
    ),
    **dict.fromkeys(("sepia", "old photo*", "vintage", "antique", "brownish"), ("sepia", {})),
    **dict.fromkeys(
        ("enhance*", "improve*", "look better", "nicer", "auto level*", "touch up", "retouch*"),
        ("enhance", {}),
    ),
}  # fmt: skip
"""How people say it -> the edit and what else that settles. Longer phrases go before shorter."""

_ASKED = ("add", "put", "insert", "remove", "erase", "replace", "swap", "change", "turn")
_THERE = tuple(
    f"{at} the {what}" for at in ("in", "on", "to", "into", "from") for what in PICTURE_WORDS
)

AMOUNT = Option(
    "amount",
    "how much; 0 = what is usual. brightness, contrast, colour: percent, above 0 more, below "
    "0 less (30 = a bit brighter, -30 = a bit darker). rotate: degrees clockwise (90, 180, "
    "-90). resize: percent of the present size (50 = half, 200 = double). crop: percent that "
    "is kept (80). blur, background-blur: radius in pixels. sharpen: percent (120)",
    0.0,
    units=("degree*", "°", "percent", "%", "pixel*", "px"),
)


def presets(edits: Iterable[str]) -> tuple[Preset, ...]:
    """The phrases that ask for these edits, with what each settles."""
    wanted = frozenset(edits)
    return tuple(
        Preset(phrase, (("edit", edit), *settled.items()))
        for phrase, (edit, settled) in EDIT_CUES.items()
        if edit in wanted
    )


TYPE = TaskType(
    name="image-editing",
    summary="Edits a picture in a named way: black and white, brighter, darker, contrast, colour, "
    "blur, blur the background, sharpen, rotate, flip, crop, resize, pencil sketch, cartoon, "
    "painting, sepia, invert, enhance; or as the prompt says, such as to add, remove or replace "
    "something.",
    ports=(Port("image", (Kind.IMAGE,)), Port(PROMPT, (Kind.TEXT,), required=False)),
    gives=(Kind.IMAGE,),
    options=(
        Option("edit", "which edit, where it is one of these", "", choices=("", *EDITS)),
        AMOUNT,
        Option(
            "direction",
            "flip: horizontal (left and right change places) or vertical; rotate: left or right; "
            "crop: the part that is kept",
            "",
            choices=("", "horizontal", "vertical", "left", "right", "top", "bottom"),
        ),
        Option(
            "size",
            'resize, crop: width and height in pixels, "800x600"; "800x" keeps the proportions',
            "",
            reads="size",
        ),
        SEED,
    ),
    presets=presets(EDITS),
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
        "get rid of the", "replace the", "change the background", "change the sky",
        "change the season", "make it look like", "make him wear", "make her wear",
        "make it night", "make it winter", "make it summer",
    ),
)  # fmt: skip


def edit(call: Call, report: Report) -> Iterable[Artifact]:
    """The edited picture."""
    from jarvis_desktop.tasks.edits import Wish, apply_edit
    from jarvis_desktop.tasks.pictures import read_image, save_image

    path, name = call.file("image"), call.title("image")
    report(None, f"editing {name}")
    which = call.words("edit")
    if not which and call.text(PROMPT).strip():
        raise ExpertError(
            tr("An edit that is told in words of one's own needs an expert for image-editing."),
            hint=tr(
                "What works without: black and white, brighter, blur, rotate, crop, resize ..."
            ),
        )
    which = which or "enhance"
    wish = Wish(call.number("amount"), call.words("direction"), call.words("size"))
    return [save_image(apply_edit(read_image(path, name=name), which, wish), call, which)]


DEFINITION = Definition(
    TYPE, method=edit, note="named edits by Pillow and OpenCV; of a moving GIF, its first picture"
)
