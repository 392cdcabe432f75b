"""Control pictures, which steer picture generators: their tasks and the functions that draw them.

The drawing functions run in child processes only and are classical image processing. If a control
is named after a neural network, the note of its task says that it is not that network.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report
from jarvis_desktop.tasks.definition import Definition, define
from jarvis_desktop.tasks.naming import IN_PICTURE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from jarvis_desktop.tasks.images.io import Pixels

MAX_SIDE = 1600
NORMALS_SIDE, STEEPNESS, MIN_NEARNESS = 384, 30.0, 0.1
"""For normals: the size at which slopes are measured, their weight, and the nearness, 0 to 1, below
which surfaces count as flat."""


def canny(pixels: Pixels) -> Pixels:
    """Edges one pixel wide, 255 on 0, with thresholds adapted to the picture's contrast."""
    import cv2
    import numpy as np

    small, full = _reduced(pixels, 3000)  # the slopes of a whole large photo would take 2 GB
    soft = cv2.GaussianBlur(small, (5, 5), 1.2)
    grey = cv2.cvtColor(soft, cv2.COLOR_RGB2GRAY)
    # Otsu's level estimates the usual step between light and dark in this picture.
    level, _ = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    high = float(np.clip(level, 40, 200))
    # Use the channel that changes most: red beside blue may be the same grey.
    slopes = [cv2.Sobel(soft, cv2.CV_16S, *way, ksize=3) for way in ((1, 0), (0, 1))]
    most = (np.abs(slopes[0]) + np.abs(slopes[1])).argmax(axis=2)[:, :, None]
    across, down = (np.take_along_axis(slope, most, axis=2)[:, :, 0] for slope in slopes)
    edges = cv2.Canny(np.ascontiguousarray(across), np.ascontiguousarray(down), 0.4 * high, high)
    return np.asarray(cv2.resize(edges, full, interpolation=cv2.INTER_NEAREST), np.uint8)


def soft_edges(pixels: Pixels) -> Pixels:
    """The strength of the edges, 0 to 255, averaged over three blur radii."""
    import cv2
    import numpy as np

    small, full = _reduced(pixels)
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).astype(np.float32)
    total = np.zeros(small.shape[:2], np.float32)
    for sigma in (1.0, 2.0, 4.0):
        soft = cv2.GaussianBlur(lab, (0, 0), sigma)
        slopes = [cv2.Sobel(soft, cv2.CV_32F, *way, ksize=3) for way in ((1, 0), (0, 1))]
        strength = np.sqrt((slopes[0] ** 2 + slopes[1] ** 2).sum(axis=2))
        total += strength / max(1.0, float(np.percentile(strength, 99.5)))
    level = np.clip(total / 3, 0, 1)
    level[level < 0.07] = 0
    return _enlarged(np.asarray(255 * level**0.75, np.uint8), full)


def straight_lines(pixels: Pixels) -> Pixels:
    """The straight lines longer than a thirtieth of the picture, 255 on 0."""
    import cv2
    import numpy as np

    small, full = _reduced(pixels)
    grey = cv2.GaussianBlur(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), (3, 3), 0)
    out = np.zeros(grey.shape, np.uint8)
    found = cv2.createLineSegmentDetector(cv2.LSD_REFINE_STD).detect(grey)[0]
    least = max(12.0, max(grey.shape) / 30)
    thick = max(1, round(max(grey.shape) / 700))
    for x1, y1, x2, y2 in () if found is None else np.asarray(found).reshape(-1, 4):
        if np.hypot(x2 - x1, y2 - y1) >= least:
            ends = (round(float(x1)), round(float(y1))), (round(float(x2)), round(float(y2)))
            cv2.line(out, *ends, 255, thick, cv2.LINE_AA)
    return _enlarged(out, full)


