import asyncio
import base64
import logging
import traceback

import pytest

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.llm import Message, MessageRole, Prompt, Think, Usage, answer
from jarvis_desktop.llm.openai_compatible import (
    OpenAICompatibleLLM,
    ServedLLM,
    described,
    listed,
    server_at,
)
from jarvis_desktop.platform.api_keys import ApiKey
from jarvis_desktop.platform.http import ServerTimeouts
from tests.line_server import Answer
from tests.openai_server import running_openai_server

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def server():
    with running_openai_server() as server:
        yield server


def asked(text: str = "Hello", **settings) -> Prompt:
    return Prompt(
        (Message(MessageRole.SYSTEM, "Be brief."), Message(MessageRole.USER, text)), **settings
    )


def made(server, **settings) -> OpenAICompatibleLLM:
    known = {"enforces_schema": False} | settings
    return OpenAICompatibleLLM("tiny", f"{server.address}/v1", **known)


async def test_the_request_has_the_standard_form(server):
    schema = {"type": "object"}
    await answer(made(server), asked(schema=schema, longest=100))
    sent = server.asked[0]
    words = sent.pop("messages")[-1]["content"]
    assert words.startswith("Hello\n\nAnswer with JSON alone")
    assert sent == {
        "model": "tiny",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 100,
        "temperature": 0.0,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema},
        },
        "chat_template_kwargs": {"enable_thinking": False},
    }


async def test_thinking_is_asked_for_in_both_ways(server):
    await answer(made(server), asked(think=Think.MEDIUM, longest=100))
    sent = server.asked[0]
    assert sent["reasoning_effort"] == "medium"
    assert sent["chat_template_kwargs"] == {"enable_thinking": True}
    assert sent["max_tokens"] > 100


@pytest.mark.parametrize(("says_done", "says_reason"), [(True, True), (True, False), (False, True)])
async def test_an_answer_ends_as_servers_end_it(server, says_done, says_reason):
    server.says_done, server.says_reason = says_done, says_reason
    assert await answer(made(server), asked()) == "Yes."


async def test_comments_and_names_of_events_are_no_part_of_the_answer(server):
    server.answers = [Answer(["Yes."], lines=[": still busy", "event: chunk"])]
    assert await answer(made(server), asked()) == "Yes."


async def test_a_service_elsewhere_gets_the_standard_alone(server):
    llm = made(server)
    llm.remote = True
    await answer(llm, asked())
    standard = {"model", "messages", "stream", "stream_options", "max_tokens", "temperature"}
    assert set(server.asked[0]) == standard


async def test_thinking_is_no_part_of_the_answer(server):
    server.answers = [Answer(["<think>Or", " so</think>", "Yes", "."], thinking=["Hm", "."])]
    assert await answer(made(server), asked()) == "Yes."


async def test_pictures_are_sent_to_an_llm_that_sees(server, tmp_path):
    picture = tmp_path / "cat.jpg"
    picture.write_bytes(b"\xff\xd8")
    prompt = Prompt((Message(MessageRole.USER, "What is it?", (picture,)),))
    await answer(made(server, sees=True), prompt)
    data = base64.b64encode(b"\xff\xd8").decode()
    assert server.asked[0]["messages"][0]["content"] == [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{data}"}},
    ]
    with pytest.raises(ExpertError, match="does not accept pictures"):
        await answer(made(server), prompt)


async def test_the_key_is_asked_for_once_and_again_where_it_was_refused(server):
    keys = iter(["", f" {KEY}\n"])
    llm = made(server, key=ApiKey(lambda: next(keys)))
    server.answers = [Answer(status=401), Answer(["Yes."])]
    with pytest.raises(UnavailableError, match="refused the key"):
        await answer(llm, asked())
    for _ in range(2):
        await answer(llm, asked())
    sent = [headers.get("authorization") for _, headers in server.requests]
    assert sent == [None, f"Bearer {KEY}", f"Bearer {KEY}"]


