"""Updates: found, shown, installed beside the version in use; and thirty that are broken."""

from __future__ import annotations

import asyncio
import json
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from jarvis_desktop.app import installation, updates
from jarvis_desktop.app.installation import Installation, InstallKind, replace
from jarvis_desktop.app.release import ReleaseChannel, release_channel
from jarvis_desktop.app.update_worker import serve
from jarvis_desktop.app.updates import Updates
from jarvis_desktop.core.errors import InputError, JarvisError, UnavailableError
from jarvis_desktop.paths import APP_ID, Paths
from tests.releases import (
    PROGRAM,
    ReleaseServer,
    described,
    installed_tool,
    program_wheel,
    public_key,
    running_releases,
    signed,
    uv_places,
)

GOOD = program_wheel("0.3.0")
FILE = "/jarvis_desktop-0.3.0-py3-none-any.whl"
DAY = 24 * 3600.0


def nothing(fraction: float | None, words: str) -> None:
    pass


class NearChild:
    """Does the work of the child in this process, where a test can reach it."""

    def __init__(self, factory: str, *args: Any, name: str, network: bool) -> None:
        assert network
        self._handle = serve(*args)

    async def call(self, *args: Any, timeout: float, report: Any = nothing) -> Any:
        return await asyncio.to_thread(self._handle, report, *args)

    async def close(self) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ReleaseServer]:
    with running_releases() as server:
        server.offer(GOOD)
        yield server


@pytest.fixture
def near(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updates, "Child", NearChild)
    monkeypatch.setattr("time.sleep", lambda seconds: None)


def made(server: ReleaseServer, folder: Path, kind: str = "pip", **changed: Any) -> Updates:
    own = Installation(InstallKind(kind), changed.pop("prefix", folder))
    given: dict[str, Any] = {
        "online": lambda: True,
        "version": "0.1.0",
        "patience": 60.0,
        "reserve": 0,
    }
    return Updates(folder / "updates", server.channel, own=own, **(given | changed))


async def test_a_release_is_found_and_its_news_shown_and_nobody_is_known_by_the_request(
    server: ReleaseServer, tmp_path: Path
) -> None:
    """In a real child process."""
    found = await made(server, tmp_path).look()
    assert found
    assert found.version == "0.3.0"
    news = found.news("0.1.0")
    assert news.startswith("## 0.3.0\n\n### Added\n\n- Films with sound.")
    assert "A second thing" in news
    assert "The first one" not in news
    assert "Nothing yet" not in news
    ((path, headers),) = server.asked
    assert path == "/release.json"
    assert headers.pop("Host") in server.address
    assert headers == {
        "User-Agent": "jarvis-desktop",
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "keep-alive",
    }


@pytest.mark.usefixtures("near")
async def test_it_looks_once_a_day_and_mentions_a_version_once(
    server: ReleaseServer, tmp_path: Path
) -> None:
    now = [1000 * DAY]
    looking = made(server, tmp_path, clock=lambda: now[0])
    assert await looking.look_daily() == "0.3.0"
    now[0] += DAY - 1
    assert await looking.look_daily() == ""
    assert len(server.asked) == 1
    now[0] += 2
    assert await looking.look_daily() == ""  # it was mentioned
    assert len(server.asked) == 2
    now[0] += DAY
    server.status = 500
    assert await looking.look_daily() == ""
    now[0] += 60
    assert await looking.look_daily() == ""
    assert len(server.asked) == 3  # a server that fails is left alone too
    server.status = 200
    server.offer(program_wheel("0.4.0"), "0.4.0")
    now[0] += DAY
    assert await looking.look_daily() == "0.4.0"


async def test_offline_and_without_a_place_nothing_is_asked(
    server: ReleaseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updates, "Child", None)  # no process is even made
    offline = made(server, tmp_path, online=lambda: False)
    assert await offline.look_daily() == ""
    with pytest.raises(InputError, match="offline"):
        await offline.look()
    for channel in (
        ReleaseChannel(),
        ReleaseChannel("http://example.org/release.json", public_key()),
        ReleaseChannel("https://example.org/release.json", ""),
        ReleaseChannel("file:///etc/passwd", public_key()),
    ):
        placeless = Updates(tmp_path, channel, online=lambda: True)
        assert await placeless.look_daily() == ""
        with pytest.raises(UnavailableError, match="knows no place of releases"):
            await placeless.look()
    assert not server.asked


