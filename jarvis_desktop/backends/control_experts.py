"""Experts that paint after a control picture: a ControlNet on the painter that it was made for.

Used in the worker process only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.diffusing import Drawer, described, opened, part_of, saved
from jarvis_desktop.backends.loading import Loading, Run
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.painting import fitted
from jarvis_desktop.tasks.pictures import on_white, read_image

if TYPE_CHECKING:
    from PIL.Image import Image

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
    drawer = Drawer(opened(loading, "AutoPipelineForText2Image", controlnet=network), loading)
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
