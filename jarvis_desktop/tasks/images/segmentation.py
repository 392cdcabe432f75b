"""The tasks that separate a picture into parts, and the built-in separation of the foreground.

The foreground is found in child processes only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define, presets
from jarvis_desktop.tasks.images.detection import DetectionBox, find_faces, find_people
from jarvis_desktop.tasks.naming import IN_PICTURE

FOREGROUND = "foreground"

_BACKGROUND = (
    "remove the background", "remove background", "background remov*", "without background",
    "without the background", "without its background", "transparent background",
    "take away the background", "delete the background",
    "get rid of the background", "foreground", "sticker",
    "cut the subject out", "cut out the subject", "isolate the subject",
)  # fmt: skip
_PARTS = (
    "segment*", "segment the picture", "segment the image", "segment the photo",
    "segment this picture", "segment this image", "segment this photo", "semantic segmentation",
    "panoptic segmentation", "instance segmentation",
)  # fmt: skip


def cut_out(call: Call, report: Report) -> Iterable[Artifact]:
    """The cut-out with a transparent background, then its mask, white inside."""
    from PIL import Image as images

    from jarvis_desktop.tasks.images.io import on_white, read_image, save_png, to_array

    path, name = call.file("image"), call.title("image")
    image = on_white(read_image(path, name=name))
    report(None, tr("Looking for what is in front in {name}", name=name))
    mask = images.fromarray(foreground(to_array(image)))
    image.putalpha(mask)
    return [save_png(image, call, "cut-out"), save_png(mask, call, "mask")]


IMAGE_SEGMENTATION = define(
    name="image-segmentation", label="Cut out",
    summary="Cuts the main thing in a picture out of its background: a transparent cut-out and a "
    "mask. With an expert, cuts out what is named, or colours each kind of thing in the picture.",
    ports=(Port("image", (Kind.IMAGE,)),), gives=(Kind.IMAGE, Kind.TEXT),
    options=(
        TaskOption("what",
            "foreground = the main thing without its background; everything = all kinds "
               "of things in colours; or what to cut out, such as the dog", "", reads="thing"),
    ),
    presets=presets(({"what": FOREGROUND}, _BACKGROUND), ({"what": "everything"}, _PARTS)),
    cues=(
        "cut out", "cut it out", "cutout", "cut-out", "cut the ... out",
        "background transparent", "transparent background",
        *(f"cut ... out {place.replace('in', 'of', 1)}" for place in IN_PICTURE),
        "isolate the", "image segmentation", "image-segmentation", "mask of", "make a mask",
        "segment the", "segment out",
    ),
    method=cut_out,
    note="the one main thing, by colour (GrabCut); named parts of a picture need an expert",
)  # fmt: skip


MASK_GENERATION = define(
    name="mask-generation", label="Separate the parts",
    summary="Parts a picture into all the pieces that can be seen in it, without naming them: the "
    "pieces in colours, and a mask of them.",
    ports=(Port("image", (Kind.IMAGE,)),), gives=(Kind.IMAGE, Kind.TEXT),
    options=(
        TaskOption("most", "how many pieces at most, the largest ones", 40,
               units=("piece*", "mask*", "segment*", "part*")),
    ),
    cues=(
        "generate masks", "generate all masks", "mask generation", "mask-generation",
        "make masks", "make all masks", "masks of everything", "masks for everything",
        "masks of all", "mask everything", "segment anything", "segment everything",
        "separate everything in", "all the pieces of the picture", "all segments of",
        "into all its parts", "into all its pieces",
    ),
    note="needs an expert that separates things",
)  # fmt: skip


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from jarvis_desktop.tasks.images.io import Pixels

MAX_SIDE = 450  # GrabCut's time grows with the pixels: larger pictures are reduced to this size


def foreground(pixels: Pixels) -> Pixels:
    """How far, 0 to 255, each pixel of an RGB picture (height, width, 3) is foreground. GrabCut
    (Rother, Kolmogorov and Blake, 2004), initialised from people if there are any, else from the
    middle of the picture. Raises ExpertError if nothing stands out."""
    import cv2
    import numpy as np

    height, width = pixels.shape[:2]
    scale = min(1.0, MAX_SIDE / max(height, width))
    size = (max(16, round(width * scale)), max(16, round(height * scale)))
    small = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    people = [*find_people(pixels), *find_faces(pixels)]
    mask = _start(size, [_at(box, size, (width, height)) for box in people], _standing_out(small))
    background, figure = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.setRNGSeed(7)
    try:
        bgr = cv2.cvtColor(small, cv2.COLOR_RGB2BGR)
        cv2.grabCut(bgr, mask, (0, 0, 0, 0), background, figure, 6, cv2.GC_INIT_WITH_MASK)
    except cv2.error as error:  # a single colour leaves nothing to learn from
        raise _nothing() from error
    inside = _largest(np.where((mask == cv2.GC_FGD) | (mask == cv2.GC_PR_FGD), 255, 0))
    if not 0.01 < np.count_nonzero(inside) / inside.size < 0.97:
        raise _nothing()
    return _fine(inside, pixels)


def _nothing() -> ExpertError:
    return ExpertError(
        tr("I cannot separate the foreground of that picture."),
        hint=tr("A picture with one clear subject that does not touch the edges works best."),
    )


def _start(size: tuple[int, int], people: list[DetectionBox], standing_out: Pixels) -> Pixels:
    """GrabCut's initial mask: background, probable background, probable foreground, foreground."""
    import cv2
    import numpy as np

    width, height = size
    mask = np.full((height, width), cv2.GC_PR_BGD, np.uint8)
    if people:
        for box in people:
            face = box.height < 1.5 * box.width
            side, below = (0.9, 6.0) if face else (0.1, 0.1)
            left, right = box.left - side * box.width, box.left + (1 + side) * box.width
            top, bottom = box.top - 0.5 * box.height * face, box.top + (1 + below) * box.height
            mask[_span(top, bottom, height), _span(left, right, width)] = cv2.GC_PR_FGD
        for box in people:
            core = 0.25
            rows = _span(box.top + core * box.height, box.top + (1 - core) * box.height, height)
            columns = _span(box.left + core * box.width, box.left + (1 - core) * box.width, width)
            mask[rows, columns] = cv2.GC_FGD
            if box.height < 1.5 * box.width:  # there is a neck below a face, whatever its colour
                below = box.top + box.height
                mask[_span(below, below + 0.8 * box.height, height), columns] = cv2.GC_FGD
    else:
        mask[standing_out > 0] = cv2.GC_PR_FGD
    edge = max(1, round(0.015 * min(size)))
    frame = np.ones((height, width), bool)
    frame[edge : height - edge, edge : width - edge] = False
    # Subjects are often cut off by the lower edge, seldom by the others.
    frame[height - edge :, round(0.15 * width) : round(0.85 * width)] = False
    mask[frame & (mask != cv2.GC_FGD)] = cv2.GC_BGD
    return mask


