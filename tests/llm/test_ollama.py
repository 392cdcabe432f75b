import asyncio
import base64
import json

import pytest

from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.llm import Message, MessageRole, Prompt, Think, Usage, answer
from jarvis_desktop.llm.ollama import InstalledLLM, OllamaLLM, OllamaServer
from jarvis_desktop.platform.http import ServerTimeouts
from tests.line_server import Answer
from tests.ollama import Ollama, Shown, running_ollama

LLM_NAME = "qwen3.5:4b"


@pytest.fixture
def server():
    with running_ollama() as server:
        yield server


def made(server: Ollama, shown: Shown | None = None, **settings) -> OllamaLLM:
    facts = shown or server.llms[LLM_NAME]
    installed = InstalledLLM(
        LLM_NAME,
        facts.size,
        context_length=facts.context_length,
        capabilities=frozenset(facts.capabilities),
        family=facts.family,
    )
    return OllamaLLM(installed, OllamaServer(server.address).server, **settings)


def asked(text: str = "Hello", **settings) -> Prompt:
    return Prompt(
        (Message(MessageRole.SYSTEM, "Be brief."), Message(MessageRole.USER, text)), **settings
    )


async def test_the_request_says_all_that_ollama_must_know(server):
    await answer(made(server), asked(temperature=0.5, longest=100))
    assert server.asked == [
        {
            "model": LLM_NAME,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hello"},
            ],
            "stream": True,
            "truncate": False,
            "shift": False,
            "keep_alive": 600,
            "options": {"num_ctx": 4096, "num_predict": 100, "temperature": 0.5},
        }
    ]


async def test_the_context_is_that_of_the_prompt_in_steps_and_never_shrinks(server):
    llm = made(server, most_context=20_000)
    assert llm.window == 20_000
    for words in (10, 3000, 10, 9000, 10):
        await answer(llm, asked("word " * words, longest=100))
    contexts = [each["options"]["num_ctx"] for each in server.asked]
    assert contexts == [4096, 8192, 8192, 16384, 16384]
    await answer(llm, asked("word " * 11_500, longest=100))
    assert server.asked[-1]["options"]["num_ctx"] == 20_000


async def test_the_window_is_the_smaller_of_the_llm_s_and_the_one_wanted(server):
    assert made(server).window == 8192
    assert made(server, Shown(context_length=2048)).window == 2048
    assert made(server, Shown(context_length=0)).window == 8192


async def test_a_prompt_that_does_not_fit_is_never_sent(server):
    llm = made(server)
    with pytest.raises(ExpertError, match=rf"too long for {LLM_NAME}: about 10\d\d\d tokens"):
        await answer(llm, asked("word " * 6000))
    with pytest.raises(ExpertError, match="too long"):
        await answer(llm, asked(longest=9000))
    assert not server.asked


async def test_the_schema_is_enforced_and_not_repeated_in_words(server):
    await answer(made(server), asked(schema={"type": "object"}))
    sent = server.asked[0]
    assert sent["format"] == {"type": "object"}
    assert sent["messages"][-1]["content"] == "Hello"


async def test_the_usage_is_passed_on(server, usages):
    await answer(made(server), asked())
    assert usages == [Usage(30, 0, 2, 0.5, 0.25)]


@pytest.mark.parametrize(
    "shown", [Shown(family="gptoss", capabilities=["completion", "thinking"]), Shown(size=384)]
)
async def test_a_schema_that_is_not_enforced_is_written_in_the_last_message(server, shown):
    schema = {"type": "object", "properties": {"é": {"type": "string"}}}
    llm = made(server, shown)
    assert not llm.enforces_schema
    await answer(llm, asked(schema=schema))
    sent = server.asked[0]
    assert sent["format"] == schema
    assert sent["messages"][0]["content"] == "Be brief."
    words, _, written = sent["messages"][-1]["content"].rpartition("\n")
    assert words.startswith("Hello\n\nAnswer with JSON alone")
    assert json.loads(written) == schema
    assert "é" in written


