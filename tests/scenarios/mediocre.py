"""An LLM of four billion parameters, as they are: it can do the work, but it misnames branches,
breaks JSON, repeats itself in plans and writes code with slips. It goes by what stands in the
prompt alone, so that it can be asked by several processes, and twice. Where the person does not
allow it to keep its function, it does without the library.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.line_server import Answer, running
from tests.ollama import Ollama, _Handler

PRICES = "date,close\n2026-01-30,10.5\n2026-02-27,12.25\n2026-03-31,17.75\n2026-04-30,16.0\n"

FUNCTION = '''"""Prices from a server."""

import csv
import io
import urllib.request


def download_prices(url: str) -> list[tuple[str, float]]:
    """Give the dates and closing prices of a CSV file on the web."""
    with urllib.request.urlopen(url) as answer:
        return read_prices(answer.read().decode())


def read_prices(text: str) -> list[tuple[str, float]]:
    """Give the dates and closing prices of a text in CSV."""
    rows = csv.DictReader(io.StringIO(text))
    return [(row["date"], float(row["close"])) for row in rows]
'''
TESTS = """from unittest import mock

from library import download_prices


def test_prices() -> None:
    text = b"date,close\\n2026-01-01,1.5\\n"
    with mock.patch("urllib.request.urlopen") as opened:
        opened.return_value.__enter__.return_value.read.return_value = text
        assert download_prices("http://x") == [("2026-01-01", 1.5)]
"""
SLIP = FUNCTION.replace('float(row["close"])', 'row["close"]')
PLOT = """import matplotlib.pyplot as plt
from library import download_prices
prices = download_prices({url!r})
plt.plot([date for date, _ in prices], [close for _, close in prices])
plt.savefig("closing.png")
best = max({name}, key=lambda price: price[1])
print("BEST=" + best[0][:7])
"""
REFUSED = "The person did not allow"


@dataclass
class Mediocre(Ollama):
    """Answers for the goal of downloading, plotting and naming the best month."""

    url: str = ""
    told: list[str] = field(default_factory=list)
    """What it answered, in order."""
    falters: str = ""
    """The first answer that holds these words falls silent in its middle."""

    def next_answer(self) -> Answer:
        body = self.asked[-1]
        text = "\n".join(message["content"] for message in body["messages"])
        said = self._says(text, json.dumps(body.get("format")))
        self.told.append(said)
        if self.falters and self.falters in said:
            self.falters = ""
            return Answer((said[: len(said) // 2],), ends="silent")
        return Answer((said,))

    def _says(self, text: str, form: str) -> str:
        if '"write_function"' in form:
            return self._librarian(text)
        if '"run_code"' in form:
            return self._coder(text)
        if '"final_answer"' in form:
            return self._assistant(text)
        if '"steps"' in form:
            return (
                "Sure! Here is the plan:\n\n1. Download\n2. Plot\n2. Plot\n3. Answer\n3. Answer\n"
            )
        return "The prices were downloaded."

    def _assistant(self, text: str) -> str:
        if "BEST=20" not in text and "best month is" not in text:
            task = f"Download {self.url}, plot the closing prices, and find the best month"
            return f"I'll ask.\n{{'branch': 'Coder ', 'task': '{task}',}}"  # broken, and no "args"
        if "[ ] 1." in text or "[~] 1." in text:
            steps = [{"id": number, "status": "completed"} for number in ("1", "2", "3")]
            return "```json\n" + json.dumps({"branch": "updatePlan", "args": {"steps": steps}})
        return json.dumps({"why": "", "branch": "answer", "args": {"answer": "March was best."}})

    def _coder(self, text: str) -> str:
        if "BEST=20" in text:
            return json.dumps({"branch": "Finished", "summary": "The best month is 2026-03."})
        code = PLOT.format(url=self.url, name="prices" if "price_list" in text else "price_list")
        if REFUSED in text:
            code = code.replace("from library import download_prices\n", FUNCTION)
        elif "download_prices(url: str)" not in text:
            args = {"task": "download_prices: the dates and closing prices of a CSV address"}
            return json.dumps({"branch": "extendLibrary", "args": args})
        return f'{{"branch": "execute_code", "args": {{"code": {json.dumps(code)}}}'  # cut off

    def _librarian(self, text: str) -> str:
        if "is in the library now" in text:
            return json.dumps({"branch": "finish", "args": {"summary": "download_prices is kept."}})
        if REFUSED in text:
            args = {"summary": f"download_prices is not kept: {REFUSED} it."}
            return json.dumps({"branch": "finish", "args": args})
        code = FUNCTION if "not saved" in text or "was not saved" in text else SLIP
        args = {"name": "download_prices", "code": f"```python\n{code}```", "tests": TESTS}
        return json.dumps({"branch": "write_function", "args": args})


class _Prices(BaseHTTPRequestHandler):
    asked: list[str]
    on_ask: Callable[[], object]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        type(self).on_ask()
        body = PRICES.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def prices(on_ask: Callable[[], object] = lambda: None) -> Iterator[tuple[str, list[str]]]:
    """The stock service: its address, and the paths that were asked for. `on_ask` is called in a
    thread of it before each answer."""
    asked: list[str] = []
    shared = {"asked": asked, "on_ask": staticmethod(on_ask)}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Prices", (_Prices,), shared))
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def mediocre(url: str) -> Iterator[Mediocre]:
    """An Ollama with that LLM."""
    with running(Mediocre(url=url), _Handler) as served:
        yield served