def scribble(pixels: Pixels) -> Pixels:
    """The main outlines as thick strokes, 255 on 0."""
    import cv2
    import numpy as np

    small, full = _reduced(pixels)
    side = max(small.shape[:2])
    calm = cv2.bilateralFilter(small, 9, 60, 9)
    calm = cv2.GaussianBlur(calm, (0, 0), max(1.5, side / 300))
    edges = canny(np.asarray(calm, np.uint8))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(edges, connectivity=8)
    reach = np.maximum(stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT])
    kept = np.where((reach >= side / 25)[labels] & (edges > 0), 255, 0).astype(np.uint8)
    pen = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (max(3, side // 160 | 1),) * 2)
    strokes = cv2.GaussianBlur(cv2.dilate(kept, pen), (5, 5), 0)
    _, bold = cv2.threshold(strokes, 127, 255, cv2.THRESH_BINARY)
    return _enlarged(np.asarray(bold, np.uint8), full)


def areas(pixels: Pixels) -> Pixels:
    """The picture as areas of one flat colour each, in at most ten colours."""
    import cv2
    import numpy as np

    small, full = _reduced(pixels, 700)
    calm = cv2.pyrMeanShiftFiltering(cv2.cvtColor(small, cv2.COLOR_RGB2LAB), 12, 18)
    points = calm.reshape(-1, 3).astype(np.float32)
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 20, 0.5)
    cv2.setRNGSeed(7)
    count = min(10, len(np.unique(calm.reshape(-1, 3), axis=0)))
    if count == 1:
        return pixels.copy()
    way, none = cv2.KMEANS_PP_CENTERS, np.empty(0, np.int32)
    _, labels, centres = cv2.kmeans(points, count, none, stop, 2, way)
    flat = np.asarray(labels, np.uint8).reshape(calm.shape[:2])
    merged = cv2.medianBlur(flat, 9)
    palette = np.asarray(centres, np.float32).round().astype(np.uint8)
    colours = cv2.cvtColor(palette[None], cv2.COLOR_LAB2RGB)[0]
    nearest = cv2.resize(merged, full, interpolation=cv2.INTER_NEAREST)
    return np.asarray(colours[nearest], np.uint8)


def normals(nearness: NDArray[np.float32]) -> Pixels:
    """The direction that surfaces face, from nearness maps, 0 to 1, (height, width). Blue faces the
    viewer, red the left and green up, as generators were trained to read it. The farthest parts
    count as a plane, as in MiDaS' normal maps (controlnet_aux, 2023)."""
    import cv2
    import numpy as np

    height, width = nearness.shape
    soft = cv2.GaussianBlur(nearness, (0, 0), max(0.8, max(height, width) / 500))
    # Slopes get flatter as a picture is enlarged: measure them as if at a fixed size.
    scale = STEEPNESS * max(height, width) / NORMALS_SIDE
    across = scale * cv2.Sobel(soft, cv2.CV_32F, 1, 0, ksize=3)
    down = scale * cv2.Sobel(soft, cv2.CV_32F, 0, 1, ksize=3)
    far = nearness < MIN_NEARNESS
    across[far], down[far] = 0.0, 0.0
    facing = np.stack([across, down, np.full_like(across, 2 * np.pi)], axis=2)
    facing /= np.linalg.norm(facing, axis=2, keepdims=True)
    return np.asarray((facing * 127.5 + 127.5).round().clip(0, 255), np.uint8)


def _reduced(pixels: Pixels, side: int = MAX_SIDE) -> tuple[Pixels, tuple[int, int]]:
    """Shrink a picture to at most `side` pixels; return it and its full (width, height)."""
    import cv2
    import numpy as np

    height, width = pixels.shape[:2]
    scale = min(1.0, side / max(width, height))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8), (width, height)


def _enlarged(pixels: Pixels, full: tuple[int, int]) -> Pixels:
    import cv2
    import numpy as np

    return np.asarray(cv2.resize(pixels, full, interpolation=cv2.INTER_LINEAR), np.uint8)


Point = tuple[float, float] | None  # a joint, in pixels from the left and top; None if not visible

Pose = Sequence[Point]

FROM_COCO = (0, -1, 6, 8, 10, 5, 7, 9, 12, 14, 16, 11, 13, 15, 2, 1, 4, 3)
"""OpenPose's 18 joints (nose, neck, right arm, left arm, right leg, left leg, eyes, ears) as
indices into COCO's 17, which has no neck."""

LIMBS = (
    (1, 2), (1, 5), (2, 3), (3, 4), (5, 6), (6, 7), (1, 8), (8, 9), (9, 10), (1, 11), (11, 12),
    (12, 13), (1, 0), (0, 14), (14, 16), (0, 15), (15, 17),
)  # fmt: skip

COLOURS = (
    (255, 0, 0), (255, 85, 0), (255, 170, 0), (255, 255, 0), (170, 255, 0), (85, 255, 0),
    (0, 255, 0), (0, 255, 85), (0, 255, 170), (0, 255, 255), (0, 170, 255), (0, 85, 255),
    (0, 0, 255), (85, 0, 255), (170, 0, 255), (255, 0, 255), (255, 0, 170), (255, 0, 85),
)  # fmt: skip
"""One for each limb, and for each joint: the colours that OpenPose uses and generators learned
(Cao, Hidalgo, Simon, Wei and Sheikh, "OpenPose", 2019)."""

