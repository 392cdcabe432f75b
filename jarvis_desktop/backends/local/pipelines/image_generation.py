"""Image generation with diffusers: from words, pictures, masks and control images.

How many steps a pipeline takes, and how closely it follows the prompt, is read from its scheduler
and settings: distilled experts need few steps.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from PIL import Image as images
from PIL import ImageFilter, ImageOps, ImageStat
from PIL.Image import Image
from PIL.PngImagePlugin import PngInfo

from jarvis_desktop.backends.local.worker import ExpertLoader, Run
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, Fault, InputError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.images.generation import (
    file_stem,
    fit_size,
    picture_size,
    prompts,
    region_box,
    seed_of,
    strength_of,
)
from jarvis_desktop.tasks.images.io import on_white, read_image, save_image

MAX_STEPS = 30
"""More hardly make a difference with today's schedulers; some pipelines default to 50 or 100."""
DISTILLED_STEPS = 4  # steps of experts distilled adversarially or for consistency
DISTILLED = re.compile(r"turbo|lightning|schnell|hyper|lcm|distill|sprint", re.IGNORECASE)
"""Names of distilled experts, for those whose settings do not say so."""
TRUSTED_LIBRARIES = frozenset({"diffusers", "transformers", "stable_diffusion"})
"""Where the parts of a pipeline may come from, by model_index.json."""


def opened(loading: ExpertLoader, auto: str, **settings: Any) -> Any:
    """Open the pipeline of an expert, or of its base; `auto` names a class of diffusers. If that
    class has no such pipeline, the one that the expert itself names is used. Raises ExpertError if
    it needs code from outside the libraries."""
    import diffusers

    diffusers.utils.logging.disable_progress_bar()
    folder = loading.base or loading.folder
    parts = _parts(folder, loading.expert.id)
    if "safety_checker" in parts and not (folder / "safety_checker").is_dir():
        settings["safety_checker"] = None
    try:
        pipeline = loading.pipeline(getattr(diffusers, auto), **settings)
    except ValueError as error:
        if "can't find a pipeline linked" not in str(error):
            raise
        pipeline = loading.pipeline(diffusers.DiffusionPipeline, **settings)
    vae: Any = getattr(pipeline, "vae", None)
    if loading.place.offload and hasattr(vae, "enable_tiling"):
        vae.enable_tiling()
    return pipeline


def part_of(loading: ExpertLoader, kinds: Mapping[str, str]) -> Any:
    """Load a network that works within a pipeline, such as a ControlNet. `kinds` maps the class in
    the expert's settings to one of diffusers. Raises ExpertError."""
    import diffusers

    named = str(_settings(loading.folder / "config.json").get("_class_name", ""))
    if named not in kinds:
        raise loading.error(mark("{id} is not of a kind that can be used for this."))
    return getattr(diffusers, kinds[named]).from_pretrained(
        loading.folder,
        use_safetensors=True,
        local_files_only=True,
        torch_dtype=loading.dtype,
        variant="fp16" if any(loading.folder.glob("*.fp16.safetensors")) else None,
    )


@dataclass(frozen=True, slots=True)
class SamplingDefaults:
    """Sampling defaults of an expert."""

    steps: int
    guidance: float | None  # how closely to follow the prompt; None for the pipeline's own default