async def test_the_saved_token_of_the_hub_is_sent_to_nobody(server, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    await answer(made(server), asked())
    assert "authorization" not in server.requests[0][1]


async def test_neither_proxies_nor_the_hub_s_offline_mode_get_in_the_way(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://203.0.113.1:3128")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert await answer(made(server), asked()) == "Yes."
    assert await listed(server.address) == (ServedLLM("another"), ServedLLM("tiny"))


@pytest.mark.parametrize(
    ("status", "error", "kind", "message"),
    [
        (401, f"Incorrect API key provided: {KEY}", UnavailableError, "refused the key"),
        (403, "no", UnavailableError, "refused the key"),
        (402, "pay", UnavailableError, "no credit left"),
        (429, "insufficient_quota", UnavailableError, "no credit left"),
        (404, "no such model", UnavailableError, "does not have tiny"),
        (400, f"the key {KEY} is odd", ExpertError, "refused the request: the key … is odd"),
        (500, f"the key {KEY} broke it", ExpertError, "failed: the key … broke it"),
        (418, "", ExpertError, r"failed \(status 418\)"),
    ],
)
async def test_each_refusal_has_its_sentence_and_none_the_key(
    server, caplog, status, error, kind, message
):
    caplog.set_level(logging.DEBUG)
    server.answers = [Answer(status=status, error=error)]
    with pytest.raises(kind, match=message) as caught:
        await answer(made(server, key=ApiKey(lambda: KEY)), asked())
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in caplog.text
    assert len(server.asked) == 1


async def test_an_error_in_the_stream_is_one_without_the_key(server):
    server.answers = [Answer(["Once"], ends="error", error=f"out of memory ({KEY})")]
    with pytest.raises(ExpertError, match=r"failed: out of memory \(…\)"):
        await answer(made(server, key=ApiKey(lambda: KEY)), asked())


async def test_what_stands_in_for_a_key_is_left_alone(server):
    server.answers = [Answer(status=500, error="none is left")]
    with pytest.raises(ExpertError, match="none is left"):
        await answer(made(server, key=ApiKey(lambda: "none")), asked())


@pytest.mark.parametrize("key", ["ключ-от-квартиры", f"{KEY}\n{KEY}"])
async def test_a_key_that_no_header_can_hold_is_not_named(server, key):
    with pytest.raises(UnavailableError, match="characters that no key has") as caught:
        await answer(made(server, key=ApiKey(lambda: key)), asked())
    assert key not in "".join(traceback.format_exception(caught.value))


async def test_a_server_that_says_when_is_asked_again_then(server):
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    busy = Answer(status=429, error="slow down", headers={"Retry-After": "7"})
    loading = Answer(status=503, error="Loading model")
    server.answers = [busy, loading, Answer(["Yes."])]
    assert await answer(made(server, sleep=sleep), asked()) == "Yes."
    assert waits == [7, 2]
    server.answers = [Answer(status=429, error="tomorrow", headers={"Retry-After": "3600"})]
    with pytest.raises(ExpertError, match="busy: tomorrow") as caught:
        await answer(made(server, sleep=sleep), asked())
    assert caught.value.retryable
    assert waits == [7, 2]


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ("response_format", "'response_format.type' is not supported"),
        ("temperature", "Unsupported value: 'temperature' does not support 0.0"),
        ("chat_template_kwargs", "Unexpected fields in the request: {'chat_template_kwargs'}"),
        ("reasoning_effort", "Unrecognized request argument supplied: reasoning_effort"),
        ("stream_options", "stream_options: Extra inputs are not permitted"),
    ],
)
async def test_a_server_is_asked_without_what_it_does_not_know(server, parameter, words):
    server.unknown = {parameter: words}
    llm = made(server)
    prompt = asked(schema={"type": "object"}, think=Think.LOW)
    assert await answer(llm, prompt) == "Yes."
    assert [parameter in each for each in server.asked] == [True, False]
    await answer(llm, prompt)
    assert [parameter in each for each in server.asked] == [True, False, False]


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ("response_format", "'response_format.type' must be 'text'"),
        ("response_format", "failed to parse grammar"),
        ("max_tokens", "'max_tokens' is too large: 2048"),
    ],
)
async def test_what_may_be_the_fault_of_one_prompt_is_not_remembered(server, parameter, words):
    server.unknown = {parameter: words}
    llm = made(server)
    for _ in range(2):
        assert await answer(llm, asked(schema={"type": "object"})) == "Yes."
    assert [parameter in each for each in server.asked] == [True, False, True, False]


