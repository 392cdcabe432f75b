"""An LLM server over real weights, and a proxy that counts what is asked of it.

`python -m tests.real.llm_server WEIGHTS.gguf` runs llama.cpp's server on a free port of 127.0.0.1
and prints its address.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

WINDOW = 4096


def serve(weights: str) -> None:
    import xllamacpp

    chosen = xllamacpp.CommonParams()
    chosen.model.path = weights
    chosen.n_ctx = WINDOW
    chosen.n_parallel = 1
    chosen.model_alias = {Path(weights).stem}
    # Several wait for each other busily, which takes minutes where other tests run as well.
    chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = 1
    chosen.port = 0
    chosen.warmup = False
    server = xllamacpp.Server(chosen)
    print(server.listening_address, flush=True)
    threading.Event().wait()


@contextmanager
def running_llm_server(weights: Path) -> Iterator[str]:
    """A server in a process of its own; yields its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.real.llm_server", str(weights)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), "the LLM server did not start"
        yield address
    finally:
        process.kill()
        process.communicate()


@dataclass
class CountingProxy:
    """Passes everything on, and counts the prompts."""

    server: str
    address: str = ""
    prompts: int = 0

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = self.server.removeprefix("http://").partition(":")
        server_reader, server_writer = await asyncio.open_connection(host, int(port))

        def count(data: bytes) -> None:
            self.prompts += data.count(b"POST /v1/chat/completions")

        await asyncio.gather(
            _copy(reader, server_writer, count),
            _copy(server_reader, writer, lambda data: None),
        )


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, note: Callable[[bytes], None]
) -> None:
    try:
        while data := await reader.read(1 << 16):
            note(data)
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass  # whoever hung up wants no more
    finally:
        writer.close()


@asynccontextmanager
async def counting_proxy(server: str) -> AsyncIterator[CountingProxy]:
    proxy = CountingProxy(server)
    listening = await asyncio.start_server(proxy.pass_on, "127.0.0.1", 0)
    proxy.address = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        listening.close()


if __name__ == "__main__":
    serve(sys.argv[1])
