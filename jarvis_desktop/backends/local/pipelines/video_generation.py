"""Video generation with diffusers, from words or from a picture.

The number of frames follows from the length, from how many the expert was trained on, and from what
its decoder takes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from PIL.Image import Image

from jarvis_desktop.backends.local.pipelines.image_generation import (
    DISTILLED,
    DiffusionPipeline,
    cropped,
    described,
    given_picture,
    opened,
    part_of,
)
from jarvis_desktop.backends.local.worker import ExpertLoader, Run
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.images.generation import file_stem, fit_size, picture_size, seed_of
from jarvis_desktop.tasks.video import write_film

RATES = {"LTX": 25, "Wan": 16, "CogVideoX": 8, "AnimateDiff": 8, "StableVideo": 7,
         "Hunyuan": 24, "Mochi": 30}  # fmt: skip
"""Frames a second that experts were trained on, by the prefix of their pipeline."""
DEFAULT_RATE = 8
MAX_LENGTHENING = 2.0
"""How many times as long as in training a video may be; longer ones fall apart."""
MOTION_ADAPTERS = {"MotionAdapter": "MotionAdapter"}
"""What animates an image generator (AnimateDiff: Guo et al., 2023) -> its class."""
IMAGE_TO_VIDEO = {
    "LTXPipeline": "LTXImageToVideoPipeline",
    "LTX2Pipeline": "LTX2ImageToVideoPipeline",
    "WanPipeline": "WanImageToVideoPipeline",
}
"""Pipelines whose weights can also start from a picture -> the class for that."""


def load_text_to_video(loading: ExpertLoader) -> Run:
    """Make a video from words."""
    if loading.base:
        pipeline = opened(
            loading, "AnimateDiffPipeline", motion_adapter=part_of(loading, MOTION_ADAPTERS)
        )
        _calm(pipeline, quick=bool(DISTILLED.search(loading.expert.repo)))
    else:
        pipeline = opened(loading, "DiffusionPipeline")
    diffusion = DiffusionPipeline(pipeline, loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        described(call)
        size = picture_size(
            call, side=diffusion.side, multiple=_multiple(diffusion), ratio=_ratio(diffusion)
        )
        return [_filmed(diffusion, call, report, size.drawn)]

    return run


def load_image_to_video(loading: ExpertLoader) -> Run:
    """Make a video that starts with a picture, in its proportions."""
    index = json.loads((loading.folder / "model_index.json").read_text("utf-8"))
    named = str(index.get("_class_name"))
    # Of the Wan models for words, only the small Wan 2.2 can also start from a picture.
    words_only = named == "WanPipeline" and not index.get("expand_timesteps")
    auto = IMAGE_TO_VIDEO.get("" if words_only else named, "DiffusionPipeline")
    diffusion = DiffusionPipeline(opened(loading, auto), loading)
    _mend_wan()
    if "image" not in diffusion.takes:
        raise loading.error(mark("{id} makes films from words, not from a picture."))

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        picture = given_picture(call)
        size = _size_like(diffusion, picture)
        return [_filmed(diffusion, call, report, size, image=cropped(picture, size))]

    return run


def _filmed(
    diffusion: DiffusionPipeline, call: Call, report: Report, size: tuple[int, int], **more: Any
) -> Artifact:
    rate = _rate(diffusion)
    count = _count(diffusion, float(call.options.get("seconds", 0.0)), rate)
    seed, _ = seed_of(call)
    given = {"num_frames": count, "frame_rate": rate, "output_type": "pil", **more}
    result = diffusion.ask(call, report, size, seed=seed, **given)
    frames = list(result.frames[0])
    if not any(picture.getbbox() for picture in frames):
        raise ExpertError(
            tr("The film came out black."),
            hint=tr("Try once more, or choose another expert."),
            fault=Fault.ANSWER,
        )
    report(1.0, tr("Writing {count} pictures", count=len(frames)))
    path = call.workdir / f"{file_stem(call.text('prompt'), 'film')}.mp4"
    return Artifact(Kind.VIDEO, path=write_film(path, frames, rate), name=path.name)


def _rate(diffusion: DiffusionPipeline) -> int:
    kind = type(diffusion.pipeline).__name__
    if getattr(diffusion.pipeline.config, "expand_timesteps", False):
        return 24  # the small Wan 2.2
    return next((rate for name, rate in RATES.items() if kind.startswith(name)), DEFAULT_RATE)


def _count(diffusion: DiffusionPipeline, seconds: float, rate: int) -> int | None:
    """How many frames; None for the pipeline's default."""
    usual = _usual(diffusion)
    if seconds <= 0 or usual is None:
        return usual
    most = min(MAX_LENGTHENING * usual, _longest(diffusion))
    step = _compression(diffusion)
    count = max(1.0, min(seconds * rate, most))
    # Decoders that pack several frames into one return one more than a multiple.
    return max(1, round((count - 1) / step)) * step + 1 if step > 1 else round(count)


