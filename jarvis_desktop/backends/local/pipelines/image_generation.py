"""What every pipeline of diffusers here has in common: how it is opened, asked and told apart.

Used in the worker process only. How many steps a pipeline takes, and how far it is to follow the
words, is read from its scheduler and settings: experts that were distilled need few steps.

Experts that paint pictures, also anew, by diffusers. Used in the worker process only.

Experts that paint after a control picture: a ControlNet on the painter that it was made for.

Used in the worker process only."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.local.worker import Loading, Run
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, Fault, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.images.generation import (
    file_stem,
    fitted,
    frame,
    region_box,
    seed_of,
    strength_of,
    wish,
)
from jarvis_desktop.tasks.images.io import on_white, read_image, save_image

if TYPE_CHECKING:
    from PIL.Image import Image


MOST_STEPS = 30
"""With the schedulers of today more are hardly seen; pipelines take 50 and 100 if left alone."""

FEW_STEPS = 4
"""Steps of experts distilled by an adversary or for consistency."""

DISTILLED = re.compile(r"turbo|lightning|schnell|hyper|lcm|distill|sprint", re.IGNORECASE)
"""How such experts are called, where nothing in their settings tells it."""

LIBRARIES = frozenset({"diffusers", "transformers", "stable_diffusion"})
"""Where the parts of a pipeline may come from, by model_index.json."""

Told = Callable[[Report], dict[str, Any]]


def opened(loading: Loading, auto: str, **settings: Any) -> Any:
    """The pipeline of an expert, or of its base; `auto` names a class of diffusers.

    Where that class knows no such pipeline, the one that the expert itself names is taken. Raises
    ExpertError where it asks for code that is not of the libraries.
    """
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


def part_of(loading: Loading, kinds: Mapping[str, str]) -> Any:
    """A network of diffusers that works within a pipeline, such as a ControlNet.

    `kinds` tells the class of diffusers for what the expert's settings name. Raises ExpertError.
    """
    import diffusers

    named = str(_settings(loading.folder / "config.json").get("_class_name", ""))
    if named not in kinds:
        raise ExpertError(
            tr("{id} is not of a kind that can be used for this.", id=loading.expert.id)
        )
    return getattr(diffusers, kinds[named]).from_pretrained(
        loading.folder,
        use_safetensors=True,
        local_files_only=True,
        torch_dtype=loading.dtype,
        variant="fp16" if any(loading.folder.glob("*.fp16.safetensors")) else None,
    )


@dataclass(frozen=True, slots=True)
class Habits:
    """How an expert is used to being asked."""

    steps: int
    guidance: float | None
    """How far it follows the words; None for what its pipeline does if left alone."""


def habits(pipeline: Any, repo: str) -> Habits:
    """As its scheduler and settings tell, and its name where they do not."""
    scheduler = getattr(pipeline, "scheduler", None)
    kind, settings = type(scheduler).__name__, getattr(scheduler, "config", {})
    if kind in ("LCMScheduler", "TCDScheduler"):
        embedded = getattr(_inner(pipeline).config, "time_cond_proj_dim", None)
        return Habits(FEW_STEPS, 8.5 if embedded else 1.0)
    # The Turbo and Lightning painters: Euler's method, from pure noise on.
    trailing = settings.get("timestep_spacing") == "trailing"
    if kind.startswith("Euler") and trailing and not settings.get("rescale_betas_zero_snr"):
        return Habits(FEW_STEPS, 0.0)
    if getattr(pipeline.config, "is_distilled", False):
        return Habits(FEW_STEPS, 1.0)
    if kind.startswith("FlowMatch"):
        embeds = getattr(_inner(pipeline).config, "guidance_embeds", None)
        if embeds is False and type(pipeline).__name__.startswith("FluxPipeline"):
            return Habits(FEW_STEPS, 0.0)
        if DISTILLED.search(repo) and not embeds:
            above_0 = type(pipeline).__name__.startswith("ZImage")  # guides above 0, not above 1
            return Habits(2 * FEW_STEPS, 0.0 if above_0 else 1.0)
    own: Any = inspect.signature(type(pipeline).__call__).parameters["num_inference_steps"].default
    return Habits(min(int(own), MOST_STEPS), None)


class DiffusionPipeline:
    """A pipeline with its habits, asked in the words of a call."""

    def __init__(self, pipeline: Any, loading: Loading) -> None:
        self.pipeline = pipeline
        self.takes: Mapping[str, Any] = inspect.signature(type(pipeline).__call__).parameters
        self.habits = habits(pipeline, loading.expert.repo)
        self._name = loading.expert.id

    @property
    def side(self) -> int:
        """The pixels of a side of the squares that it was trained on, or of as large an area."""
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
        # Some refuse what is no multiple of 8, whatever their decoder takes.
        return math.lcm(int(found or getattr(self.pipeline, "vae_scale_factor", 8)), 8)

    def picture(self, call: Call, report: Report, size: tuple[int, int], **more: Any) -> Image:
        """One picture of that (width, height). Raises ExpertError where it holds it back.

        Its seed is in the picture's notes (`info`). A picture that the expert's own safety check
        holds back is drawn once more where the seed was left to it: the check errs often.
        """
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
        """What the pipeline gives; of `more` and of the call, what it takes."""
        import torch

        text, avoid = wish(call)
        steps = self.habits.steps
        if strength := more.get("strength"):
            # Of a picture that is changed a little, only the last steps are drawn.
            steps = max(steps, math.ceil(1 / strength))
        guided = (self.takes["true_cfg_scale"].default or 0) > 1 if self._knows_true_cfg else False
        wanted = {
            "prompt": text,
            "negative_prompt": avoid or (" " if guided else None),
            "width": size[0],
            "height": size[1],
            "num_inference_steps": steps,
            "guidance_scale": self.habits.guidance,
            "generator": torch.Generator("cpu").manual_seed(seed),
            **self._progress(report, steps),
            **more,
        }
        given = {name: value for name, value in wanted.items() if name in self.takes}
        return self.pipeline(**{name: it for name, it in given.items() if it is not None})

    @property
    def _knows_true_cfg(self) -> bool:
        return "true_cfg_scale" in self.takes

    def _progress(self, report: Report, steps: int) -> dict[str, Any]:
        def tell(step: int, pipe: Any) -> None:
            whole = max(1, int(getattr(pipe, "num_timesteps", 0) or steps))
            report(min(1.0, (step + 1) / whole), f"step {step + 1} of {whole}")

        def told(pipe: Any, step: int, at: Any, values: dict[str, Any]) -> dict[str, Any]:
            tell(step, pipe)
            return values

        if "callback_on_step_end" in self.takes:
            return {"callback_on_step_end": told}
        return {"callback": lambda step, at, values: tell(step, self.pipeline)}


def described(call: Call) -> str:
    """The words of the call. Raises InputError where there are none."""
    text, _ = wish(call)
    if not text:
        raise InputError(
            tr("There is no description of what to draw."), hint=tr("Say what it shows.")
        )
    return text


def saved(image: Image, call: Call) -> Artifact:
    """The picture as a PNG named after its description, with its seed in it."""
    from PIL.PngImagePlugin import PngInfo

    notes = PngInfo()
    notes.add_text("seed", str(image.info.get("seed", "")))
    path = call.workdir / f"{file_stem(call.text('prompt'), 'picture')}.png"
    image.save(path, pnginfo=notes, compress_level=3)
    return Artifact(Kind.IMAGE, path=path, name=path.name)


def _parts(folder: Path, name: str) -> Mapping[str, Any]:
    """The parts that model_index.json names. Raises ExpertError where one is of a foreign kind."""
    parts = _settings(folder / "model_index.json")
    named = {value[0] for value in parts.values() if _names_a_class(value)}
    if (
        named - {None, *LIBRARIES}
        or not isinstance(parts.get("_class_name"), str)
        or any(folder.rglob("*.py"))
    ):
        raise ExpertError(tr("{name} asks for code of its own, which is never run.", name=name))
    return parts


def _names_a_class(value: object) -> bool:
    """Whether it is a pair such as ["diffusers", "AutoencoderKL"]."""
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(item is None or isinstance(item, str) for item in value)
    )


def _settings(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ExpertError(
            tr("{name} of {name2} cannot be read.", name=path.name, name2=path.parent.name)
        ) from error
    return found if isinstance(found, dict) else {}


def _inner(pipeline: Any) -> Any:
    """The network that draws: the parts besides only read and show."""
    return getattr(pipeline, "unet", None) or pipeline.transformer


RESTYLED, REPAINTED = 0.65, 1.0
"""How much usually changes: enough for another style, and all of what is painted over."""

STYLES = {
    "sketch": "a pencil sketch",
    "cartoon": "a cartoon",
    "painting": "an oil painting",
    "sepia": "an old photo in sepia",
    "grey": "a black and white photo",
    "invert": "a photographic negative",
}
"""The named styles as words, for when an expert is asked in the place of the built-in way."""

AROUND = 0.5
"""How much of what lies around a painted part is shown to the painter, by the part's own size."""


