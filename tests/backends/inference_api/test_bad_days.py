"""Everything that goes wrong between here and a provider, once each: which fault it is."""

from __future__ import annotations

import asyncio
import io
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from PIL import Image

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError
from jarvis_desktop.core.expert import Candidate, Expert
from tests.backends.inference_api.desk import KEY, Desk
from tests.router import Day
from tests.router_answers import picture

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)
DATED = {
    "Date": format_datetime(NOW, usegmt=True),
    "Retry-After": format_datetime(NOW + timedelta(seconds=90), usegmt=True),
}


def body(**values: object) -> bytes:
    return json.dumps(values).encode()


DAYS: dict[str, tuple[Day, Fault, bool, float, str]] = {
    "401": (
        Day(401, body=body(error=f"Invalid token {KEY}")), Fault.KEY, False, 0,
        "hf-inference refused the key of the Hugging Face Hub."),
    "402": (
        Day(402, body=body(error="You have exceeded your monthly included credits")),
        Fault.PAYMENT, False, 0, "The account has no credit left for tiny at hf-inference."),
    "403": (
        Day(403, body=body(error="This authentication method does not have permission")),
        Fault.KEY, False, 0, "hf-inference refused the key of the Hugging Face Hub."),
    "404": (Day(404), Fault.GONE, False, 0, "hf-inference does not serve tiny, or no longer."),
    "410": (Day(410), Fault.GONE, False, 0, "hf-inference does not serve tiny, or no longer."),
    "400 of a router that does not know it": (
        Day(400, body=body(error="Model org/x not supported by provider hf-inference")),
        Fault.GONE, False, 0, "hf-inference does not serve tiny, or no longer."),
    "422": (
        Day(422, body=body(error={"message": "text is too long"})), Fault.OTHER, False, 0,
        "hf-inference did not take the request: text is too long"),
    "413": (Day(413), Fault.OTHER, False, 0, "What was sent is too large for hf-inference."),
    "429": (
        Day(429, {"Retry-After": "7"}), Fault.BUSY, True, 7,
        "hf-inference wants fewer requests for now."),
    "429 with a date": (
        Day(429, DATED), Fault.BUSY, True, 90, "hf-inference wants fewer requests for now."),
    "429 with a rate limit": (
        Day(429, {"RateLimit": '"api";r=0;t=55'}), Fault.BUSY, True, 55,
        "hf-inference wants fewer requests for now."),
    "500": (
        Day(500, body=body(error="CUDA error")), Fault.BUSY, True, 0,
        "hf-inference failed: CUDA error"),
    "502": (
        Day(502, body=b"<html>Bad Gateway</html>", kind="text/html"), Fault.BUSY, True, 0,
        "hf-inference failed (status 502)."),
    "503 loading": (
        Day(503, body=body(error="loading", estimated_time=20.5)), Fault.LOADING, True, 20.5,
        "hf-inference is still making tiny ready."),
    "a captive portal": (
        Day(200, body=b"<html>Log in</html>", kind="text/html; charset=utf-8"), Fault.ANSWER,
        False, 0, "A web page answered instead of hf-inference."),
    "a redirection": (
        Day(307, {"Location": "https://elsewhere.example.com/"}), Fault.ANSWER, False, 0,
        "A web page answered instead of hf-inference."),
    "cut off": (
        Day(body=body(summary_text="x" * 4000), how="cut"), Fault.ANSWER, True, 0,
        "The answer from hf-inference was cut off."),
    "not whole": (
        Day(body=b'[{"summary_text": "It'), Fault.ANSWER, True, 0,
        "The answer from hf-inference for tiny cannot be used: it is not whole."),
    "of another shape": (
        Day(body=body(generated="text")), Fault.ANSWER, False, 0,
        "The answer from hf-inference for tiny cannot be used."),
    "of another kind": (
        Day(body=body(summary_text=["a", 7])), Fault.ANSWER, False, 0,
        "The answer from hf-inference for tiny cannot be used."),
    "empty": (
        Day(body=b'[{"summary_text": " "}]'), Fault.ANSWER, False, 0,
        "The answer from hf-inference for tiny cannot be used: it contains no text."),
    "nested without end": (
        Day(body=b"[" * 200_000), Fault.ANSWER, False, 0,
        "The answer from hf-inference for tiny cannot be used."),
    "no letters": (
        Day(body=b"\xff\xfe\x00"), Fault.ANSWER, False, 0,
        "The answer from hf-inference for tiny cannot be used."),
    "reset": (
        Day(how="reset"), Fault.NETWORK, True, 0, "The connection to hf-inference broke off."),
    "a gigabyte that is announced": (
        Day(headers={"Content-Length": str(1 << 30)}), Fault.ANSWER, False, 0,
        "The answer of hf-inference has more than 16 MB, which is more than tiny should give."),
    "a gigabyte": (
        Day(how="endless"), Fault.ANSWER, False, 0,
        "The answer of hf-inference has more than 16 MB, which is more than tiny should give."),
}  # fmt: skip


