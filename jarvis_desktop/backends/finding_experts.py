"""Experts that find things in pictures: of the kinds they know, or whatever words name.

Used in the worker process only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jarvis_desktop.backends.loading import Loading, Run
from jarvis_desktop.backends.seeing import (
    Sight,
    explained,
    given_to,
    image_processor,
    labels_of,
    processor_of,
    sight_of,
)
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.drawing import box_results
from jarvis_desktop.tasks.found import Box
from jarvis_desktop.tasks.naming import EVERYTHING, labels_named, named_things
from jarvis_desktop.tasks.zero_shot_object_detection import wanted

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


def _boxes(sight: Sight, names: Sequence[str], found: Any) -> list[Box]:
    """The surest boxes in the picture, each thing once, the surest first."""
    scores, corners = found["scores"].tolist(), found["boxes"].tolist()
    ranked = sorted(zip(scores, names, corners, strict=True), key=lambda item: -item[0])
    kept: list[Box] = []
    for score, name, edges in ranked:
        box = sight.box(name, score, edges)
        same = (other for other in kept if other.label == name)
        # What lies in the part that fills the picture up is not in the picture.
        if box.right > box.left and box.bottom > box.top and all(_apart(box, it) for it in same):
            kept.append(box)
        if len(kept) == MOST:
            break
    return kept


def _apart(one: Box, other: Box) -> bool:
    wide = max(0.0, min(one.right, other.right) - max(one.left, other.left))
    high = max(0.0, min(one.bottom, other.bottom) - max(one.top, other.top))
    shared = wide * high
    return shared <= SAME * (_area(one) + _area(other) - shared)


def _area(box: Box) -> float:
    return (box.right - box.left) * (box.bottom - box.top)
