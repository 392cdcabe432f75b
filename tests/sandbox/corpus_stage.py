"""A computer for attacks to get at: a home with secrets, programs that listen, a running process.

All of it is made for one run and is gone after it.
"""

from __future__ import annotations

import ctypes
import os
import re
import secrets
import selectors
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.sandbox.corpus import numbers

MARKER = "canary-"
ROOM = Path("/var/tmp")
"""Not where a sandbox has its own temporary files: there nothing would be seen of a hole."""

SECRETS = """
    .ssh/id_ed25519 .local/share/keyrings/login.keyring .local/share/jarvis-desktop/history.db
    .mozilla/firefox/a.default/cookies.sqlite .aws/credentials .bash_history
    documents/report.txt
""".split()

VICTIM = """
import os, signal, sys
wanted = {"SIGUSR1", "SIGUSR2", "SIGWINCH"}
numbers = {getattr(signal, name): name for name in wanted} | {34: "34", 35: "35", 64: "64"}
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
print("ready", flush=True)
while True:
    number = signal.sigwait(numbers)
    print(numbers[number], flush=True)
"""
LAST = 64
"""The victim takes the signals that wait for it by their numbers: after this one none is left."""
SIGNALS = {
    "SIGUSR1": "sends_signal",
    "SIGUSR2": "sends_signal_to_thread",
    "SIGWINCH": "sends_signal_by_descriptor",
    "34": "sends_signal_by_queue",
    "35": "sends_signal_by_owner_of_pipe",
}
VICTIMS = """
    takes_a_file_in removes_a_file empties_a_file changes_a_mode changes_a_mode_by_new_call
    changes_times sets_extended_attribute changes_owner
""".split()


