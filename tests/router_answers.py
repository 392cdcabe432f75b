"""What the providers of tests/router.py answer, each in its wire form, made from the request."""

from __future__ import annotations

import base64
import io
import json
import wave
from typing import Any

from PIL import Image

CDN = "cdn.example.com"
"""Where providers put results."""


def answered(
    provider: str,
    rest: str,
    body: Any,
    served: dict[str, dict[str, str]],
    files: dict[str, bytes],
) -> Any:
    """The JSON value, or the bytes, that a provider gives for a POST to `rest`."""
    if rest.endswith("/chat/completions"):
        return _chat(body)
    if provider == "hf-inference":
        repo = "/".join(rest.removeprefix("models/").split("/")[:2])
        return HF[served[repo][provider]](body)
    if provider == "fal-ai":
        service = served[rest.removeprefix("fal-ai/")][provider]
        return _fal(service, body, files)
    if provider == "replicate":
        repo = rest.removeprefix("v1/models/replicate/").removesuffix("/predictions")
        return _replicate(served[repo][provider], body, files)
    assert provider == "together", provider
    return _together(rest, body)


def polled(path: str, files: dict[str, bytes]) -> Any:
    """What fal-ai says of a request that it queued."""
    assert path.startswith("/fal-ai/queued/"), path
    if path.endswith("/status"):
        return {"status": "COMPLETED"}
    return json.loads(files[f"queue{path.removeprefix('/fal-ai')}"])


def type_of(body: bytes) -> str:
    """A media type by the first bytes."""
    known = {b"\x89PNG": "image/png", b"RIFF": "audio/wav", b"data": "text/event-stream"}
    return known.get(body[:4], "video/mp4")


def picture(colour: str = "navy", size: tuple[int, int] = (64, 48), kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, kind)
    return file.getvalue()


def sound(seconds: float = 0.2, rate: int = 22050) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(b"\x00\x20\x00\xe0" * int(seconds * rate / 2))
    return file.getvalue()


