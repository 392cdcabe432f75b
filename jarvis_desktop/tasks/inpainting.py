"""Paints a part of a picture anew after a description. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import PROMPT, Option, Port, Preset, TaskType
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.painting import AVOID, REGIONS, SEED, STRENGTH

_SAID = {region: region for region in REGIONS} | {
    "top half": "upper half", "bottom half": "lower half", "centre": "middle", "center": "middle",
}  # fmt: skip
_PAINTED = ("paint", "repaint", "inpaint", "replace", "fill", "change", "turn")

TYPE = TaskType(
    name="inpainting",
    summary="Paints a part of a picture anew after a description. Which part is told by a mask, "
    "white where it is painted, or a cut-out, or by a region such as the left half.",
    ports=(
        Port("image", (Kind.IMAGE,)),
        Port("mask", (Kind.IMAGE,), required=False, known_as=("mask",)),
        Port(PROMPT, (Kind.TEXT,)),
    ),
    gives=(Kind.IMAGE,),
    options=(
        Option("region", "the part that is painted, where there is no mask", "",
               choices=("", *REGIONS)),
        AVOID,
        STRENGTH,
        SEED,
    ),
    cues=(
        "inpaint*", "in-paint*", "paint over", "fill the gap", "fill in the gap",
        "fill the masked", "fill the mask", "paint the masked", "replace the masked",
        "restore the missing", "fill in the missing", "repaint the",
    ),
    presets=tuple(
        Preset(f"{verb} the {said}", (("region", region),))
        for verb in _PAINTED
        for said, region in _SAID.items()
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that paints")
