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
from jarvis_desktop.core.placing import PROCESSOR
from jarvis_desktop.core.placing import Place as Place

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
        return (network if self.place.offload else network.to(self.place.device)).eval()

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