def film(frames: int = 4) -> bytes:
    import av
    import numpy as np

    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("mpeg4", rate=8)
        stream.width, stream.height = 64, 48
        for at in range(frames):
            pixels = np.full((48, 64, 3), 40 * at, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        container.mux(stream.encode(None))
    return file.getvalue()


def _seen(body: Any) -> Image.Image:
    """The picture that was sent: raw, or in base64 under `inputs`."""
    raw = body if isinstance(body, bytes) else base64.b64decode(body["inputs"])
    image = Image.open(io.BytesIO(raw))
    assert image.format == "JPEG", image.format
    return image


def _heard(body: Any) -> tuple[int, float]:
    """Samples a second, and seconds, of the sound that was sent."""
    with wave.open(io.BytesIO(body)) as reader:
        assert reader.getnchannels() == 1
        return reader.getframerate(), reader.getnframes() / reader.getframerate()


def _b64(body: bytes) -> str:
    return base64.b64encode(body).decode()


def _scores(*labels: str) -> list[dict[str, Any]]:
    return [{"label": label, "score": round(0.9 / 3**at, 4)} for at, label in enumerate(labels)]


def _segments(body: Any) -> list[dict[str, Any]]:
    width, height = _seen(body).size
    parts = []
    for label, left in (("cat", 0), ("sky", width // 2)):
        mask = Image.new("L", (width, height))
        mask.paste(255, (left, 0, left + width // 2, height))
        file = io.BytesIO()
        mask.save(file, "PNG")
        parts.append({"label": label, "score": 0.9, "mask": _b64(file.getvalue())})
    return parts


def _boxes(body: Any) -> list[dict[str, Any]]:
    width, height = _seen(body).size
    box = {"xmin": 0, "ymin": 0, "xmax": width // 2, "ymax": height}
    return [
        {"label": "cat", "score": 0.93, "box": box},
        {"label": "dog", "score": 0.11, "box": box},
    ]


def _found(body: Any) -> dict[str, Any]:
    inputs = body["inputs"]
    start = inputs["context"].index("Bern")
    assert inputs["question"].endswith("?")
    return {"answer": "Bern", "score": 0.8, "start": start, "end": start + 4}


def _document(body: Any) -> list[dict[str, Any]]:
    image = Image.open(io.BytesIO(base64.b64decode(body["inputs"]["image"])))
    answer = f"{image.width} francs"
    return [{"answer": answer, "score": 0.7, "start": 0, "end": 1, "words": []}]


def _spoken(body: Any) -> dict[str, Any]:
    timed = isinstance(body, dict) and body["parameters"].get("return_timestamps")
    rate, seconds = _heard(base64.b64decode(body["inputs"]) if timed else body)
    text = f"{seconds:.1f} seconds at {rate}"
    if not timed:
        return {"text": text}
    return {"text": text, "chunks": [{"text": f" {text}", "timestamp": [61.5, None]}]}


HF: dict[str, Any] = {
    "summarization": lambda body: [{"summary_text": body["inputs"].partition(".")[0] + "."}],
    "translation": lambda body: [{"translation_text": body["inputs"].upper()}],
    "question-answering": _found,
    "table-question-answering": lambda body: {
        "answer": body["inputs"]["table"]["city"][1],
        "coordinates": [[1, 0]],
        "cells": [body["inputs"]["table"]["people"][1]],
        "aggregator": "NONE",
    },
    "tabular-classification": lambda body: [
        "large" if float(each) > 1000 else "small" for each in body["table"]["people"]
    ],
    "token-classification": lambda body: [
        {"entity_group": "PER", "score": 0.9, "word": body["inputs"].split()[0], "start": 0,
         "end": 3},
        {"entity_group": "LOC", "score": 0.9, "word": "Bern", "start": 4, "end": 8},
    ],
    "text-classification": lambda body: [_scores("POSITIVE", "NEGATIVE")],
    "zero-shot-classification": lambda body: _scores(*body["parameters"]["candidate_labels"]),
    "fill-mask": lambda body: [
        {"sequence": body["inputs"].replace("[MASK]", word), "score": 0.5, "token": 1,
         "token_str": word}
        for word in ("blue", "grey")
    ],
    "sentence-similarity": lambda body: [0.83 for _ in body["inputs"]["sentences"]],
    "feature-extraction": lambda body: [[float(len(body["inputs"])), 1.0, 2.0, 3.0]],
    "image-classification": lambda body: _scores("tabby, tabby cat", f"size {_seen(body).width}"),
    "zero-shot-image-classification": lambda body: (
        _seen(body) and _scores(*body["parameters"]["candidate_labels"])
    ),
    "object-detection": _boxes,
    "image-segmentation": _segments,
    "image-to-text": lambda body: [{"generated_text": f"a picture {_seen(body).width} wide"}],
    "visual-question-answering": lambda body: (
        _seen(body) and [{"answer": f"yes: {body['question']}", "score": 0.9}]
    ),
    "document-question-answering": _document,
    "image-to-image": lambda body: picture("teal", _seen(body).size),
    "text-to-image": lambda body: picture("navy"),
    "automatic-speech-recognition": _spoken,
    "audio-classification": lambda body: _heard(body) and _scores("speech", "music"),
    "audio-to-audio": lambda body: [
        {"label": "clean", "content-type": "audio/wav", "blob": _b64(sound(_heard(body)[1]))}
    ],
    "text-to-speech": lambda body: sound(len(body["inputs"]) / 100),
    "text-to-audio": lambda body: sound(len(body["inputs"]) / 10),
}  # fmt: skip


def _chat(body: Any) -> bytes:
    """An answer as server-sent events."""
    assert body["stream"], body
    content = body["messages"][-1]["content"]
    if isinstance(content, list):
        (shown,) = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
        raw = base64.b64decode(shown.removeprefix("data:image/jpeg;base64,"))
        (asked,) = [part["text"] for part in content if part["type"] == "text"]
        content = f"{asked} ({Image.open(io.BytesIO(raw)).width} wide)"
    pieces = ["<think>hm</", "think>\nYou ", f"said: {content}"]
    deltas: list[Any] = [{"delta": {"role": "assistant", "content": each}} for each in pieces]
    deltas.append({"delta": {}, "finish_reason": "stop"})
    usage = {"total_tokens": 42, "estimated_cost": 0.0003}
    chunks: list[Any] = [{"choices": [{"index": 0, **delta}]} for delta in deltas]
    chunks.append({"choices": [], "usage": usage})
    about = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    lines = [f"data: {json.dumps(about | chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def _fal(service: str, body: Any, files: dict[str, bytes]) -> Any:
    """Speech and pictures come at once; the rest is queued, and lies at an address when done."""
    if service == "automatic-speech-recognition":
        rate, _ = _heard(base64.b64decode(body["audio_url"].partition(",")[2]))
        return {"text": f"at {rate}"}
    place = f"{CDN}/{len(files)}"
    files[place] = _made(service)
    url = {"url": f"https://{place}"}
    if service == "text-to-image":
        return {"images": [url]}
    if service == "text-to-speech":
        return {"audio": url}
    if service.startswith("image"):
        assert body["image_url"].startswith("data:image/jpeg;base64,")
    result = {"images": [url]} if service == "image-to-image" else {"video": url}
    number = str(len(files))
    files[f"queue/queued/{number}"] = json.dumps(result).encode()
    return {
        "request_id": number,
        "status": "IN_QUEUE",
        "response_url": f"https://queue.fal.run/queued/{number}",
    }


def _made(service: str) -> bytes:
    if service.endswith("video"):
        return film()
    return sound() if service.endswith("speech") else picture()


def _replicate(service: str, body: Any, files: dict[str, bytes]) -> Any:
    if service == "automatic-speech-recognition":
        raw = base64.b64decode(body["input"]["audio"].partition(",")[2])
        return {"output": {"transcription": f"at {_heard(raw)[0]}"}}
    place = f"{CDN}/{len(files)}"
    files[place] = _made(service)
    return {"output": [f"https://{place}"], "model": "x"}


def _together(rest: str, body: Any) -> Any:
    if rest == "v1/images/generations":
        size = (body.get("width", 64), body.get("height", 48))
        return {"data": [{"b64_json": _b64(picture("olive", size))}]}
    assert rest == "v1/embeddings", rest
    return {"data": [{"embedding": [1.0, 2.0, 2.0]}]}
