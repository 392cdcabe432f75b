"""MCP servers of other projects, through the client of JARVIS.

    python -m tests.benchmarks.mcp_servers [NAME ...]

Starts each server as the application would, in a folder of its own, lists its tools, and calls some
of them with arguments as a plan has them: texts, files and options. `npx` and `uvx` fetch the
servers, so this needs Node, uv and the network. A call counts if it returns what it should.
"""

from __future__ import annotations

import argparse
import asyncio
import http.server
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.backends.mcp.backend import McpBackend
from jarvis_desktop.backends.mcp.servers import McpServer, McpServers
from jarvis_desktop.core.artifact import text_artifact
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.task import Call, TaskType, Value

NPX, UVX = "npx -y", "uvx"


@dataclass(frozen=True)
class Tried:
    """A server, and calls of its tools: the name, the arguments, and words of a right answer."""

    name: str
    command: str
    calls: Sequence[tuple[str, Mapping[str, str | Sequence[str]], str]]


def servers(work: Path, page: str) -> list[Tried]:
    note, sheet, letter = work / "note.txt", work / "sheet.xlsx", work / "letter.docx"
    official = "@modelcontextprotocol/server"
    return [
        Tried("filesystem", f"{NPX} {official}-filesystem {work}", [
            ("write_file", {"path": f"{note}", "content": "red apples"}, "note.txt"),
            ("read_text_file", {"path": f"{note}"}, "red apples"),
            ("list_directory", {"path": f"{work}"}, "note.txt"),
            ("get_file_info", {"path": f"{note}"}, "size"),
            ("search_files", {"path": f"{work}", "pattern": "*.txt"}, "note.txt"),
            ("read_multiple_files", {"paths": [f"{note}"]}, "red apples"),
            ("create_directory", {"path": f"{work / 'inner'}"}, "inner"),
        ]),
        Tried("memory", f"{NPX} {official}-memory", [
            ("read_graph", {}, "entities"),
            ("search_nodes", {"query": "Ada"}, "entities"),
            ("open_nodes", {"names": ["Ada"]}, "entities"),
        ]),
        Tried("everything", f"{NPX} {official}-everything", [
            ("echo", {"message": "hello"}, "hello"),
            ("get-sum", {"a": "2", "b": "40"}, "42"),
            ("get-tiny-image", {}, "image"),
            ("trigger-long-running-operation", {"duration": "2", "steps": "2"}, "completed"),
            ("get-structured-content", {"location": "New York"}, "temperature"),
            ("get-annotated-message", {"messageType": "error"}, "rror"),
            ("get-resource-links", {"count": "2"}, "resource"),
            ("get-resource-reference", {"resourceType": "Text"}, "esource"),
        ]),
        Tried("thinking", f"{NPX} {official}-sequential-thinking", [
            ("sequentialthinking", {"thought": "First, count.", "nextThoughtNeeded": "false",
                "thoughtNumber": "1", "totalThoughts": "1"}, "thoughtNumber"),
        ]),
        Tried("git", f"{UVX} mcp-server-git", [
            ("git_status", {"repo_path": f"{work}"}, "note"),
            ("git_log", {"repo_path": f"{work}"}, "begin"),
            ("git_add", {"repo_path": f"{work}", "files": ["note.txt"]}, "staged"),
            ("git_commit", {"repo_path": f"{work}", "message": "A note"}, "committed"),
            ("git_show", {"repo_path": f"{work}", "revision": "HEAD"}, "A note"),
            ("git_create_branch", {"repo_path": f"{work}", "branch_name": "other"}, "other"),
        ]),
        Tried("fetch", f"{UVX} mcp-server-fetch --ignore-robots-txt --allow-private-ips", [
            ("fetch", {"url": page}, "red apples"),
        ]),
        Tried("time", f"{UVX} mcp-server-time --local-timezone Europe/Berlin", [
            ("get_current_time", {"timezone": "Asia/Tokyo"}, "Asia/Tokyo"),
            ("convert_time", {"source_timezone": "Europe/Berlin", "time": "12:00",
                "target_timezone": "Asia/Tokyo"}, "target"),
        ]),
        Tried("sqlite", f"{UVX} --with mcp<2 mcp-server-sqlite --db-path {work / 'a.db'}", [
            ("create_table", {"query": "CREATE TABLE fruit (name TEXT)"}, "success"),
            ("write_query", {"query": "INSERT INTO fruit VALUES ('apple')"}, "1"),
            ("read_query", {"query": "SELECT * FROM fruit"}, "apple"),
            ("list_tables", {}, "fruit"),
            ("describe_table", {"table_name": "fruit"}, "name"),
            ("append_insight", {"insight": "apples sell"}, "added"),
        ]),
        Tried("calculator", f"{UVX} mcp-server-calculator", [
            ("calculate", {"expression": "6*7"}, "42"),
        ]),
        Tried("excel", f"{UVX} excel-mcp-server stdio", [
            ("create_workbook", {"path": f"{sheet}"}, "sheet.xlsx"),
            ("create_sheet", {"path": f"{sheet}", "new_name": "Fruit"}, "Fruit"),
            ("write_range", {"path": f"{sheet}", "sheet": "Fruit", "at": "A1",
                "rows": '[["apple", 42]]'}, "A1"),
            ("read_range", {"path": f"{sheet}", "sheet": "Fruit"}, "apple"),
            ("find_cells", {"path": f"{sheet}", "query": "apple"}, "A1"),
            ("describe_workbook", {"path": f"{sheet}"}, "Fruit"),
        ]),
        Tried("word", f"{UVX} --from office-word-mcp-server word_mcp_server", [
            ("create_document", {"filename": f"{letter}"}, "created"),
            ("add_heading", {"filename": f"{letter}", "text": "Fruit"}, "added"),
            ("add_paragraph", {"filename": f"{letter}", "text": "Red apples."}, "added"),
            ("get_document_text", {"filename": f"{letter}"}, "Red apples."),
            ("get_document_outline", {"filename": f"{letter}"}, "Fruit"),
        ]),
        Tried("markitdown", f"{UVX} markitdown-mcp", [
            ("convert_to_markdown", {"uri": letter.as_uri()}, "Red apples"),
        ]),
    ]  # fmt: skip


