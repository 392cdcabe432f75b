"""OCR with PP-OCRv6, and the reading order of lines on a page. In child processes only.

The engine's stages are called one by one: its own pipeline shrinks large scans before reading them,
enlarges thin strips to thousands of pixels, and reads sideways pages in the wrong order.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from jarvis_desktop.tasks.images.io import Pixels

    Points = NDArray[np.float32]

BATCH = 6
WEIGHTS = {
    "Det": "PP-OCRv6_det_small.onnx",
    "Cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
}
"""The file of each stage, in the package of the engine: a stage without one would download it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A stretch of text and its place on the upright, straightened page, in pixels."""

    text: str
    score: float
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        """Bottom minus top."""
        return self.bottom - self.top

    @property
    def width(self) -> float:
        """Right minus left."""
        return self.right - self.left

    @property
    def middle(self) -> float:
        """The vertical position of its middle."""
        return (self.top + self.bottom) / 2


def find_lines(pixels: Pixels) -> list[Line]:
    """Read the lines of text in an RGB picture (height, width, 3), in no particular order. A
    sideways or upside-down page is read as if it were upright."""
    engine = _engine()
    image = pixels[:, :, ::-1]
    boxes = _boxes(engine, image)
    if not len(boxes):
        return []
    crops = engine.crop_text_regions(image, list(boxes))
    crops, boxes = _upright(engine, crops, boxes, image.shape[:2])
    read = _recognise(engine, crops)
    lines = [
        _line_in_box(text, score, box)
        for (text, score), box in zip(read, _straighten(boxes), strict=True)
        if _legible(text, score)
    ]
    return _in_one_script(lines)


def find_places(pixels: Pixels) -> list[Line]:
    """Locate the lines of text in an upright RGB picture, without reading them."""
    corners = _boxes(_engine(), pixels[:, :, ::-1])
    return [
        Line("", 1.0, float(x.min()), float(y.min()), float(x.max()), float(y.max()))
        for x, y in ((box[:, 0], box[:, 1]) for box in corners)
    ]


@cache
def _engine() -> Any:
    from omegaconf import flag_override
    from rapidocr import RapidOCR

    engine = RapidOCR(
        params={
            # The size is chosen in `_boxes`; "max" with a long side leaves the picture as it is.
            "Det.limit_type": "max",
            "Det.limit_side_len": 1_000_000,
            # Boxes so tight that the columns of a page stay apart.
            "Det.unclip_ratio": 1.5,
            "Det.use_dilation": False,
            "Global.use_vertical_padding": False,
            "Global.log_level": "critical",
        }
    )
    with flag_override(engine.cfg, "allow_objects", True):
        for part, weights in WEIGHTS.items():
            engine.cfg[part].session = _network(weights)
    return engine


def _network(weights: str) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 4
    # Else its threads wait busily for each other, which multiplies the time on a busy computer.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(
        str(resources.files("rapidocr") / "models" / weights),
        providers=["CPUExecutionProvider"],
        sess_options=options,
    )


def _boxes(engine: Any, image: Pixels) -> Points:
    """The corners (n, 4, 2) of the stretches of text, clockwise from the top left."""
    from rapidocr.main import RapidOCRError

    height, width = image.shape[:2]
    wanted = max(1.0, 736 / min(height, width))
    scale = min(wanted, 4.0, math.sqrt(2_000_000 / (width * height)), 3000 / max(width, height))
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    size = (max(8, round(width * scale)), max(8, round(height * scale)))
    # Letters that touch the edge are not found without a margin.
    margin = 24
    small = cv2.resize(image, size, interpolation=way)
    edge = (margin, margin, margin, margin, cv2.BORDER_REPLICATE)
    try:
        _, found = engine.detect_and_crop(cv2.copyMakeBorder(small, *edge), {})
    except RapidOCRError:  # there is none
        return np.empty((0, 4, 2), np.float32)
    ratio = np.array([width / size[0], height / size[1]], np.float32)
    corners = (np.asarray(found.boxes, np.float32) - margin) * ratio
    return np.asarray(np.clip(corners, 0, [width, height]), np.float32)


def _upright(
    engine: Any, crops: list[Pixels], boxes: Points, shape: tuple[int, int]
) -> tuple[list[Pixels], Points]:
    """The crops turned upright, and the boxes as they are on the upright page."""
    height, width = shape
    sides = np.linalg.norm(boxes - np.roll(boxes, -1, axis=1), axis=2)
    tall = sides[:, 1] >= 1.5 * sides[:, 0]
    lengths = sides.max(axis=1)
    if lengths[tall].sum() > lengths.sum() / 2:
        # The engine has turned the tall crops to the left, so turn the page as well.
        turned_left = np.stack([boxes[:, :, 1], width - boxes[:, :, 0]], axis=2)
        boxes = np.roll(turned_left, -1, axis=1)
        height, width = width, height
        crops = [
            crop if is_tall else _rotate(crop, cv2.ROTATE_90_COUNTERCLOCKWISE)
            for crop, is_tall in zip(crops, tall, strict=True)
        ]
    _, turned = engine.cls_and_rotate(crops)
    weights = np.array([min(crop.shape[1] / crop.shape[0], 20.0) for crop in crops])
    signs = np.array([score if "180" in label else -score for label, score in turned.cls_res])
    share = float((weights * (signs > 0)).sum() / weights.sum())
    flipped = [_rotate(crop, cv2.ROTATE_180) for crop in crops]
    if share > 0.2 and _reads_better(engine, flipped, crops):
        return flipped, np.roll(np.array([width, height], np.float32) - boxes, 2, axis=1)
    return crops, boxes


def _rotate(crop: Pixels, way: int) -> Pixels:
    return np.asarray(cv2.rotate(crop, way), np.uint8)


def _reads_better(engine: Any, one: Sequence[Pixels], other: Sequence[Pixels]) -> bool:
    """Whether the longest few of `one` are read with more certainty than those of `other`."""
    longest = sorted(range(len(one)), key=lambda i: -one[i].shape[1] / one[i].shape[0])[:BATCH]

    def certainty(crops: Sequence[Pixels]) -> float:
        read = _recognise(engine, [crops[i] for i in longest])
        return sum(score * len(text) for text, score in read)

    return certainty(one) > certainty(other)


def _recognise(engine: Any, crops: Sequence[Pixels]) -> list[tuple[str, float]]:
    """The text of each crop and its score."""
    read = engine.recognize_txt(list(crops))
    return list(zip(read.txts, read.scores, strict=True))


def _legible(text: str, score: float) -> bool:
    signs = text.strip()
    return bool(signs) and score >= (0.5 if len(signs) > 1 else 0.7)


def _straighten(boxes: Points) -> Points:
    """Rotate the boxes so that lines of text are level, for a page photographed at an angle."""
    along = boxes[:, 1] - boxes[:, 0]
    lengths = np.linalg.norm(along, axis=1)
    long = lengths >= 0.5 * lengths.max()
    angle = float(np.median(np.arctan2(along[long, 1], along[long, 0])))
    if abs(angle) < math.radians(0.3) or abs(angle) > math.radians(40):
        return boxes
    cos, sin = math.cos(-angle), math.sin(-angle)
    turned = boxes @ np.array([[cos, sin], [-sin, cos]], np.float32)
    return np.asarray(turned - turned.min(axis=(0, 1)), np.float32)


def _line_in_box(text: str, score: float, box: Points) -> Line:
    left, top = box.min(axis=0)
    right, bottom = box.max(axis=0)
    # The bounds of a tilted box are taller than its text: use the length of its sides.
    tall = float(((box[3] - box[0]) ** 2).sum() ** 0.5)
    middle = float(top + bottom) / 2
    words = re.sub(r"\s+", " ", text).strip()
    return Line(words, score, float(left), middle - tall / 2, float(right), middle + tall / 2)


def _in_one_script(lines: list[Line]) -> list[Line]:
    """Normalise full-width characters among Latin letters, which are misreadings."""
    text = "".join(line.text for line in lines)
    letters = [c for c in text if c.isalpha()]
    latin = sum(c.isascii() for c in letters)
    if not letters or latin < 0.8 * len(letters):
        return lines
    return [replace(line, text=unicodedata.normalize("NFKC", line.text)) for line in lines]


Row = list[Line]


def page_text(lines: Sequence[Line]) -> str:
    """The text of a page: column after column, with prose joined into paragraphs. Lists, receipts
    and signs keep their lines; text at the same height is one line."""
    return "\n\n".join(_flow(rows_of(block)) for block in blocks_of(list(lines)))


def rows_of(lines: Sequence[Line]) -> list[Row]:
    """Group lines at the same height into rows, from left to right, from the top down."""
    rows: list[Row] = []
    for line in sorted(lines, key=lambda line: line.middle):
        home = next((row for row in reversed(rows[-3:]) if _level(row, line)), None)
        if home is None:
            rows.append([line])
        else:
            home.append(line)
    for row in rows:
        row.sort(key=lambda line: line.left)
    return sorted(rows, key=lambda row: median(line.middle for line in row))


def _level(row: Row, line: Line) -> bool:
    near = min(row, key=lambda other: abs(other.left - line.left))
    apart = abs(near.middle - line.middle)
    overlaps = min(near.right, line.right) - max(near.left, line.left)
    return apart < 0.5 * min(near.height, line.height) and overlaps < 0.5 * min(
        near.width, line.width
    )


def blocks_of(lines: list[Line]) -> list[list[Line]]:
    """Cut the page into blocks in reading order. Similar to the recursive X-Y cut (Nagy, Seth and
    Viswanathan, 1992), but columns are cut only if there is prose on both sides, so that a price
    stays with its item."""
    parts = _cut(lines)
    if len(parts) < 2:
        return [lines] if lines else []
    return [block for part in parts for block in blocks_of(part)]


def _cut(lines: list[Line]) -> list[list[Line]]:
    """The parts above two columns, the left one, the right one, and below; or no cut."""
    if len(lines) < 6:
        return [lines]
    size = median(line.height for line in lines)
    ordered = sorted(lines, key=lambda line: line.middle)
    best: list[list[Line]] = []
    # There may be a gutter left of each line.
    for x in sorted({line.left - 0.25 * size for line in ordered}):
        for start, end in _bands(ordered, x, 0.2 * size):
            left = [line for line in ordered[start:end] if line.right < x]
            right = [line for line in ordered[start:end] if line.left > x]
            longer = not best or len(left) + len(right) > len(best[1]) + len(best[2])
            if longer and _is_prose(left, size) and _is_prose(right, size):
                best = [ordered[:start], left, right, ordered[end:]]
    return [part for part in best if part]


def _bands(lines: list[Line], x: float, margin: float) -> list[tuple[int, int]]:
    """Runs of lines, from the top down, that leave the gutter at `x` free."""
    bands, start = [], 0
    for i, line in enumerate(lines):
        if line.left < x + margin and line.right > x - margin:
            bands.append((start, i))
            start = i + 1
    return [(start, end) for start, end in [*bands, (start, len(lines))] if end - start >= 6]


def _is_prose(lines: list[Line], size: float) -> bool:
    """Whether it is a column of running text: at least three lines, most of them long."""
    if len(lines) < 3:
        return False
    rows = rows_of(lines)
    widths = [row[-1].right - row[0].left for row in rows]
    return len(rows) >= 3 and median(widths) > 7 * size


def _flow(rows: list[Row]) -> str:
    """The rows of a block as text; lines of prose are joined and hyphenation is undone."""
    size = median(line.height for row in rows for line in row)
    left = min(row[0].left for row in rows)
    right = max(row[-1].right for row in rows)
    table = sum(_has_wide_gap(row, size) for row in rows) > 0.2 * len(rows)
    out = ""
    before: Row | None = None
    for row in rows:
        words = " ".join(line.text for line in row)
        if before is None:
            out = words
        elif table or not _runs_on(before, row, (left, right), size):
            apart = row[0].top - before[0].bottom > 0.9 * size
            out += ("\n\n" if apart else "\n") + words
        elif re.search(r"[^\W\d_]-$", out) and words[:1].islower():
            out = out[:-1] + words
        else:
            out += " " + words
        before = row
    return out


def _runs_on(before: Row, row: Row, edges: tuple[float, float], size: float) -> bool:
    """Whether a row continues the sentence of the row before it."""
    left, right = edges
    if _has_wide_gap(before, size) or _has_wide_gap(row, size) or right - left < 10 * size:
        return False
    if row[0].top - before[0].bottom > 0.9 * size:
        return False
    if abs(before[0].height - row[0].height) > 0.5 * size:
        return False
    # The previous row must leave no room for the next word, and the rows must line up.
    word = row[0].text.split(" ")[0]
    room = right - before[-1].right
    letters = max(1, sum(len(line.text) for line in row))
    needed = (len(word) + 1) * sum(line.width for line in row) / letters
    return room < max(needed, 1.5 * size) * 1.3 and row[0].left - left < 1.2 * size


def _has_wide_gap(row: Row, size: float) -> bool:
    """Whether a row has a gap too wide for prose, as between an item and its price."""
    return any(b.left - a.right > 2 * size for a, b in pairwise(row))