def _usual(diffusion: DiffusionPipeline) -> int | None:
    count = diffusion.takes["num_frames"].default if "num_frames" in diffusion.takes else None
    inner = getattr(diffusion.pipeline, "unet", None) or getattr(
        diffusion.pipeline, "transformer", None
    )
    config = getattr(inner, "config", None)
    for name in ("num_frames", "sample_frames"):
        count = count or getattr(config, name, None)
    return int(count) if count else None


def _longest(diffusion: DiffusionPipeline) -> float:
    adapter = getattr(diffusion.pipeline, "motion_adapter", None)
    return float(getattr(getattr(adapter, "config", None), "motion_max_seq_length", math.inf))


def _compression(diffusion: DiffusionPipeline) -> int:
    for name in ("vae_temporal_compression_ratio", "vae_scale_factor_temporal"):
        if found := getattr(diffusion.pipeline, name, None):
            return int(found)
    return 1


def _multiple(diffusion: DiffusionPipeline) -> int:
    """What the sides are multiples of: a decoder's cell, times a transformer's patch."""
    pipeline = diffusion.pipeline
    for name in ("vae_spatial_compression_ratio", "vae_scale_factor_spatial"):
        if found := getattr(pipeline, name, None):
            patch = getattr(getattr(pipeline, "transformer", None), "config", {}).get(
                "patch_size", 1
            )
            return int(found) * int(patch if isinstance(patch, int) else max(patch[1:]))
    return diffusion.multiple


def _ratio(diffusion: DiffusionPipeline) -> float:
    sides = [
        diffusion.takes[name].default for name in ("width", "height") if name in diffusion.takes
    ]
    return sides[0] / sides[1] if len(sides) == 2 and all(sides) else 1.0


def _size_like(diffusion: DiffusionPipeline, picture: Image) -> tuple[int, int]:
    config = getattr(getattr(diffusion.pipeline, "transformer", None), "config", {})
    if config.get("use_learned_positional_embeddings"):  # CogVideoX has one size
        scale = int(diffusion.pipeline.vae_scale_factor_spatial)
        return config["sample_width"] * scale, config["sample_height"] * scale
    return fit_size(picture.width / picture.height, diffusion.side**2, _multiple(diffusion))


def _calm(pipeline: Any, *, quick: bool) -> None:
    """Use the scheduler that the motion module was trained with instead of the generator's."""
    import diffusers

    scheduler: Any = diffusers.EulerDiscreteScheduler if quick else diffusers.DDIMScheduler
    pipeline.scheduler = scheduler.from_config(
        pipeline.scheduler.config,
        beta_schedule="linear",
        timestep_spacing="trailing" if quick else "linspace",
        steps_offset=1,
        **({} if quick else {"clip_sample": False}),
    )


def _mend_wan() -> None:
    """Work around diffusers 0.42, whose Wan pipeline uses ftfy even if it is not installed."""
    from diffusers.pipelines.wan import pipeline_wan, pipeline_wan_i2v

    if not hasattr(pipeline_wan_i2v, "ftfy"):
        pipeline_wan_i2v.basic_clean = pipeline_wan.basic_clean
