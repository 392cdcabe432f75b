"""Runs a cluster of experts with Ray Serve.

Whoever reaches a port of Ray runs code, and Serve's own HTTP answers without a token. So Serve is
started without HTTP: only the gate listens for other computers. Ray is started with its ports on
loopback, where its token keeps out the other users of the computer. In spite of that each replica
has a port on all addresses, which knows no token and unpickles what it is sent; it is closed by a
certificate that both sides need. On a Ray that somebody else has started, with several computers,
it is they who keep the ports closed.

Ray runs in a process of its own, which `run` keeps alive until it is stopped: if one of Ray's own
processes ends, everything is started again. Nothing here is imported without the command.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.backends.local.worker import BATCHED
from jarvis_desktop.core.errors import ExpertError, Fault, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.experts.engines import Engines, torch_build
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.paths import Paths, save_json, shipped, user_paths
from jarvis_desktop.process import engine
from jarvis_desktop.server.cluster import (
    ClusterGate,
    ExpertReplica,
    GateTerms,
    ParcelledCall,
    ReplicaLost,
    card_share,
)
from jarvis_desktop.server.paired import self_signed
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.tasks.registry import DEFINITIONS, INVENTORY

GATE = "jarvis-gate"
TOGETHER = "jarvis-all-experts"
CALLS_EACH = 2
"""Calls at a replica: one runs, and the next is there already."""
TARGET_CALLS = 1.5
"""Calls at a replica above which there should be another one."""
BATCH = 8
"""Calls that a graphics card computes together; on a processor that gains a tenth."""
QUEUE = 1000
"""Calls that wait for a replica of an expert."""
FINISH_S = 300.0
"""How long a replica that is not needed any longer may finish its work."""
HEALTH_S = 2.0
"""How often Ray Serve looks whether a replica lives."""
UP_S, DOWN_S = 180.0, 30.0
"""How long to wait until a cluster runs, or has ended."""
RESTART_S = 2.0
ALIVE_S = 1.0
"""How often to look whether Ray lives."""
HEAD = (sys.executable, "-P", "-c", f"from {__name__} import run; run()")
"""The process that keeps a cluster alive."""


@dataclass(frozen=True, slots=True)
class ClusterTerms:
    """What a cluster consists of."""

    gate: GateTerms
    offers: tuple[Candidate, ...]
    most: int = 4
    """Replicas of an expert."""
    least: int = 0
    """Replicas of an expert that always run."""
    idle: float = 300.0
    """Seconds after which a replica that is not needed ends."""
    cpus: int = 0
    """Processor cores for replicas, each of which takes one; 0 for all."""
    card: int = 0
    """Bytes of memory of a graphics card; 0 if unknown, then each replica takes a whole one."""
    together: bool = False
    """Whether each replica has all experts, of which it loads those that are asked for."""
    address: str = ""
    """Of a Ray that runs already; otherwise one is started on this computer."""
    token: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)
    """For Ray's own ports."""


class ClusterState:
    """The file that says where the cluster of this user runs, and the lock that its process has."""

    def __init__(self, paths: Paths) -> None:
        self.path = paths.data / "cluster.json"
        self.lock = FileLock(paths.data / "cluster.lock", thread_local=False)
        self.log = paths.logs / "cluster.log"
        self.certificate = paths.data / "cluster.pem"

    def read(self) -> dict[str, Any]:
        """Return what it says; {} if no cluster runs."""
        found = self.written()
        return found if not found.get("pid") or self.has_process() else {}

    def written(self) -> dict[str, Any]:
        """Return what it says, also if that is of a process that has ended."""
        try:
            found = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write(self, **document: object) -> None:
        """Save where it runs, for this user alone: Ray's token is in it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch(mode=0o600)
        self.path.chmod(0o600)
        save_json(self.path, document)

    def has_process(self) -> bool:
        """Whether a process has the lock."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.lock.acquire(timeout=0):
                return False
        except Timeout:
            return True


