"""Calls of MCP tools over real pipes: a good server, and ones that misbehave."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from jarvis_desktop.backends.mcp import connection
from jarvis_desktop.backends.mcp.backend import McpBackend
from jarvis_desktop.backends.mcp.servers import Approval, McpServer, McpServers
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.context import current_question
from jarvis_desktop.core.errors import ExpertError, InputError, JarvisError, UnavailableError
from jarvis_desktop.core.task import Call, TaskType

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def nothing(fraction: float | None, words: str) -> None:
    pass


class House:
    """A backend over files of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.online = True
        self.notes = folder / "notes.jsonl"
        self.types: list[TaskType] = []
        servers = McpServers(folder / "mcp.json", folder / "tools.json")
        self.backend = McpBackend(
            servers,
            taken=lambda name: name == "odd-taken",
            online=lambda: self.online,
            limit=20,
        )
        self.backend.on_change = lambda types: setattr(self, "types", list(types))

    async def with_odd(self, way: str) -> None:
        args = (str(HERE / "odd_server.py"), way, str(self.notes))
        await self.backend.add(McpServer("odd", sys.executable, args))
        await self.backend.test("odd")

    def call(self, **options: object) -> Call:
        inputs = {
            "table_path": (Artifact(Kind.TABLE, path=Path("/t.csv")),),
            "values": (text_artifact("a"), text_artifact("b")),
            "row": (text_artifact("3"),),
        }
        values = {"how": "below", "count": 1, "dry": False, **options}
        return Call("odd-add-row", inputs, values, self.folder)  # type: ignore[arg-type]

    async def run(self, call: Call | None = None, report: object = nothing) -> str:
        candidate = self.backend.candidates("odd-add-row")[0]
        made = await self.backend.run(candidate, call or self.call(), report)  # type: ignore[arg-type]
        return made[0].text or ""

    @property
    def said(self) -> list[str]:
        return [json.loads(line)["method"] for line in self.notes.read_text().splitlines()]


class Person:
    """Answers the questions of a server."""

    def __init__(self, *answers: str) -> None:
        self.asked: list[str] = []
        self._answers = list(answers)

    async def answer(self, question: str) -> str:
        self.asked.append(question)
        return self._answers.pop(0) if self._answers else ""


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    found = House(tmp_path)
    yield found
    await found.backend.close()


async def test_a_server_of_the_library_is_asked_planned_and_called(house: House) -> None:
    await house.backend.add(
        McpServer(
            "good", sys.executable, ("-m", "tests.backends.mcp.good_server"), cwd=str(ROOT)
        )
    )  # fmt: skip
    check = await house.backend.test("good")
    assert check.protocol >= "2026"
    greet, draw, paint = check.rows
    assert (greet.task.name, greet.approval) == ("good-greet", Approval.ASK)
    assert [port.name for port in greet.task.ports] == ["name"]
    assert [(option.name, option.default) for option in greet.task.options] == [("times", 1)]
    assert greet.task.acts
    call = Call("good-greet", {"name": (text_artifact("Ada"),)}, {"times": 2}, house.folder)
    candidate = house.backend.candidates("good-greet")[0]
    assert "name: Ada" in house.backend.question(call)
    made = await house.backend.run(candidate, call, nothing)
    assert made == [text_artifact("Hello Ada! Hello Ada!")]
    drawn = await house.backend.run(
        house.backend.candidates("good-draw")[0],
        Call(draw.task.name, {}, {}, house.folder),
        nothing,
    )
    before = current_question.set(Person("red").answer)
    painted = await house.backend.run(
        house.backend.candidates("good-paint")[0],
        Call(paint.task.name, {}, {}, house.folder),
        nothing,
    )
    current_question.reset(before)
    assert painted == [text_artifact("It is red.")]
    assert [item.kind for item in drawn] == [Kind.TEXT, Kind.IMAGE]
    assert drawn[1].path
    assert drawn[1].path.read_bytes().startswith(b"\x89PNG")