@pytest.mark.parametrize(
    ("shown", "think", "expected"),
    [
        (Shown(), Think.HIGH, None),
        (Shown(capabilities=["completion", "thinking"]), Think.OFF, False),
        (Shown(capabilities=["completion", "thinking"]), Think.LOW, True),
        (Shown(capabilities=["completion", "thinking"], family="gptoss"), Think.OFF, "low"),
        (Shown(capabilities=["completion", "thinking"], family="gpt-oss"), Think.HIGH, "high"),
    ],
)
async def test_thinking_is_asked_for_as_the_llm_can(server, shown, think, expected):
    await answer(made(server, shown), asked(think=think, longest=100))
    assert server.asked[0].get("think") == expected
    thinks = expected not in (None, False)
    assert (server.asked[0]["options"]["num_predict"] > 100) is thinks


async def test_there_is_no_more_room_for_thinking_than_the_window_has(server):
    llm = made(server, Shown(capabilities=["completion", "thinking"], context_length=4096))
    await answer(llm, asked(think=Think.HIGH, longest=1000))
    options = server.asked[0]["options"]
    assert options["num_ctx"] == 4096
    assert 3000 < options["num_predict"] < 4096


async def test_thinking_is_no_part_of_the_answer(server):
    server.answers = [Answer(["<think>Or", " so</think>", "Yes", "."], thinking=["Hm", "."])]
    assert await answer(made(server), asked()) == "Yes."


async def test_only_thinking_is_no_answer(server):
    server.answers = [Answer(thinking=["Hm", "."])]
    with pytest.raises(ExpertError, match="gave no answer"):
        await answer(made(server), asked())


async def test_pictures_are_sent_to_an_llm_that_sees(server, tmp_path):
    picture = tmp_path / "cat.png"
    picture.write_bytes(b"\x89PNG")
    llm = made(server, Shown(capabilities=["completion", "vision"]))
    assert llm.sees
    await answer(llm, Prompt((Message(MessageRole.USER, "What is it?", (picture,)),)))
    message = server.asked[0]["messages"][0]
    assert message["images"] == [base64.b64encode(b"\x89PNG").decode()]
    with pytest.raises(ExpertError, match="does not accept pictures"):
        await answer(made(server), Prompt((Message(MessageRole.USER, "What is it?", (picture,)),)))
    picture.unlink()
    with pytest.raises(InputError, match=r"cat\.png cannot be read"):
        await answer(llm, Prompt((Message(MessageRole.USER, "What is it?", (picture,)),)))


async def test_text_that_is_no_text_is_made_one(server):
    await answer(made(server), asked("a file named \udcff"))
    assert server.asked[0]["messages"][1]["content"] == "a file named ?"


async def test_an_llm_that_is_not_there_is_named_with_the_way_to_get_it(server):
    llm = made(server)
    server.llms.clear()
    with pytest.raises(UnavailableError, match=LLM_NAME) as caught:
        await answer(llm, asked())
    assert caught.value.hint == f"Fetch it with: ollama pull {LLM_NAME}"


async def test_an_absent_server_is_said_with_what_to_do(server):
    llm = made(server)
    server.die()
    with pytest.raises(
        UnavailableError, match=r"Ollama does not run at 127\.0\.0\.1:\d+"
    ) as caught:
        await answer(llm, asked())
    assert "ollama.com/download" in caught.value.hint


async def test_an_error_in_the_middle_of_a_good_stream_is_an_error(server):
    server.answers = [Answer(["Once"], ends="error", error="llama runner has terminated")]
    with pytest.raises(ExpertError, match="Ollama failed: llama runner has terminated"):
        await answer(made(server), asked())


@pytest.mark.parametrize("ends", ["cut", "killed"])
async def test_an_answer_that_breaks_off_is_said_to(server, ends):
    server.answers = [Answer(["Once"], ends=ends)]
    with pytest.raises(ExpertError, match="broke off") as caught:
        await answer(made(server), asked())
    assert caught.value.retryable


async def test_the_death_of_the_server_in_the_middle_of_an_answer_is_noticed(server):
    server.answers = [Answer(["Once"], ends="silent")]
    heard: list[str] = []

    async def listen() -> None:
        async for piece in made(server).stream(asked()):
            heard.append(piece)
            await asyncio.to_thread(server.die)

    with pytest.raises(ExpertError, match="broke off"):
        await listen()
    assert heard == ["Once"]


