"""Servers do tasks of a plan, and what they answer is not believed."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from jarvis_desktop.backends.by_address import AddressBackend, ServedTask, edit, paint
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.task import Call
from jarvis_desktop.platform.work_server import Work, WorkAddress, WorkServer
from jarvis_desktop.tasks.definition import Services
from jarvis_desktop.tasks.registry import DEFINITIONS
from tests.line_server import Answer
from tests.server.serving import PNG
from tests.work_server import ScriptedServer, json_answer, running_work_server

TASK, EDITING = "text-to-image", "image-editing"
BY_NAME = {each.type.name: each for each in DEFINITIONS}
PICTURE = {"data": [{"b64_json": PNG}]}


def quiet(fraction: float | None, words: str) -> None:
    pass


def backend(address: str, mode: Mode = Mode.LOCAL, *, own: bool = False) -> AddressBackend:
    policy = Policy(mode, own_machines=own)
    server = WorkServer(Work.IMAGES, lambda: WorkAddress(address), policy, key=lambda place: "")
    services = Services(*(None,) * 10)  # type: ignore[arg-type]
    skills = {TASK: partial(paint, server), EDITING: partial(edit, server)}
    served = {task: ServedTask(server, skill, services) for task, skill in skills.items()}
    return AddressBackend(BY_NAME, served)


async def painted(
    served: ScriptedServer, folder: Path, words: str = "a red house", **options: Any
) -> Artifact:
    by = backend(served.address)
    call = Call(TASK, {"prompt": (text_artifact(words),)}, options, folder)
    (made,) = await by.run(by.candidates(TASK)[0], call, quiet)
    return made


async def test_a_picture_is_painted(tmp_path: Path) -> None:
    with running_work_server(json_answer(PICTURE)) as served:
        made = await painted(served, tmp_path, size="landscape", avoid="people")
        assert json.loads(served.bodies[0]) == {
            "model": "gpt-image-1",
            "prompt": "a red house, without people",
            "n": 1,
            "size": "1280x832",
            "response_format": "b64_json",
        }
    assert (made.kind, made.name) == (Kind.IMAGE, "a red house.png")
    assert made.path
    assert made.path.read_bytes() == base64.b64decode(PNG)


async def edited(served: ScriptedServer, folder: Path, words: str, **options: Any) -> Artifact:
    source = folder / "cat.png"
    Image.new("RGBA", (3000, 1500), "#ff000080").save(source)
    given = {"image": (Artifact(Kind.IMAGE, path=source, name="cat.png"),)}
    inputs = {**given, "prompt": (text_artifact(words),)}
    call = Call(EDITING, inputs, {"edit": "", **options}, folder)
    by = backend(served.address)
    (made,) = await by.run(by.candidates(EDITING)[0], call, quiet)
    return made


async def test_a_picture_is_changed_by_words(tmp_path: Path) -> None:
    refused = Answer(status=400, error="Unknown parameter: 'response_format'.")
    with running_work_server(refused, json_answer(PICTURE)) as served:
        made = await edited(served, tmp_path, "add a hat")
        assert [path for path, _ in served.requests] == ["POST /v1/images/edits"] * 2
        fields = {"model": "gpt-image-1", "prompt": "add a hat", "n": "1"}
        assert served.form(0) == {**fields, "response_format": "b64_json"}
        assert served.form(1) == fields
        sent = Image.open(io.BytesIO(served.bodies[1].split(b"image/png\r\n\r\n")[1]))
        assert (sent.size, sent.mode) == ((1536, 768), "RGBA")
    assert made.name == "cat-edited.png"
    with running_work_server() as served:
        for words, options in (("", {}), ("brighter", {"edit": "brighter"})):
            with pytest.raises(InputError, match="no description"):
                await edited(served, tmp_path, words, **options)
        assert not served.requests


async def test_a_server_with_one_form_of_answer_is_asked_without_it(tmp_path: Path) -> None:
    refused = Answer(status=400, error="Unknown parameter: 'response_format'.")
    with running_work_server(refused, json_answer(PICTURE)) as served:
        await painted(served, tmp_path)
        assert "response_format" not in json.loads(served.bodies[1])
    refused = Answer(status=400, error="That is not allowed.")
    with running_work_server(refused) as served, pytest.raises(ExpertError, match="not allowed"):
        await painted(served, tmp_path)


BAD: Mapping[str, Any] = {
    "a link": {"data": [{"url": "http://192.0.2.1/x.png"}]},
    "nothing": {"data": []},
    "a list": [1],
    "numbers": {"data": [{"b64_json": 7}]},
    "no base64": {"data": [{"b64_json": "§§"}]},
    "a program": {"data": [{"b64_json": base64.b64encode(b"\x7fELF").decode()}]},
}


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
async def test_what_is_no_picture_is_an_error(answer: Any, tmp_path: Path) -> None:
    document, words = json_answer(answer), "cannot be used"
    with running_work_server(document) as served, pytest.raises(JarvisError, match=words):
        await painted(served, tmp_path)
    assert list(tmp_path.glob("*.*")) == []


async def test_what_it_needs(tmp_path: Path) -> None:
    with running_work_server() as served, pytest.raises(InputError, match="no description"):
        await painted(served, tmp_path, words=" ")
    by, call = backend("box"), Call("translation", {}, {}, tmp_path)
    with pytest.raises(UnavailableError, match="No server can be asked for translation"):
        await by.run(Candidate(Expert("x", "translation"), "server"), call, quiet)


@pytest.mark.parametrize(
    ("address", "mode", "own", "found"),
    [
        ("", Mode.HYBRID, True, []),
        ("127.0.0.1:1", Mode.OFFLINE, False, [("127.0.0.1:1", False, False)]),
        ("box:8000", Mode.LOCAL, False, []),
        ("box:8000", Mode.LOCAL, True, [("box:8000", True, True)]),
        ("api.example.com", Mode.LITE, False, [("api.example.com", True, False)]),
    ],
)
def test_who_is_offered(address: str, mode: Mode, own: bool, found: list[Any]) -> None:
    by = backend(address, mode, own=own)
    offered = [(each.provider, each.remote, each.own) for each in by.candidates(TASK)]
    assert offered == found
    assert not any(each.by_provider for each in by.candidates(TASK))
    assert by.candidates("translation") == ()