async def test_a_refusal_is_not_remembered_where_asking_without_it_did_not_help(server):
    llm = made(server)
    server.answers = [
        Answer(status=400, error="max_tokens of this length is not supported"),
        Answer(status=400, error="the prompt is too long"),
        Answer(["Yes."]),
    ]
    with pytest.raises(ExpertError, match="the prompt is too long"):
        await answer(llm, asked())
    assert await answer(llm, asked()) == "Yes."
    assert ["max_tokens" in each for each in server.asked] == [True, False, True]


async def test_the_newer_name_of_a_limit_is_tried(server):
    server.unknown = {"max_tokens": "Use 'max_completion_tokens' instead of 'max_tokens'."}
    assert await answer(made(server), asked(longest=100)) == "Yes."
    assert server.asked[-1]["max_completion_tokens"] == 100


async def test_a_refusal_that_names_nothing_is_not_tried_again(server):
    server.answers = [Answer(status=400, error="the roles must alternate")]
    with pytest.raises(ExpertError, match="refused the request: the roles must alternate"):
        await answer(made(server), asked(schema={"type": "object"}))
    assert len(server.asked) == 1


@pytest.mark.parametrize("ends", ["cut", "killed"])
async def test_an_answer_that_breaks_off_is_said_to(server, ends):
    server.answers = [Answer(["Once"], ends=ends)]
    with pytest.raises(ExpertError, match="broke off"):
        await answer(made(server), asked())


@pytest.mark.parametrize(
    ("pieces", "patience"),
    [([], ServerTimeouts(first=0.3)), (["Once"], ServerTimeouts(between=0.3))],
)
async def test_silence_is_not_waited_for_for_ever(server, pieces, patience):
    server.answers = [Answer(pieces, ends="silent")]
    llm = made(server, patience=patience)
    with pytest.raises(ExpertError, match="does not answer"):
        await answer(llm, asked())
    assert await asyncio.to_thread(server.left.acquire, timeout=100)


@pytest.mark.parametrize(
    "strange",
    [
        Answer(body=b"<!doctype html>\n<html>Log in</html>"),
        Answer(body=b'{"choices": []}'),
        Answer(status=302, body=b"", headers={"Location": "http://127.0.0.1:9/"}),
    ],
)
async def test_something_else_at_the_address_is_recognised(server, strange):
    server.answers = [strange]
    with pytest.raises(UnavailableError, match="is not an OpenAI-compatible server"):
        await answer(made(server), asked())


async def test_a_page_as_the_reason_of_a_failure_is_not_quoted(server):
    server.answers = [Answer(status=502, body=b"<html><h1>Bad gateway</h1></html>")]
    with pytest.raises(ExpertError, match=r"failed \(status 502\)\."):
        await answer(made(server), asked())


async def test_an_error_that_is_no_json_is_passed_on(server):
    server.answers = [Answer(lines=['{"error": "no "quotes" here"}'], ends="cut")]
    with pytest.raises(ExpertError, match='no "quotes" here'):
        await answer(made(server), asked())


async def test_strange_chunks_are_passed_over(server):
    lines = ['{"choices": 3}', '{"choices": [3]}', '{"choices": [{"delta": 3}]}', "{}"]
    server.answers = [Answer(["Yes."], lines=lines)]
    assert await answer(made(server), asked()) == "Yes."
    server.answers = [Answer(["Yes."], lines=["[]"])]
    with pytest.raises(ExpertError, match="failed"):
        await answer(made(server), asked())