async def test_arguments_take_the_form_of_the_schema(house: House) -> None:
    await house.with_odd("obeys")
    given = json.loads(await house.run(house.call(how="above", dry=True)))
    assert given == {
        "table_path": "/t.csv",
        "values": ["a", "b"],
        "row": 3,
        "how": "above",
        "dry": True,
    }
    call = house.call()
    call = Call(call.task, {**call.inputs, "row": (text_artifact("x"),)}, {}, call.workdir)
    with pytest.raises(InputError, match="cannot take “x” as its row"):
        house.backend.question(call)


@pytest.mark.parametrize(
    ("way", "sentence"),
    [
        ("dies", "The MCP server odd ended: Segmentation fault"),
        ("floods", "answered with more than 32 MB, so it was stopped"),
        ("refuses", "refused: no such table"),
        ("fails", "add_row failed: "),
    ],
)
async def test_what_goes_wrong_is_one_sentence(house: House, way: str, sentence: str) -> None:
    await house.with_odd(way)
    with pytest.raises(ExpertError, match=sentence) as failed:
        await house.run()
    assert not failed.value.retryable


async def test_a_server_that_hangs_is_stopped(house: House) -> None:
    await house.with_odd("hangs")
    running = house.backend._running["odd"]
    running._limit = 0.3
    with pytest.raises(ExpertError, match="said nothing for 0 seconds, so it was stopped"):
        await house.run()
    assert not running.alive


@pytest.mark.parametrize(
    ("way", "sentence"),
    [("silent", "did not start within"), ("stillborn", "ended: no token given")],
)
async def test_a_server_that_does_not_start_is_reported(
    house: House, way: str, sentence: str
) -> None:
    house.backend._limit = 0.5 if way == "silent" else 20
    with pytest.raises(ExpertError, match=sentence):
        await house.with_odd(way)


async def test_a_missing_program_is_named(house: House) -> None:
    await house.backend.add(McpServer("odd", "/no/such/program"))
    with pytest.raises(UnavailableError, match="did not start: no such file or directory: /no"):
        await house.backend.test("odd")


async def test_cancelling_is_told_to_the_server_and_progress_to_the_user(house: House) -> None:
    await house.with_odd("waits")
    heard = asyncio.Event()

    def report(fraction: float | None, words: str) -> None:
        assert (fraction, words) == (0.25, "a quarter")
        heard.set()

    running = asyncio.create_task(house.run(report=report))
    await heard.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    house.backend._running["odd"]._tools = None
    await house.backend._running["odd"].tools()  # it lives on, and answers in order
    assert "notifications/cancelled" in house.said


async def test_what_has_changed_is_not_called_and_asked_again(house: House) -> None:
    await house.with_odd("obeys")
    server = house.backend.servers.find("odd")
    (row,) = house.backend.rows(server)
    house.backend.approve(server, [row.tool], Approval.ALWAYS)
    assert house.backend.question(house.call()) == ""
    (house.folder / "changed").touch()
    await house.backend.close()
    with pytest.raises(UnavailableError, match="has changed, so it was not called"):
        await house.run()
    assert "tools/call" not in house.said
    assert house.backend.question(house.call()).startswith("Call the tool add_row of the MCP")
    assert await house.run()


async def test_what_is_never_allowed_is_not_offered(house: House) -> None:
    await house.with_odd("obeys")
    server = house.backend.servers.find("odd")
    (row,) = house.backend.rows(server)
    house.backend.approve(server, [row.tool], Approval.NEVER)
    assert house.types == []
    with pytest.raises(UnavailableError, match="no tool for odd-add-row any longer"):
        house.backend.question(house.call())
    await house.backend.remove("odd")
    assert house.backend.servers.all() == []


async def test_offline_reaches_no_other_computer(house: House) -> None:
    await house.backend.add(McpServer("far", url="https://mcp.example.org/mcp"))
    house.online = False
    with pytest.raises(UnavailableError, match="offline, and the MCP server far"):
        await house.backend.test("far")


