"""Experts that say in a word what a picture or film shows, and how far away it all is.

Used in the worker process only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from jarvis_desktop.backends.loading import Loading, Run
from jarvis_desktop.backends.seeing import (
    Sight,
    explained,
    given_to,
    image_processor,
    labels_of,
    sight_of,
)
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.found import NAMED, label_lines
from jarvis_desktop.tasks.image_classification import CONTENT
from jarvis_desktop.tasks.pictures import save_png
from jarvis_desktop.tasks.zero_shot_image_classification import labels_of as labels_named

USUAL_FRAMES = 16
"""Pictures of a film that are looked at, where the expert does not say how many."""

SIGLIP_TOKENS = 64
"""SigLIP was trained with texts filled up to this length."""


@explained
def load_classifier(loading: Loading) -> Run:
    """Names what a picture shows, out of the classes that the expert knows."""
    import torch

    processor = image_processor(loading)
    network = loading.network("AutoModelForImageClassification")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        about = call.words("about")
        if about != CONTENT:
            raise ExpertError(
                tr(
                    "{id} says what a picture shows, not its {about}.",
                    id=loading.expert.id,
                    about=about,
                )
            )
        inputs = processor(images=sight_of(call).shown, return_tensors="pt")
        with torch.inference_mode():
            logits = network(**given_to(inputs, network)).logits[0]
        return [text_artifact(_ranked(network, logits))]

    return run


@explained
def load_matcher(loading: Loading) -> Run:
    """Compares a picture with each of the labels: CLIP, SigLIP and what is built like them."""
    import torch

    processor, tokenizer = image_processor(loading), loading.part("AutoTokenizer")
    network = loading.network("AutoModelForZeroShotImageClassification")
    siglip = "siglip" in network.config.model_type
    longest = _text_length(network.config)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        labels = labels_named(call.words("labels"))
        texts = [f"This is a photo of {label}." for label in labels]
        words = tokenizer(
            texts,
            padding="max_length" if siglip else True,
            max_length=min(longest, SIGLIP_TOKENS) if siglip else longest,
            truncation=True,
            return_tensors="pt",
        ).to(network.device)
        seen = given_to(processor(images=sight_of(call).shown, return_tensors="pt"), network)
        with torch.inference_mode():
            logits = network(**words, **seen).logits_per_image[0].float()
        # SigLIP judges each label by itself; a person asked which of them it is.
        scores = logits.softmax(-1).tolist()
        pairs = list(zip(labels, scores, strict=True))
        return [text_artifact(label_lines(pairs, most=len(pairs)))]

    return run


@explained
def load_depth(loading: Loading) -> Run:
    """A grey picture in which near is bright."""
    import numpy as np
    from PIL import Image

    near_in = load_nearness(loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        sight = sight_of(call)
        report(None, f"looking at {call.title('image')}")
        grey = Image.fromarray(np.asarray(near_in(sight) * 255, np.uint8))
        if grey.size != sight.given.size:
            grey = grey.resize(sight.given.size, Image.Resampling.BICUBIC)
        return [save_png(grey, call, "depth")]

    return run


def load_nearness(loading: Loading) -> Callable[[Sight], Any]:
    """How near all of a picture is, from 0 to the nearest, 1: an array of what is shown of it."""
    import numpy as np
    import torch

    processor = image_processor(loading)
    network = loading.network("AutoModelForDepthEstimation")
    # These give metres; the others give how near something is, on no scale.
    metric = _gives_metres(network.config)

    def near_in(sight: Sight) -> Any:
        inputs = given_to(processor(images=sight.shown, return_tensors="pt"), network)
        with torch.inference_mode():
            output = network(**inputs)
        (found,) = processor.post_process_depth_estimation(
            output, [(sight.shown.height, sight.shown.width)]
        )
        near = np.nan_to_num(sight.inside(found["predicted_depth"].float().cpu().numpy()))
        if metric:
            near = 1.0 / np.clip(near, 0.1, None)
        return (near - near.min()) / (float(np.ptp(near)) or 1.0)  # a picture may be flat

    return near_in


@explained
def load_watcher(loading: Loading) -> Run:
    """Names what is done in a film, by pictures taken out of it evenly."""
    import torch

    processor = image_processor(loading)
    network = loading.network("AutoModelForVideoClassification")
    count = int(getattr(network.config, "num_frames", 0) or USUAL_FRAMES)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        from jarvis_desktop.tasks.frames import even_frames

        report(None, f"watching {call.title('video')}")
        frames = even_frames(call.file("video"), count, name=call.title("video"))
        inputs = processor(frames, return_tensors="pt")
        with torch.inference_mode():
            logits = network(**given_to(inputs, network)).logits[0]
        return [text_artifact(_ranked(network, logits))]

    return run


def _ranked(network: Any, logits: Any) -> str:
    """The likeliest classes with their shares, in lines."""
    several = network.config.problem_type == "multi_label_classification" or len(logits) == 1
    scores = (logits.float().sigmoid() if several else logits.float().softmax(-1)).tolist()
    labels = labels_of(network)
    return label_lines(((labels[at], score) for at, score in enumerate(scores)), most=NAMED)


def _text_length(config: Any) -> int:
    """How many tokens of text it takes; 77 as CLIP does where it does not say."""
    return int(getattr(getattr(config, "text_config", config), "max_position_embeddings", 77))


def _gives_metres(config: Any) -> bool:
    return (
        config.model_type in {"glpn", "zoedepth", "depth_pro"}
        or getattr(config, "depth_estimation_type", "") == "metric"
    )