def sampling_defaults(pipeline: Any, repo: str) -> SamplingDefaults:
    """Read the defaults from the scheduler and settings, or from the expert's name."""
    scheduler = getattr(pipeline, "scheduler", None)
    kind, settings = type(scheduler).__name__, getattr(scheduler, "config", {})
    if kind in ("LCMScheduler", "TCDScheduler"):
        embedded = getattr(_inner(pipeline).config, "time_cond_proj_dim", None)
        return SamplingDefaults(DISTILLED_STEPS, 8.5 if embedded else 1.0)
    # Turbo and Lightning: Euler's method, from pure noise.
    trailing = settings.get("timestep_spacing") == "trailing"
    if kind.startswith("Euler") and trailing and not settings.get("rescale_betas_zero_snr"):
        return SamplingDefaults(DISTILLED_STEPS, 0.0)
    if getattr(pipeline.config, "is_distilled", False):
        return SamplingDefaults(DISTILLED_STEPS, 1.0)
    if kind.startswith("FlowMatch"):
        embeds = getattr(_inner(pipeline).config, "guidance_embeds", None)
        if embeds is False and type(pipeline).__name__.startswith("FluxPipeline"):
            return SamplingDefaults(DISTILLED_STEPS, 0.0)
        if DISTILLED.search(repo) and not embeds:
            above_0 = type(pipeline).__name__.startswith("ZImage")  # guides above 0, not 1
            return SamplingDefaults(2 * DISTILLED_STEPS, 0.0 if above_0 else 1.0)
    own: Any = inspect.signature(type(pipeline).__call__).parameters["num_inference_steps"].default
    return SamplingDefaults(min(int(own), MAX_STEPS), None)


class DiffusionPipeline:
    """A pipeline with its sampling defaults, called with a task's options."""

    def __init__(self, pipeline: Any, loading: ExpertLoader) -> None:
        self.pipeline = pipeline
        self.takes: Mapping[str, Any] = inspect.signature(type(pipeline).__call__).parameters
        self.sampling_defaults = sampling_defaults(pipeline, loading.expert.repo)
        self._name = loading.expert.id

    @property
    def side(self) -> int:
        """The side, in pixels, of the square pictures that it was trained on."""
        given = [self.takes[name].default for name in ("height", "width") if name in self.takes]
        if len(given) == 2 and all(isinstance(size, int) for size in given):
            return round(math.sqrt(given[0] * given[1]))
        size = getattr(self.pipeline, "default_sample_size", None)
        size = size or getattr(_inner(self.pipeline).config, "sample_size", None) or 64
        size = size if isinstance(size, int) else max(size)
        return int(size * getattr(self.pipeline, "vae_scale_factor", 8))

    @property
    def multiple(self) -> int:
        """What the sides of its pictures are multiples of, in pixels."""
        processor: Any = getattr(self.pipeline, "image_processor", None)
        found: Any = getattr(getattr(processor, "config", None), "vae_scale_factor", None)
        # Some require multiples of 8, whatever their decoder takes.
        return math.lcm(int(found or getattr(self.pipeline, "vae_scale_factor", 8)), 8)

    def picture(self, call: Call, report: Report, size: tuple[int, int], **more: Any) -> Image:
        """Draw one picture of a (width, height). Raises ExpertError if none can be shown. Its seed
        is in its `info`. If the expert's safety check rejects it and the seed was not chosen by the
        user, it is drawn again: the check is often wrong."""
        seed, chosen = seed_of(call)
        for number in (seed,) if chosen else (seed, seed + 1):
            result = self.ask(call, report, size, seed=number, **more)
            if any(getattr(result, "nsfw_content_detected", None) or ()):
                continue
            image: Image = result.images[0].convert("RGB")
            if not image.getbbox():
                raise ExpertError(
                    tr("The picture that {name} drew came out black.", name=self._name),
                    hint=tr("Try once more, or choose another expert."),
                    fault=Fault.ANSWER,
                )
            image.info["seed"] = str(number)
            return image
        raise ExpertError(
            tr(
                "{name} drew a picture, but its safety check took it for unsuitable and held "
                "it back.",
                name=self._name,
            ),
            hint=tr("Say it in other words, or with another seed: the check is often wrong."),
            fault=Fault.ANSWER,
        )

    def ask(
        self, call: Call, report: Report, size: tuple[int, int], *, seed: int, **more: Any
    ) -> Any:
        """Call the pipeline with those of `more` and of the call's options that it takes."""
        text, avoid = prompts(call)
        steps = self.sampling_defaults.steps
        if strength := more.get("strength"):
            # Only the last steps are taken to change a picture a little.
            steps = max(steps, math.ceil(1 / strength))
        cfg = self.takes.get("true_cfg_scale")
        guided = cfg is not None and (cfg.default or 0) > 1
        wanted = {
            "prompt": text,
            "negative_prompt": avoid or (" " if guided else None),
            "width": size[0],
            "height": size[1],
            "num_inference_steps": steps,
            "guidance_scale": self.sampling_defaults.guidance,
            "generator": torch.Generator("cpu").manual_seed(seed),
            **self._progress(report, steps),
            **more,
        }
        given = {name: value for name, value in wanted.items() if name in self.takes}
        return self.pipeline(**{name: it for name, it in given.items() if it is not None})

    def _progress(self, report: Report, steps: int) -> dict[str, Any]:
        def show(step: int, pipe: Any) -> None:
            whole = max(1, int(getattr(pipe, "num_timesteps", 0) or steps))
            report(
                min(1.0, (step + 1) / whole),
                tr("Step {number} of {count}", number=step + 1, count=whole),
            )

        def on_step_end(pipe: Any, step: int, at: Any, values: dict[str, Any]) -> dict[str, Any]:
            show(step, pipe)
            return values

        if "callback_on_step_end" in self.takes:
            return {"callback_on_step_end": on_step_end}
        return {"callback": lambda step, at, values: show(step, self.pipeline)}


