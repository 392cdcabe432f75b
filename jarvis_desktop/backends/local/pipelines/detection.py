"""Object detection, segmentation and mask generation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from jarvis_desktop.backends.local.pipelines.vision import (
    PictureView,
    image_processor,
    labels_of,
    look,
    move_to,
    picture_view,
    processor_of,
    requires_libraries,
)
from jarvis_desktop.backends.local.worker import ExpertLoader, Run
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report, report_part
from jarvis_desktop.tasks.images.detection import things_to_find
from jarvis_desktop.tasks.images.findings import (
    BoundingBox,
    Mask,
    box_results,
    cut_out,
    describe_masks,
    mask_image,
    mask_results,
    render_masks,
)
from jarvis_desktop.tasks.images.io import save_png
from jarvis_desktop.tasks.images.segmentation import FOREGROUND
from jarvis_desktop.tasks.naming import EVERYTHING, labels_named, named_things

MIN_SCORE = 0.5  # the score, 0 to 1, from which a thing of a known class is reported
MIN_ZERO_SHOT_SCORE = 0.2  # the same for zero-shot detectors, whose scores are lower
MIN_GROUNDING_SCORE = 0.3  # the same for Grounding DINO, whose scores are higher
MAX_BOXES = 100
MAX_OVERLAP = 0.7
"""Two boxes of one label, or two masks, that share more than this of their union are one thing."""


@requires_libraries
def load_object_detector(loading: ExpertLoader) -> Run:
    """Detect the classes that the expert was trained on, such as the 80 of COCO."""
    processor = image_processor(loading)
    network = loading.network("AutoModelForObjectDetection")
    labels = labels_of(network)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        what = call.words("what").strip()
        asked = asked_labels(loading.expert.id, what, labels.values())
        view = picture_view(call)
        report(None, tr("Looking at {name}", name=call.title("image")))
        output = look(network, processor, view)
        (found,) = processor.post_process_object_detection(
            output, threshold=_threshold(call, MIN_SCORE), target_sizes=[view.scaled.size[::-1]]
        )
        names = [labels.get(int(at), str(int(at))) for at in found["labels"]]
        boxes = [box for box in _boxes(view, names, found) if not asked or box.label in asked]
        return box_results(call, view.original, boxes, none=what if asked else "")

    return run


@requires_libraries
def load_zero_shot_detector(loading: ExpertLoader) -> Run:
    """Detect whatever is named, by OWL-ViT, OWLv2 or Grounding DINO."""
    processor = processor_of(loading)
    network = loading.network("AutoModelForZeroShotObjectDetection")
    grounding = "grounding" in network.config.model_type
    least = MIN_GROUNDING_SCORE if grounding else MIN_ZERO_SHOT_SCORE

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        things = things_to_find(call.words("what"))
        view = picture_view(call)
        report(None, tr("Looking for {things}", things=", ".join(things)))
        # Grounding DINO was trained on lower-case captions, the others on descriptions.
        texts = [[thing.lower() if grounding else f"a photo of {thing}" for thing in things]]
        settings = {} if grounding else {"truncation": True}
        inputs = processor(images=view.scaled, text=texts, return_tensors="pt", **settings)
        output = network(**move_to(inputs, network))
        more = {"input_ids": inputs["input_ids"]} if grounding else {}
        (found,) = processor.post_process_grounded_object_detection(
            output,
            threshold=_threshold(call, least),
            target_sizes=[view.scaled.size[::-1]],
            text_labels=[things],
            **more,
        )
        names = [_name(text, things) for text in found["text_labels"]]
        boxes = _boxes(view, names, found)
        return box_results(call, view.original, boxes, none=" or ".join(things))

    return run


def asked_labels(name: str, what: str, labels: Iterable[str]) -> list[str]:
    """The labels asked for; [] for all. Raises ExpertError if the expert knows none of them."""
    if what.lower() in EVERYTHING:
        return []
    found = labels_named(what, labels)
    if not found:
        raise ExpertError(
            tr(
                "{name} does not know {what}.",
                name=name,
                what=" or ".join(named_things(what)) or what,
            ),
            hint=tr("An expert for zero-shot object detection finds whatever is named."),
        )
    return found


def _threshold(call: Call, usual: float) -> float:
    asked = call.number("threshold")
    return min(max(asked, 0.0), 1.0) or usual


def _name(text: str, things: Sequence[str]) -> str:
    """The thing that a box shows: Grounding DINO returns the words that it recognised."""
    exact = next((thing for thing in things if thing.lower() == text.lower()), None)
    words = set(text.lower().split())
    return exact or max(things, key=lambda thing: len(words & set(thing.lower().split())))


def _boxes(view: PictureView, names: Sequence[str], found: Any) -> list[BoundingBox]:
    """The best boxes in the picture without duplicates, the best first."""
    scores, corners = found["scores"].tolist(), found["boxes"].tolist()
    ranked = sorted(zip(scores, names, corners, strict=True), key=lambda item: -item[0])
    kept: list[BoundingBox] = []
    for score, name, edges in ranked:
        box = view.box(name, score, edges)
        same = (other for other in kept if other.label == name)
        # Anything in the padding is not in the picture.
        if box.right > box.left and box.bottom > box.top and all(_apart(box, it) for it in same):
            kept.append(box)
        if len(kept) == MAX_BOXES:
            break
    return kept


def _apart(one: BoundingBox, other: BoundingBox) -> bool:
    wide = max(0.0, min(one.right, other.right) - max(one.left, other.left))
    high = max(0.0, min(one.bottom, other.bottom) - max(one.top, other.top))
    shared = wide * high
    return shared <= MAX_OVERLAP * (_area(one) + _area(other) - shared)


def _area(box: BoundingBox) -> float:
    return (box.right - box.left) * (box.bottom - box.top)


Bits = NDArray[np.bool_]

MIN_SEGMENT_SCORE = 0.5
MIN_MASK_SHARE = 0.001  # the share of the picture below which a mask is left out
GRID = 32  # points to a side at which SAM is asked for masks, as its authors do
POINT_BATCH = 64
MIN_IOU, MIN_STABILITY, STABILITY_OFFSET = 0.88, 0.95, 1.0
"""The quality that SAM must predict for a mask, and how stable its border must be."""
BACKGROUND_LABELS = "background", "unlabeled", "unlabelled", "void", "other", "n/a"


@requires_libraries
def load_segmenter(loading: ExpertLoader) -> Run:
    """Segment a picture by class, or cut out what is named. Mask2Former, MaskFormer, OneFormer,
    EoMT and DETR separate things of the same class (panoptic); SegFormer, BEiT, DPT, UPerNet and
    MobileViT do not (semantic)."""
    config = loading.part("AutoConfig")
    whole = _knows_things(config)
    oneformer = config.model_type == "oneformer"
    processor = processor_of(loading) if oneformer else image_processor(loading)
    network = loading.network(
        "AutoModelForUniversalSegmentation" if whole else "AutoModelForSemanticSegmentation"
    )
    labels = labels_of(network)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        what = call.words("what").strip()
        if what.lower() == FOREGROUND:
            raise loading.error(mark("{id} knows kinds of things, but not which one is in front."))
        asked = asked_labels(loading.expert.id, what, labels.values())
        view = picture_view(call)
        report(None, tr("Looking at {name}", name=call.title("image")))
        more = {"task_inputs": ["panoptic"]} if oneformer else {}
        output = look(network, processor, view, **more)
        size = [view.scaled.size[::-1]]
        masks = (_segments if whole else _kinds)(processor, output, size, labels, view)
        if not asked:
            return mask_results(call, view.original, masks)
        return _cut(call, view, [mask for mask in masks if mask.label in asked], asked)

    return run


def _cut(
    call: Call, view: PictureView, masks: Sequence[Mask], asked: Sequence[str]
) -> list[Artifact]:
    """The named things on a transparent ground, their mask, and a sentence."""
    if not masks:
        raise ExpertError(
            tr("I find no {asked} in {call}.", asked=" or ".join(asked), call=call.title("image"))
        )
    inside = np.any([mask.inside > 0 for mask in masks], axis=0)
    return [
        save_png(cut_out(view.original, inside), call, "cut-out"),
        save_png(mask_image(inside, view.original.size), call, "mask"),
        text_artifact(describe_masks(masks, call.title("image"))),
    ]


def _segments(processor: Any, output: Any, size: Any, labels: Any, view: PictureView) -> list[Mask]:
    (found,) = processor.post_process_panoptic_segmentation(
        output, threshold=MIN_SEGMENT_SCORE, target_sizes=size
    )
    places = view.inside(found["segmentation"].cpu().numpy())
    masks = [
        Mask(labels.get(int(part["label_id"]), str(part["label_id"])), places == part["id"],
             float(part.get("score") or 0.0))
        for part in found["segments_info"]
    ]  # fmt: skip
    return _relevant(masks)


def _kinds(processor: Any, output: Any, size: Any, labels: Any, view: PictureView) -> list[Mask]:
    """One mask for each class that a semantic model finds."""
    (found,) = processor.post_process_semantic_segmentation(output, target_sizes=size)
    places = view.inside(found.cpu().numpy())
    return _relevant([Mask(labels.get(int(at), str(at)), places == at) for at in np.unique(places)])


def _relevant(masks: Iterable[Mask]) -> list[Mask]:
    kept = [
        mask
        for mask in masks
        if mask.label.lower() not in BACKGROUND_LABELS and mask.share >= MIN_MASK_SHARE
    ]
    return sorted(kept, key=lambda mask: -mask.share)


@requires_libraries
def load_mask_generator(loading: ExpertLoader) -> Run:
    """Segment everything in a picture with SAM, asked at a grid of points (Kirillov et al. 2023).
    Masks are compared at SAM's own resolution of 256 by 256, so that none takes much memory."""
    processor = image_processor(loading)
    network = loading.network("AutoModelForMaskGeneration")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        view = picture_view(call)
        inputs = processor(images=view.scaled, return_tensors="pt")
        full = inputs["pixel_values"].shape[-2:]
        used = inputs.get("reshaped_input_sizes")
        high, wide = used[0].tolist() if used is not None else full
        steps = (np.arange(GRID) + 0.5) / GRID
        right, bottom = view.inner[0] / view.scaled.width, view.inner[1] / view.scaled.height
        points = [(x * right * wide, y * bottom * high) for y in steps for x in steps]
        masks: list[tuple[float, Bits]] = []
        pixels = inputs["pixel_values"].to(network.device, network.dtype)
        seen = network.get_image_embeddings(pixels)
        # SAM-HQ returns its intermediate embeddings as well.
        names = ("image_embeddings", "intermediate_embeddings")
        embeddings = dict(zip(names, seen if isinstance(seen, tuple) else (seen,), strict=False))
        for start in range(0, len(points), POINT_BATCH):
            report_part(report, start, len(points))
            asked = torch.tensor(points[start : start + POINT_BATCH], dtype=network.dtype)
            output = network(
                **embeddings,
                input_points=asked[None, :, None].to(network.device),
                input_labels=torch.ones(1, len(asked), 1, dtype=torch.int).to(network.device),
                multimask_output=True,
            )
            low = output.pred_masks[0].flatten(0, 1).float()
            rows = max(1, round(low.shape[-2] * high / full[0]))
            columns = max(1, round(low.shape[-1] * wide / full[1]))
            masks += _good(low[:, :rows, :columns], output.iou_scores[0].flatten().float())
        pieces = [
            Mask("piece", view.inside(inside), score)
            for score, inside in _distinct(masks)[: max(1, int(call.number("most")))]
        ]
        if not pieces:
            raise loading.error(
                mark("{id} sees no clear pieces in {call}."), call=call.title("image")
            )
        overlay, words = mask_results(call, view.original, pieces, apart=True)
        alone = render_masks(view.original.size, pieces)
        return [overlay, save_png(alone, call, "mask"), words]

    return run


