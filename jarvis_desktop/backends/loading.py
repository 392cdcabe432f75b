"""What loads the parts of one expert onto its place. Used in the worker process only.

Nothing of what comes from the Hub is trusted: only safetensors are read, no code from a repository
runs, and no name that an input chose reaches a library that would open or fetch it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.expert import Expert

Run = Callable[[Call, Report], Iterable[Artifact]]
"""A loaded expert."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an expert computes, and in how many bits."""

    device: str = "cpu"
    """cpu, cuda or mps."""
    half: bool = False
    """Whether its weights are in 16 bits instead of 32."""
    offload: bool = False
    """Whether its weights stay in the main memory and visit the graphics card part by part."""

    def __str__(self) -> str:
        where = {"cpu": "on the processor", "cuda": "on the graphics card", "mps": "on the GPU"}
        bits = " in 16 bits" if self.half else ""
        parts = ", part by part" if self.offload else ""
        return f"{where.get(self.device, self.device)}{bits}{parts}"


@dataclass(frozen=True, slots=True)
class Loading:
    """One expert about to be loaded."""

    expert: Expert
    folder: Path
    place: Place = Place()
    base: Path | None = None
    """The folder of the expert that it is built upon, where there is one (`Expert.base`)."""

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
        network = auto.from_pretrained(
            self.folder,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            dtype=self.dtype,
            **settings,
        )
        return network.to(self.place.device).eval()

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
        # What was made for graphics cards is in float16; the processor has no fast way with that.
        return torch.float16 if self.place.device == "mps" else torch.bfloat16
