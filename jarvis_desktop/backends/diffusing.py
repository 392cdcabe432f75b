"""What every pipeline of diffusers here has in common: how it is opened, asked and told apart.

Used in the worker process only. How many steps a pipeline takes, and how far it is to follow the
words, is read from its scheduler and settings: experts that were distilled need few steps.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.loading import Loading
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError, Fault, InputError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.painting import file_stem, seed_of, wish

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


class Drawer:
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
