"""Experts that find things in pictures: of the kinds they know, or whatever words name.

Used in the worker process only.

Experts that part pictures: into kinds of things, or into all their pieces.

Used in the worker process only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.local.pipelines.vision import (
    Sight,
    explained,
    given_to,
    image_processor,
    labels_of,
    processor_of,
    sight_of,
)
from jarvis_desktop.backends.local.worker import Loading, Run
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.images.detection import wanted
from jarvis_desktop.tasks.images.drawing import (
    box_results,
    cut_out,
    mask_results,
    masks_alone,
    stretched,
)
from jarvis_desktop.tasks.images.findings import BoundingBox, Mask, tell_masks
from jarvis_desktop.tasks.images.io import save_png
from jarvis_desktop.tasks.images.segmentation import FOREGROUND
from jarvis_desktop.tasks.naming import EVERYTHING, labels_named, named_things

SURE = 0.5
"""From this score on, 0 to 1, a thing of a known kind is told."""

LIKELY = 0.2
"""The same for things that words name: those scores are lower."""

GROUNDED = 0.3
"""The same for Grounding DINO, which gives higher ones."""

MOST = 100
"""Things that are told."""

SAME = 0.7
"""Two boxes of one label that share more than this of their union are one thing."""


@explained
def load_finder(loading: Loading) -> Run:
    """Finds the kinds of things that the expert was trained on, such as the 80 of COCO."""
    import torch

    processor = image_processor(loading)
    network = loading.network("AutoModelForObjectDetection")
    labels = labels_of(network)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        what = call.words("what").strip()
        asked = asked_labels(loading.expert.id, what, labels.values())
        sight = sight_of(call)
        report(None, f"looking at {call.title('image')}")
        inputs = given_to(processor(images=sight.shown, return_tensors="pt"), network)
        with torch.inference_mode():
            output = network(**inputs)
        (found,) = processor.post_process_object_detection(
            output, threshold=_threshold(call, SURE), target_sizes=[sight.shown.size[::-1]]
        )
        names = [labels.get(int(at), str(int(at))) for at in found["labels"]]
        boxes = [box for box in _boxes(sight, names, found) if not asked or box.label in asked]
        return box_results(call, sight.given, boxes, none=what if asked else "")

    return run


@explained
def load_word_finder(loading: Loading) -> Run:
    """Finds what words name: OWL-ViT, OWLv2 and Grounding DINO."""
    import torch

    processor = processor_of(loading)
    network = loading.network("AutoModelForZeroShotObjectDetection")
    grounding = "grounding" in network.config.model_type
    least = GROUNDED if grounding else LIKELY

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        things = wanted(call.words("what"))
        sight = sight_of(call)
        report(None, f"looking for {', '.join(things)}")
        # They were trained on lower-case captions, the others on descriptions.
        texts = [[thing.lower() if grounding else f"a photo of {thing}" for thing in things]]
        settings = {} if grounding else {"truncation": True}
        inputs = processor(images=sight.shown, text=texts, return_tensors="pt", **settings)
        with torch.inference_mode():
            output = network(**given_to(inputs, network))
        more = {"input_ids": inputs["input_ids"]} if grounding else {}
        (found,) = processor.post_process_grounded_object_detection(
            output,
            threshold=_threshold(call, least),
            target_sizes=[sight.shown.size[::-1]],
            text_labels=[things],
            **more,
        )
        names = [_name(text, things) for text in found["text_labels"]]
        boxes = _boxes(sight, names, found)
        return box_results(call, sight.given, boxes, none=" or ".join(things))

    return run


def asked_labels(name: str, what: str, labels: Iterable[str]) -> list[str]:
    """The labels that are asked for; [] for all. Raises ExpertError where it knows none of it."""
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
    """Which of the things a box is of: Grounding DINO gives the words that it recognised."""
    exact = next((thing for thing in things if thing.lower() == text.lower()), None)
    words = set(text.lower().split())
    return exact or max(things, key=lambda thing: len(words & set(thing.lower().split())))


def _boxes(sight: Sight, names: Sequence[str], found: Any) -> list[BoundingBox]:
    """The surest boxes in the picture, each thing once, the surest first."""
    scores, corners = found["scores"].tolist(), found["boxes"].tolist()
    ranked = sorted(zip(scores, names, corners, strict=True), key=lambda item: -item[0])
    kept: list[BoundingBox] = []
    for score, name, edges in ranked:
        box = sight.box(name, score, edges)
        same = (other for other in kept if other.label == name)
        # What lies in the part that fills the picture up is not in the picture.
        if box.right > box.left and box.bottom > box.top and all(_apart(box, it) for it in same):
            kept.append(box)
        if len(kept) == MOST:
            break
    return kept


def _apart(one: BoundingBox, other: BoundingBox) -> bool:
    wide = max(0.0, min(one.right, other.right) - max(one.left, other.left))
    high = max(0.0, min(one.bottom, other.bottom) - max(one.top, other.top))
    shared = wide * high
    return shared <= SAME * (_area(one) + _area(other) - shared)


def _area(box: BoundingBox) -> float:
    return (box.right - box.left) * (box.bottom - box.top)


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bits = NDArray[np.bool_]

SEGMENT_LIKELY = 0.5
"""From this score on, 0 to 1, a segment is told."""

SMALLEST = 0.001
"""The share of the picture below which a part is left out."""

GRID = 32
"""Points to a side at which SAM is asked what is there, as its authors do."""

AT_ONCE = 64
"""Points it is asked about at a time."""

GOOD, STABLE, OFFSET = 0.88, 0.95, 1.0
"""What SAM must think of a mask, and how little it may change where the border is set otherwise."""
"""Masks that share more than this of their union are one piece."""

NONE = "background", "unlabeled", "unlabelled", "void", "other", "n/a"


@explained
def load_parter(loading: Loading) -> Run:
    """Parts a picture into kinds of things, or cuts out those that are named.

    Mask2Former, MaskFormer, OneFormer, EoMT and DETR tell one thing from the next of its kind;
    SegFormer, BEiT, DPT, UPerNet and MobileViT tell kinds alone.
    """
    import torch

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
            raise ExpertError(
                tr(
                    "{id} knows kinds of things, but not which one is in front.",
                    id=loading.expert.id,
                )
            )
        asked = asked_labels(loading.expert.id, what, labels.values())
        sight = sight_of(call)
        report(None, f"looking at {call.title('image')}")
        more = {"task_inputs": ["panoptic"]} if oneformer else {}
        inputs = given_to(processor(images=sight.shown, return_tensors="pt", **more), network)
        with torch.inference_mode():
            output = network(**inputs)
        size = [sight.shown.size[::-1]]
        masks = (_segments if whole else _kinds)(processor, output, size, labels, sight)
        if not asked:
            return mask_results(call, sight.given, masks)
        return _cut(call, sight, [mask for mask in masks if mask.label in asked], asked)

    return run


def _cut(call: Call, sight: Sight, masks: Sequence[Mask], asked: Sequence[str]) -> list[Artifact]:
    """What was named, on a transparent ground, its mask, and a sentence."""
    import numpy as np

    if not masks:
        raise ExpertError(
            tr(
                "I find no {asked} in {call}.",
                asked=" or ".join(asked),
                call=call.title("image"),
            )
        )
    inside = np.any([mask.inside > 0 for mask in masks], axis=0)
    return [
        save_png(cut_out(sight.given, inside), call, "cut-out"),
        save_png(stretched(inside, sight.given.size), call, "mask"),
        text_artifact(tell_masks(masks, call.title("image"))),
    ]


def _segments(processor: Any, output: Any, size: Any, labels: Any, sight: Sight) -> list[Mask]:
    """The segments of a panoptic expert."""
    (found,) = processor.post_process_panoptic_segmentation(
        output, threshold=SEGMENT_LIKELY, target_sizes=size
    )
    places = sight.inside(found["segmentation"].cpu().numpy())
    masks = [
        Mask(labels.get(int(part["label_id"]), str(part["label_id"])), places == part["id"],
             float(part.get("score") or 0.0))
        for part in found["segments_info"]
    ]  # fmt: skip
    return _telling(masks)


def _kinds(processor: Any, output: Any, size: Any, labels: Any, sight: Sight) -> list[Mask]:
    """One mask for each kind that a semantic expert sees."""
    import numpy as np

    (found,) = processor.post_process_semantic_segmentation(output, target_sizes=size)
    places = sight.inside(found.cpu().numpy())
    return _telling([Mask(labels.get(int(at), str(at)), places == at) for at in np.unique(places)])


def _telling(masks: Iterable[Mask]) -> list[Mask]:
    """Without what is tiny, and what stands for nothing."""
    kept = [mask for mask in masks if mask.label.lower() not in NONE and mask.share >= SMALLEST]
    return sorted(kept, key=lambda mask: -mask.share)


@explained
def load_masker(loading: Loading) -> Run:
    """Parts a picture into its pieces: SAM, asked at a grid of points (Kirillov et al. 2023).

    Masks are compared in SAM's own 256 by 256 points, so that none takes much memory.
    """
    import numpy as np
    import torch

    processor = image_processor(loading)
    network = loading.network("AutoModelForMaskGeneration")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        sight = sight_of(call)
        inputs = processor(images=sight.shown, return_tensors="pt")
        full = inputs["pixel_values"].shape[-2:]
        used = inputs.get("reshaped_input_sizes")
        high, wide = used[0].tolist() if used is not None else full
        steps = (np.arange(GRID) + 0.5) / GRID
        right, bottom = sight.inner[0] / sight.shown.width, sight.inner[1] / sight.shown.height
        points = [(x * right * wide, y * bottom * high) for y in steps for x in steps]
        masks: list[tuple[float, Bits]] = []
        with torch.inference_mode():
            pixels = inputs["pixel_values"].to(network.device, network.dtype)
            seen = network.get_image_embeddings(pixels)
            for start in range(0, len(points), AT_ONCE):
                report(start / len(points), f"{start} of {len(points)} points")
                asked = torch.tensor(points[start : start + AT_ONCE], dtype=network.dtype)
                output = network(
                    **_embeddings(seen),
                    input_points=asked[None, :, None].to(network.device),
                    input_labels=torch.ones(1, len(asked), 1, dtype=torch.int).to(network.device),
                    multimask_output=True,
                )
                low = output.pred_masks[0].flatten(0, 1).float()
                rows = max(1, round(low.shape[-2] * high / full[0]))
                columns = max(1, round(low.shape[-1] * wide / full[1]))
                masks += _good(low[:, :rows, :columns], output.iou_scores[0].flatten().float())
        pieces = [
            Mask("piece", sight.inside(inside), score)
            for score, inside in _distinct(masks)[: max(1, int(call.number("most")))]
        ]
        if not pieces:
            raise ExpertError(
                tr(
                    "{id} sees no clear pieces in {call}.",
                    id=loading.expert.id,
                    call=call.title("image"),
                )
            )
        overlay, words = mask_results(call, sight.given, pieces, apart=True)
        alone = masks_alone(sight.given.size, pieces)
        return [overlay, save_png(alone, call, "mask"), words]

    return run


def _embeddings(seen: Any) -> dict[str, Any]:
    """SAM-HQ gives its inner results along."""
    if isinstance(seen, tuple):
        return {"image_embeddings": seen[0], "intermediate_embeddings": seen[1]}
    return {"image_embeddings": seen}


def _good(low: Any, scores: Any) -> list[tuple[float, Bits]]:
    """The masks that SAM is sure of, with their scores, and that have a clear border."""
    inner, outer = (low > OFFSET).sum((1, 2)), (low > -OFFSET).sum((1, 2))
    stable = inner / outer.clamp(min=1)
    kept = (scores > GOOD) & (stable >= STABLE) & (inner > 0)
    return [
        (float(score), mask.cpu().numpy() > 0)
        for score, mask in zip(scores[kept].tolist(), low[kept], strict=True)
    ]


def _distinct(masks: Sequence[tuple[float, Bits]]) -> list[tuple[float, Bits]]:
    """Each piece once, by its surest mask; the largest first."""
    import numpy as np

    kept: list[tuple[float, Bits, int]] = []
    for score, inside in sorted(masks, key=lambda mask: -mask[0]):
        area = int(inside.sum())
        if area < SMALLEST * inside.size:
            continue
        for _, other, size in kept:
            shared = int(np.count_nonzero(inside & other))
            if shared > SAME * (area + size - shared):
                break
        else:
            kept.append((score, inside, area))
    kept.sort(key=lambda mask: -mask[2])
    return [(score, inside) for score, inside, _ in kept]


def _knows_things(config: Any) -> bool:
    """Whether it is a panoptic expert, by what its settings say it was built as."""
    kinds = " ".join(config.architectures or ())
    return "ForUniversal" in kinds or "ForInstance" in kinds or kinds == "DetrForSegmentation"