@pytest.mark.parametrize(
    ("pieces", "patience"),
    [([], ServerTimeouts(first=0.3)), (["Once"], ServerTimeouts(between=0.3))],
)
async def test_silence_is_not_waited_for_for_ever(server, pieces, patience):
    server.answers = [Answer(pieces, ends="silent")]
    llm = made(server, patience=patience)
    with pytest.raises(ExpertError, match="does not answer") as caught:
        await answer(llm, asked())
    assert caught.value.retryable
    assert await asyncio.to_thread(server.left.acquire, timeout=100)


async def test_a_full_queue_is_asked_again_after_a_while(server):
    full = Answer(status=503, error="server busy, please try again")
    server.answers = [full, full, Answer(["Yes."])]
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    assert await answer(made(server, sleep=sleep), asked()) == "Yes."
    assert waits == [1, 2]
    server.answers = [full]
    waits.clear()
    with pytest.raises(ExpertError, match="is busy: server busy") as caught:
        await answer(made(server, sleep=sleep, patience=ServerTimeouts(first=40)), asked())
    assert caught.value.retryable
    assert waits == [1, 2, 4, 8, 8, 8, 8]


@pytest.mark.parametrize(
    ("status", "error", "message", "retryable"),
    [
        (400, "exceeds the available context size", "refused the request: exceeds the", False),
        (500, "more system memory is needed", "failed: more system memory is needed", True),
        (502, "", r"failed \(status 502\)", True),
    ],
)
async def test_the_server_s_own_reasons_are_passed_on(server, status, error, message, retryable):
    server.answers = [Answer(status=status, error=error)]
    with pytest.raises(ExpertError, match=message) as caught:
        await answer(made(server), asked())
    assert caught.value.retryable is retryable


@pytest.mark.parametrize(
    "strange",
    [
        Answer(body=b"<html>Log in</html>"),
        Answer(body=b"[1, 2]\n"),
        Answer(status=302, body=b"", headers={"Location": "http://127.0.0.1:9/"}),
    ],
)
async def test_something_else_at_the_address_is_recognised(server, strange):
    server.answers = [strange]
    with pytest.raises(UnavailableError, match="is not Ollama"):
        await answer(made(server), asked())


async def test_a_body_in_another_coding_than_it_says_is_a_stranger_s(server):
    server.answers = [Answer(body=b"no gzip", headers={"Content-Encoding": "gzip"})]
    with pytest.raises(UnavailableError, match="is not Ollama"):
        await answer(made(server), asked())


@pytest.mark.parametrize("host", ["http://a\x7fb:1", "http://xn--\u00e4.example"])
async def test_an_address_that_no_client_takes_is_a_stranger_s(host):
    llm = OllamaLLM(InstalledLLM(LLM_NAME), OllamaServer(host).server)
    with pytest.raises(UnavailableError, match="is not Ollama"):
        await answer(llm, asked())
    assert not (await OllamaServer(host).status()).running


async def test_strange_chunks_are_passed_over(server):
    server.answers = [
        Answer(["Yes."], lines=['{"message": 3}', '{"message": {"content": 3}}', "{}"])
    ]
    assert await answer(made(server), asked()) == "Yes."


def test_what_leaves_this_computer_is_known(server):
    here = OllamaServer().server
    assert not OllamaLLM(InstalledLLM("qwen3.5:4b", 3_000_000_000), here).remote
    assert OllamaLLM(InstalledLLM("gpt-oss:120b-cloud", 384), here).remote
    assert OllamaLLM(InstalledLLM("mine:latest", 384), here).remote
    assert OllamaLLM(InstalledLLM("qwen3.5:4b"), OllamaServer("192.0.2.7").server).remote


async def test_proxies_of_the_environment_are_for_others(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://203.0.113.1:3128")
    monkeypatch.setenv("ALL_PROXY", "http://203.0.113.1:3128")
    assert await answer(made(server), asked()) == "Yes."