async def test_the_llms_of_a_server_are_listed(server):
    found = await listed(f"{server.address}/v1/", key=ApiKey(lambda: KEY))
    assert found == (ServedLLM("another"), ServedLLM("tiny"))
    assert server.requests[0][0] == "GET /v1/models"
    assert server.requests[0][1]["authorization"] == f"Bearer {KEY}"


LLAMA_CPP = {"n_ctx": 8192, "n_params": 494_000_000, "size": 7, "ftype": "Q4_K - Medium"}
TIMINGS = {"prompt_n": 7, "cache_n": 25, "predicted_n": 5, "prompt_ms": 867.5, "predicted_ms": 1220}


@pytest.mark.parametrize(
    ("entry", "llm"),
    [
        (
            {"owned_by": "llamacpp", "meta": LLAMA_CPP},
            ServedLLM("tiny", 494_000_000, 8192, True, "494000000-7-Q4_K - Medium"),
        ),
        ({"owned_by": "vllm", "max_model_len": 4096}, ServedLLM("tiny", 0, 4096, True)),
        ({"meta": 3, "max_model_len": "4096"}, ServedLLM("tiny")),
    ],
)
async def test_what_servers_add_to_the_list_is_read(server, entry, llm):
    server.llms, server.metadata = ("tiny",), {"tiny": entry}
    assert await listed(server.address) == (llm,)


LOADED = {"id": "tiny", "state": "loaded", "loaded_context_length": 4096}


@pytest.mark.parametrize(
    ("others", "llm"),
    [
        ({}, ServedLLM("tiny")),
        ({"/props": b"<html>"}, ServedLLM("tiny")),
        (
            {"/props": {"default_generation_settings": {"n_ctx": 2048}}},
            ServedLLM("tiny", 0, 2048, True),
        ),
        (
            {"/props": {"error": "Unexpected endpoint"}, "/api/v0/models": {"data": [LOADED]}},
            ServedLLM("tiny", 0, 4096, True),
        ),
        (
            {"/api/v0/models": {"data": [3, {"id": "tiny", "state": "not-loaded"}]}},
            ServedLLM("tiny", 0, 0, True),
        ),
        ({"/api/v0/models": {"data": [{"id": "another", "state": "loaded"}]}}, ServedLLM("tiny")),
        ({"/api/v0/models": {"data": 3}}, ServedLLM("tiny")),
    ],
)
async def test_what_servers_state_elsewhere_is_read(server, others, llm):
    server.others = others
    assert await described(f"{server.address}/v1", ServedLLM("tiny")) == llm


async def test_a_server_that_is_gone_describes_nothing(server):
    server.die()
    assert await described(server.address, ServedLLM("tiny")) == ServedLLM("tiny")


@pytest.mark.parametrize("enforces", [True, False])
async def test_an_unknown_server_is_probed_once_for_schemas(server, enforces):
    server.enforces_schema = enforces
    probed: list[bool] = []
    llm = made(server, enforces_schema=None, on_probe=probed.append)
    await answer(llm, asked())
    assert (probed, llm.enforces_schema) == ([], False)
    prompt = asked(schema={"type": "object"})
    await asyncio.gather(answer(llm, prompt), answer(llm, prompt))
    assert (probed, llm.enforces_schema) == ([enforces], enforces)
    last = [each["messages"][-1]["content"] for each in server.asked]
    assert len(last) == 4
    assert "JSON Schema" not in last[1]
    assert ["JSON Schema" in each for each in last[2:]] == [not enforces] * 2