def _standing_out(small: Pixels) -> Pixels:
    """The part of the middle whose colours are rare along the edges, 255 or 0."""
    import cv2
    import numpy as np

    height, width = small.shape[:2]
    lab = cv2.GaussianBlur(cv2.cvtColor(small, cv2.COLOR_RGB2LAB), (0, 0), 2).astype(np.float32)
    rim = max(2, round(0.06 * min(height, width)))
    border = np.concatenate(
        [lab[:rim].reshape(-1, 3), lab[:, :rim].reshape(-1, 3), lab[:, -rim:].reshape(-1, 3)]
    )
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 20, 1.0)
    cv2.setRNGSeed(7)
    start, labels = cv2.KMEANS_PP_CENTERS, np.empty(0, np.int32)
    _, _, centres = cv2.kmeans(border, min(6, len(border)), labels, stop, 2, start)
    apart = np.linalg.norm(lab[:, :, None, :] - np.asarray(centres)[None, None], axis=3).min(axis=2)
    y, x = np.mgrid[0:height, 0:width]
    off = np.hypot((x / width - 0.5) / 0.42, (y / height - 0.52) / 0.45)
    weight = np.clip(1.35 - off, 0, 1) * apart
    if weight.max() < 6:
        return np.zeros((height, width), np.uint8)
    level = cv2.convertScaleAbs(weight, alpha=255 / float(weight.max()))
    _, out = cv2.threshold(level, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    return np.asarray(cv2.dilate(out, np.ones((7, 7), np.uint8)), np.uint8)


def _at(box: DetectionBox, size: tuple[int, int], full: tuple[int, int]) -> DetectionBox:
    wide, high = size[0] / full[0], size[1] / full[1]
    return DetectionBox(
        round(box.left * wide),
        round(box.top * high),
        max(2, round(box.width * wide)),
        max(2, round(box.height * high)),
        box.score,
    )


def _span(start: float, end: float, length: int) -> slice:
    return slice(max(0, round(start)), min(length, round(end)))


def _largest(mask: NDArray[np.int_]) -> Pixels:
    """The mask without holes and without parts much smaller than the largest."""
    import cv2
    import numpy as np

    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    closed = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, kernel)
    closed = cv2.morphologyEx(closed, cv2.MORPH_CLOSE, kernel)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(closed)
    areas = stats[:, cv2.CC_STAT_AREA].copy()
    areas[0] = 0
    kept = areas >= 0.2 * areas.max(initial=1)
    inside = np.where(kept[labels] & (closed > 0), 255, 0).astype(np.uint8)
    _, holes, sizes, _ = cv2.connectedComponentsWithStats(255 - inside)
    small = sizes[:, cv2.CC_STAT_AREA] < 0.01 * inside.size
    return np.where(small[holes], 255, inside).astype(np.uint8)


def _fine(mask: Pixels, pixels: Pixels) -> Pixels:
    """The mask at the size of the picture, with a soft edge."""
    import cv2
    import numpy as np

    height, width = pixels.shape[:2]
    soft = cv2.GaussianBlur(mask, (0, 0), 1.2)
    large = cv2.resize(soft, (width, height), interpolation=cv2.INTER_CUBIC)
    # The blur spreads to both sides: pull the edge in so that no rim of background shows.
    return np.asarray(np.clip((large.astype(np.float32) - 96) * (255 / 128), 0, 255), np.uint8)


DEPTH_ESTIMATION = define(
    name="depth-estimation", label="Estimate depth",
    summary="Estimates how far away each part of a picture is.",
    ports=(Port("image", (Kind.IMAGE,)),), gives=(Kind.IMAGE,),
    cues=(
        "depth", "depth map", "how far away", "distance map", "depth estimation",
        "depth of the image", "depth of the picture", "3d map",
    ),
    note="needs an expert that sees depth",
)  # fmt: skip