LIMB_LIGHT = 0.6  # brightness of limbs; joints have the full colour
HALF_WIDTH = 4 / 512
"""Half a limb's width, and a joint's radius, relative to the shorter side of the picture."""


def from_coco(joints: Pose) -> list[Point]:
    """Convert COCO's 17 joints to OpenPose's 18; the neck is between the shoulders."""
    left, right = joints[5], joints[6]
    neck = ((left[0] + right[0]) / 2, (left[1] + right[1]) / 2) if left and right else None
    return [neck if at < 0 else joints[at] for at in FROM_COCO]


def draw_poses(poses: Sequence[Pose], size: tuple[int, int]) -> Pixels:
    """Draw poses of 18 joints each on black; `size` is (width, height)."""
    import cv2
    import numpy as np

    canvas = np.zeros((size[1], size[0], 3), np.uint8)
    thick = max(2, round(HALF_WIDTH * min(size)))
    for (one, other), colour in zip(LIMBS, COLOURS, strict=False):
        for pose in poses:
            start, end = pose[one], pose[other]
            if start is None or end is None:
                continue
            middle = (round((start[0] + end[0]) / 2), round((start[1] + end[1]) / 2))
            across, down = end[0] - start[0], end[1] - start[1]
            length, angle = math.hypot(across, down), math.degrees(math.atan2(down, across))
            outline = cv2.ellipse2Poly(
                middle, (max(1, round(length / 2)), thick), round(angle), 0, 360, 1
            )
            cv2.fillConvexPoly(canvas, np.asarray(outline, np.int32), colour)
    canvas = np.asarray(canvas * LIMB_LIGHT, np.uint8)
    for at, colour in enumerate(COLOURS):
        for pose in poses:
            if joint := pose[at]:
                cv2.circle(canvas, (round(joint[0]), round(joint[1])), thick, colour, -1)
    return canvas


_HEX = """
    787878b4787806e6e650323204c8037878508c8c8ccc05ffe6e6e604fa07e005ffebff0796053d78784608ff33
    ff06528fff8cccff04ff3307cc46030066c83de6faff06330b66ffff0747ff09e00907e6dcdcdcff095c7009ff
    08ffd607ffe0ffb8060aff47ff290a07ffffe0ff086608ffff3d06ffc207ff7a0800ff14ff0829ff05990633ff
    eb0cffa0961400a3ff8c8c8cfa0a0f14ff001fff00ff1f00ffe00099ff000000ffff470000ebff00adff1f00ff
    0bc8c8ff520000fff5003dff00ff7000ff85ff0000ffa300ff6600c2ff00008fff33ff000052ff00ff2900ffad
    0a00ffadff0000ff99ff5c00ff00ffff00f5ff0066ffad00ff0014ffb8b8001fff00ff3d0047ffff00cc00ffc2
    00ff52000aff0070ff3300ff00c2ff007aff00ffa3ff990000ff0aff70008fff005200ffa3ff00ffeb0008b8aa
    8500ff00ff5cb800ffff001f00b8ff00d6ffff00705cff0000e0ff70e0ff46b8a0a300ff9900ff47ff00ff00a3
    ffcc00ff008f00ffeb85ff00ff00ebf500ffff007afff5000abed4d6ff0000ccff1400ffffff000099ff0029ff
    00ffcc2900ff29ff00ad00ff00f5ff4700ff7a00ff00ffb8005cffb8ff000085ffffd60019c2c266ff005c00ff
"""

KIND_COUNT = 150


def palette() -> NDArray[np.uint8]:
    """The colours of ADE20K's 150 classes, (150, 3), in which segmentation maps are read. Zhou et
    al., "Scene Parsing through ADE20K Dataset", 2017; a wall is grey, sky light blue."""
    import numpy as np

    return np.frombuffer(bytes.fromhex(_HEX), np.uint8).reshape(KIND_COUNT, 3)


DRAWERS = {
    "canny": canny, "hed": soft_edges, "mlsd": straight_lines, "scribble": scribble, "seg": areas,
}  # fmt: skip
"""How each kind is drawn; the other kinds need an expert."""


