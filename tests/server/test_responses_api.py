"""`/v1/responses`, spoken to by OpenAI's own client."""

from __future__ import annotations

import base64
from typing import Any

import openai
import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.server.openai_api import OpenAIApi
from tests.fakes import FakeLLM
from tests.server.serving import PNG, Served

ROTATE = "Rotate this picture by 90 degrees"


async def test_the_steps_of_an_answer_are_items(served: Served) -> None:
    async with served.client as client:
        made = await client.responses.create(model="jarvis", input="What is 6*7?")
        assert made.output_text == "6*7 is 42."
        assert [item.type for item in made.output] == ["reasoning", "mcp_call", "message"]
        call: Any = made.output[1]
        assert (call.name, call.server_label, call.status) == ("calculator", "jarvis", "completed")
        assert "42" in call.output
        assert made.status == "completed"
        assert made.model_extra
        assert made.model_extra["jarvis"]["status"] == "done"


async def test_a_stream_builds_the_same_answer(served: Served) -> None:
    async with served.client as client:
        async with client.responses.stream(model="jarvis", input="What is 6*7?") as stream:
            seen = [event async for event in stream]
            final = await stream.get_final_response()
        assert final.output_text == "6*7 is 42."
        kinds = [event.type for event in seen]
        assert kinds[:3] == [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
        ]
        assert kinds.index("response.mcp_call.completed") < kinds.index(
            "response.output_text.delta"
        )
        assert [event.sequence_number for event in seen] == list(range(len(seen)))
        plain = await client.responses.create(model="jarvis", input="What is 6*7?", stream=True)
        last = [event async for event in plain][-1]
        assert last.type == "response.completed"
        assert [item.type for item in last.response.output] == ["reasoning", "mcp_call", "message"]


async def test_pictures_go_in_and_come_out(served: Served) -> None:
    picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}
    asked: Any = [{"role": "user", "content": [{"type": "input_text", "text": ROTATE}, picture]}]
    async with served.client as client:
        made = await client.responses.create(model="jarvis", input=asked)
        (drawn,) = [item for item in made.output if item.type == "image_generation_call"]
        assert base64.b64decode(drawn.result or "").startswith(b"\x89PNG")
        # A client sends the items of the answer back, with the next message.
        asked += [item.model_dump() for item in made.output]
        asked.append({"role": "user", "content": "What is 6*7?"})
        again = await client.responses.create(model="jarvis", input=asked, instructions="Be brief.")
        assert "42" in again.output_text


async def test_what_needs_a_yes_is_a_failed_answer_with_a_reason(served: Served) -> None:
    async with served.client as client:
        made = await client.responses.create(model="jarvis", input="Open my Downloads folder")
        assert made.model_extra
        assert made.model_extra["jarvis"]["not_agreed"]


async def test_the_llm_alone(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    llm = FakeLLM(("Aye, captain.",))

    async def current() -> FakeLLM:
        return llm

    monkeypatch.setattr(served.app.llms, "current", current)
    async with served.client as client:
        made = await client.responses.create(
            model=llm.name, input="Hello", instructions="Pirate.", max_output_tokens=50
        )
        assert made.output_text == "Aye, captain."
        assert [message.text for message in llm.prompts[0].messages] == ["Pirate.", "Hello"]


WRONG: list[dict[str, Any]] = [
    {},
    {"input": []},
    {"input": [3]},
    {"input": [{"role": "assistant", "content": "x"}]},
    {"input": [{"type": "function_call_output", "call_id": "x", "output": "y"}]},
    {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "x"}]}]},
    {"input": "x", "instructions": 3},
    {"input": "x", "tools": [{"type": "web_search"}]},
    {"input": "x", "previous_response_id": "resp_1"},
    {"input": "x", "background": True},
    {"input": "x", "model": "gpt-5"},
    {"input": "x", "text": {"format": {"type": "json_object"}}},
]


async def test_a_wrong_request_gets_a_sentence(served: Served) -> None:
    for body in WRONG:
        answer = await served.post("/v1/responses", body)
        assert answer.status_code in (400, 404), body
        assert answer.json()["error"]["message"].endswith(".")


async def test_a_failure_ends_the_stream_with_its_reason(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    failures: list[Exception] = [UnavailableError("It is asleep."), ZeroDivisionError("/home/me")]

    async def handle(*args: object, **options: object) -> None:
        raise failures.pop(0)

    served.app.assistant.handle = handle  # type: ignore[assignment, method-assign]
    async with served.client as client:
        for reason in ("It is asleep.", "inside JARVIS"):
            stream = await client.responses.create(model="jarvis", input="x", stream=True)
            last: Any = [event async for event in stream][-1]
            assert last.type == "response.failed"
            assert reason in last.response.error.message
            assert "/home" not in last.response.model_dump_json()
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    caplog.clear()


async def test_pictures_are_painted_or_refused_with_a_reason(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served.client as client:
        with pytest.raises(openai.APIStatusError) as none:
            await client.images.generate(model="any", prompt="A red fox")
        assert none.value.status_code == 503
        assert "expert" in none.value.message.lower()
        for wrong in ({"prompt": " "}, {"n": 9}, {"output_format": "gif"}, {"stream": True}):
            with pytest.raises(openai.BadRequestError):
                await client.images.generate(**{"prompt": "A fox", **wrong})

        async def made(self: OpenAIApi, request: object, *tasks: Any) -> bytes:
            assert tasks[0].args["size"] == "512x512"
            return " ".join(task.type.name for task in tasks).encode()

        monkeypatch.setattr(OpenAIApi, "_made", made)
        painted = await client.images.generate(
            prompt="A red fox", n=2, size="512x512", output_format="webp"
        )
        assert painted.data
        contents = [base64.b64decode(picture.b64_json or "") for picture in painted.data]
        assert contents == [b"text-to-image convert-file"] * 2
