"""Experts that make films from words, or from a picture, by diffusers.

Used in the worker process only. How many pictures a film has follows from its length, from how
many the expert was trained on, and from what its decoder takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.local.pipelines.image_generation import (
    DISTILLED,
    DiffusionPipeline,
    described,
    opened,
    part_of,
)
from jarvis_desktop.backends.local.worker import Loading, Run
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.images.generation import file_stem, fitted, frame, seed_of
from jarvis_desktop.tasks.images.io import on_white, read_image
from jarvis_desktop.tasks.video.tasks import write_film

if TYPE_CHECKING:
    from PIL.Image import Image

RATES = {"LTX": 25, "Wan": 16, "CogVideoX": 8, "AnimateDiff": 8, "StableVideo": 7,
         "Hunyuan": 24, "Mochi": 30}  # fmt: skip
"""Pictures a second that experts were trained on, by how their pipelines are called."""

USUAL_RATE = 8

LONGER = 2.0
"""How many times as long as those the expert was trained on a film may be; then it falls apart."""

MOVERS = {"MotionAdapter": "MotionAdapter"}
"""What makes a painter's pictures move (AnimateDiff: Guo et al., 2023) -> its class."""

FROM_PICTURES = {
    "LTXPipeline": "LTXImageToVideoPipeline",
    "LTX2Pipeline": "LTX2ImageToVideoPipeline",
    "WanPipeline": "WanImageToVideoPipeline",
}
"""Pipelines whose weights also begin with a picture -> the class that does."""


