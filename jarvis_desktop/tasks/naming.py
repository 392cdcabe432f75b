"""Reads names of things out of a request, and finds the labels of an expert that they mean.

A planner that is an LLM gives the bare names, the embedded one the words of the person.

Measures a picture: what kind it is, its colours, light and sharpness. Runs in children only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_desktop.tasks.images.findings import plural
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.tokens import stem, tokens

MOST_NAMES = 40
LONGEST_NAME = 60
"""Characters."""

PICTURE_WORDS = ("picture", "photo", "image")

IN_PICTURE = tuple(
    f"in {which} {what}" for which in ("the", "this", "my", "a") for what in PICTURE_WORDS
)
"""Ends of cues, by which asking for something in a picture is told from other finding."""

EVERYTHING = frozenset({"", "all", "anything", "both", "everything", "objects", "things", "auto"})

_picture = r"(?:picture|photo|photograph|image|screenshot|scene|drawing|file|one)s?"
_file = r"\S+\.\w{2,5}"
_ASKING = lazy_re(
    r"^(?:and|then|please|can you|could you|now)\b\s*|"
    r"^(?:find|locate|detect|mark|spot|show me where|show me|show|tell me where|look for|point out|"
    r"search for|search|count|cut out|segment|isolate|extract|outline|highlight|"
    r"draw (?:a )?box(?:es)? (?:around|round)|put (?:a )?box(?:es)? (?:around|round)|"
    r"where(?:'s| is| are)|how many|is there|are there|"
    r"(?:is|does|do|are|was) (?:this|that|it|these|those|there|"
    + _file
    + r")(?: "
    + _picture
    + r")?"
    r"(?: (?:show|of|about))?|does the " + _picture + r" show|"
    r"(?:sort|classify|categori[sz]e) (?:the |this |that |it\b)?(?:"
    + _picture
    + "|"
    + _file
    + r")?\s*"
    r"(?:into|as|by)|"
    r"which of (?:these|the following)(?: labels)? .*?(?::|" + _picture + r")|"
    r"which of|which label suits .*?(?::|" + _picture + r"))(?=\W|$)[\s:,]*",
    re.IGNORECASE,
)
_WHERE = lazy_re(
    r"\s*\b(?:in|on|of|from|within|inside) (?:(?:the|this|that|my|our|these) )?"
    r"(?:" + _picture + r"\b|" + _file + r"\b|it\W*$|this\W*$|that\W*$|here\W*$).*$",
    re.IGNORECASE,
)
_ARTICLE = lazy_re(
    r"^(?:(?:rather|more|either|maybe|the|a|an|any|all|every|each|some|my|our|of|is|are|there)\s+)+",
    re.IGNORECASE,
)
_LEFT_OVER = lazy_re(r"\s+(?:is|are|there|please|to see|at|shown|visible)$", re.IGNORECASE)
_PARTING = lazy_re(r"\s*(?:[,;/\n]|\bor\b|\band\b|\bversus\b|\bvs\.?)\s*", re.IGNORECASE)

_PEOPLE = frozenset(
    "person persons people man men woman women child children boy boys girl girls human humans "
    "pedestrian pedestrians someone anybody anyone everyone everybody".split()
)


def named_things(words: str) -> list[str]:
    """The things that are named, each once: "is this a cat or a dog?" gives cat and dog."""
    rest = " ".join(words.split()).strip(" .?!\"'“”")
    while (shorter := _ASKING.sub("", rest)) != rest:
        rest = shorter
    rest = _WHERE.sub("", rest)
    names = []
    for part in _PARTING.split(rest):
        name = _ARTICLE.sub("", part.strip(" .?!:\"'“”"))
        while (shorter := _LEFT_OVER.sub("", name)) != name:
            name = shorter
        if name and len(name) <= LONGEST_NAME and name.lower() not in _nothing:
            names.append(name)
    return list(dict.fromkeys(names))[:MOST_NAMES]


_nothing = frozenset({"it", "this", "that", "is", "are", "the", "picture", "photo", "image"})


def asks_for_description(question: str) -> bool:
    """Whether a question about a picture asks for no more than what it shows."""
    return _describing.search(question.strip()) is not None


_describing = lazy_re(
    r"^(?:please |can you |could you )*(?:describe|caption)\b|"
    r"^what(?:'s| is|s| do you see| can you see)?(?: there)?(?: shown)? (?:in|on) "
    r"(?:the|this|that) "
    + _picture
    + r"\W*$|^what (?:do|can) you see\b|^what does (?:the|this|that) "
    + _picture
    + r" show\W*$|"
    r"^what(?:'s| is|s) (?:this|that|it)\W*$",
    re.IGNORECASE,
)


def labels_named(words: str, labels: Iterable[str]) -> list[str]:
    """Those of an expert's labels that the words speak of: "the dogs" means its label dog.

    A label may be several names parted by commas, as those of ImageNet are.
    """
    said = _stems(words)
    found = []
    for label in labels:
        names: Sequence[str] = [name for name in re.split(r"[,;]", label) if name.strip()]
        # "buses" has another stem than "bus", so the plural is looked for as well.
        ways = [_stems(way) for name in names for way in (name, plural(name.strip()))]
        if any(way and way <= said for way in ways):
            found.append(label)
    return found


def _stems(words: str) -> set[str]:
    plain = tokens(words.replace("_", " ").replace("-", " "))
    return {"person" if word in _PEOPLE else stem(word) for word in plain}


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

NAMES = {
    "black": (18, 18, 18), "white": (245, 245, 245), "grey": (128, 128, 128),
    "light grey": (200, 200, 200), "dark grey": (64, 64, 64), "red": (200, 30, 35),
    "dark red": (110, 20, 25), "orange": (235, 130, 30), "yellow": (235, 215, 50),
    "green": (50, 150, 60), "dark green": (30, 70, 35), "light green": (150, 205, 120),
    "turquoise": (60, 180, 180), "blue": (40, 80, 180), "dark blue": (22, 32, 85),
    "light blue": (150, 195, 230), "purple": (120, 50, 140), "pink": (240, 150, 180),
    "brown": (115, 75, 40), "beige": (215, 190, 155), "olive": (110, 110, 50),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found, in words that fit into a sentence."""

    kind: str
    colours: list[str]
    light: str
    sharpness: str
    """", sharp", ", blurred" or "" where it cannot be told."""