async def test_idle_servers_end(house: House) -> None:
    house.backend._idle = 0.05
    await house.with_odd("obeys")
    life = house.backend._running["odd"]._life
    await asyncio.wait([life])
    assert not house.backend._running


def test_without_servers_nothing_is_imported_or_offered(tmp_path: Path) -> None:
    backend = House(tmp_path).backend
    assert (list(backend.refresh()), backend.candidates("x")) == ([], ())
    assert not (tmp_path / "tools.json").exists()


async def test_an_unreadable_file_stops_nothing_but_itself(house: House) -> None:
    (house.folder / "mcp.json").write_text("{")
    assert list(house.backend.refresh()) == []
    with pytest.raises(JarvisError, match="is not JSON"):
        house.backend.servers.all()


async def test_a_server_over_http_gets_its_headers_and_says_when_it_wants_a_login(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    import uvicorn
    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from tests.backends.mcp.good_server import server

    app = server.streamable_http_app()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        known = dict(scope.get("headers", ())).get(b"x-key") == b"open"
        await (app if known or scope["type"] == "lifespan" else Response(status_code=401))(
            scope, receive, send
        )

    config = uvicorn.Config(guarded, port=0, log_config=None, lifespan="on")
    host = uvicorn.Server(config)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        serving = asyncio.create_task(host.serve(sockets=[listening]))
        monkeypatch.setenv("KEY", "open")
        await house.backend.add(McpServer("good", url=url, headers={"X-Key": "${KEY}"}))
        check = await house.backend.test("good")
        assert [row.tool.name for row in check.rows] == ["greet", "draw", "paint"]
        call = Call("good-greet", {"name": (text_artifact("Ada"),)}, {"times": 1}, house.folder)
        candidate = house.backend.candidates("good-greet")[0]
        assert await house.backend.run(candidate, call, nothing) == [text_artifact("Hello Ada!")]
        monkeypatch.setattr(connection, "MAX_ANSWER", 50)
        with pytest.raises(ExpertError, match="answered with more than 0 MB, so it was stopped"):
            await house.backend.run(candidate, call, nothing)
        monkeypatch.setenv("KEY", "wrong")
        with pytest.raises(UnavailableError, match="wants a login"):
            await house.backend.test("good")
        await house.backend.close()
        host.should_exit = True
        await serving
    with pytest.raises(ExpertError, match=r"good at 127\.0\.0\.1 cannot be used"):
        await house.backend.test("good")


WISHES: list[tuple[dict[str, object], list[str], dict[str, object]]] = [
    ({"type": "object", "properties": {"name": {"type": "string", "title": "Your name"}},
      "required": ["name"]}, ["Ada"], {"action": "accept", "content": {"name": "Ada"}}),
    ({"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]},
     ["many", "3"], {"action": "accept", "content": {"count": 3}}),
    ({"type": "object", "properties": {
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}]},
        "sure": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}}},
     ["small", "yes", "a, b"],
     {"action": "accept", "content": {"size": "s", "sure": True, "tags": ["a", "b"]}}),
    ({"type": "object", "properties": {"name": {"type": "string"}}}, [""],
     {"action": "accept", "content": {}}),
    ({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}, [],
     {"action": "decline"}),
    ({"type": "object", "properties": {}}, ["yes"], {"action": "accept", "content": {}}),
    ({"type": "object", "properties": {}}, ["no"], {"action": "decline"}),
]  # fmt: skip


async def test_a_server_may_ask_the_user(house: House) -> None:
    await house.with_odd("asks")
    for schema, answers, outcome in WISHES:
        (house.folder / "schema.json").write_text(json.dumps(schema))
        person = Person(*answers)
        before = current_question.set(person.answer)
        assert json.loads(await house.run()) == outcome
        current_question.reset(before)
        for question in person.asked:
            assert question.startswith("The MCP server odd asks, for its tool add_row: Which one?")


async def test_a_file_that_is_no_base64_gets_a_sentence(house: House) -> None:
    await house.with_odd("garbles")
    with pytest.raises(ExpertError, match="a file that is not valid base64"):
        await house.run()
