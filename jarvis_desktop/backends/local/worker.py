"""The child process of an expert: loads it, and answers calls with it.

Nothing from the Hub is trusted: weights are compared with their digests, only safetensors are read,
no code from a repository runs, and no name from an input reaches a library that would open it.
"""

from __future__ import annotations

import errno
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import DRIVER, PROCESSOR, MemorySize, Placement
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.platform.hardware_probe import resident_bytes
from jarvis_desktop.process.model_files import check, memory_in_words, quiet_libraries

Run = Callable[[Call, Report], Iterable[Artifact]]
"""A loaded expert."""

Batch = Callable[[Sequence[Call], Report], Sequence[Iterable[Artifact]]]
"""Answers several calls at once, which on a graphics card is hardly more work than one."""


@dataclass(frozen=True, slots=True)
class BatchedRun:
    """A loaded expert that takes several calls at once."""

    batch: Batch

    def __call__(self, call: Call, report: Report) -> Iterable[Artifact]:
        """Answer one call."""
        return self.batch([call], report)[0]


BATCHED = frozenset({"feature-extraction", "sentence-similarity"})
"""Tasks whose loaders return a BatchedRun."""

MAIN_MEMORY = 1 << 50  # bytes; how much there really is was checked before


@dataclass(frozen=True, slots=True)
class ExpertLoader:
    """Loads the parts of one expert onto its place."""

    expert: Expert
    folder: Path
    place: Placement = PROCESSOR
    base: Path | None = None  # the folder of its base expert, if any (`Expert.base`)
    on_card: int = 0
    """Bytes of weights that may stay on the graphics card; the rest is loaded as needed."""

    def error(
        self, message: str, *, hint: str = "", fault: Fault = Fault.OTHER, **values: object
    ) -> ExpertError:
        """Return an error with a marked message, in which {id} is the expert."""
        return ExpertError(tr(message, id=self.expert.id, **values), hint=hint, fault=fault)

    def part(self, kind: str, **settings: Any) -> Any:
        """Load a tokenizer, processor or config; `kind` is its class in transformers."""
        import transformers

        auto: Any = getattr(transformers, kind)
        return auto.from_pretrained(
            self.folder, local_files_only=True, trust_remote_code=False, **settings
        )

    def network(self, kind: str, **settings: Any) -> Any:
        """Load a network of transformers for inference; `kind` is its class."""
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
        # Without gradients, no graph is recorded: as good as torch.inference_mode in every call.
        return network.eval().requires_grad_(False)

    def pipeline(self, auto: Any, **settings: Any) -> Any:
        """Load a pipeline of diffusers of the class `auto`. It is read from `base`, if any: then
        the expert itself is a part of it, such as a ControlNet, and is in the `settings`."""
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


_CONTROLLED = ("canny", "depth", "hed", "mlsd", "normal", "openpose", "scribble", "seg")
IMAGE_GENERATION_LOADERS: Mapping[str, str] = {
    "text-to-image": "image_generation:load_text_to_image",
    "image-to-image": "image_generation:load_image_to_image",
    "image-editing": "image_generation:load_image_editor",
    "inpainting": "image_generation:load_inpainter",
    "text-to-video": "video_generation:load_text_to_video",
    "image-to-video": "video_generation:load_image_to_video",
    **{f"{kind}-text-to-image": "image_generation:load_controlnet" for kind in _CONTROLLED},
}
LOADERS: Mapping[str, str] = {
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
    **IMAGE_GENERATION_LOADERS,
    "depth-control": "vision:load_depth",
    "normal-control": "control_images:load_normals",
    "openpose-control": "control_images:load_pose_estimator",
    "seg-control": "control_images:load_semantic_map",
}
"""Per task: the "module:function" in `pipelines` that takes a Loading and returns a Run."""


class PlaceFailure(StrEnum):
    """What was wrong with the place of an expert."""

    MEMORY = "memory"
    """There is too little."""
    CARD = "card"
    """The graphics card or its driver failed."""
    NUMBERS = "numbers"
    """The expert computes something that is not possible in 16 bits."""