def load_painter(loading: Loading) -> Run:
    """Draws a picture from words."""
    drawer = DiffusionPipeline(opened(loading, "AutoPipelineForText2Image"), loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        described(call)
        size = frame(call, side=drawer.side, multiple=drawer.multiple)
        image = drawer.picture(call, report, size.drawn)
        return [saved(_cut(image, size.wanted), call)]

    return run


def load_restyler(loading: Loading) -> Run:
    """Paints a picture anew in another style: from a noisy version of it, or by an instruction."""
    drawer = DiffusionPipeline(opened(loading, "AutoPipelineForImage2Image"), loading)
    told = _follows_instructions(drawer)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        style = STYLES.get(str(call.options.get("edit", "")), "")
        words = call.text("prompt").strip() or (f"turn it into {style}" if told else style)
        if not words:
            raise InputError(
                tr("Which style is wanted is not said."), hint=tr("Name one, or an artist.")
            )
        picture = _picture(call)
        size = _size_of(drawer, picture)
        more = {} if told else {"strength": strength_of(call, RESTYLED)}
        image = drawer.picture(
            call, report, size, prompt=words, image=_sized(picture, size), **more, **_freely(size)
        )
        return [save_image(image, call, "restyled")]

    return run


def load_editor(loading: Loading) -> Run:
    """Changes a picture as an instruction says (InstructPix2Pix, Kontext, Qwen-Image-Edit ...)."""
    drawer = DiffusionPipeline(opened(loading, "DiffusionPipeline"), loading)
    if not _follows_instructions(drawer):
        raise ExpertError(
            tr("{id} does not follow instructions about a picture.", id=loading.expert.id)
        )

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        if not call.text("prompt").strip():
            raise InputError(
                tr("How the picture is to be edited is not said."),
                hint=tr("Say for example: make the sky pink."),
            )
        picture = _picture(call)
        size = _size_of(drawer, picture)
        image = drawer.picture(call, report, size, image=_sized(picture, size), **_freely(size))
        return [save_image(image, call, "edited")]

    return run


def load_filler(loading: Loading) -> Run:
    """Paints a part of a picture anew; all the rest of it stays as it is, pixel by pixel."""
    drawer = DiffusionPipeline(opened(loading, "AutoPipelineForInpainting"), loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        from PIL import Image as images
        from PIL import ImageFilter

        described(call)
        picture = _picture(call)
        mask = _mask(call, picture.size)
        box = _around(mask.getbbox(), picture.size)
        part, hole = picture.crop(box), mask.crop(box)
        size = fitted(part.width / part.height, drawer.side**2, drawer.multiple)
        drawn = drawer.picture(
            call,
            report,
            size,
            image=_sized(part, size),
            mask_image=_sized(hole, size),
            strength=strength_of(call, REPAINTED),
        )
        soft = hole.filter(ImageFilter.GaussianBlur(max(1, min(part.size) // 150)))
        # What lies outside of the mask was never asked for.
        soft = images.composite(soft, images.new("L", soft.size), hole)
        picture.paste(_sized(drawn, part.size), box[:2], soft)
        return [save_image(picture, call, "inpainted")]

    return run


def _follows_instructions(drawer: DiffusionPipeline) -> bool:
    """Whether its words say what to change: those that begin with noise take a strength."""
    return {"image", "prompt"} <= set(drawer.takes) and "strength" not in drawer.takes


def _freely(size: tuple[int, int]) -> dict[str, Any]:
    """Keeps Kontext from choosing a size of its own."""
    return {"max_area": size[0] * size[1], "_auto_resize": False}


def _picture(call: Call) -> Image:
    return on_white(read_image(call.file("image"), name=call.title("image")))


def _size_of(drawer: DiffusionPipeline, picture: Image) -> tuple[int, int]:
    return fitted(picture.width / picture.height, drawer.side**2, drawer.multiple)


def _sized(picture: Image, size: tuple[int, int]) -> Image:
    from PIL import Image as images

    if picture.size == size:
        return picture
    return picture.resize(size, images.Resampling.LANCZOS)


def _cut(picture: Image, size: tuple[int, int]) -> Image:
    """The same, cut where the proportions are others: of very long ones an expert draws a part."""
    from PIL import Image as images
    from PIL import ImageOps

    if picture.size == size:
        return picture
    cut = ImageOps.fit(picture, size, images.Resampling.LANCZOS)
    cut.info = dict(picture.info)
    return cut


def _mask(call: Call, size: tuple[int, int]) -> Image:
    """255 where the picture is painted anew, else 0; as large as it. Raises InputError."""
    from PIL import Image as images
    from PIL import ImageFilter

    if given := call.inputs.get("mask"):
        # Of a segmentation's results the mask itself, else its cut-out, whose opacity is one.
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
            tr("Which part of the picture is to be painted is not said."),
            hint=tr("Give a mask as a second picture, white where it is, or say: the left half."),
        )
    if not mask.getbbox():
        raise InputError(tr("The mask marks nothing: it is black all over."))
    return mask


def _around(
    part: tuple[int, int, int, int] | None, size: tuple[int, int]
) -> tuple[int, int, int, int]:
    """The part with what lies around it, within the picture."""
    left, top, right, bottom = part or (0, 0, *size)
    more = round(AROUND * max(right - left, bottom - top))
    return (
        max(0, left - more),
        max(0, top - more),
        min(size[0], right + more),
        min(size[1], bottom + more),
    )


NETWORKS = {
    "ControlNetModel": "ControlNetModel",
    "ControlNetUnionModel": "ControlNetUnionModel",
    "ControlNetModel_Union": "ControlNetUnionModel",
    "SD3ControlNetModel": "SD3ControlNetModel",
    "QwenImageControlNetModel": "QwenImageControlNetModel",
}
"""What a ControlNet's settings name -> the class of diffusers."""

MODES = {"openpose": 0, "depth": 1, "hed": 2, "scribble": 2, "canny": 3, "mlsd": 3,
         "normal": 4, "seg": 5}  # fmt: skip
"""The kinds of control as one network for all of them (ControlNet++, xinsir 2024) counts them."""

LINES = frozenset({"canny", "hed", "mlsd", "scribble"})
"""Controls that are drawn in white on black."""


def load_controlled(loading: Loading) -> Run:
    """Draws a picture from words, after a control picture, in its proportions."""
    if loading.base is None:
        raise ExpertError(tr("{id} needs the painter that it was made for.", id=loading.expert.id))
    network = part_of(loading, NETWORKS)
    drawer = DiffusionPipeline(
        opened(loading, "AutoPipelineForText2Image", controlnet=network), loading
    )
    several = type(network).__name__ == "ControlNetUnionModel"

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        described(call)
        kind = call.task.removesuffix("-text-to-image")
        picture = _control(call, kind)
        size = fitted(picture.width / picture.height, drawer.side**2, drawer.multiple)
        shown = picture.resize(size, _resampling(kind))
        more: dict[str, Any] = {"control_mode": MODES[kind]} if several else {}
        # Some call the control picture the picture; none of them takes both.
        port = "control_image" if "control_image" in drawer.takes else "image"
        image = drawer.picture(call, report, size, **{port: shown}, **more)
        return [saved(image, call)]

    return run


def _control(call: Call, kind: str) -> Image:
    """The control picture; what a person drew in black on white is turned round."""
    from PIL import ImageOps, ImageStat

    picture = on_white(read_image(call.file("image"), name=call.title("image")))
    bright = ImageStat.Stat(picture.convert("L")).mean[0] > 127
    return ImageOps.invert(picture) if kind in LINES and bright else picture


def _resampling(kind: str) -> Any:
    from PIL import Image as images

    # Mixed colours would be areas of another kind.
    return images.Resampling.NEAREST if kind == "seg" else images.Resampling.LANCZOS
