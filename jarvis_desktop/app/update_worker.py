"""Fetches the description of a release, and its files. Runs in a child process only.

A request carries no cookie, no version and nothing else that could tell users apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

from jarvis_desktop.app.release import (
    MAX_RELEASE_BYTES,
    NAME,
    PackageKind,
    ReleaseChannel,
    ReleaseFile,
    check_wheel,
    not_saved,
    read_release,
)
from jarvis_desktop.core.errors import Fault, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.experts.download_worker import (
    HubRepository,
    RemoteFile,
    RemoteListing,
    fetch_files,
)
from jarvis_desktop.process.network_guard import is_this_computer

MAX_REDIRECTS = 3
HEADERS = {"User-Agent": NAME, "Accept-Encoding": "identity"}
# Room for the wheel's files, which are about twice as large as the wheel, in two versions.
UNPACKED = 4


def serve(
    channel: ReleaseChannel, folder: Path, patience: float, reserve: int
) -> Callable[..., Any]:
    """Return the child's handler: "look" returns the Release; "fetch" downloads and checks one of
    its files, and returns the path. `patience` is in seconds, `reserve` in bytes."""

    def handle(
        report: Report, what: str, version: str = "", file: ReleaseFile | None = None
    ) -> Any:
        with _client(channel, patience) as client:
            if file is None:
                return read_release(_read(client, channel.address, patience), channel.key)
            try:
                return _fetch(client, version, file, report)
            except OSError as error:
                raise not_saved(error) from error

    def _fetch(client: Any, version: str, file: ReleaseFile, report: Report) -> Path:
        entry = RemoteFile(file.name, file.size, file.sha256, "")
        place = ReleasePlace(channel.address, client, patience)
        room = UNPACKED * file.size + reserve
        fetch_files(place, RemoteListing("", (entry,)), folder, report=report, reserve=room)
        path = folder / file.name
        try:
            if file.kind == PackageKind.WHEEL.value:
                check_wheel(path, version)
        except UnavailableError:
            path.unlink()
            raise
        return path

    return handle


class ReleasePlace(HubRepository):
    """The files of a release on a web server."""

    def __init__(self, address: str, client: Any, patience: float) -> None:
        super().__init__(Expert(NAME, "", repo=tr("the release")), "", patience)
        self._base = address
        self._client = client

    def _session(self) -> Any:
        return self._client

    def _address(self, entry: RemoteFile, revision: str) -> tuple[str, dict[str, str]]:
        return urljoin(self._base, quote(entry.name)), dict(HEADERS)

    def _refuse(self, response: Any) -> None:
        raise _unavailable(response.status_code)


@contextmanager
def _client(channel: ReleaseChannel, patience: float) -> Iterator[Any]:
    """A client that follows redirects to encrypted places alone."""
    import httpx2

    def check(request: httpx2.Request) -> None:
        local = channel.is_local and is_this_computer(request.url.host)
        if request.url.scheme != "https" and not local:
            raise UnavailableError(
                tr("The place of releases points to an address that is not encrypted."),
                hint=tr("The version in use keeps working."),
            )

    with httpx2.Client(
        headers=HEADERS,
        timeout=patience,
        follow_redirects=True,
        max_redirects=MAX_REDIRECTS,
        event_hooks={"request": [check]},
    ) as client:
        try:
            yield client
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _unreachable() from error


def _read(client: Any, address: str, patience: float) -> bytes:
    """Return the signed file. Raises UnavailableError if it is too large or too slow."""
    begun, body = time.monotonic(), b""
    with client.stream("GET", address) as response:
        if response.status_code != 200:
            raise _unavailable(response.status_code)
        for chunk in response.iter_raw(1 << 14):
            body += chunk
            if len(body) > MAX_RELEASE_BYTES:
                raise UnavailableError(
                    tr("The place of releases did not answer with a release."),
                    hint=tr("The version in use keeps working."),
                )
            if time.monotonic() - begun > 3 * patience:  # a byte now and then
                raise _unreachable()
    return body


def _unavailable(status: int) -> UnavailableError:
    return UnavailableError(
        tr("The place of releases refused (status {status}).", status=status),
        hint=tr("Try again later."),
        retryable=True,
    )


def _unreachable() -> UnavailableError:
    return UnavailableError(
        tr("The place of releases cannot be reached, or broke off."),
        hint=tr("Look at the network and try again."),
        retryable=True,
        fault=Fault.NETWORK,
    )
