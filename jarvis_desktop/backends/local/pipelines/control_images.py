"""Control images for ControlNet: normals, poses and semantic maps.

Depth maps are drawn by the depth experts in `vision.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import torch
from PIL import Image as images
from PIL.Image import Image

from jarvis_desktop.backends.local.pipelines.vision import (
    PictureView,
    image_processor,
    labels_of,
    look,
    nearness_estimator,
    picture_view,
    requires_libraries,
)
from jarvis_desktop.backends.local.worker import ExpertLoader, Run
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.images.control import (
    KIND_COUNT,
    Point,
    draw_poses,
    from_coco,
    normals,
    palette,
)
from jarvis_desktop.tasks.images.io import save_png, to_array

MAX_PEOPLE = 20
MIN_PERSON_SCORE, MIN_JOINT_SCORE = 0.4, 0.3
BOX_SCALE = 1.25  # enlarges a detected box for the pose model, as in its training
COCO_JOINTS = 17


@requires_libraries
def load_normals(loading: ExpertLoader) -> Run:
    """Draw surface normals, computed from the nearness that any depth model estimates."""
    near_in = nearness_estimator(loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        view = picture_view(call)
        report(None, tr("Looking at {name}", name=call.title("image")))
        facing = images.fromarray(normals(np.asarray(near_in(view), np.float32)))
        return [save_png(_original_size(facing, view), call, "normal")]

    return run


@requires_libraries
def load_semantic_map(loading: ExpertLoader) -> Run:
    """Draw the classes of a picture in the colours of ADE20K."""
    processor = image_processor(loading)
    network = loading.network("AutoModelForSemanticSegmentation")
    labels = labels_of(network)
    if len(labels) != KIND_COUNT:
        raise loading.error(
            mark(
                "{id} knows {labels} kinds of things; the colours of control "
                "pictures are for the {count} of ADE20K."
            ),
            labels=len(labels),
            count=KIND_COUNT,
        )

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        view = picture_view(call)
        report(None, tr("Looking at {name}", name=call.title("image")))
        output = look(network, processor, view)
        (found,) = processor.post_process_semantic_segmentation(
            output, target_sizes=[(view.scaled.height, view.scaled.width)]
        )
        which = view.inside(found.cpu().numpy())
        coloured = images.fromarray(palette()[np.asarray(which, np.intp)])
        return [save_png(_original_size(coloured, view, mixed=False), call, "seg")]

    return run


@requires_libraries
def load_pose_estimator(loading: ExpertLoader) -> Run:
    """Draw the poses of people: a detector (the base) finds them, ViTPose finds their joints.
    Without a detector, the whole picture is taken for one person."""
    settings = image_processor(loading)
    network = loading.network("VitPoseForPoseEstimation")
    if network.config.num_labels != COCO_JOINTS and len(labels_of(network)) != COCO_JOINTS:
        raise loading.error(mark("{id} does not know the joints of people."))
    people = _detector(loading) if loading.base else _whole

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        view = picture_view(call)
        report(None, tr("Looking for people"))
        boxes = people(view)[:MAX_PEOPLE]
        if not boxes:
            raise ExpertError(tr("There are no people in {call}.", call=call.title("image")))
        report(None, tr("Looking at the pose of {count}", count=len(boxes)))
        poses = [from_coco(joints) for joints in _joints(view.scaled, boxes, network, settings)]
        if not any(joint for pose in poses for joint in pose):
            raise ExpertError(tr("I see no pose in {call}.", call=call.title("image")))
        wide, high = view.original.width / view.inner[0], view.original.height / view.inner[1]
        placed = [[(j[0] * wide, j[1] * high) if j else None for j in pose] for pose in poses]
        return [
            save_png(images.fromarray(draw_poses(placed, view.original.size)), call, "openpose")
        ]

    return run


Box = tuple[float, float, float, float]
"""Left, top, right and bottom in pixels of what is shown."""


def _whole(view: PictureView) -> list[Box]:
    return [(0.0, 0.0, float(view.inner[0]), float(view.inner[1]))]


def _detector(loading: ExpertLoader) -> Any:
    """A function that finds people, the best first."""
    assert loading.base is not None
    finder = replace(loading, folder=loading.base, base=None)
    processor = image_processor(finder)
    network = finder.network("AutoModelForObjectDetection")
    labels = labels_of(network)

    def found(view: PictureView) -> list[Box]:
        output = look(network, processor, view)
        (things,) = processor.post_process_object_detection(
            output, threshold=MIN_PERSON_SCORE, target_sizes=[view.scaled.size[::-1]]
        )
        pairs = zip(things["scores"].tolist(), things["labels"].tolist(), strict=True)
        order = sorted(enumerate(pairs), key=lambda item: -item[1][0])
        corners = things["boxes"].tolist()
        return [tuple(corners[at]) for at, (_, label) in order if labels[int(label)] == "person"]

    return found


def _joints(picture: Image, boxes: Sequence[Box], network: Any, settings: Any) -> list[list[Point]]:
    """For each box the 17 joints of COCO, in pixels of the picture. A box is widened to the model's
    proportions and cut out. A joint is at the peak of its heatmap, shifted a quarter towards the
    higher neighbour (Newell et al., "Stacked Hourglass Networks", 2016)."""
    wide, high = int(settings.size["width"]), int(settings.size["height"])
    pixels = to_array(picture)
    ways, parts = [], []
    for left, top, right, bottom in boxes:
        width, height = max(1.0, right - left), max(1.0, bottom - top)
        scale = BOX_SCALE * max(width / wide, height / high)
        x, y = (left + right - wide * scale) / 2, (top + bottom - high * scale) / 2
        ways.append((scale, x, y))
        matrix = np.array([[1 / scale, 0, -x / scale], [0, 1 / scale, -y / scale]], np.float32)
        parts.append(cv2.warpAffine(pixels, matrix, (wide, high), flags=cv2.INTER_LINEAR))
    mean, spread = (np.asarray(it, np.float32) for it in (settings.image_mean, settings.image_std))
    block = (np.stack(parts).astype(np.float32) / 255 - mean) / spread
    inputs = torch.from_numpy(block.transpose(0, 3, 1, 2).copy())
    more = {}
    if getattr(network.config.backbone_config, "num_experts", 1) > 1:
        # ViTPose+ was trained on several data sets at once; the first is COCO.
        more["dataset_index"] = torch.zeros(len(boxes), dtype=torch.long, device=network.device)
    maps = network(inputs.to(network.device, network.dtype), **more).heatmaps
    found = maps.float().cpu().numpy()
    step = (wide / found.shape[3], high / found.shape[2])
    return [
        [_peak(each, step, way) for each in person] for person, way in zip(found, ways, strict=True)
    ]


def _peak(
    heat: Any, step: tuple[float, float], way: tuple[float, float, float]
) -> tuple[float, float] | None:
    """The peak of a heatmap, in pixels of the picture; None if it is too low."""
    row, column = (int(at) for at in np.unravel_index(int(heat.argmax()), heat.shape))
    if not heat[row, column] >= MIN_JOINT_SCORE:
        return None
    x, y = float(column), float(row)
    if 0 < column < heat.shape[1] - 1:
        x += 0.25 * float(np.sign(heat[row, column + 1] - heat[row, column - 1]))
    if 0 < row < heat.shape[0] - 1:
        y += 0.25 * float(np.sign(heat[row + 1, column] - heat[row - 1, column]))
    scale, left, top = way
    return left + (x + 0.5) * step[0] * scale, top + (y + 0.5) * step[1] * scale


def _original_size(shown: Image, view: PictureView, *, mixed: bool = True) -> Image:
    way = images.Resampling.BICUBIC if mixed else images.Resampling.NEAREST
    return shown if shown.size == view.original.size else shown.resize(view.original.size, way)
