"""Downloads one expert's files from the Hub. Runs in a child process only.

huggingface_hub's snapshot_download discards a partial file when its process ends. So files are read
here, over its session, into names from which the next download resumes. Every file is compared with
the digest that the Hub lists.
"""

from __future__ import annotations

import fnmatch
import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_desktop.core.errors import Fault, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.experts import verification
from jarvis_desktop.experts.importing import take_over
from jarvis_desktop.experts.weights import lock_folder

SPEED_WINDOW_S = 5.0
"""Seconds over which the speed is averaged."""

PROGRESS_INTERVAL_S = 0.1
"""Seconds between two reports."""


class Pace:
    """The speed of a transfer, averaged over the last `SPEED_WINDOW_S` seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, have: int) -> None:
        """Note how many bytes have arrived in total."""
        now = self._clock()
        self._seen.append((now, have))
        while now - self._seen[0][0] > SPEED_WINDOW_S:
            self._seen.popleft()

    @property
    def speed(self) -> float:
        """Bytes per second; 0 if not known yet."""
        if not self._seen:
            return 0.0
        (began, first), (now, last) = self._seen[0], self._seen[-1]
        return (last - first) / (now - began) if last > first and now > began else 0.0


class Progress:
    """Reports the progress over all files; called with the bytes of the current file."""

    def __init__(
        self,
        report: Report,
        total: int,
        *,
        files: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._report = report
        self._total = max(1, total)
        self._files = files
        self._clock = clock
        self._file = 1
        self._before = 0
        self._had = 0
        self._told = float("-inf")
        self._pace = Pace(clock)

    def had(self, count: int) -> None:
        """Note bytes of the current file from an earlier download, which do not count as speed."""
        self._had += count

    def __call__(self, count: int) -> None:
        """Report that `count` bytes of the current file have arrived."""
        have, now = self._before + count, self._clock()
        if now - self._told < PROGRESS_INTERVAL_S and have != self._total:
            return
        self._told = now
        self._pace.note(have - self._had)
        self._report(min(1.0, have / self._total), self._words(have))

    def next_file(self, size: int) -> None:
        """Note that the current file, of `size` bytes, is complete."""
        self._before += size
        self._file = min(self._file + 1, self._files)

    def _words(self, have: int) -> str:
        unit, of = ("MB", 1e6) if self._total >= 1e6 else ("kB", 1e3)
        words = f"{have / of:.0f} of {self._total / of:.0f} {unit}"
        if self._files > 1:
            words += f" (file {self._file} of {self._files})"
        speed = self._pace.speed
        if not speed or have >= self._total:
            return words
        return f"{words}, {speed / of:.1f} {unit}/s, {time_left((self._total - have) / speed)} left"


def time_left(seconds: float) -> str:
    """Return a duration for people, such as "40 s", "12 min" or "1.5 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


HUB = "https://huggingface.co"
MAX_ATTEMPTS = 3
"""How often in a row a transfer may break off without a new byte."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file as the Hub lists it."""

    name: str
    size: int
    sha256: str
    """Empty for a small file that is in git itself."""
    blob: str


@dataclass(frozen=True, slots=True)
class RemoteListing:
    """The files to download, at one commit."""

    revision: str
    entries: tuple[RemoteFile, ...]

    @property
    def size(self) -> int:
        """All files together, in bytes."""
        return sum(entry.size for entry in self.entries)


def serve(
    expert: Expert, folder: Path, endpoint: str | None, patience: float, reserve: int
) -> Callable[..., Any]:
    """Return the child's handler: "list", then "fetch"; or "measure" and "import" a folder or ZIP.

    Each returns the size in bytes. The first call locks the folder until the child ends, so that
    room is only made for an expert that no other process is downloading.
    """
    hub = HubRepository(expert, configure_hub(endpoint), patience)
    listing: RemoteListing | None = None
    hold: AbstractContextManager[object] | None = None

    def handle(report: Report, what: str, source: Path | None = None, key: str = "") -> int:
        nonlocal listing, hold
        hold = hold or lock_folder(folder, expert.id)
        if key:  # for this process alone
            os.environ["HF_TOKEN"] = key
        if source is not None:
            size = take_over(expert, folder, source, dry=True)
            if what == "import":
                check_room(folder.parent, size + reserve)
                take_over(expert, folder, source, dry=False)
            return size
        if listing is None:
            listing = hub.listing()
        if what == "fetch":
            fetch(hub, listing, folder, report=report, reserve=reserve)
        return listing.size

    return handle


def fetch(
    hub: HubRepository, listing: RemoteListing, folder: Path, *, report: Report, reserve: int
) -> None:
    """Download all files of the listing into the folder, check them, and write the marker."""
    fetch_files(hub, listing, folder, report=report, reserve=reserve)
    verification.finish(hub.expert, folder, revision=listing.revision, report=report)


