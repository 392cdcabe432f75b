"""To be imported last by a process that forks: else each fork looks through all objects that were
made so far, and copies their memory. Who is killed while it asks for a fork ends no such process,
as it does with Python's own."""

import errno
import gc
from multiprocessing import reduction
from socket import socket

_received = reduction.recvfds


def _recvfds(sock: socket, size: int) -> list[int]:
    try:
        return _received(sock, size)
    except (EOFError, OSError) as error:
        # The one error that multiprocessing.forkserver passes over.
        raise ConnectionAbortedError(errno.ECONNABORTED, "nobody asks any more") from error


reduction.recvfds = _recvfds
gc.collect()
gc.freeze()