def start(terms: ClusterTerms) -> dict[str, Any]:
    """Start a cluster, and return its state once it answers. Raises UnavailableError."""
    state = ClusterState(user_paths())
    if terms.address:
        with _connected(terms.address):
            deploy(terms)
        state.write(address=terms.address, place=terms.gate.place)
        return state.read()
    state.path.unlink(missing_ok=True)
    state.log.parent.mkdir(parents=True, exist_ok=True)
    with state.log.open("wb") as log:
        head = subprocess.Popen(
            HEAD,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    assert head.stdin
    with suppress(BrokenPipeError), head.stdin:
        pickle.dump(terms, head.stdin)
    ends = time.monotonic() + UP_S
    while time.monotonic() < ends and head.poll() is None:
        if (found := state.read()).get("address"):
            return found
        time.sleep(0.2)
    stop(head.pid)
    raise UnavailableError("The cluster did not start.", hint=f"What Ray said is in {state.log}.")


def stop(pid: int) -> None:
    """End the process of a cluster, and all of its processes."""
    state = ClusterState(user_paths())
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    ends = time.monotonic() + DOWN_S
    while state.has_process() and time.monotonic() < ends:
        time.sleep(0.1)
    if sys.platform != "win32":
        with suppress(ProcessLookupError):  # it leads a session of its own
            os.killpg(pid, signal.SIGKILL)
    state.path.unlink(missing_ok=True)


def stop_deployed(address: str) -> None:
    """Remove the experts from a Ray that somebody else has started."""
    try:
        with _connected(address):
            from ray import serve

            for name in serve.status().applications:
                if name.startswith("jarvis-"):
                    serve.delete(name)
    finally:
        ClusterState(user_paths()).path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Deployed:
    """A deployment: the gate, an expert, or all of them."""

    name: str
    state: str
    replicas: int
    """Those that run."""
    message: str


def status(found: dict[str, Any]) -> list[Deployed]:
    """Return what runs in a cluster. Raises UnavailableError."""
    with _connected(found.get("address", ""), found.get("token", "")):
        from ray import serve

        listed = []
        for application in serve.status().applications.values():
            for name, each in application.deployments.items():
                if name.startswith("jarvis-"):
                    running = sum(
                        count for state, count in each.replica_states.items() if state == "RUNNING"
                    )
                    listed.append(Deployed(name, str(each.status.value), running, each.message))
    return sorted(listed, key=lambda each: (each.name != GATE, each.name))


def pairing_code(found: dict[str, Any]) -> str:
    """Let the gate of a cluster show a new code. Raises UnavailableError."""
    with _connected(found.get("address", ""), found.get("token", "")):
        from ray import serve

        code: str = serve.get_app_handle(GATE).pairing_code.remote().result(timeout_s=30)
    return code


def deployed_name(expert: str) -> str:
    """Return the name of an expert's deployment."""
    return f"jarvis-expert-{expert.replace('/', '--')}"


def deploy(terms: ClusterTerms) -> None:
    """Deploy the gate and the experts on the Ray that this process is connected to."""
    import ray
    from ray import serve

    serve.start(proxy_location="Disabled")
    groups: dict[str, list[Expert]] = {}
    for each in terms.offers:
        name = TOGETHER if terms.together else deployed_name(each.expert.id)
        groups.setdefault(name, []).append(each.expert)
    has_cards = bool(ray.cluster_resources().get("GPU"))
    quiet = {"enable_access_log": False}
    targets = []
    for name, experts in groups.items():
        share = max(card_share(each, terms.card) for each in experts) if has_cards else 0.0
        batches = share > 0 and all(each.task in BATCHED for each in experts)
        times = BATCH if batches else 1
        deployment = serve.deployment(_served_expert(len(experts), batches)).options(
            name=name,
            ray_actor_options={"num_cpus": 1, "num_gpus": share},
            max_ongoing_requests=CALLS_EACH * times,
            max_queued_requests=QUEUE,
            autoscaling_config={
                "min_replicas": terms.least,
                "max_replicas": terms.most,
                "target_ongoing_requests": TARGET_CALLS * times,
                "upscale_delay_s": 1.0,
                "downscale_delay_s": terms.idle,
                "metrics_interval_s": 1.0,
                "look_back_period_s": 5.0,
            },
            graceful_shutdown_timeout_s=FINISH_S,
            health_check_period_s=HEALTH_S,
            logging_config=quiet,
        )
        targets.append(serve.RunTarget(deployment.bind(experts), name, route_prefix=None))
    here = f"node:{ray.util.get_node_ip_address()}"
    gate = serve.deployment(ServedGate).options(
        name=GATE,
        ray_actor_options={"num_cpus": 0, "resources": {here: 0.001}},
        max_ongoing_requests=100,
        health_check_period_s=HEALTH_S,
        logging_config=quiet,
    )
    bound = gate.bind(terms.gate, terms.offers, terms.together)
    targets.append(serve.RunTarget(bound, GATE, route_prefix=None))
    serve.run_many(targets)


class ServedGate(ClusterGate):
    """The gate as Ray Serve makes it."""

    def __init__(self, terms: GateTerms, offers: Sequence[Candidate], together: bool) -> None:
        tasks = {each.name: each for each in INVENTORY}
        asking = _Asking(together)
        super().__init__(terms, asking.ask, offers, tasks, FileStore(user_paths().artifacts))


def _served_expert(experts: int, batches: bool) -> type[ExpertReplica]:
    """The class of a replica, for that many experts. With `batches`, it takes the calls that have
    gathered while it was at work together."""
    from ray import serve

    class ServedExpert(ExpertReplica):
        def __init__(self, experts: Sequence[Expert]) -> None:
            super().__init__(local_backend(), experts, FileStore(user_paths().artifacts))

        @serve.multiplexed(max_num_models_per_replica=max(3, experts))  # type: ignore[untyped-decorator]
        async def having(self, expert: str) -> str:
            """Notes that this replica has an expert: its next calls come here if possible."""
            return expert

        @serve.batch(max_batch_size=BATCH, batch_wait_timeout_s=0.0)  # type: ignore[untyped-decorator]
        async def gathered(self, asked: list[ParcelledCall]) -> list[dict[str, Any]]:
            return await self.run_batch(asked)

        async def run(self, asked: ParcelledCall) -> AsyncGenerator[dict[str, Any]]:
            if serve.get_multiplexed_model_id():
                await self.having(asked.expert)
            if batches:
                yield await self.gathered(asked)
                return
            async with aclosing(super().run(asked)) as news:
                async for each in news:
                    yield each

    return ServedExpert


def local_backend() -> LocalBackend:
    """Return what runs experts on the computer of a replica, whose end is left to Ray Serve."""
    paths = user_paths()
    engines = Engines(
        paths.engines, shipped("resources", "engine", "requirements.txt"), build=torch_build
    )
    engine.use(engines.folder)
    definitions = {each.type.name: each for each in DEFINITIONS}
    return LocalBackend(definitions, Weights(paths.weights), idle=86_400.0)


class _Asking:
    """Sends calls to the deployments."""

    def __init__(self, together: bool) -> None:
        self._together = together
        self._handles: dict[str, Any] = {}

    async def ask(self, asked: ParcelledCall) -> AsyncGenerator[dict[str, Any]]:
        """Yield what a replica tells. Raises ReplicaLost and JarvisError."""
        from ray import exceptions as errors
        from ray import serve
        from ray.serve import exceptions as serve_errors

        name = TOGETHER if self._together else deployed_name(asked.expert)
        answer = None
        try:
            if name not in self._handles:
                handle = await asyncio.to_thread(serve.get_app_handle, name)
                self._handles[name] = handle.options(stream=True)
            handle = self._handles[name]
            if self._together:
                handle = handle.options(multiplexed_model_id=asked.expert)
            answer = handle.run.remote(asked)
            async for news in answer:
                yield news
                if "results" in news or "error" in news:
                    answer = None
                    return
        except serve_errors.BackPressureError as error:
            raise ExpertError(
                tr("{who} wants fewer requests for now.", who=asked.expert),
                retryable=True,
                fault=Fault.BUSY,
            ) from error
        except errors.RayTaskError:
            raise
        except (errors.RayError, serve_errors.RayServeException) as error:
            raise ReplicaLost from error
        finally:
            if answer is not None:
                answer.cancel()


@contextmanager
def _connected(address: str, token: str = "") -> Iterator[None]:
    """Connect this process to a Ray: one that `hold` has started if there is a token."""
    if not address:
        raise UnavailableError("The cluster is starting again.", hint="Try again in a moment.")
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)  # what Ray tells is of no use in a terminal
    if token:
        os.environ |= settings_of(token, ClusterState(user_paths()).certificate)
    import ray

    try:
        ray.init(address, log_to_driver=False, logging_level="error")
    except (ConnectionError, RuntimeError, ray.exceptions.RayError) as error:
        logging.disable(before)
        raise UnavailableError(
            f"There is no Ray at {address}, or it does not let this computer in.",
            hint="If it wants a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN.",
        ) from error
    try:
        yield
    finally:
        ray.shutdown()
        logging.disable(before)


