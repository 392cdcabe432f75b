"""Draws control pictures, which steer picture generators. Runs in child processes only.

All of it is classical image processing; where a control is known by the name of a network, its
task says that this is not that network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

SIDE = 1600

FACING_SIDE, STEEPNESS, FARTHEST = 384, 30.0, 0.1
"""For normals: the size at which slopes are measured, how much they count, and how near, 0 to 1,
things must be to have any."""


def canny(pixels: Pixels) -> Pixels:
    """Edges one pixel wide, 255 on 0, by thresholds that follow the picture's own contrast."""
    import cv2
    import numpy as np

    small, full = _reduced(pixels, 3000)  # the slopes of a whole large photo would take 2 GB
    soft = cv2.GaussianBlur(small, (5, 5), 1.2)
    grey = cv2.cvtColor(soft, cv2.COLOR_RGB2GRAY)
    # Otsu's level tells the usual step between light and dark of this picture.
    level, _ = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    high = float(np.clip(level, 40, 200))
    # The channel that changes most decides: red beside blue may be one and the same grey.
    slopes = [cv2.Sobel(soft, cv2.CV_16S, *way, ksize=3) for way in ((1, 0), (0, 1))]
    most = (np.abs(slopes[0]) + np.abs(slopes[1])).argmax(axis=2)[:, :, None]
    across, down = (np.take_along_axis(slope, most, axis=2)[:, :, 0] for slope in slopes)
    edges = cv2.Canny(np.ascontiguousarray(across), np.ascontiguousarray(down), 0.4 * high, high)
    return np.asarray(cv2.resize(edges, full, interpolation=cv2.INTER_NEAREST), np.uint8)


def soft_edges(pixels: Pixels) -> Pixels:
    """The strength of the edges, 0 to 255, as the mean over three degrees of sharpness."""
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
    """The picture as areas of one flat colour each, by at most ten colours."""
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
    """Which way surfaces face, from how near they are, 0 to 1, (height, width).

    Blue faces the viewer, red the left and green up, as painters were trained to read it; what is
    farthest away counts as a plane, as in MiDaS' way of making such maps (controlnet_aux, 2023).
    """
    import cv2
    import numpy as np

    height, width = nearness.shape
    soft = cv2.GaussianBlur(nearness, (0, 0), max(0.8, max(height, width) / 500))
    # The slopes of a picture enlarged are flatter: they are measured as if it were of one size.
    scale = STEEPNESS * max(height, width) / FACING_SIDE
    across = scale * cv2.Sobel(soft, cv2.CV_32F, 1, 0, ksize=3)
    down = scale * cv2.Sobel(soft, cv2.CV_32F, 0, 1, ksize=3)
    far = nearness < FARTHEST
    across[far], down[far] = 0.0, 0.0
    facing = np.stack([across, down, np.full_like(across, 2 * np.pi)], axis=2)
    facing /= np.linalg.norm(facing, axis=2, keepdims=True)
    return np.asarray((facing * 127.5 + 127.5).round().clip(0, 255), np.uint8)


def _reduced(pixels: Pixels, side: int = SIDE) -> tuple[Pixels, tuple[int, int]]:
    """The picture with at most `side` pixels on its longer side, and its full (width, height)."""
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