class Stage:
    """Use it as a context; `facts` are what attacks know."""

    def __init__(self) -> None:
        self.token = MARKER + secrets.token_hex(16)
        self.long = f"9{secrets.randbelow(10**8):08}"
        """Seconds to sleep that no other process has: by it those who stay are found."""
        self.received = bytearray()
        self._paths: list[Path] = []
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> Stage:
        self.root = Path(tempfile.mkdtemp(prefix="corpus-", dir=ROOM))
        self.home = self.root / "home"
        self._lay_out_home()
        self._lay_out_packages()
        self._begin_victim()
        facts = {**self._share(), **self._listen()}
        self.facts: dict[str, Any] = {
            **facts,
            "marker": MARKER,
            "long": self.long,
            "home": str(self.home),
            "outside": str(self.root / "outside"),
            "victims": str(self.root / "victims"),
            "packages": str(self.packages),
            "program": str(self.python.with_name("program")),
            "victim": self.victim.pid,
            "victim_group": os.getpgid(self.victim.pid),
            "victim_program": os.path.realpath(f"/proc/{self.victim.pid}/exe"),
            "stack": self._stack(),
            "hostname": socket.gethostname(),
            "numbers": numbers(),
            "temporary_folder": tempfile.gettempdir(),
            "set_id_program": self._set_id_program(),
        }
        self._before = self._state()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.environ.pop("CORPUS_TOKEN", None)
        self.victim.kill()
        self.victim.__exit__(None, None, None)
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        os.close(self._leak)
        ctypes.CDLL(None).shmctl(self._memory, 0, None)
        for path in self._paths:
            with suppress(FileNotFoundError, IsADirectoryError):  # the folder goes with the rest
                path.unlink()
        shutil.rmtree(self.root, ignore_errors=True)

    def marks(self) -> set[str]:
        """The attacks that left something outside, or changed something."""
        now = self._state()
        return {name for name, state in now.items() if state != self._before.get(name)}

    def left_in(self, work: Path) -> set[str]:
        """Those that left in their own folder what harms whoever looks at it."""
        found = set()
        kinds = {"set-id-by-mode": "makes_file_that_runs_as_its_owner"}
        kinds["set-id-at-once"] = "creates_file_that_runs_as_its_owner"
        for path in work.iterdir():
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode):
                if mode & (stat.S_ISUID | stat.S_ISGID) and stat.S_ISREG(mode):
                    found.add(kinds[path.name])
                if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                    found.add(path.name)
        return found

    def survivors(self) -> list[int]:
        """The processes of attacks that are there."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError, ValueError):
                if self.long in path.read_text("utf-8", "replace"):
                    found.append(int(path.parent.name))
        return found

    def _lay_out_home(self) -> None:
        for name in SECRETS:
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.token)
        (self.home / "documents" / self.token).touch()
        (self.home / ".mozilla/firefox/lock").symlink_to(self.token)
        (self.home / ".bashrc").touch()
        (self.home / ".config/autostart").mkdir(parents=True)
        for name in ("outside", "victims", "library", "run"):
            (self.root / name).mkdir()
        (self.root / "library" / "__init__.py").touch()
        for name in VICTIMS:
            (self.root / "victims" / name).write_text("as it was")
        with suppress(OSError):
            os.setxattr(self.home / "documents/report.txt", "user.origin", self.token.encode())
        os.environ["CORPUS_TOKEN"] = self.token
        self._leak = os.open(self.home / SECRETS[0], os.O_RDONLY)
        os.set_inheritable(self._leak, True)

    def _lay_out_packages(self) -> None:
        """A virtual environment, made by hand because `venv` takes its time."""
        base = Path(getattr(sys, "_base_executable", sys.executable))
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        self.packages = self.root / "venv/lib" / version / "site-packages"
        self.packages.mkdir(parents=True)
        self.python = self.root / "venv/bin/python"
        self.python.parent.mkdir()
        self.python.symlink_to(base)
        self.python.with_name("program").touch()
        (self.root / "venv/pyvenv.cfg").write_text(f"home = {base.parent}\n")

    def _begin_victim(self) -> None:
        self.victim = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", VICTIM, self.token],
            stdout=subprocess.PIPE,
            cwd=self.home,
            env={"TOKEN": self.token},
            start_new_session=True,
        )
        assert self.victim.stdout is not None
        assert self.victim.stdout.readline() == b"ready\n"
        self._signals: set[str] = set()

    def _stack(self) -> list[int]:
        for line in Path(f"/proc/{self.victim.pid}/maps").read_text().splitlines():
            if "[stack]" in line:
                return [int(each, 16) for each in re.split("[- ]", line)[:2]]
        return [0, 0]

    def _share(self) -> dict[str, Any]:
        """Temporary files and memory that other programs share."""
        temporary = Path(tempfile.gettempdir(), f"corpus-{self.long}")
        shared = Path("/dev/shm", f"corpus-{self.long}")
        for path in (temporary, shared):
            path.write_text(self.token)
            self._paths.append(path)
        libc = ctypes.CDLL(None, use_errno=True)
        self._memory = libc.shmget(0, 4096, 0o1600)
        libc.shmat.restype = ctypes.c_void_p
        address = libc.shmat(self._memory, None, 0)
        ctypes.memmove(address, self.token.encode(), len(self.token))
        libc.shmdt(ctypes.c_void_p(address))
        return {
            "temporary_file": str(temporary),
            "shared_memory_file": str(shared),
            "shared_memory": self._memory,
        }

    def _listen(self) -> dict[str, Any]:
        runtime = Path("/run") if os.access("/run", os.W_OK) else self.root / "run"
        paths = {
            "home": self.home / ".agent.sock",
            "run": runtime / f"corpus-{self.long}",
            "tmp": Path(tempfile.gettempdir(), f"corpus-{self.long}.sock"),
            "bus": self.root / "run/bus",
            "agent": self.root / "agent",
            "log": self.root / "run/log",
        }
        self._paths += paths.values()
        kinds = {"agent": socket.SOCK_SEQPACKET, "log": socket.SOCK_DGRAM}
        names = {name: str(path) for name, path in paths.items()}
        names |= {"abstract": f"corpus-{self.long}", "x11": f"/tmp/.X11-unix/X{self.long}"}
        for name, where in names.items():
            address = where if name in paths else "\0" + where
            self._serve(socket.AF_UNIX, kinds.get(name, socket.SOCK_STREAM), address)
        ports = {
            "tcp4": self._serve(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp4": self._serve(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "tcp6": self._serve(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
            "udp6": self._serve(socket.AF_INET6, socket.SOCK_DGRAM, ("::1", 0)),
        }
        return {"sockets": names, **ports}

    def _serve(self, family: int, kind: int, address: Any) -> int:
        one = socket.socket(family, kind)
        try:
            one.bind(address)
        except OSError:  # no IPv6 here
            one.close()
            return 0
        if kind != socket.SOCK_DGRAM:
            one.listen()
        self._selector.register(one, selectors.EVENT_READ)
        return 0 if family == socket.AF_UNIX else int(one.getsockname()[1])

    def hear(self) -> None:
        """Take in what was sent to the programs that listen, which wait for it."""
        while ready := self._selector.select(0):
            for key, _ in ready:
                one = key.fileobj
                assert isinstance(one, socket.socket)
                if one.type != socket.SOCK_DGRAM and one.getsockopt(
                    socket.SOL_SOCKET, socket.SO_ACCEPTCONN
                ):
                    with one.accept()[0] as talk:
                        talk.settimeout(0.2)
                        with suppress(OSError):
                            self.received += talk.recv(1000)
                else:
                    self.received += one.recv(1000)

    def _set_id_program(self) -> str:
        """One that runs as nobody, whoever begins it: only root can make such a one."""
        if os.geteuid() != 0:
            return ""
        path = self.root / "id"
        shutil.copy("/usr/bin/id", path)
        os.chown(path, 65534, 65534)
        path.chmod(0o4755)
        return str(path)

    def _state(self) -> dict[str, object]:
        """What each attack would leave or change, as it is now."""
        plain = (
            *(self.root / "outside").iterdir(),
            *(self.home / ".config/autostart").iterdir(),
            *self.packages.rglob("plants_*"),
            *Path(tempfile.gettempdir()).glob("writes_temporary_file_of_all"),
        )
        self._paths += [path for path in plain if path not in self._paths]
        found: dict[str, object] = {path.name: True for path in plain}
        texts = {
            "appends_to_shell_start_file": self.home / ".bashrc",
            "adds_ssh_key": self.home / ".ssh/authorized_keys",
            "plants_start_file_of_python": self.packages / "sitecustomize.py",
            "changes_code_library": self.root / "library/__init__.py",
        }
        found |= {name: path.exists() and path.read_text() for name, path in texts.items()}
        found["replaces_program_of_packages"] = self.python.with_name("program").is_symlink()
        found |= {name: _signature(self.root / "victims" / name) for name in VICTIMS}
        assert self.victim.stdout is not None
        self.victim.send_signal(LAST)
        for line in iter(self.victim.stdout.readline, f"{LAST}\n".encode()):
            self._signals.add(SIGNALS[line.decode().strip()])
        return found | dict.fromkeys(self._signals, True) | _of_process(self.victim.pid)


def _signature(path: Path) -> object:
    if not path.exists():
        return None
    status = path.stat()
    attributes: list[str] = []
    with suppress(OSError):
        attributes = os.listxattr(path)
    return status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns, attributes


def _of_process(number: int) -> dict[str, object]:
    import resource

    return {
        "limits_a_process": resource.prlimit(number, resource.RLIMIT_NOFILE),
        "slows_a_process": os.getpriority(os.PRIO_PROCESS, number),
        "binds_a_process_to_processor": os.sched_getaffinity(number),
        "changes_policy_of_a_process": os.sched_getscheduler(number),
    }


def kill(processes: list[int]) -> None:
    for number in processes:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
