"""Single tasks are done at addresses of the user's, by the Inference API's protocol."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_desktop.app.health_checks import endpoint
from jarvis_desktop.backends.by_address import AddressBackend
from jarvis_desktop.backends.inference_api.endpoints import Endpoints
from jarvis_desktop.backends.inference_api.tasks import API_TASKS
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import InputError, JarvisError, StorageError, UnavailableError
from jarvis_desktop.core.policy import Mode, Policy
from tests.backends.inference_api.desk import BY_NAME, KEY, Desk
from tests.line_server import Answer
from tests.server.serving import PNG
from tests.work_server import ScriptedServer, json_answer, running_work_server

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN_KEY = "own-key-0123456789"
TASK = "text-classification"
SCORES = [{"label": "POSITIVE", "score": 0.9}, {"label": "NEGATIVE", "score": 0.1}]
JUDGED = json_answer([SCORES])


class Set:
    """Addresses that are set, and what asks them."""

    def __init__(self, desk: Desk, mode: Mode = Mode.OFFLINE, key: str = OWN_KEY) -> None:
        self.desk = desk
        self.file = desk.folder / "endpoints.json"
        self.endpoints = Endpoints(self.file, Policy(mode), API_TASKS, key=lambda place: key)
        self.backend = AddressBackend(BY_NAME, {}, self.endpoints.server, desk.backend.run_at)

    async def ask(self, task: str, **inputs: str | Artifact) -> Sequence[Artifact]:
        (candidate,) = self.backend.candidates(task)
        call = self.desk.call(task, None, **inputs)
        return await self.backend.run(candidate, call, lambda share, words: self.desk.note(words))


def headers(served: ScriptedServer) -> list[tuple[str, str]]:
    return [(path, found.get("authorization", "")) for path, found in served.requests]


async def test_texts_and_files_are_sent_with_the_key_of_the_address(desk: Desk) -> None:
    picture = Answer(body=base64.b64decode(PNG))
    with running_work_server(JUDGED, json_answer(SCORES), picture) as served:
        there = Set(desk)
        for task in (TASK, "image-classification", "text-to-image"):
            there.endpoints.set(task, f"{served.address.removeprefix('http://')}/here")
        (judged,) = await there.ask(TASK, text="I like it.")
        assert "positive" in (judged.text or "").lower()
        assert json.loads(served.bodies[0])["inputs"] == "I like it."
        await there.ask("image-classification", image=desk.picture())
        assert served.bodies[1].startswith(b"\xff\xd8")
        (painted,) = await there.ask("text-to-image", prompt="a red house")
        assert painted.path
        assert headers(served) == [("POST /here", f"Bearer {OWN_KEY}")] * 3
    assert not desk.router.requests, "the Hub was asked"
    assert desk.reports[0] == f"Waiting for {served.address.removeprefix('http://')}"


async def test_the_key_of_the_hub_is_never_sent(desk: Desk) -> None:
    with running_work_server(JUDGED) as served:
        there = Set(desk, key="")
        there.endpoints.set(TASK, served.address)
        await there.ask(TASK, text="I like it.")
        assert KEY not in str(served.requests)
        assert headers(served) == [("POST /", "")]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(status=401, error="no"), "refused the key. Set it with: jarvis-desktop servers"),
        (
            Answer(status=302, body=b"", headers={"Location": "http://192.0.2.1/"}),
            "web page answered",
        ),
        (json_answer({"label": 7}), "cannot be used"),
        (Answer(body=b"<html>"), "it is not whole"),
    ],
)
async def test_what_it_answers_is_not_believed(desk: Desk, answer: Answer, words: str) -> None:
    with running_work_server(answer) as served:
        there = Set(desk)
        there.endpoints.set(TASK, served.address)
        with pytest.raises(JarvisError, match=words):
            await there.ask(TASK, text="I like it.")


async def test_the_mode_decides(desk: Desk) -> None:
    there = Set(desk, Mode.LOCAL)
    there.endpoints.set(TASK, "192.0.2.7:8080")
    assert there.backend.candidates(TASK) == ()
    server = there.endpoints.find(TASK)
    assert server.server.address == "http://192.0.2.7:8080"
    with pytest.raises(UnavailableError, match=r"sends nothing to 192\.0\.2\.7"):
        await desk.backend.run_at(server, desk.call(TASK, text="x"), lambda share, words: None)
    assert (await endpoint(server)).state == "limited"
    assert "What the task text-classification works on is sent" in server.sent()


async def test_a_change_of_the_mode_ends_what_it_forbids(desk: Desk) -> None:
    with running_work_server(Answer(ends="silent")) as served:
        there = Set(desk)
        there.endpoints.set(TASK, served.address)
        asking = asyncio.create_task(there.ask(TASK, text="I like it."))
        await asyncio.to_thread(served.silent.acquire)
        desk.backend.withdraw()
        assert desk.backend._asked
        there.endpoints.set(TASK, "box:8080")
        desk.backend.withdraw()
        with pytest.raises(JarvisError, match="sends nothing to box:8080"):
            await asking


async def test_the_file_of_the_addresses(desk: Desk, tmp_path: Path) -> None:
    there = Set(desk)
    with pytest.raises(InputError, match="no kind of work"):
        there.endpoints.set("fly", "box:1")
    with running_work_server() as served:
        there.endpoints.set(TASK, served.address)
        assert (await endpoint(there.endpoints.find(TASK))).state == "ok"
    assert (await endpoint(there.endpoints.find(TASK))).state == "limited"
    there.endpoints.remove(TASK)
    assert there.endpoints.all() == {}
    assert there.backend.candidates(TASK) == ()
    with pytest.raises(InputError, match="No server is set for text-classification"):
        there.endpoints.remove(TASK)
    there.file.write_text("[")
    assert there.backend.candidates(TASK) == ()
    with pytest.raises(StorageError, match="cannot be read"):
        there.endpoints.all()