def fetch_files(
    hub: HubRepository, listing: RemoteListing, folder: Path, *, report: Report, reserve: int
) -> None:
    """Download all files of the listing into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    done = sum(min(_present(folder / entry.name), entry.size) for entry in listing.entries)
    check_room(folder, int((listing.size - done) * 1.2) + reserve)
    progress = Progress(report, listing.size, files=len(listing.entries))
    for entry in listing.entries:
        progress.had(min(_present(folder / entry.name), entry.size))
        hub.bring(entry, listing.revision, folder / entry.name, arrived=progress)
        progress.next_file(entry.size)


class HubRepository:
    """The repository of one expert on the Hub."""

    def __init__(self, expert: Expert, endpoint: str, patience: float) -> None:
        self.expert = expert
        self._endpoint = endpoint
        self._patience = patience

    def listing(self) -> RemoteListing:
        """Request the list of files that the expert needs, with sizes and digests."""
        from huggingface_hub import HfApi

        with hub_errors(self._endpoint, self._patience, self.expert.repo):
            info = HfApi(endpoint=self._endpoint).model_info(
                self.expert.repo,
                revision=self.expert.revision or None,
                files_metadata=True,
                timeout=self._patience,
            )
        entries = []
        for file in info.siblings or ():
            if any(fnmatch.fnmatchcase(file.rfilename, each) for each in self.expert.files):
                if file.size is None or not verification.is_inside(file.rfilename):
                    raise not_the_hub(self._endpoint)
                sha256 = file.lfs.sha256 if file.lfs else ""
                entries.append(RemoteFile(file.rfilename, file.size, sha256, file.blob_id or ""))
        if info.sha is None:
            raise not_the_hub(self._endpoint)
        return RemoteListing(info.sha, self._choose(entries))

    def _choose(self, entries: list[RemoteFile]) -> tuple[RemoteFile, ...]:
        """Choose which of the files to download."""
        names = verification.files_of(self.expert, (entry.name for entry in entries))
        if any(map(verification.is_pickle, names)) and not self.expert.pickled:
            raise verification.pickles_only(self.expert)
        if not verification.has_weights(names):
            raise UnavailableError(
                tr(
                    "The repository {repo} holds no weights that can be used here.",
                    repo=self.expert.repo,
                ),
                hint=tr("Choose another expert: jarvis-desktop experts list."),
            )
        chosen = (entry for entry in entries if entry.name in names)
        return tuple(sorted(chosen, key=lambda entry: entry.size))

    def bring(
        self, entry: RemoteFile, revision: str, to: Path, *, arrived: Callable[[int], None]
    ) -> None:
        """Download one file, or the rest of it, and compare it with its digest."""
        whole = to.is_file() and to.stat().st_size == entry.size
        if whole and verification.matches(to, entry.sha256, entry.blob):
            return arrived(entry.size)
        to.unlink(missing_ok=True)
        to.parent.mkdir(parents=True, exist_ok=True)
        part = to.with_name(to.name + ".incomplete")
        # A partial file may belong to another commit; then its digest is wrong, and it is read
        # again.
        for _ in range(2 if part.exists() else 1):
            self._read_all(entry, revision, part, arrived)
            if verification.matches(part, entry.sha256, entry.blob):
                part.replace(to)
                return None
            part.unlink()
        raise UnavailableError(
            tr(
                "{name} of {repo} arrived damaged: it does not match its digest.",
                name=entry.name,
                repo=self.expert.repo,
            ),
            hint=tr(
                "Try again. If that does not help, something between here and the Hub "
                "changes files."
            ),
        )

    def _read_all(
        self, entry: RemoteFile, revision: str, part: Path, arrived: Callable[[int], None]
    ) -> None:
        import httpx2

        failures, have = 0, -1
        while not part.exists() or part.stat().st_size != entry.size:
            failures = failures + 1 if _present(part) == have else 0
            have = _present(part)
            time.sleep(failures)
            try:
                self._read(entry, revision, part, arrived)
            except (httpx2.TimeoutException, httpx2.NetworkError, httpx2.RemoteProtocolError):
                if failures + 1 >= MAX_ATTEMPTS:
                    raise UnavailableError(
                        tr(
                            "The download of {name} broke off at {file}.",
                            name=self.expert.id,
                            file=entry.name,
                        ),
                        hint=tr(
                            "The part already downloaded is kept. Check the network and try again."
                        ),
                        retryable=True,
                    ) from None

    def _read(
        self, entry: RemoteFile, revision: str, part: Path, arrived: Callable[[int], None]
    ) -> None:
        """Append the body of one response."""
        url, headers = self._address(entry, revision)
        offset = _present(part)
        # Compressed bytes could be neither counted nor resumed.
        headers["Accept-Encoding"] = "identity"
        if 0 < offset <= entry.size:
            headers["Range"] = f"bytes={offset}-"
        session = self._session()
        with session.stream("GET", url, headers=headers, timeout=self._patience) as response:
            if response.status_code >= 400:
                response.read()
                if response.status_code == 416:
                    part.unlink()
                    return
                self._refuse(response)
            going_on = response.status_code == 206 and 0 < offset <= entry.size
            with part.open("ab" if going_on else "wb") as file:
                have = offset if going_on else 0
                for chunk in response.iter_bytes(1 << 16):
                    have += len(chunk)
                    if have > entry.size:
                        break
                    file.write(chunk)
                    arrived(have)
                file.flush()
                os.fsync(file.fileno())
        if have != entry.size:
            self._wrong_size(entry, part, have)

    def _session(self) -> Any:
        """Return the client for requests."""
        from huggingface_hub import get_session

        return get_session()

    def _address(self, entry: RemoteFile, revision: str) -> tuple[str, dict[str, str]]:
        """Return the address of a file, and the headers with which it is requested."""
        from huggingface_hub import hf_hub_url
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

        repo, endpoint = self.expert.repo, self._endpoint
        url = hf_hub_url(repo, entry.name, revision=revision, endpoint=endpoint)
        return url, dict(build_hf_headers())

    def _refuse(self, response: Any) -> None:
        """Raise UnavailableError for an answer with the status of an error."""
        from huggingface_hub.utils import hf_raise_for_status  # type: ignore[attr-defined]

        with hub_errors(self._endpoint, self._patience, self.expert.repo):
            hf_raise_for_status(response)

    def _wrong_size(self, entry: RemoteFile, part: Path, have: int) -> None:
        """Refuse a complete body whose length differs from the listed size."""
        part.unlink()
        raise UnavailableError(
            tr(
                "{name} of {repo} should have {size} bytes, but the answer had {have}.",
                name=entry.name,
                repo=self.expert.repo,
                size=entry.size,
                have=tr("more") if have > entry.size else have,
            ),
            hint=tr("Try again later; the Hub or something on the way to it is at fault."),
        )


def configure_hub(endpoint: str | None) -> str:
    """Set huggingface_hub up before it is imported in this process; return the Hub's address."""
    if endpoint:
        os.environ["HF_ENDPOINT"] = endpoint  # read once, on import
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")
    return (endpoint or os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")


def not_the_hub(endpoint: str) -> UnavailableError:
    """Return the error for an answer that the Hub would not give."""
    return UnavailableError(
        tr("{endpoint} does not answer like the Hugging Face Hub.", endpoint=endpoint),
        hint=tr("A network that asks for a login answers in its place: open a web page first."),
        fault=Fault.ANSWER,
    )


@contextmanager
def hub_errors(endpoint: str, patience: float, repo: str = "") -> Iterator[None]:
    """Translate what huggingface_hub and its HTTP client raise into UnavailableError."""
    import httpx2
    from huggingface_hub import errors

    retry = "Look at the network and try again."
    try:
        yield
    except errors.GatedRepoError as error:
        raise UnavailableError(
            tr("{repo} is only available after its terms were accepted.", repo=repo),
            hint=tr(
                "Accept them on {endpoint}/{repo}, then save a key: "
                "jarvis-desktop experts key set.",
                endpoint=endpoint,
                repo=repo,
            ),
        ) from error
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise UnavailableError(
            tr("The Hub has no repository {repo}, or requires a login for it.", repo=repo),
            hint=tr(
                "It may have been renamed or withdrawn. Choose another expert: "
                "jarvis-desktop experts list."
            ),
        ) from error
    except errors.OfflineModeIsEnabled as error:
        raise UnavailableError(
            tr("The Hub was not asked, because HF_HUB_OFFLINE forbids it."),
            hint=tr("Unset that variable."),
        ) from error
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        raise UnavailableError(
            tr("The Hub refused {repo} (status {status}).", repo=repo, status=status),
            hint=retry,
            retryable=status >= 429,
        ) from error
    except (httpx2.TimeoutException, TimeoutError) as error:
        raise UnavailableError(
            tr("The Hub gave no answer within {patience} seconds.", patience=f"{patience:.0f}"),
            hint=retry,
            retryable=True,
            fault=Fault.TIMEOUT,
        ) from error
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise UnavailableError(
            tr("The Hub at {endpoint} cannot be reached.", endpoint=endpoint),
            hint=retry,
            retryable=True,
            fault=Fault.NETWORK,
        ) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise not_the_hub(endpoint) from error


def _present(path: Path) -> int:
    """The size of a complete or partial file."""
    for each in (path, path.with_name(path.name + ".incomplete")):
        if each.is_file():
            return each.stat().st_size
    return 0


def check_room(folder: Path, needed: int) -> None:
    """Raise UnavailableError if the disk of the folder has fewer free bytes."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UnavailableError(
            tr(
                "There is not enough room on the disk: {needed} GB are needed, {free} GB are free.",
                needed=f"{needed / 1e9:.1f}",
                free=f"{free / 1e9:.1f}",
            ),
            hint=tr("Remove something, such as an expert: jarvis-desktop experts remove NAME."),
        )