def test_this_build_has_no_place_and_a_file_of_the_user_can_name_one(tmp_path: Path) -> None:
    paths = Paths(tmp_path, tmp_path, tmp_path, tmp_path)
    assert not release_channel(paths).usable
    (tmp_path / "channel.json").write_text('{"address": "https://x.org/r.json", "key": "AA=="}')
    assert release_channel(paths) == ReleaseChannel("https://x.org/r.json", "AA==")
    (tmp_path / "channel.json").write_text("{")
    assert not release_channel(paths).usable


@pytest.mark.usefixtures("near")
async def test_each_installation_has_its_own_way(server: ReleaseServer, tmp_path: Path) -> None:
    for kind, beginning in (
        ("pip", " -m pip install "), ("pipx", "pipx install --force "),
    ):  # fmt: skip
        one = made(server, tmp_path, kind)
        release = await one.look()
        assert release
        update = await one.fetch(release, nothing)
        assert beginning in update.command
        assert update.command.endswith(str(update.path))
        assert update.path.read_bytes() == GOOD
    assert release
    for kind in ("checkout", "bundle"):
        one = made(server, tmp_path, kind)
        with pytest.raises(UnavailableError) as told:
            await one.fetch(release, nothing)
        assert ("git pull" in told.value.hint) == (kind == "checkout")
    deb = b"!<arch>\n"
    name = "jarvis-desktop_0.3.0_amd64.deb"
    server.offer(deb, name=name, kind="deb", system="linux-x86_64")
    one = made(server, tmp_path, "deb", system="linux-x86_64")
    release = await one.look()
    assert release
    update = await one.fetch(release, nothing)
    assert update.command == f"sudo apt install {tmp_path / 'updates' / name}"
    assert [path.suffix for path in update.path.parent.glob("*3.0*")] == [".deb"]


def test_this_copy_is_a_checkout() -> None:
    assert installation.installation().kind is InstallKind.CHECKOUT


def test_what_others_update_says_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    (tmp_path / "bundle").write_text("0.1.0\n")
    own = installation.installation()
    assert own.kind is InstallKind.BUNDLE
    assert own.advice() == "Get the new version where you got this one."
    monkeypatch.setenv("APPIMAGE", "/home/anna/JARVIS.AppImage")
    own = installation.installation()
    assert own.advice() == (
        "Put the AppImage of the new version in the place of /home/anna/JARVIS.AppImage."
    )
    monkeypatch.setenv("FLATPAK_ID", "org.example.Other")  # a terminal that Flatpak runs
    assert installation.installation().kind is InstallKind.APPIMAGE
    monkeypatch.setenv("FLATPAK_ID", APP_ID)
    own = installation.installation()
    assert own.advice() == f"Flatpak updates it: flatpak update {APP_ID}"
    assert own.package is None
    assert not own.updates_itself


# What a release place, or what is between here and there, may send


Break = Callable[[ReleaseServer], object]


def release(**changed: Any) -> Break:
    """The makers have signed this."""
    return lambda server: server.offer(GOOD, **changed)


def raw(body: bytes) -> Break:
    """This is sent in place of the signed file."""
    return lambda server: server.files.update({"/release.json": body})


def envelope(**changed: Any) -> Break:
    told = json.loads(signed(described(GOOD)))
    return raw(json.dumps(told | changed).encode())


def wheel_of(body: bytes) -> Break:
    """A signed release has this wheel."""
    return lambda server: server.offer(body)


def instead(body: bytes) -> Break:
    """This arrives in place of the wheel."""
    return lambda server: server.files.update({FILE: body})


def does(**attributes: Any) -> Break:
    def change(server: ReleaseServer) -> None:
        for name, value in attributes.items():
            setattr(server, name, value)

    return change


FAILS = "raise SystemExit('libfoo.so is missing')"
OTHER = "import sys; print('jarvis-desktop 9.9.9')"
MUTE = PROGRAM.replace('print("It is noon.")', "sys.exit(1)")