def settings_of(token: str, certificate: Path) -> dict[str, str]:
    """Return Ray's variables for a Ray on this computer, which it reads when it is imported."""
    return {
        # Ray's own switch for computers that are a cluster by themselves: its ports are on
        # 127.0.0.1. An address would not do: Ray replaces that of loopback by another.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": token,
        "RAY_USE_TLS": "1",
        "RAY_TLS_SERVER_CERT": str(certificate),
        "RAY_TLS_SERVER_KEY": str(certificate),
        "RAY_TLS_CA_CERT": str(certificate),
        "RAY_USAGE_STATS_ENABLED": "0",
        # After the end of its head; in the usual minute calls would wait for nothing.
        "RAY_gcs_rpc_server_reconnect_timeout_s": "5",
    }


def hold(terms: ClusterTerms, folder: str) -> None:
    """Start a Ray, deploy the experts, and return when it has ended. Ray's own files are in
    `folder`."""
    state = ClusterState(user_paths())
    state.certificate.unlink(missing_ok=True)
    state.certificate.touch(mode=0o600)
    state.certificate.write_text("".join(self_signed("127.0.0.1", "localhost")), "utf-8")
    os.environ |= settings_of(terms.token, state.certificate)
    import ray

    context = ray.init(
        "local",
        num_cpus=terms.cpus or None,
        include_dashboard=False,
        log_to_driver=False,
        _temp_dir=f"{folder}/ray",  # which all may read; only the owner gets there
    )
    try:
        deploy(terms)
        state.write(
            pid=os.getppid(),
            address=context.address_info["gcs_address"],
            place=terms.gate.place,
            token=terms.token,
        )
        parent = os.getppid()
        while os.getppid() == parent and any(each["Alive"] for each in ray.nodes()):
            time.sleep(ALIVE_S)  # if Ray's head ends, this process ends with it
    finally:
        ray.shutdown()