def described(call: Call) -> str:
    """The prompt of the call. Raises InputError if there is none."""
    text, _ = prompts(call)
    if not text:
        raise InputError(
            tr("There is no description of what to draw."), hint=tr("Say what it shows.")
        )
    return text


def saved(image: Image, call: Call) -> Artifact:
    """Save the picture as a PNG named after its prompt, with its seed in it."""
    notes = PngInfo()
    notes.add_text("seed", str(image.info.get("seed", "")))
    path = call.workdir / f"{file_stem(call.text('prompt'), 'picture')}.png"
    image.save(path, pnginfo=notes, compress_level=3)
    return Artifact(Kind.IMAGE, path=path, name=path.name)


def _parts(folder: Path, name: str) -> Mapping[str, Any]:
    """The parts that model_index.json names. Raises ExpertError if one is of another library."""
    parts = _settings(folder / "model_index.json")
    named = {  # of pairs such as ["diffusers", "AutoencoderKL"]
        value[0]
        for value in parts.values()
        if isinstance(value, list) and value and all(isinstance(x, str | None) for x in value)
    }
    if (
        named - {None, *TRUSTED_LIBRARIES}
        or not isinstance(parts.get("_class_name"), str)
        or any(folder.rglob("*.py"))
    ):
        raise ExpertError(tr("{name} needs its own code, which is never run.", name=name))
    return parts


