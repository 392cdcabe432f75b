"""The HTTP server over the built application, spoken to by OpenAI's own client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.events import ReplyChunk
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.turn import Conversation, Request, Turn
from jarvis_desktop.server.access import Access
from jarvis_desktop.server.turns import ApiFrontend
from tests.fake_voice import FakeRecogniser, FakeVoice
from tests.fakes import FakeLLM
from tests.server.serving import NOON, PNG, TOKEN, Served, said


async def test_the_assistant_answers_whole_and_in_pieces(served: Served) -> None:
    async with served.client as client:
        models = [model.id async for model in client.models.list()]
        assert models == ["jarvis"]
        made = await client.chat.completions.create(model="jarvis", messages=said("What is 6*7?"))
        assert "42" in (made.choices[0].message.content or "")
        assert made.model_extra
        assert [task["task"] for task in made.model_extra["jarvis"]["plan"]] == ["calculator"]
        stream = await client.chat.completions.create(
            model="jarvis", messages=said("What is 6*7?"), stream=True
        )
        chunks = [chunk async for chunk in stream]
        assert "42" in "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        assert chunks[-1].choices[0].finish_reason == "stop"
    assert served.app.history.newest() is None  # other programs keep their own history


async def test_clients_that_count_tokens_find_figures(served: Served) -> None:
    async with served.client as client:
        made = await client.chat.completions.create(model="jarvis", messages=said("What is 6*7?"))
        assert made.usage
        assert made.usage.total_tokens == 0
        stream = await client.chat.completions.create(
            model="jarvis",
            messages=said("What is 6*7?"),
            stream=True,
            stream_options={"include_usage": True},
        )
        *_, end, last = [chunk async for chunk in stream]
    assert end.choices[0].finish_reason == "stop"
    assert (last.choices, last.usage) == ([], made.usage)


async def test_files_are_worked_on(served: Served) -> None:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    asked = [{"type": "text", "text": "Rotate this picture by 90 degrees"}, picture]
    messages: Any = [
        {"role": "system", "content": "You are a pirate."},
        {"role": "user", "content": asked},
    ]
    async with served.client as client:
        made = await client.chat.completions.create(model="jarvis", messages=messages)
    assert "](data:image/png;base64," in (made.choices[0].message.content or "")
    assert made.model_extra
    assert made.model_extra["jarvis"]["notes"][-1].startswith("System messages are for")


async def test_earlier_messages_are_the_conversation_until_it_is_answered(served: Served) -> None:
    found: list[tuple[str, Conversation]] = []

    async def handle(request: Request, frontend: ApiFrontend, **options: Any) -> Turn:
        found.append((request.text, served.app.history.open_conversation(options["conversation"])))
        frontend.show(ReplyChunk("Yes."))
        return Turn("t", NOON, request.text, reply="Yes.", status=Status.DONE, finished=NOON)

    served.app.assistant.handle = handle  # type: ignore[assignment, method-assign]
    messages = [*said("One?", "1.", "Two?", "2."), *said("Three?"), *said("Quick!")]
    answer = await served.post("/v1/chat/completions", {"messages": messages})
    assert answer.json()["choices"][0]["message"]["content"] == "Yes."
    ((text, known),) = found
    assert text == "Three?\nQuick!"
    assert [(turn.text, turn.reply) for turn in known.turns] == [("One?", "1."), ("Two?", "2.")]
    with pytest.raises(InputError, match="is closed; nothing of it was saved"):
        served.app.history.open_conversation(known.id)


async def test_what_needs_a_yes_is_not_done(served: Served) -> None:
    async with served.client as client:
        made = await client.chat.completions.create(
            model="jarvis", messages=said("Open my Downloads folder")
        )
    assert made.model_extra
    assert made.model_extra["jarvis"]["not_agreed"]


async def test_the_llm_alone(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    llm = FakeLLM(("Aye, captain.",))

    async def current() -> FakeLLM:
        return llm

    monkeypatch.setattr(served.app.llms, "current", current)
    async with served.client as client:
        made = await client.chat.completions.create(
            model=llm.name,
            messages=[{"role": "system", "content": "Pirate."}, *said("Hello")],
            max_tokens=50,
        )
        assert made.choices[0].message.content == "Aye, captain."
        stream = await client.chat.completions.create(
            model=llm.name, messages=said("Hello"), stream=True
        )
        assert [each.choices[0].delta.content async for each in stream][1:-1] == [
            "Aye,",
            " captain.",
        ]
    assert [message.text for message in llm.prompts[0].messages] == ["Pirate.", "Hello"]


async def test_speech_both_ways(served: Served, tmp_path: Path) -> None:
    served.app.recogniser = FakeRecogniser(hears="hello there")  # type: ignore[assignment]
    served.app.voice = FakeVoice()  # type: ignore[assignment]
    async with served.client as client:
        spoken = await client.audio.speech.create(
            model="tts-1", voice="alloy", input="Hello", response_format="wav"
        )
        assert spoken.content.startswith(b"RIFF")
        encoded = await client.audio.speech.create(model="tts-1", voice="alloy", input="Hello")
        assert encoded.content[:3] == b"ID3" or encoded.content[0] == 0xFF
        recording = tmp_path / "a.wav"
        recording.write_bytes(spoken.content)
        heard = await client.audio.transcriptions.create(model="whisper-1", file=recording)
        assert heard.text == "hello there"
        with pytest.raises(openai.BadRequestError, match="is json, text or verbose_json"):
            await client.audio.transcriptions.create(
                model="whisper-1", file=recording, response_format="srt"
            )
        with pytest.raises(openai.APIStatusError) as none:
            await client.embeddings.create(model="any", input="Hello")
        assert none.value.status_code == 503
        assert "expert" in none.value.message.lower()


async def test_the_protocol_of_hugginggpt(served: Served) -> None:
    body = {"messages": said("What is 6*7?")}
    planned = (await served.post("/tasks", body)).json()
    assert [(task["task"], task["dep"]) for task in planned] == [("calculator", [-1])]
    (result,) = (await served.post("/results", body)).json().values()
    assert result["inference result"]["response"] == "6*7 is 42."
    assert result["choose model result"]["id"] == "skill/calculator"
    assert "42" in (await served.post("/hugginggpt", body)).json()["message"]
    refused = await served.post("/tasks", {"messages": said("")})
    assert refused.status_code == 400


HEADERS: list[tuple[dict[str, str], int]] = [
    ({"Authorization": "Bearer wrong"}, 401),
    ({"Authorization": ""}, 401),
    ({"Authorization": f"Basic {TOKEN}"}, 401),
    ({"Host": "evil.example"}, 403),
    ({"Host": "[::bad"}, 403),
    ({"Origin": "https://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://localhost:3000"}, 400),
    ({"Host": "localhost"}, 400),
]


async def test_who_may_not_use_it(served: Served) -> None:
    for headers, status in HEADERS:
        answer = await served.post("/v1/chat/completions", {}, **headers)
        assert answer.status_code == status, headers
        assert answer.json()["error"]["message"]
        assert "access-control-allow-origin" not in answer.headers


WRONG: list[object] = [
    [],
    {"messages": []},
    {"messages": [3]},
    {"messages": [{"role": "user", "content": [{"type": "video"}]}]},
    {"messages": [{"role": "assistant", "content": "x"}]},
    {"messages": said("x"), "n": 2},
    {"messages": said("x"), "tools": [{}]},
    {"messages": said("x"), "response_format": {"type": "json_object"}},
    {"messages": said("x"), "model": "gpt-5"},
    {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}],
            }
        ]
    },
    {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "file", "file": {"file_data": "data:;base64,*"}}],
            }
        ]
    },
]


async def test_a_wrong_request_gets_a_sentence(served: Served) -> None:
    for body in WRONG:
        answer = await served.post("/v1/chat/completions", body)
        assert answer.status_code in (400, 404), body
        assert answer.json()["error"]["message"].endswith(".")


async def test_too_much_is_refused(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Access, "max_body", 100)
    assert (await served.post("/tasks", {"messages": said("x" * 200)})).status_code == 413

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"x" * 50

    async with httpx.AsyncClient(base_url=served.base, timeout=60) as client:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        answer = await client.post("/tasks", content=pieces(), headers=headers)
    assert answer.status_code == 413
    assert (await served.post("/nothing", {})).status_code == 404
    assert (await served.post("/v1/models", {})).status_code == 405


async def test_a_client_that_goes_away_stops_its_turn(served: Served) -> None:
    begun, ended, forgotten = asyncio.Event(), asyncio.Event(), asyncio.Event()
    forget = served.app.history.forget_private

    def noted(conversation_id: str) -> None:
        forget(conversation_id)
        forgotten.set()

    async def handle(*args: object, **options: object) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    served.app.assistant.handle = handle  # type: ignore[assignment, method-assign]
    served.app.history.forget_private = noted  # type: ignore[method-assign]
    for path, body in (
        ("/v1/chat/completions", {"messages": said("x")}),
        ("/v1/chat/completions", {"messages": said("x"), "stream": True}),
        ("/v1/responses", {"input": "x"}),
        ("/v1/responses", {"input": "x", "stream": True}),
        ("/v1/images/generations", {"prompt": "x"}),
        ("/results", {"messages": said("x")}),
    ):
        for event in (begun, ended, forgotten):
            event.clear()
        asking = asyncio.create_task(served.post(path, body))
        await begun.wait()
        asking.cancel()
        await ended.wait()
        await forgotten.wait()
