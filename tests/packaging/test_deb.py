"""The .deb on a bare Debian, which debootstrap makes: installed, asked for the time, purged."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from jarvis_desktop import __version__

ROOT = Path(__file__).parents[2]
ASK = ("su", "anna", "-c", "jarvis-desktop ask 'what time is it'")

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(not shutil.which("debootstrap"), reason="debootstrap makes a bare Debian"),
]


def run(*command: str | Path) -> str:
    plain = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def ours(root: Path) -> list[Path]:
    """What is named after the program, outside the user's folder and the files of this test."""
    return [
        path
        for path in root.rglob("*jarvis*")
        if path.relative_to(root).parts[0] not in ("home", "tmp", "proc")
    ]


def test_a_bare_debian_installs_uses_and_purges_it() -> None:
    subprocess.run([sys.executable, ROOT / "packaging/build.py", "deb"], check=True)
    (package,) = (ROOT / "dist").glob(f"jarvis-desktop_{__version__}_*.deb")
    with tempfile.TemporaryDirectory() as folder:  # pytest would keep what it made
        root = Path(folder) / "debian"
        run("debootstrap", "--variant=minbase", "bookworm", root)
        (root / "dev/shm").chmod(0o1777)  # as the kernel mounts it
        inside = ("chroot", root)
        run(*inside, "useradd", "--create-home", "anna")
        (root / "tmp/jarvis.deb").write_bytes(package.read_bytes())
        install = ("apt-get", "install", "-y", "-q", "--no-install-recommends", "/tmp/jarvis.deb")
        run(*inside, *install)
        assert re.search(r"It is \d\d?:\d\d", run(*inside, *ASK))
        assert ours(root)
        assert not (root / "usr/bin/python3").exists()  # it brings its own
        run(*inside, "apt-get", "purge", "-y", "-q", "jarvis-desktop")
        assert not ours(root)
        assert list((root / "home/anna").rglob("history.db"))  # the user's data stays