def _good(low: Any, scores: Any) -> list[tuple[float, Bits]]:
    """The masks that SAM rates well and that have a stable border, with their scores."""
    inner, outer = (low > STABILITY_OFFSET).sum((1, 2)), (low > -STABILITY_OFFSET).sum((1, 2))
    stable = inner / outer.clamp(min=1)
    kept = (scores > MIN_IOU) & (stable >= MIN_STABILITY) & (inner > 0)
    return [
        (float(score), mask.cpu().numpy() > 0)
        for score, mask in zip(scores[kept].tolist(), low[kept], strict=True)
    ]


def _distinct(masks: Sequence[tuple[float, Bits]]) -> list[tuple[float, Bits]]:
    """Each piece once, by its best mask; the largest first."""
    kept: list[tuple[float, Bits, int]] = []
    for score, inside in sorted(masks, key=lambda mask: -mask[0]):
        area = int(inside.sum())
        if area < MIN_MASK_SHARE * inside.size:
            continue
        for _, other, size in kept:
            shared = int(np.count_nonzero(inside & other))
            if shared > MAX_OVERLAP * (area + size - shared):
                break
        else:
            kept.append((score, inside, area))
    kept.sort(key=lambda mask: -mask[2])
    return [(score, inside) for score, inside, _ in kept]


def _knows_things(config: Any) -> bool:
    """Whether a model does panoptic segmentation, by its architecture."""
    kinds = " ".join(config.architectures or ())
    return "ForUniversal" in kinds or "ForInstance" in kinds or kinds == "DetrForSegmentation"