async def test_a_probe_does_without_what_the_server_does_not_know(server):
    server.enforces_schema = True
    server.unknown = {"stream_options": "stream_options: Extra inputs are not permitted"}
    assert await made(server, enforces_schema=None).probe_schema()
    server.unknown = {"response_format": "'response_format.type' is not supported"}
    assert not await made(server, enforces_schema=None).probe_schema()


@pytest.mark.parametrize(
    ("bad", "ends"),
    [(Answer(["{"]), "stop"), (Answer(["{"]), "length"), (Answer(status=400, error="no"), "stop")],
)
async def test_a_server_that_answers_the_probe_otherwise_enforces_nothing(server, bad, ends):
    server.answers, server.ends_by = [bad], ends
    assert not await made(server, enforces_schema=None).probe_schema()


async def test_a_probe_that_fails_is_repeated(server):
    server.answers = [Answer(["Once"], ends="killed"), Answer(["Yes."])]
    llm = made(server, enforces_schema=None)
    with pytest.raises(ExpertError, match="broke off"):
        await answer(llm, asked(schema={"type": "object"}))
    assert await answer(llm, asked(schema={"type": "object"})) == "Yes."
    assert len(server.asked) == 3


async def test_a_schema_that_an_enforcing_server_cannot_compile_is_put_into_words(server):
    server.unknown = {"response_format": "failed to parse grammar"}
    llm = made(server, enforces_schema=True)
    assert await answer(llm, asked(schema={"type": "object"})) == "Yes."
    last = [each["messages"][-1]["content"] for each in server.asked]
    assert ["JSON Schema" in each for each in last] == [False, True]
    assert llm.enforces_schema


@pytest.mark.parametrize(
    ("timings", "usage"),
    [
        (TIMINGS, Usage(7, 25, 5, 0.8675, 1.22)),
        ({"prompt_n": None, "prompt_ms": "1"}, Usage(0, 0, 0, 0, 0)),
    ],
)
async def test_the_measurements_of_llama_cpp_are_passed_on(server, usages, timings, usage):
    server.timings = timings
    await answer(made(server), asked())
    assert usages == [usage]


async def test_the_usage_of_other_servers_is_timed_here(server, usages):
    server.cached = 20
    await answer(made(server), asked())
    (usage,) = usages
    assert (usage.read, usage.cached, usage.written) == (10, 20, 2)
    assert usage.reading_s >= 0
    assert usage.writing_s >= 0


async def test_a_server_without_usage_reports_none(server, usages):
    server.unknown = {"stream_options": "unknown parameter: stream_options"}
    await answer(made(server), asked())
    assert usages == []


@pytest.mark.parametrize(
    ("listing", "message"),
    [
        (Answer(body=b"<html>"), "is not an OpenAI-compatible"),
        (Answer(body=b'{"data": 3}'), "is not an OpenAI-compatible"),
        (Answer(body=b"[]"), "is not an OpenAI-compatible"),
        (Answer(status=401, error="no"), "refused the key"),
        (Answer(status=404, error="no"), "does not have such an LLM"),
    ],
)
async def test_a_list_that_cannot_be_had_is_said(server, listing, message):
    server.listing = listing
    with pytest.raises(UnavailableError, match=message):
        await listed(server.address)


async def test_a_server_that_does_not_list_is_not_waited_for(server):
    server.listing = Answer(ends="silent")
    with pytest.raises(ExpertError, match="does not answer"):
        await listed(server.address, timeout=0.3)


@pytest.mark.parametrize(
    ("base_url", "address", "remote"),
    [
        ("http://127.0.0.1:1234", "http://127.0.0.1:1234/v1", False),
        ("http://localhost:1234/v1/", "http://localhost:1234/v1", False),
        ("https://router.example/v1", "https://router.example/v1", True),
        ("https://ai.example/openai", "https://ai.example/openai", True),
    ],
)
def test_addresses_are_taken_as_people_write_them(base_url, address, remote):
    server = server_at(base_url)
    assert (server.address, server.remote) == (address, remote)
    assert OpenAICompatibleLLM("tiny", base_url).remote is remote