def load_film_maker(loading: Loading) -> Run:
    """A film from words."""
    if loading.base:
        pipeline = opened(loading, "AnimateDiffPipeline", motion_adapter=part_of(loading, MOVERS))
        _calm(pipeline, quick=bool(DISTILLED.search(loading.expert.repo)))
    else:
        pipeline = opened(loading, "DiffusionPipeline")
    drawer = DiffusionPipeline(pipeline, loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        described(call)
        size = frame(call, side=drawer.side, multiple=_multiple(drawer), ratio=_ratio(drawer))
        return [_filmed(drawer, call, report, size.drawn)]

    return run


def load_animator(loading: Loading) -> Run:
    """A film that begins with a picture, in its proportions."""
    import json

    index = json.loads((loading.folder / "model_index.json").read_text("utf-8"))
    named = str(index.get("_class_name"))
    # Of the Wan that begin with words, the small Wan 2.2 alone begins with pictures, too.
    words_only = named == "WanPipeline" and not index.get("expand_timesteps")
    auto = FROM_PICTURES.get("" if words_only else named, "DiffusionPipeline")
    drawer = DiffusionPipeline(opened(loading, auto), loading)
    _mend_wan()
    if "image" not in drawer.takes:
        raise ExpertError(
            tr("{id} makes films from words, not from a picture.", id=loading.expert.id)
        )

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        picture = on_white(read_image(call.file("image"), name=call.title("image")))
        size = _size_like(drawer, picture)
        return [_filmed(drawer, call, report, size, image=_filling(picture, size))]

    return run


def _filmed(
    drawer: DiffusionPipeline, call: Call, report: Report, size: tuple[int, int], **more: Any
) -> Artifact:
    rate = _rate(drawer)
    count = _count(drawer, float(call.options.get("seconds", 0.0)), rate)
    seed, _ = seed_of(call)
    given = {"num_frames": count, "frame_rate": rate, "output_type": "pil", **more}
    result = drawer.ask(call, report, size, seed=seed, **given)
    frames = list(result.frames[0])
    if not any(picture.getbbox() for picture in frames):
        raise ExpertError(
            tr("The film came out black."),
            hint=tr("Try once more, or choose another expert."),
            fault=Fault.ANSWER,
        )
    report(1.0, f"writing {len(frames)} pictures")
    path = call.workdir / f"{file_stem(call.text('prompt'), 'film')}.mp4"
    return Artifact(Kind.VIDEO, path=write_film(path, frames, rate), name=path.name)


def _rate(drawer: DiffusionPipeline) -> int:
    kind = type(drawer.pipeline).__name__
    if getattr(drawer.pipeline.config, "expand_timesteps", False):
        return 24  # the small Wan 2.2
    return next((rate for name, rate in RATES.items() if kind.startswith(name)), USUAL_RATE)


def _count(drawer: DiffusionPipeline, seconds: float, rate: int) -> int | None:
    """How many pictures; None for as many as the pipeline makes if left alone."""
    usual = _usual(drawer)
    if seconds <= 0 or usual is None:
        return usual
    most = min(LONGER * usual, _longest(drawer))
    step = _compression(drawer)
    count = max(1.0, min(seconds * rate, most))
    # Decoders that pack several pictures into one give one more than a multiple.
    return max(1, round((count - 1) / step)) * step + 1 if step > 1 else round(count)


def _usual(drawer: DiffusionPipeline) -> int | None:
    count = drawer.takes["num_frames"].default if "num_frames" in drawer.takes else None
    inner = getattr(drawer.pipeline, "unet", None) or getattr(drawer.pipeline, "transformer", None)
    config = getattr(inner, "config", None)
    for name in ("num_frames", "sample_frames"):
        count = count or getattr(config, name, None)
    return int(count) if count else None


def _longest(drawer: DiffusionPipeline) -> float:
    """What the part that moves can place in time."""
    adapter = getattr(drawer.pipeline, "motion_adapter", None)
    return float(getattr(getattr(adapter, "config", None), "motion_max_seq_length", math.inf))


def _compression(drawer: DiffusionPipeline) -> int:
    """How many pictures its decoder packs into one."""
    for name in ("vae_temporal_compression_ratio", "vae_scale_factor_temporal"):
        if found := getattr(drawer.pipeline, name, None):
            return int(found)
    return 1


def _multiple(drawer: DiffusionPipeline) -> int:
    """What the sides are multiples of: a decoder's cell, times a transformer's patch of them."""
    pipeline = drawer.pipeline
    for name in ("vae_spatial_compression_ratio", "vae_scale_factor_spatial"):
        if found := getattr(pipeline, name, None):
            patch = getattr(getattr(pipeline, "transformer", None), "config", {}).get(
                "patch_size", 1
            )
            return int(found) * int(patch if isinstance(patch, int) else max(patch[1:]))
    return drawer.multiple


def _ratio(drawer: DiffusionPipeline) -> float:
    """The proportions of films if left alone."""
    sides = [drawer.takes[name].default for name in ("width", "height") if name in drawer.takes]
    return sides[0] / sides[1] if len(sides) == 2 and all(sides) else 1.0


def _size_like(drawer: DiffusionPipeline, picture: Image) -> tuple[int, int]:
    config = getattr(getattr(drawer.pipeline, "transformer", None), "config", {})
    if config.get("use_learned_positional_embeddings"):  # CogVideoX knows one size
        scale = int(drawer.pipeline.vae_scale_factor_spatial)
        return config["sample_width"] * scale, config["sample_height"] * scale
    return fitted(picture.width / picture.height, drawer.side**2, _multiple(drawer))


def _filling(picture: Image, size: tuple[int, int]) -> Image:
    """The picture in that size, cut where its proportions are others."""
    from PIL import Image as images
    from PIL import ImageOps

    return ImageOps.fit(picture, size, images.Resampling.LANCZOS)


def _calm(pipeline: Any, *, quick: bool) -> None:
    """The scheduler that the part which moves was trained with, in the place of the painter's."""
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
    """Where ftfy is not installed, diffusers 0.42 forgets to ask before Wan uses it on a prompt."""
    from diffusers.pipelines.wan import pipeline_wan, pipeline_wan_i2v

    if not hasattr(pipeline_wan_i2v, "ftfy"):
        pipeline_wan_i2v.basic_clean = pipeline_wan.basic_clean