BROKEN: dict[str, tuple[Break, str]] = {
    "not JSON": (raw(b"<html>Please log in</html>"), "did not answer with a release"),
    "nothing": (raw(b""), "did not answer with a release"),
    "a list": (raw(b"[1, 2]"), "did not answer with a release"),
    "nested deep": (raw(b"[" * 100_000), "did not answer with a release"),
    "too large": (raw(b" " * 300_000 + signed(described(GOOD))), "did not answer with a release"),
    "bytes": (raw(bytes(range(256))), "did not answer with a release"),
    "no signature": (envelope(signature=""), "not signed"),
    "no base64": (envelope(signature="???"), "did not answer with a release"),
    "of another key": (raw(signed(described(GOOD), bytes(32))), "not signed"),
    "changed after signing": (envelope(release=json.dumps(described(b"evil"))), "not signed"),
    "signature of another text": (
        envelope(signature=json.loads(signed(described(b"")))["signature"]), "not signed",
    ),
    "of another program": (
        raw(signed(described(GOOD) | {"name": "jarvis-desktop-pro"})), "cannot read",
    ),
    "version no version": (release(version="1.0; rm -rf /"), "cannot read"),
    "name with ../": (release(files=[{**described(GOOD)["files"][0], "name": "../../x.whl"}]),
                      "cannot read"),
    "name with /": (release(files=[{**described(GOOD)["files"][0], "name": "/tmp/x.whl"}]),
                    "cannot read"),
    "no digest": (release(sha256=""), "cannot read"),
    "larger than any": (release(size=10**13), "cannot read"),
    "no files": (release(files=[]), "nothing for this computer"),
    "another platform": (release(system="win32-x86_64"), "nothing for this computer"),
    "only a .deb": (release(kind="deb"), "nothing for this computer"),
    "older": (release(version="0.0.9"), ""),
    "the same": (release(version="0.1.0"), ""),
    "refused": (does(status=403), "refused"),
    "missing": (does(files={}), "refused"),
    "stalled": (does(cut={"/release.json": 20}, stalls={"/release.json"}), "cannot be reached"),
    "cut": (does(cut={"/release.json": 20}), "cannot be reached"),
    "to plain http": (does(redirects={"/release.json": "http://example.org/r"}), "not encrypted"),
    "in a circle": (does(redirects={"/release.json": "/release.json"}), "cannot be reached"),
    "wheel to plain http": (does(redirects={FILE: "http://example.org/x.whl"}), "not encrypted"),
    "wheel missing": (lambda server: server.files.pop(FILE), "refused"),
    "wheel cut": (does(cut={FILE: 100}), "broke off"),
    "wheel stalled": (does(cut={FILE: 100}, stalls={FILE}), "broke off"),
    "wheel of another digest": (instead(GOOD[:-1] + b"x"), "does not match its digest"),
    "wheel shorter": (instead(GOOD[:-9]), "should have"),
    "wheel longer": (instead(GOOD + b"x" * 99_999), "should have"),
    "wheel no archive": (wheel_of(b"MZ\x90" * 100), "not the version that it should be"),
    "wheel of another version": (wheel_of(program_wheel("0.2.0")), "not the version"),
    "wheel that does not start": (wheel_of(program_wheel("0.3.0", FAILS)), "libfoo.so is missing"),
    "wheel that is another": (wheel_of(program_wheel("0.3.0", OTHER)), "does not start here"),
    "wheel that does not answer": (wheel_of(program_wheel("0.3.0", MUTE)), "does not start here"),
    "disk full": (release(size=3 * 10**9, sha256="0" * 64), "not enough room"),
}  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of an environment."""
    return {
        str(path.relative_to(folder)): b"link" if path.is_symlink() else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed_tool(tmp_path_factory.mktemp("uv"))


@pytest.fixture
def uv(tool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in uv_places(tool.parents[1]).items():
        if name.startswith("UV_"):
            monkeypatch.setenv(name, value)
    # An update finds the folders by the environment that it is in.
    monkeypatch.delenv("UV_TOOL_DIR")
    monkeypatch.delenv("UV_TOOL_BIN_DIR")


def shown_version(tool: Path) -> str:
    command = [str(tool.parents[1] / "bin" / "jarvis-desktop"), "--version"]
    done = subprocess.run(command, env={}, capture_output=True, text=True, check=True)
    return str(done.stdout).strip()


@pytest.mark.usefixtures("near", "uv")
@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_update_leaves_the_version_in_use_as_it_is(
    name: str, server: ReleaseServer, tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil, why = BROKEN[name]
    spoil(server)
    if name == "disk full":
        usage = type("Usage", (), {"free": 10**9})
        monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    before = contents(tool)
    patience = 0.3 if "stalled" in name else 60.0
    one = made(server, tmp_path, "uv", prefix=tool, patience=patience)
    message = hint = ""
    try:
        if found := await one.look():
            one.install(await one.fetch(found, nothing), lambda words: None)
    except JarvisError as error:
        message, hint = error.message, error.hint
    assert why in message
    assert bool(message) == bool(hint) == bool(why)
    assert contents(tool) == before
    assert sorted(path.name for path in tool.parent.iterdir() if path.is_dir()) == [tool.name]
    assert not [path for path in tmp_path.rglob("*") if path.suffix == ".whl" and "start" not in why
                and "libfoo" not in why]  # fmt: skip


# The update of a tool


async def tool_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in uv_places(folder).items():
        if name.startswith("UV_") and "TOOL" not in name:
            monkeypatch.setenv(name, value)
    return await asyncio.to_thread(installed_tool, folder)


@pytest.mark.usefixtures("near")
async def test_a_tool_of_uv_is_replaced_and_stays_one_of_uv(
    server: ReleaseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = await tool_of(tmp_path, monkeypatch)
    one = made(server, tmp_path, "uv", prefix=tool)
    found = await one.look()
    assert found
    steps: list[str] = []
    one.install(await one.fetch(found, nothing), steps.append)
    assert len(steps) == 3
    assert shown_version(tool) == "jarvis-desktop 0.3.0"
    assert [path.name for path in tool.parent.iterdir() if path.is_dir()] == [tool.name]
    names = [path.read_bytes() for path in (tool / "bin").iterdir() if path.is_file()]
    assert not [text for text in names if b"-update" in text]
    uv = [installation._uv(), "tool", "list"]
    told = subprocess.run(uv, env=uv_places(tmp_path), capture_output=True, text=True, check=True)
    assert told.stdout.startswith("jarvis-desktop v0.3.0")
    subprocess.run(
        [installation._uv(), "tool", "uninstall", "jarvis-desktop"],
        env=uv_places(tmp_path), check=True, capture_output=True,
    )  # fmt: skip
    assert not (tmp_path / "bin" / "jarvis-desktop").exists()


@pytest.mark.parametrize("fails_at", range(7))
async def test_an_update_that_ends_at_any_step_leaves_a_version_that_starts(
    fails_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the program was killed: nothing is cleaned up behind it."""
    tool = await tool_of(tmp_path, monkeypatch)
    wheel = tmp_path / FILE[1:]
    wheel.write_bytes(GOOD)
    count = 0

    def step(inner: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count > fails_at:
                raise KeyboardInterrupt
            return inner(*args, **named)

        return run

    monkeypatch.setattr(installation, "_exchange", step(installation._exchange))
    monkeypatch.setattr(installation, "_forget", step(installation._forget))
    monkeypatch.setattr(installation, "_move_paths", step(installation._move_paths))
    with suppress(KeyboardInterrupt):
        replace(Installation(InstallKind.UV, tool), wheel, "0.3.0", run=step(subprocess.run))
    assert shown_version(tool) in ("jarvis-desktop 0.1.0", "jarvis-desktop 0.3.0")
    monkeypatch.undo()
    for name, value in uv_places(tmp_path).items():
        if name.startswith("UV_") and "TOOL" not in name:
            monkeypatch.setenv(name, value)
    replace(
        Installation(InstallKind.UV, tool), wheel, "0.3.0"
    )  # what an earlier one left is in nobody's way
    assert shown_version(tool) == "jarvis-desktop 0.3.0"


async def test_a_version_that_fails_only_in_its_place_goes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = await tool_of(tmp_path, monkeypatch)
    before = contents(tool)
    wheel = tmp_path / FILE[1:]
    program = "import sys, os\nif '.jarvis' not in sys.prefix: sys.exit('not here')\n" + PROGRAM
    wheel.write_bytes(program_wheel("0.3.0", program))
    with pytest.raises(UnavailableError, match="not here"):
        replace(Installation(InstallKind.UV, tool), wheel, "0.3.0")
    assert contents(tool) == before


async def test_a_change_to_offline_ends_the_download(server: ReleaseServer, tmp_path: Path) -> None:
    from jarvis_desktop.process.child import end_outward

    server.cut["/release.json"], server.stalls = 20, {"/release.json"}
    looking = asyncio.ensure_future(made(server, tmp_path).look())
    while not server.asked:
        await asyncio.sleep(0.01)
    end_outward("The mode is offline now.")
    with pytest.raises(JarvisError, match="offline now"):
        await looking


def test_a_tool_is_installed_as_before_with_the_versions_of_the_release(tmp_path: Path) -> None:
    receipt, wheel = tmp_path / "uv-receipt.toml", tmp_path / "x.whl"
    receipt.write_text(
        """
        [tool]
        requirements = [
            { name = "jarvis-desktop", extras = ["experts"], path = "/gone/old.whl" },
            { name = "pandas", specifier = ">=2" },
            { name = "mine", directory = "/home/anna/mine" },
        ]
        [tool.options]
        prerelease = "allow"
        index = [{ url = "https://example.org/simple", default = true }]
        """
    )
    assert installation._arguments(receipt, wheel) == [
        "--prerelease", "allow", "--default-index", "https://example.org/simple",
        "--with", "pandas>=2", "--with", "mine @ /home/anna/mine",
        f"jarvis-desktop[experts] @ {wheel.as_uri()}",
    ]  # fmt: skip
    parts = [{"purl": "pkg:pypi/httpx@0.28.1"}, {"name": "Inter"}, {"purl": "pkg:pypi/a b@--x"}]
    with ZipFile(wheel, "w") as packed:
        packed.writestr(
            "jarvis_desktop/_data/resources/release/sbom.cdx.json",
            json.dumps({"components": parts}),
        )
    assert installation._pins(wheel) == ["httpx==0.28.1"]
    assert installation._pins(receipt) == []
    receipt.write_text("[tool")
    with pytest.raises(UnavailableError, match="uv's record of it cannot be read"):
        installation._arguments(receipt, wheel)


# The update of a folder


def program_folder(folder: Path, version: str, script: str = "") -> Path:
    """A folder that runs wherever it is put, with a program that states its version."""
    root = folder / "jarvis-desktop"
    (root / "bin").mkdir(parents=True)
    (root / "onedir").write_text(f"{version}\n")
    command = root / "bin" / "jarvis-desktop"
    command.write_text(script or f"#!/bin/sh\necho jarvis-desktop {version}\n")
    command.chmod(0o755)
    return root


def packed_folder(folder: Path, version: str, script: str = "") -> bytes:
    """The archive of such a folder."""
    made, file = program_folder(folder / f"made-{version}", version, script), BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as packed:
        packed.add(made, "jarvis-desktop")
    return file.getvalue()


def escaping(folder: Path) -> bytes:
    file = BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as packed:
        packed.add(program_folder(folder / "made", "0.3.0") / "onedir", "../../escaped")
    return file.getvalue()


def leading_away(folder: Path) -> bytes:
    file, link = BytesIO(), folder / "link"
    link.symlink_to(folder)
    with tarfile.open(fileobj=file, mode="w:gz") as packed:
        packed.add(link, "jarvis-desktop")
    return file.getvalue()


@pytest.mark.usefixtures("near")
async def test_a_folder_is_replaced_and_a_broken_archive_leaves_it_as_it_is(
    server: ReleaseServer, tmp_path: Path
) -> None:
    own = program_folder(tmp_path / "apps", "0.1.0")
    one = made(server, tmp_path, "folder", prefix=own, system="linux-x86_64")
    before = contents(tmp_path / "apps")
    cases: dict[str, tuple[bytes, str]] = {
        "no archive": (b"MZ" * 500, "its archive is damaged"),
        "cut": (packed_folder(tmp_path, "0.3.0")[:-40], "its archive is damaged"),
        "escapes": (escaping(tmp_path), "its archive is damaged"),
        "leads away": (leading_away(tmp_path), "its archive is damaged"),
        "another version": (packed_folder(tmp_path, "0.2.0"), "it is version 0.2.0"),
        "does not start": (
            packed_folder(tmp_path / "x", "0.3.0", "#!/bin/sh\necho no >&2; exit 1\n"),
            "does not start here",
        ),
    }
    for name, (body, why) in (
        *cases.items(),
        ("good", (packed_folder(tmp_path / "y", "0.3.0"), "")),
    ):
        server.offer(body, name="x.tar.gz", kind="folder", system="linux-x86_64")
        release = await one.look()
        assert release
        update = await one.fetch(release, nothing)
        assert update.command == ""
        if why:
            with pytest.raises(JarvisError, match=why):
                one.install(update, lambda words: None)
            assert contents(tmp_path / "apps") == before, name
        else:
            one.install(update, lambda words: None)
    assert (own / "onedir").read_text() == "0.3.0\n"
    assert list((tmp_path / "apps").iterdir()) == [own]
    assert not list(tmp_path.rglob("escaped"))