def measure(pixels: Pixels) -> Measured:
    """Measures an RGB picture (height, width, 3)."""
    import cv2
    import numpy as np

    scale = min(1.0, 800 / max(pixels.shape[:2]))
    size = [max(1, round(side * scale)) for side in pixels.shape[1::-1]]
    small = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    grey = np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), np.uint8)
    kind = _kind(small, grey)
    mean = float(grey.mean())
    light = "dark" if mean < 70 else "bright" if mean > 185 else "of medium brightness"
    sharpness = ""
    if kind == "a photo or painting":
        sharpness = ", sharp" if _sharp(grey) else ", blurred"
    return Measured(kind, _colours(small), light, sharpness)


def _kind(small: Pixels, grey: Pixels) -> str:
    import numpy as np

    if float(grey.std()) < 3:
        return "blank"
    # A photo taken at night is mostly black, too: what is lit decides.
    lit = small[small.max(axis=2) > 48]
    seen = lit if len(lit) > 0.05 * grey.size else small.reshape(-1, 3)
    _, counts = np.unique(seen // 16, axis=0, return_counts=True)
    flat, paper = float(np.sort(counts)[-4:].sum() / len(seen)), float((grey > 200).mean())
    coloured = float((np.ptp(small, axis=2) > 40).mean())
    if paper > 0.6 and coloured < 0.05:
        return "a page of text or a drawing on white"
    if flat > 0.6:
        return "a graphic, chart or screenshot with flat colours"
    return "a photo or painting"


def _sharp(grey: Pixels) -> bool:
    """Whether the strongest edges are steep: within two pixels from dark to light."""
    import cv2
    import numpy as np

    near = np.abs(cv2.Sobel(grey, cv2.CV_32F, 1, 0, ksize=1))
    far = np.abs(cv2.Sobel(cv2.GaussianBlur(grey, (0, 0), 2.0), cv2.CV_32F, 1, 0, ksize=1))
    return float(np.percentile(near, 99.5)) > 1.45 * float(np.percentile(far, 99.5))


def _colours(small: Pixels) -> list[str]:
    """The names of the colours that take up at least an eighth, most first, at most three."""
    import cv2
    import numpy as np

    tones = np.array(list(NAMES.values()), np.uint8)[None]
    lab = cv2.cvtColor(tones, cv2.COLOR_RGB2LAB)[0].astype(np.float32)
    tiny = cv2.resize(small, (64, 64), interpolation=cv2.INTER_AREA)
    points = cv2.cvtColor(tiny, cv2.COLOR_RGB2LAB).reshape(-1, 3).astype(np.float32)
    weights = np.array([0.6, 1.3, 1.3], np.float32)  # hue tells names apart better than lightness
    apart = np.linalg.norm((points[:, None] - lab[None]) * weights, axis=2)
    counts = np.bincount(apart.argmin(axis=1), minlength=len(NAMES))
    order = np.argsort(-counts)[:3]
    names = list(NAMES)
    return [names[i] for i in order if counts[i] >= len(points) / 8] or [names[int(order[0])]]