def _settings(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ExpertError(
            tr("{name} of {name2} cannot be read.", name=path.name, name2=path.parent.name)
        ) from error
    return found if isinstance(found, dict) else {}


def _inner(pipeline: Any) -> Any:
    return getattr(pipeline, "unet", None) or pipeline.transformer


RESTYLE_STRENGTH, INPAINT_STRENGTH = 0.65, 1.0
"""How much changes by default: enough for another style, and all of what is painted over."""
STYLES = {
    "sketch": "a pencil sketch",
    "cartoon": "a cartoon",
    "painting": "an oil painting",
    "sepia": "an old photo in sepia",
    "grey": "a black and white photo",
    "invert": "a photographic negative",
}
"""Prompts for the named styles, when an expert does what a built-in method usually does."""
CONTEXT_SHARE = 0.5
"""How much of the picture around a masked part the expert is shown, relative to its size."""


def load_text_to_image(loading: ExpertLoader) -> Run:
    """Draw a picture from words."""
    diffusion = DiffusionPipeline(opened(loading, "AutoPipelineForText2Image"), loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        described(call)
        size = picture_size(call, side=diffusion.side, multiple=diffusion.multiple)
        image = diffusion.picture(call, report, size.drawn)
        return [saved(cropped(image, size.wanted), call)]

    return run


def load_image_to_image(loading: ExpertLoader) -> Run:
    """Redraw a picture in another style: from a noisy version of it, or by an instruction."""
    diffusion = DiffusionPipeline(opened(loading, "AutoPipelineForImage2Image"), loading)
    told = _follows_instructions(diffusion)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        style = STYLES.get(str(call.options.get("edit", "")), "")
        words = call.text("prompt").strip() or (f"turn it into {style}" if told else style)
        if not words:
            raise InputError(
                tr("It is not clear which style is wanted."), hint=tr("Name one, or an artist.")
            )
        picture = given_picture(call)
        size = _size_of(diffusion, picture)
        more = {} if told else {"strength": strength_of(call, RESTYLE_STRENGTH)}
        image = diffusion.picture(
            call, report, size, prompt=words, image=_sized(picture, size), **more, **_freely(size)
        )
        return [save_image(image, call, "restyled")]

    return run


def load_image_editor(loading: ExpertLoader) -> Run:
    """Change a picture as an instruction says (InstructPix2Pix, Kontext, Qwen-Image-Edit ...)."""
    diffusion = DiffusionPipeline(opened(loading, "DiffusionPipeline"), loading)
    if not _follows_instructions(diffusion):
        raise loading.error(mark("{id} does not follow instructions about a picture."))

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        if not call.text("prompt").strip():
            raise InputError(
                tr("It is not clear how to edit the picture."),
                hint=tr("Say for example: make the sky pink."),
            )
        picture = given_picture(call)
        size = _size_of(diffusion, picture)
        image = diffusion.picture(call, report, size, image=_sized(picture, size), **_freely(size))
        return [save_image(image, call, "edited")]

    return run


def load_inpainter(loading: ExpertLoader) -> Run:
    """Repaint a part of a picture; all the rest stays as it is, pixel by pixel."""
    diffusion = DiffusionPipeline(opened(loading, "AutoPipelineForInpainting"), loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        described(call)
        picture = given_picture(call)
        mask = _mask(call, picture.size)
        box = _around(mask.getbbox(), picture.size)
        part, hole = picture.crop(box), mask.crop(box)
        size = fit_size(part.width / part.height, diffusion.side**2, diffusion.multiple)
        drawn = diffusion.picture(
            call,
            report,
            size,
            image=_sized(part, size),
            mask_image=_sized(hole, size),
            strength=strength_of(call, INPAINT_STRENGTH),
        )
        soft = hole.filter(ImageFilter.GaussianBlur(max(1, min(part.size) // 150)))
        # Nothing outside of the mask may change.
        soft = images.composite(soft, images.new("L", soft.size), hole)
        picture.paste(_sized(drawn, part.size), box[:2], soft)
        return [save_image(picture, call, "inpainted")]

    return run


def _follows_instructions(diffusion: DiffusionPipeline) -> bool:
    """Whether its prompt says what to change; image-to-image pipelines take a strength instead."""
    return {"image", "prompt"} <= set(diffusion.takes) and "strength" not in diffusion.takes


def _freely(size: tuple[int, int]) -> dict[str, Any]:
    """Keep Kontext from choosing its own size."""
    return {"max_area": size[0] * size[1], "_auto_resize": False}


def given_picture(call: Call) -> Image:
    """The picture of the call, on white."""
    return on_white(read_image(call.file("image"), name=call.title("image")))


def _size_of(diffusion: DiffusionPipeline, picture: Image) -> tuple[int, int]:
    return fit_size(picture.width / picture.height, diffusion.side**2, diffusion.multiple)


def _sized(picture: Image, size: tuple[int, int]) -> Image:
    if picture.size == size:
        return picture
    return picture.resize(size, images.Resampling.LANCZOS)


def cropped(picture: Image, size: tuple[int, int]) -> Image:
    """Crop to that size: of very long pictures an expert draws only a part."""
    if picture.size == size:
        return picture
    cut = ImageOps.fit(picture, size, images.Resampling.LANCZOS)
    cut.info = dict(picture.info)
    return cut


def _mask(call: Call, size: tuple[int, int]) -> Image:
    """A mask of that size, 255 where the picture is repainted. Raises InputError."""
    if given := call.inputs.get("mask"):
        # Of a segmentation's results the mask itself, else the cut-out with its alpha channel.
        best = next((item for item in given if "mask" in item.title.lower()), given[0])
        if best.path is None:
            raise InputError(tr("The mask must be a picture."))
        shown = read_image(best.path, name=best.title)
        grey = shown.getchannel("A") if shown.mode == "RGBA" else shown.convert("L")
        grey = grey.resize(size, images.Resampling.BILINEAR)
        reach = max(3, min(size) // 100 | 1)
        mask = grey.point([0] * 128 + [255] * 128).filter(ImageFilter.MaxFilter(reach))
    elif region := str(call.options.get("region", "")):
        mask = images.new("L", size)
        mask.paste(255, region_box(region, size))
    else:
        raise InputError(
            tr("It is not clear which part of the picture to paint."),
            hint=tr(
                "Give a mask, a second picture that is white where to paint, or say: the left half."
            ),
        )
    if not mask.getbbox():
        raise InputError(tr("The mask marks nothing: it is black all over."))
    return mask


def _around(
    part: tuple[int, int, int, int] | None, size: tuple[int, int]
) -> tuple[int, int, int, int]:
    left, top, right, bottom = part or (0, 0, *size)
    more = round(CONTEXT_SHARE * max(right - left, bottom - top))
    return (
        max(0, left - more),
        max(0, top - more),
        min(size[0], right + more),
        min(size[1], bottom + more),
    )


CONTROL_NETWORKS = {
    "ControlNetModel": "ControlNetModel",
    "ControlNetUnionModel": "ControlNetUnionModel",
    "ControlNetModel_Union": "ControlNetUnionModel",
    "SD3ControlNetModel": "SD3ControlNetModel",
    "QwenImageControlNetModel": "QwenImageControlNetModel",
}
"""The class in a ControlNet's settings -> the class of diffusers."""
CONTROL_MODES = {"openpose": 0, "depth": 1, "hed": 2, "scribble": 2, "canny": 3, "mlsd": 3,
                 "normal": 4, "seg": 5}  # fmt: skip
"""The control mode numbers of a union network (ControlNet++, xinsir 2024)."""
LINE_CONTROLS = frozenset({"canny", "hed", "mlsd", "scribble"})
"""Control images drawn in white on black."""


def load_controlnet(loading: ExpertLoader) -> Run:
    """Draw a picture from words and a control image, in its proportions."""
    if loading.base is None:
        raise loading.error(mark("{id} needs the image generator that it was made for."))
    network = part_of(loading, CONTROL_NETWORKS)
    diffusion = DiffusionPipeline(
        opened(loading, "AutoPipelineForText2Image", controlnet=network), loading
    )
    several = type(network).__name__ == "ControlNetUnionModel"

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        described(call)
        kind = call.task.removesuffix("-text-to-image")
        picture = _control(call, kind)
        size = fit_size(picture.width / picture.height, diffusion.side**2, diffusion.multiple)
        # Blended colours would be areas of another class.
        way = images.Resampling.NEAREST if kind == "seg" else images.Resampling.LANCZOS
        more: dict[str, Any] = {"control_mode": CONTROL_MODES[kind]} if several else {}
        # The parameter for the control image has either name, never both.
        port = "control_image" if "control_image" in diffusion.takes else "image"
        more[port] = picture.resize(size, way)
        image = diffusion.picture(call, report, size, **more)
        return [saved(image, call)]

    return run


def _control(call: Call, kind: str) -> Image:
    """The control image; lines drawn in black on white are inverted."""
    picture = given_picture(call)
    bright = ImageStat.Stat(picture.convert("L")).mean[0] > 127
    return ImageOps.invert(picture) if kind in LINE_CONTROLS and bright else picture
