"""Experts that paint pictures, also anew, by diffusers. Used in the worker process only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.diffusing import Drawer, described, opened, saved
from jarvis_desktop.backends.loading import Loading, Run
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.painting import fitted, frame, region_box, strength_of
from jarvis_desktop.tasks.pictures import on_white, read_image, save_image

if TYPE_CHECKING:
    from PIL.Image import Image

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
    drawer = Drawer(opened(loading, "AutoPipelineForText2Image"), loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        described(call)
        size = frame(call, side=drawer.side, multiple=drawer.multiple)
        image = drawer.picture(call, report, size.drawn)
        return [saved(_cut(image, size.wanted), call)]

    return run


def load_restyler(loading: Loading) -> Run:
    """Paints a picture anew in another style: from a noisy version of it, or by an instruction."""
    drawer = Drawer(opened(loading, "AutoPipelineForImage2Image"), loading)
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
    drawer = Drawer(opened(loading, "DiffusionPipeline"), loading)
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
    drawer = Drawer(opened(loading, "AutoPipelineForInpainting"), loading)

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


def _follows_instructions(drawer: Drawer) -> bool:
    """Whether its words say what to change: those that begin with noise take a strength."""
    return {"image", "prompt"} <= set(drawer.takes) and "strength" not in drawer.takes


def _freely(size: tuple[int, int]) -> dict[str, Any]:
    """Keeps Kontext from choosing a size of its own."""
    return {"max_area": size[0] * size[1], "_auto_resize": False}


def _picture(call: Call) -> Image:
    return on_white(read_image(call.file("image"), name=call.title("image")))


def _size_of(drawer: Drawer, picture: Image) -> tuple[int, int]:
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