FAILURE_SIGNS = {
    PlaceFailure.MEMORY: re.compile(
        "out of memory|can('t|not) allocate memory|not enough memory|alloc_failed|std::bad_alloc"
    ),
    PlaceFailure.CARD: re.compile(
        "cuda error|cudnn|cublas|hip error|not compiled with cuda|no cuda gpus|nvidia driver|"
        "cuda driver|mps backend"
    ),
    PlaceFailure.NUMBERS: re.compile(
        "not implemented for '(half|bfloat16)'|same dtype|expected scalar type|"
        "should be the same|unsupported scalartype"
    ),
}
"""Parts of torch's error messages; the types of its errors say little."""


class PlaceError(ExpertError):
    """An expert failed because of its place, so another place may work."""

    def __init__(self, message: str, why: PlaceFailure = PlaceFailure.MEMORY) -> None:
        super().__init__(message)
        self.why = why


def place_failure(error: Exception, place: Placement) -> PlaceFailure | None:
    """Return what was wrong with the place; None if the error has another cause."""
    if isinstance(error, JarvisError):
        return PlaceFailure.MEMORY if error.fault is Fault.MEMORY else None
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return PlaceFailure.MEMORY
    if not isinstance(error, (RuntimeError, AssertionError, NotImplementedError, TypeError)):
        return None
    words = str(error).lower()
    for why, signs in FAILURE_SIGNS.items():
        if signs.search(words):
            # The processor has no card that could fail, and supports everything in 32 bits.
            at_fault = {PlaceFailure.CARD: place.device != "cpu", PlaceFailure.NUMBERS: place.half}
            return why if at_fault.get(why, True) else None
    return None


def limit_memory(memory: int) -> None:
    """Limit the memory of this process in bytes, if the system supports it."""
    if sys.platform != "linux":
        return
    import resource

    # Not RLIMIT_AS: threads and native libraries reserve many times what they ever use.
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


@dataclass(frozen=True, slots=True)
class WorkerResult:
    """The results of one call, and the memory of the process."""

    results: list[Any]
    """Of a call; for several calls, a list for each."""
    held: MemorySize  # at rest
    most: MemorySize  # the peak since it started


def serve(loading: ExpertLoader) -> Callable[..., list[Any]]:
    """The handler of a process: loads the expert at the first call and keeps it. It returns the
    results of a call, or of several calls a list for each."""
    quiet_libraries()
    run: Run | None = None
    expert = loading.expert

    def handle(report: Report, call: Call, *more: Call) -> list[Any]:
        nonlocal run
        with memory_in_words(expert.id):
            if run is None:
                report(None, tr("Loading {expert}", expert=expert.id))
                check(expert.id, loading.folder)
                if loading.base and expert.base:
                    check(expert.base.id, loading.base)
                run = _load(loading, call.task)
            if isinstance(run, BatchedRun) and more:
                return [list(each) for each in run.batch((call, *more), report)]
            return list(run(call, report))

    return handle


def serve_measured(loading: ExpertLoader, most: int, card: str) -> Callable[..., WorkerResult]:
    """The handler of an expert's process: `serve` with a memory limit and measurements. `most` is
    the limit in bytes of main memory; `card` is the id of the graphics card, if there are several.
    Raises PlaceError if the place is at fault."""
    if card:
        os.environ["CUDA_VISIBLE_DEVICES"] = card
    if loading.place.device == "cpu":
        limit_memory(most)
    answer = serve(loading)

    def handle(report: Report, *calls: Call) -> WorkerResult:
        with _troubles(loading):
            results = answer(report, *calls)
        return WorkerResult(results, *memory_used(loading.place.device))

    return handle


def memory_used(device: str) -> tuple[MemorySize, MemorySize]:
    """The memory of this process, now and at its peak, after freeing caches."""
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


def _load(loading: ExpertLoader, task: str) -> Run:
    module, _, function = LOADERS[task].partition(":")
    loader = getattr(
        importlib.import_module(f"jarvis_desktop.backends.local.pipelines.{module}"), function
    )
    try:
        run: Run = loader(loading)
    except (JarvisError, ImportError):
        raise
    except Exception as error:  # foreign expert code runs here
        if isinstance(error, MemoryError) or place_failure(error, loading.place):
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
def _troubles(loading: ExpertLoader) -> Iterator[None]:
    """Turn errors that are the place's fault into PlaceError."""
    try:
        yield
    except Exception as error:  # foreign expert code runs here
        if why := place_failure(error, loading.place):
            raise PlaceError(
                tr("{id} failed {place}.", id=loading.expert.id, place=loading.place), why
            ) from error
        raise