def run() -> None:
    """Keep a cluster alive, whose terms come by standard input, until this process is stopped."""
    terms: ClusterTerms = pickle.load(sys.stdin.buffer)  # noqa: S301 - from `start`
    if len(sys.argv) > 1:
        hold(terms, sys.argv[1])
        return
    state, ran = ClusterState(user_paths()), False

    def end(*_: object) -> None:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, end)
    with state.lock.acquire(timeout=5):
        try:
            while True:
                _hold_once(terms)
                ran = ran or "address" in state.written()
                if not ran:
                    raise SystemExit(1)  # another try would not help
                state.write(pid=os.getpid(), place=terms.gate.place)
                time.sleep(RESTART_S)
        finally:
            state.path.unlink(missing_ok=True)
            state.certificate.unlink(missing_ok=True)


def _hold_once(terms: ClusterTerms) -> None:
    """Do the work of `hold` in a process of its own: it ends if Ray does."""
    with tempfile.TemporaryDirectory(prefix="jarvis-ray-", ignore_cleanup_errors=True) as folder:
        holder = subprocess.Popen([*HEAD, folder], stdin=subprocess.PIPE, start_new_session=True)
        try:
            holder.communicate(pickle.dumps(terms))
        finally:
            _end(holder)


def _end(holder: subprocess.Popen[bytes]) -> None:
    """End the process with Ray, and Ray's own, which are in its session."""
    holder.terminate()
    with suppress(subprocess.TimeoutExpired):
        holder.wait(DOWN_S / 2)
    if sys.platform == "win32":
        holder.kill()
    else:
        with suppress(ProcessLookupError):
            os.killpg(holder.pid, signal.SIGKILL)