def draw_control(call: Call, report: Report) -> Iterable[Artifact]:
    """Draw the control picture that the task is named after."""
    from PIL import Image as images

    from jarvis_desktop.tasks.images.io import read_image, save_png, to_array

    kind = call.task.removesuffix("-control")
    path, name = call.file("image"), call.title("image")
    report(None, tr("Drawing the control picture of {name}", name=name))
    pixels = DRAWERS[kind](to_array(read_image(path, name=name)))
    return [save_png(images.fromarray(pixels), call, kind)]


_TASKS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "canny": (
        "Draw edges",
        "Draws the edges of a picture as thin white lines (Canny), to steer a picture generator.",
        "Canny by OpenCV",
        (
            "canny*", "canny control", "canny-control", "edge detection", "edge map",
            "edges of the picture", "edges of the image", "edges of this", "detect the edges",
            "find the edges", *(f"find ... edges {at}" for at in IN_PICTURE),
            "detect edges", "find edges", "outline of", "outlines of",
            "show the edges", "extract the edges", "draw the edges",
        ),
    ),
    "hed": (
        "Draw soft edges",
        "Draws the soft edges of a picture, stronger where the light changes more, to steer a "
        "picture generator.",
        "soft edges by gradients over several scales; not the HED network itself",
        (
            "hed", "hed control", "hed-control", "soft edge*", "softedge*", "holistically",
            "boundary map", "soft outline*",
        ),
    ),
    "mlsd": (
        "Draw straight lines",
        "Draws the straight lines of a picture, such as those of a building, to steer a picture "
        "generator.", "line segments by OpenCV; not the M-LSD network itself",
        (
            "mlsd", "mlsd control", "mlsd-control", "m-lsd", "straight line*", "line segment*",
            "line detection", "detect the lines", "detect lines", "find the lines",
            *(f"find ... lines {at}" for at in IN_PICTURE),
            "wireframe",
        ),
    ),
    "scribble": (
        "Draw as a scribble",
        "Draws a picture as rough white strokes, like a scribble, to steer a picture generator.",
        "thickened outlines by OpenCV",
        (
            "scribble*", "scribble control", "scribble-control", "rough sketch", "rough outline",
            "doodle", "rough strokes",
        ),
    ),
    "seg": (
        "Draw areas",
        "Divides a picture into areas of similar colour, to steer a picture generator; it does not "
        "know what they are.", "areas by colour and place (OpenCV); it does not name them",
        (
            "seg control", "seg-control", "segmentation control", "segmentation map",
            "colour areas", "color areas", "areas of similar colo*", "areas of colo*",
            "regions of colo*", "divide the picture into areas",
        ),
    ),
    "openpose": (
        "Draw poses",
        "Draws the poses of the people in a picture as coloured skeletons (OpenPose), to steer a "
        "picture generator.", "needs an expert that sees poses",
        (
            "openpose*", "open pose", "openpose control", "openpose-control", "pose estimation",
            "pose detection", "pose map", "stick figure of", "skeleton of the person",
            "skeletons of the people", "body pose", "detect the pose*", "draw the pose*",
            "extract the pose*", "show the pose*", "find the pose*",
            *(f"find ... pose* {at}" for at in IN_PICTURE),
            "estimate the pose*",
        ),
    ),
    "normal": (
        "Draw surfaces",
        "Draws which way the surfaces in a picture face, as a map of normals, to steer a picture "
        "generator.", "needs an expert that sees depth",
        (
            "normal map", "normals map", "normal control", "normal-control", "surface normal*",
            "map of the normals", "map of normals",
        ),
    ),
    "depth": (
        "Draw depth",
        "Draws how near everything in a picture is, near bright and far dark, to steer a picture "
        "generator.", "needs an expert that sees depth",
        (
            "depth control", "depth-control", "depth control picture", "depth control image",
            "control picture of the depth", "control image of the depth",
        ),
    ),
}  # fmt: skip
"""Kind of control -> label, summary, note and cues of its task."""


def _definition(kind: str) -> Definition:
    label, summary, note, cues = _TASKS[kind]
    return define(
        name=f"{kind}-control",
        label=label,
        summary=summary,
        ports=(Port("image", (Kind.IMAGE,)),),
        gives=(Kind.IMAGE,),
        cues=cues,
        method=draw_control if kind in DRAWERS else None,
        note=note,
    )


CONTROL_TASKS = {kind: _definition(kind) for kind in _TASKS}
