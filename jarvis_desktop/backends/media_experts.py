"""Experts that see, draw and listen. Used in the worker process only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jarvis_desktop.backends.loading import Loading, Run
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.tasks.media import read_audio
from jarvis_desktop.tasks.pictures import on_white, read_image, save_png

LONGEST_ANSWER = 256
"""Tokens of an answer about a picture."""

HEARD = 5
"""Kinds of sound that are named."""

STEPS = 25
"""Steps of drawing; experts that are named turbo were made for one."""


def load_depth(loading: Loading) -> Run:
    """A grey picture in which near is bright."""
    import numpy as np
    import torch
    from PIL import Image

    processor = loading.part("AutoImageProcessor")
    network = loading.network("AutoModelForDepthEstimation")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        picture = _picture(call)
        inputs = processor(images=picture, return_tensors="pt").to(network.device)
        with torch.inference_mode():
            output = network(**inputs)
        (found,) = processor.post_process_depth_estimation(
            output, target_sizes=[(picture.height, picture.width)]
        )
        depth = found["predicted_depth"].float().cpu().numpy()
        span = float(np.ptp(depth)) or 1.0  # a picture may be flat
        grey = np.asarray((depth - depth.min()) / span * 255, np.uint8)
        return [save_png(Image.fromarray(grey), call, "depth")]

    return run


def load_viewer(loading: Loading) -> Run:
    """Answers a question about a picture, by the expert's own chat template."""
    processor = loading.part("AutoProcessor")
    network = loading.network("AutoModelForImageTextToText")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        content = [{"type": "image"}, {"type": "text", "text": call.text("question")}]
        prompt = processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True
        )
        inputs = processor(text=prompt, images=[_picture(call)], return_tensors="pt")
        given = inputs["input_ids"].shape[1]
        report(None, "looking")
        output = network.generate(**inputs.to(network.device), max_new_tokens=LONGEST_ANSWER)
        answer = processor.decode(output[0][given:], skip_special_tokens=True)
        return [text_artifact(answer.strip())]

    return run


def load_painter(loading: Loading) -> Run:
    """Draws a picture from words, by diffusers."""
    import diffusers

    diffusers.utils.logging.disable_progress_bar()
    pipeline = loading.pipeline(diffusers.AutoPipelineForText2Image)
    turbo = "turbo" in loading.expert.repo

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        steps = 1 if turbo else STEPS

        def told(pipe: Any, step: int, at: Any, values: dict[str, Any]) -> dict[str, Any]:
            report((step + 1) / steps, f"step {step + 1} of {steps}")
            return values

        image = pipeline(
            call.text("prompt"),
            num_inference_steps=steps,
            guidance_scale=0.0 if turbo else 7.5,
            callback_on_step_end=told,
        ).images[0]
        path = call.workdir / "picture.png"
        image.save(path)
        return [Artifact(Kind.IMAGE, path=path)]

    return run


def load_listener(loading: Loading) -> Run:
    """Says what kinds of sound a recording holds, the likeliest first."""
    import torch

    extractor = loading.part("AutoFeatureExtractor")
    network = loading.network("AutoModelForAudioClassification")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        rate = int(extractor.sampling_rate)
        sound, _ = read_audio(call.file("audio"), rate=rate, mono=True, name=call.title("audio"))
        inputs = extractor(sound[0], sampling_rate=rate, return_tensors="pt").to(network.device)
        with torch.inference_mode():
            shares = network(**inputs).logits[0].softmax(-1)
        best = shares.topk(min(HEARD, len(shares)))
        labels = network.config.id2label
        lines = [
            f"{labels[index]}: {share:.0%}"
            for share, index in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        ]
        return [text_artifact("\n".join(lines))]

    return run


def _picture(call: Call) -> Any:
    return on_white(read_image(call.file("image"), name=call.title("image")))