def call_of(kind: TaskType, given: Mapping[str, str | Sequence[str]], folder: Path) -> Call:
    """The call as a plan would have it. Raises KeyError for what the task does not take."""
    ports = {port.name for port in kind.ports}
    options: dict[str, Value] = {each.name: each.default for each in kind.options}
    inputs = {}
    for name, value in given.items():
        texts = [value] if isinstance(value, str) else list(value)
        if name in ports:
            inputs[name] = tuple(map(text_artifact, texts))
        else:
            default = options[name]
            options[name] = texts[0] == "true" if default is False else type(default)(texts[0])
    return Call(kind.name, inputs, options, folder)


async def tried(server: Tried, work: Path, data: Path) -> tuple[int, int, int]:
    """Print how it went, and return the tools that it has, the calls, and those that worked."""
    backend = McpBackend(
        McpServers(data / "mcp.json", data / "tools.json"),
        taken=lambda name: False,
        online=lambda: True,
    )
    program, *args = server.command.split()
    began, right = time.monotonic(), 0
    try:
        env = {
            name: f"${{{name}}}" for name in os.environ if name.startswith(("UV_", "SSL_", "npm_"))
        }
        await backend.add(McpServer(server.name, program, tuple(args), str(work), env=env))
        check = await backend.test(server.name)
        rows = {row.tool.name: row.task for row in check.rows}
        told = f"{len(rows):3} tools, protocol {check.protocol}"
        print(f"{server.name:12} {told} in {time.monotonic() - began:.1f} s")
        for tool, given, wanted in server.calls:
            folder = Path(tempfile.mkdtemp(dir=data))
            try:
                call = call_of(rows[tool], given, folder)
                (candidate,) = backend.candidates(call.task)
                made = await backend.run(candidate, call, lambda fraction, words: None)
                answer = " ".join(each.text or str(each.kind) for each in made)
            except (JarvisError, KeyError) as error:
                answer = f"{type(error).__name__}: {error}"
            if wanted.lower() in answer.lower():
                right += 1
            else:
                print(f"    {tool}: {answer[:300]!r}")
        return len(rows), len(server.calls), right
    except JarvisError as error:
        print(f"{server.name:12} {error}")
        return 0, len(server.calls), 0
    finally:
        await backend.close()


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html><body><h1>Fruit</h1><p>red apples</p></body></html>")

    def log_message(self, *args: object) -> None:
        pass


async def main(names: Sequence[str]) -> None:
    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        work, data = Path(folder, "work"), Path(folder, "data")
        work.mkdir()
        data.mkdir()
        (work / "note.txt").write_text("red apples")
        given = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        for step in (("init", "-q"), (*given, "commit", "-q", "--allow-empty", "-m", "begin")):
            subprocess.run(["git", *step], cwd=work, check=True)
        found = [
            await tried(each, work, data)
            for each in servers(work, f"http://127.0.0.1:{web.server_port}/")
            if not names or each.name in names
        ]
    working = sum(bool(calls) and calls == right for _, calls, right in found)
    tools, calls, right = (sum(each) for each in zip(*found, strict=True))
    print(f"{working} of {len(found)} servers, which have {tools} tools; {right} of {calls} calls")
    web.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    asyncio.run(main(parser.parse_args().names))
