"""Loads one fetched expert and answers calls with it. Runs in a child process only.

Weights are compared with their digests before they are loaded.

What loads the parts of one expert onto its place. Used in the worker process only.

Nothing of what comes from the Hub is trusted: only safetensors are read, no code from a repository
runs, and no name that an input chose reaches a library that would open or fetch it.

Which function loads the experts of a task. A table only: nothing heavy is imported for it.

Lets a child process fail rather than fill the computer's memory."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_desktop.backends.local.failures import PlaceError, why_it_failed
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import ExpertError, JarvisError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import DRIVER, PROCESSOR, MemorySize
from jarvis_desktop.core.placement import Placement as Place
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.platform.hardware_probe import resident_bytes
from jarvis_desktop.process.model_files import check, memory_in_words, quiet_libraries

Run = Callable[[Call, Report], Iterable[Artifact]]
"""A loaded expert."""

MAIN_MEMORY = 1 << 50
"""Bytes; how much there is was looked at before."""


@dataclass(frozen=True, slots=True)
class Loading:
    """One expert about to be loaded."""

    expert: Expert
    folder: Path
    place: Place = PROCESSOR
    base: Path | None = None
    """The folder of the expert that it is built upon, where there is one (`Expert.base`)."""
    on_card: int = 0
    """Bytes of the weights that may stay on the graphics card, where the rest visits it."""

    def part(self, kind: str, **settings: Any) -> Any:
        """A tokenizer or processor: `kind` is the class of transformers that loads it."""
        import transformers

        auto: Any = getattr(transformers, kind)
        return auto.from_pretrained(
            self.folder, local_files_only=True, trust_remote_code=False, **settings
        )

    def network(self, kind: str, **settings: Any) -> Any:
        """A network of transformers on its place, ready to be asked."""
        import transformers

        auto: Any = getattr(transformers, kind)
        if self.place.offload:
            settings["device_map"] = "auto"
            settings["max_memory"] = {0: self.on_card, "cpu": MAIN_MEMORY}
        network = auto.from_pretrained(
            self.folder,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            dtype=self.dtype,
            **settings,
        )
        network = network if self.place.offload else network.to(self.place.device)
        return network.eval().requires_grad_(False)  # no gradients: as quick as inference_mode

    def pipeline(self, auto: Any, **settings: Any) -> Any:
        """A pipeline of diffusers on its place; `auto` is its class.

        It is read from `base` where there is one: then the expert itself is a part of it, such
        as a ControlNet, and comes with the `settings`.
        """
        folder = self.base or self.folder
        halves = any(folder.rglob("*.fp16.safetensors"))
        pipeline = auto.from_pretrained(
            folder,
            use_safetensors=True,
            local_files_only=True,
            torch_dtype=self.dtype,
            variant="fp16" if halves else None,
            **settings,
        )
        pipeline.set_progress_bar_config(disable=True)
        if self.place.offload:
            pipeline.enable_model_cpu_offload(device=self.place.device)
            return pipeline
        return pipeline.to(self.place.device)

    @property
    def dtype(self) -> Any:
        """The torch type of the weights."""
        import torch

        if not self.place.half:
            return torch.float32
        return torch.float16 if self.place.float16 else torch.bfloat16


WORDS_AND_SOUND: Mapping[str, str] = {
    "text-generation": "text_generation:load_text_generator",
    "translation": "text_generation:load_translator",
    "summarization": "text_generation:load_summarizer",
    "fill-mask": "text_generation:load_fill_mask",
    "token-classification": "text_classification:load_token_classifier",
    "text-classification": "text_classification:load_text_classifier",
    "zero-shot-classification": "text_classification:load_zero_shot_classifier",
    "question-answering": "question_answering:load_question_answerer",
    "table-question-answering": "question_answering:load_table_question_answerer",
    "sentence-similarity": "embeddings:load_sentence_similarity",
    "feature-extraction": "embeddings:load_feature_extractor",
    "audio-classification": "audio:load_audio_classifier",
    "automatic-speech-recognition": "audio:load_transcriber",
    "text-to-speech": "audio:load_speech_synthesizer",
    "text-to-audio": "audio:load_music_generator",
}
SIGHT: Mapping[str, str] = {
    "image-classification": "vision:load_image_classifier",
    "zero-shot-image-classification": "vision:load_zero_shot_image_classifier",
    "depth-estimation": "vision:load_depth",
    "video-classification": "vision:load_video_classifier",
    "object-detection": "detection:load_object_detector",
    "zero-shot-object-detection": "detection:load_zero_shot_detector",
    "image-segmentation": "detection:load_segmenter",
    "mask-generation": "detection:load_mask_generator",
    "image-to-text": "captioning:load_captioner",
    "visual-question-answering": "captioning:load_captioner",
    "document-question-answering": "captioning:load_captioner",
}
DRAWING: Mapping[str, str] = {
    "text-to-image": "image_generation:load_text_to_image",
    "image-to-image": "image_generation:load_image_to_image",
    "image-editing": "image_generation:load_image_editor",
    "inpainting": "image_generation:load_inpainter",
    "text-to-video": "video_generation:load_text_to_video",
    "image-to-video": "video_generation:load_image_to_video",
    "canny-text-to-image": "image_generation:load_controlnet",
    "depth-text-to-image": "image_generation:load_controlnet",
    "hed-text-to-image": "image_generation:load_controlnet",
    "mlsd-text-to-image": "image_generation:load_controlnet",
    "normal-text-to-image": "image_generation:load_controlnet",
    "openpose-text-to-image": "image_generation:load_controlnet",
    "scribble-text-to-image": "image_generation:load_controlnet",
    "seg-text-to-image": "image_generation:load_controlnet",
}
STEERING: Mapping[str, str] = {
    "depth-control": "vision:load_depth",
    "normal-control": "control_images:load_normals",
    "openpose-control": "control_images:load_pose_estimator",
    "seg-control": "control_images:load_semantic_map",
}
"""Control pictures, which need nothing but transformers."""
LOADERS: Mapping[str, str] = {**WORDS_AND_SOUND, **SIGHT, **DRAWING, **STEERING}
"""Per task: which function of which module here takes a Loading and gives a Run."""

NEEDS: Mapping[str, str] = dict.fromkeys(DRAWING, "diffusers")
"""Tasks whose experts need a library that is not always installed."""


def limit(memory: int) -> None:
    """Let this process have so many bytes and no more, where the system can do that."""
    if sys.platform != "linux":
        return
    import resource

    # Not RLIMIT_AS: threads and native libraries reserve many times what they ever use.
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


@dataclass(frozen=True, slots=True)
class Done:
    """The results of one call, and what the process takes of the memory."""

    results: list[Artifact]
    held: MemorySize
    """What it takes now, at rest."""
    most: MemorySize
    """What it took at most since it started."""


def serve(loading: Loading) -> Callable[[Report, Call], list[Artifact]]:
    """A handler: loads at the first call, and keeps the expert for the next."""
    quiet_libraries()
    run: Run | None = None
    expert = loading.expert

    def handle(report: Report, call: Call) -> list[Artifact]:
        nonlocal run
        with memory_in_words(expert.id):
            if run is None:
                report(None, f"loading {expert.id}")
                check(expert.id, loading.folder)
                if loading.base and expert.base:
                    check(expert.base.id, loading.base)
                run = _load(loading, call.task)
            return list(run(call, report))

    return handle


def hold(loading: Loading, most: int, card: str) -> Callable[[Report, Call], Done]:
    """The handler of the child: the same, within `most` bytes of the main memory, and measured.

    `card` names the graphics card to use, where there are several. Raises PlaceError where the
    place was the trouble.
    """
    if card:
        os.environ["CUDA_VISIBLE_DEVICES"] = card
    if loading.place.device == "cpu":
        limit(most)
    answer = serve(loading)

    def handle(report: Report, call: Call) -> Done:
        with _troubles(loading):
            results = answer(report, call)
        return Done(results, *taken(loading.place.device))

    return handle


def taken(device: str) -> tuple[MemorySize, MemorySize]:
    """What this process takes of both memories, now and at most; what computing left is freed."""
    now, most = resident_bytes()
    if device == "cpu":
        return MemorySize(now), MemorySize(most)
    import torch

    if device == "mps":
        torch.mps.empty_cache()
        held = int(torch.mps.driver_allocated_memory())
        return MemorySize(now, held), MemorySize(most, held)
    peak = int(torch.cuda.max_memory_reserved())
    torch.cuda.empty_cache()
    left, context = int(torch.cuda.memory_reserved()), DRIVER.graphics
    return MemorySize(now, left + context), MemorySize(most, peak + context)


def _load(loading: Loading, task: str) -> Run:
    import transformers

    quiet: Any = transformers.utils.logging.disable_progress_bar
    quiet()
    module, _, function = LOADERS[task].partition(":")
    loader = getattr(
        importlib.import_module(f"jarvis_desktop.backends.local.pipelines.{module}"), function
    )
    try:
        run: Run = loader(loading)
    except (JarvisError, ImportError):
        raise
    except Exception as error:  # foreign expert code runs here
        if isinstance(error, MemoryError) or why_it_failed(error, loading.place):
            raise
        name = loading.expert.id
        raise ExpertError(
            tr(
                "{name} could not be loaded ({name2}): its files are not those of such an expert.",
                name=name,
                name2=type(error).__name__,
            ),
            hint=tr(
                "Remove it and fetch it again: jarvis-desktop experts remove {name}.", name=name
            ),
        ) from error
    return run


@contextmanager
def _troubles(loading: Loading) -> Iterator[None]:
    """Tell those troubles apart that another place would not have."""
    try:
        yield
    except Exception as error:  # foreign expert code runs here
        if why := why_it_failed(error, loading.place):
            raise PlaceError(
                tr("{id} failed {place}.", id=loading.expert.id, place=loading.place), why
            ) from error
        raise