@pytest.mark.parametrize("day", sorted(DAYS))
async def test_bad_days_of_a_provider(desk: Desk, day: str) -> None:
    bad, fault, retryable, wait, sentence = DAYS[day]
    desk.router.days.append(bad)
    pids = desk.backend.processes
    with pytest.raises(JarvisError) as caught:
        await desk.ask("summarization", text="Bern is old. It has bears.", options={"sentences": 1})
    error = caught.value
    assert (error.fault, error.retryable, error.wait) == (fault, retryable, wait)
    assert error.message == sentence
    assert KEY not in f"{error} {vars(error)}"
    assert desk.backend.processes == pids or not pids  # it went on in the same process
    (result,) = await desk.ask("summarization", text="Bern is old.", options={"sentences": 1})
    assert result.text == "Bern is old."


PICTURES = {
    "no picture": b"\x00" * 100,
    "cut off": picture(size=(400, 300), kind="JPEG")[:900],
    "of a type that is not taken": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"
    + b" " * 999,
}


def bomb() -> bytes:
    """12,000 by 12,000 black dots."""
    file = io.BytesIO()
    Image.new("1", (12_000, 12_000)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("what", ["a bomb", *sorted(PICTURES)])
async def test_what_is_no_picture_is_no_result(desk: Desk, what: str) -> None:
    sent = bomb() if what == "a bomb" else PICTURES[what]
    desk.router.days.append(Day(body=sent, kind="image/png"))
    with pytest.raises(ExpertError, match="cannot be used") as caught:
        await desk.ask("text-to-image", prompt="a boat")
    assert caught.value.fault is Fault.ANSWER


@pytest.mark.parametrize(
    ("task", "sent"),
    [
        ("object-detection", [{"label": "cat", "score": 0.9, "box": {"xmin": 9, "ymin": "x"}}]),
        ("object-detection", [{"label": "cat", "score": 0.9, "box": "left"}]),
        ("object-detection", {"boxes": []}),
        ("image-classification", [{"label": "cat", "score": 7}]),
        ("image-classification", [{"label": "cat", "score": "high"}]),
        ("image-classification", []),
        ("image-segmentation", [{"label": "cat", "mask": "????"}]),
        ("visual-question-answering", [{"answer": None}]),
    ],
)
async def test_what_is_said_of_pictures_is_looked_at(desk: Desk, task: str, sent: object) -> None:
    desk.router.days.append(Day(body=json.dumps(sent).encode()))
    question = {"question": "What?"} if task.startswith("visual") else {}
    inputs: dict[str, Any] = {"image": desk.picture(), **question}
    with pytest.raises(ExpertError, match="cannot be used") as caught:
        await desk.ask(task, **inputs)
    assert caught.value.fault is Fault.ANSWER


@pytest.mark.parametrize(
    ("task", "kind"), [("text-to-speech", "audio/wav"), ("text-to-video", "video/mp4")]
)
async def test_noise_is_neither_speech_nor_a_film(desk: Desk, task: str, kind: str) -> None:
    desk.router.days.append(Day(body=b"\x17" * 5000, kind=kind))
    inputs: dict[str, Any] = {"text": "Hello."} if task == "text-to-speech" else {"prompt": "waves"}
    if task == "text-to-video":  # where the film lies, there is none
        desk.router.days[:] = []
        desk.router.files.clear()
        desk.router.files["cdn.example.com/0"] = b"\x17" * 5000
        desk.router.days.append(
            Day(body=body(output=["https://cdn.example.com/0"]), kind="application/json")
        )
    provider = "replicate" if task == "text-to-video" else "hf-inference"
    with pytest.raises(ExpertError, match="cannot be used: it is no"):
        await desk.ask(task, provider, **inputs)


@pytest.mark.parametrize(
    "address",
    [
        "http://cdn.example.com/x.png",
        "https://127.0.0.1/x.png",
        "https://localhost/x.png",
        "https://169.254.169.254/latest/meta-data",
        "https://2130706433/x.png",
        "https://[::1]/x.png",
        "file:///etc/passwd",
        "https://user:word@cdn.example.com/x.png",
    ],
)
async def test_a_provider_cannot_send_us_anywhere(desk: Desk, address: str) -> None:
    desk.router.days.append(Day(body=body(images=[{"url": address}])))
    with pytest.raises(ExpertError, match="cannot be used") as caught:
        await desk.ask("text-to-image", "fal-ai", prompt="a boat")
    assert caught.value.fault is Fault.ANSWER
    asked = {place for method, place, _ in desk.router.requests if method == "GET"}
    assert all(place.startswith("huggingface.co/api/models/") for place in asked)


async def test_a_result_that_is_gone_is_said(desk: Desk) -> None:
    desk.router.days.append(Day(body=body(images=[{"url": "https://cdn.example.com/gone.png"}])))
    with pytest.raises(JarvisError, match="the file that it names cannot be fetched") as caught:
        await desk.ask("text-to-image", "fal-ai", prompt="a boat")
    assert (caught.value.fault, caught.value.retryable) == (Fault.ANSWER, True)


async def test_a_provider_that_does_not_run_it_is_not_asked(desk: Desk) -> None:
    with pytest.raises(JarvisError, match="fal-ai does not serve tiny") as caught:
        await desk.ask("text-to-image", "fal-ai", service="text-to-video", prompt="a boat")
    assert caught.value.fault is Fault.GONE
    assert not desk.router.bodies


async def test_a_provider_that_runs_it_from_now_on_is_asked(desk: Desk) -> None:
    repo = f"org/late-text-to-video-{len(desk.router.served)}"
    with pytest.raises(JarvisError, match="does not serve"):
        await desk.ask(
            "text-to-image", "fal-ai", repo="org/late", service="text-to-video", prompt="a boat"
        )
    expert = Expert("tiny", "text-to-image", repo=repo, providers=("fal-ai",))
    candidate = Candidate(expert, "api", remote=True, provider="fal-ai")

    async def drawn() -> list[Kind]:
        call = desk.call("text-to-image", prompt="a boat")
        made = await desk.backend.run(candidate, call, lambda share, words: None)
        return [each.kind for each in made]

    desk.router.served[repo] = {"fal-ai": "text-to-image"}
    assert await drawn() == [Kind.IMAGE]
    desk.router.days.append(Day(410))
    with pytest.raises(JarvisError, match="does not serve"):
        await drawn()
    del desk.router.served[repo]["fal-ai"]
    asked = len(desk.router.bodies)
    with pytest.raises(JarvisError, match="does not serve"):
        await drawn()
    assert len(desk.router.bodies) == asked


async def test_a_tag_that_says_something_else_is_no_question(desk: Desk) -> None:
    desk.router.tags.clear()
    repo = f"org/odd-summarization-{len(desk.router.served)}"
    desk.router.tags[repo] = "text-generation"
    with pytest.raises(JarvisError, match="does not serve tiny"):
        await desk.ask("summarization", repo="org/odd", text="Bern is old.")
    assert not desk.router.bodies


@pytest.mark.parametrize(
    ("day", "fault"),
    [
        (Day(503), Fault.LOADING),
        (Day(404), Fault.GONE),
        (Day(200, body=b"<html>", kind="text/html"), Fault.ANSWER),
        (Day(how="reset"), Fault.NETWORK),
    ],
)
async def test_bad_days_of_the_hub(desk: Desk, day: Day, fault: Fault) -> None:
    desk.router.hub_days.append(day)
    with pytest.raises(JarvisError, match="Hugging Face Hub"):
        await desk.ask("summarization", text="Bern is old.")
    desk.router.hub_days.append(day)
    with pytest.raises(JarvisError) as caught:
        await desk.ask("summarization", text="Bern is old.")
    assert caught.value.fault is fault


@pytest.mark.parametrize("how", ["hang", "drip"])
async def test_no_answer_in_time_is_an_end(desk: Desk, how: str) -> None:
    desk.backend._time_limit = 0.6
    try:
        desk.router.days.append(Day(body=body(summary_text="x" * 4000), how=how))
        with pytest.raises(ExpertError, match="did not answer in time") as caught:
            await desk.ask("summarization", text="Bern is old.")
    finally:
        desk.backend._time_limit = 30.0
        desk.router.days.clear()  # on a busy computer the request may never have arrived
    assert (caught.value.fault, caught.value.retryable) == (Fault.TIMEOUT, True)


async def test_cancelling_ends_the_call_and_the_next_one_works(desk: Desk) -> None:
    desk.router.waiting.clear()
    desk.router.days.append(Day(how="hang"))
    (pid,) = desk.backend.processes
    running = asyncio.create_task(desk.ask("summarization", text="Bern is old."))
    await asyncio.to_thread(desk.router.waiting.wait)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (result,) = await desk.ask("summarization", text="Bern is old.")
    assert result.text == "Bern is old."
    assert pid not in desk.backend.processes


async def test_any_other_provider_is_none_of_those_that_are_tried_by_name(desk: Desk) -> None:
    repo = "org/many"
    desk.router.served[repo] = {"fal-ai": "text-to-image", "together": "text-to-image"}
    expert = Expert("tiny", "text-to-image", repo=repo, providers=("fal-ai",))
    found = desk.backend.candidates(expert)
    assert [(item.provider, item.endpoint) for item in found] == [
        ("fal-ai", "api:fal-ai"), ("auto", "api:auto"),
    ]  # fmt: skip
    call = desk.call("text-to-image", prompt="a boat")
    await desk.backend.run(found[1], call, lambda share, words: None)
    assert desk.router.requests[-1][1].startswith("router.huggingface.co/together/")
    both = Expert("tiny", "text-to-image", repo=repo, providers=("fal-ai", "together"))
    with pytest.raises(JarvisError, match="does not serve") as caught:
        await desk.backend.run(
            Candidate(both, "api", remote=True, provider="auto"), call, lambda share, words: None
        )
    assert caught.value.fault is Fault.GONE
