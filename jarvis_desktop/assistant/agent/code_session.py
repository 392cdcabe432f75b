"""The workspace of a goal's code: one Python session, its files, hosts, packages and the library.

Files have the names that everybody uses, made safe for a disk. Missing packages are installed after
asking. Repairs of the same code are counted, so that they come to an end.
"""

from __future__ import annotations

import ast
import asyncio
import difflib
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from jarvis_desktop.assistant.agent.goal_run import GoalRun, available_artifacts
from jarvis_desktop.assistant.agent.roles import Observation, failure
from jarvis_desktop.assistant.prompts import cut_middle
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.code import (
    LIBRARY,
    CallExpert,
    CodeOutcome,
    CodeSession,
    Library,
    Packages,
    Protection,
    Sandbox,
    Script,
    parsed,
)
from jarvis_desktop.core.display import encodable, one_line, unique_name
from jarvis_desktop.core.errors import InputError, JarvisError, StorageError
from jarvis_desktop.core.events import Noted
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.i18n import trn
from jarvis_desktop.tasks.naming import join_words

MAX_EARLIER_FILES = 10
"""Files of earlier turns that code gets, the newest ones."""
MAX_NAME_CHARS = 80

_fenced = re.compile(r"^[ \t]*```[\w+-]*[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
_unwanted = re.compile(r"[^\w.\-() ]+")
_devices = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


class WorkspaceFiles:
    """The files that a goal's code got, each once, so that changes by code are kept."""

    def __init__(self, texts: Path) -> None:
        """`texts` is a folder, hidden from code, in which texts become files."""
        self._texts = texts
        self._names: dict[Path | str, str] = {}
        self._given: set[Path | str] = set()
        self._own: set[Path | str] = set()
        self._taken: set[str] = set()

    def own(self, artifacts: Iterable[Artifact]) -> None:
        """Note artifacts made by code itself: they are in its folder already."""
        for item in artifacts:
            self._own.add(_key(item))
            self._taken.add(clean_name(item, item.title).casefold())

    def renamed(self, run: GoalRun) -> Mapping[str, str]:
        """Return what has another name in the folder: available name -> name in the folder."""
        at = {item: name for name, item in available_artifacts(run).items()}
        named = self.named(run)
        return {at[item]: name for name, item in named.items() if at[item] != name}

    def new(self, run: GoalRun) -> Mapping[str, Artifact]:
        """Return what code should get now, by name: attachments, and what experts made."""
        named = self.named(run)
        found = {name: item for name, item in named.items() if _key(item) not in self._given}
        self._given |= {_key(item) for item in found.values()}
        return found

    def give_again(self) -> None:
        """Make all files new again, as they were given."""
        self._given.clear()

    def withdraw(self, files: Mapping[str, Artifact]) -> None:
        """Make files that did not arrive new again."""
        self._given -= {_key(item) for item in files.values()}

    def named(self, run: GoalRun) -> dict[str, Artifact]:
        """Return what code gets, by its name in the folder."""
        before = [item.artifact for item in run.context.resources]
        skipped = {item for item in before if item.path is None}
        skipped |= set([item for item in before if item.path][:-MAX_EARLIER_FILES])
        found = {}
        for name, item in available_artifacts(run).items():
            key = _key(item)
            if key not in self._own and item not in skipped:
                if key not in self._names:
                    self._names[key] = unique_name(clean_name(item, name), self._taken)
                    self._taken.add(self._names[key].casefold())
                found[self._names[key]] = item
        return found

    def paths(self, files: Mapping[str, Artifact]) -> Mapping[str, Path]:
        """Return the paths of files. A text is written to a file first, which blocks."""
        return {name: item.path or self._written(name, item) for name, item in files.items()}

    def _written(self, name: str, item: Artifact) -> Path:
        self._texts.mkdir(parents=True, exist_ok=True)
        path = self._texts / name
        path.write_text(item.text or "", encoding="utf-8", errors="replace")
        return path


def clean_name(item: Artifact, called: str) -> str:
    """Return a file name that every system accepts, with the suffix of its content."""
    usual = item.path.suffix if item.path else ".txt"
    suffix = PurePath(called).suffix or usual
    stem = _unwanted.sub("_", one_line(called.removesuffix(suffix), limit=MAX_NAME_CHARS)).strip(
        " ."
    )
    name = f"{stem or 'file'}{_unwanted.sub('', suffix)[:12]}"
    return f"_{name}" if _devices.match(name) else name


def _key(item: Artifact) -> Path | str:
    return item.path or item.text or ""


RUNS_CODE = "run_code"
"""The branch that runs code."""


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """The outcome of a run, and what it means for the next one."""

    outcome: CodeOutcome
    lost: bool
    """Whether the variables of earlier runs were gone."""
    news: tuple[str, ...]
    """News about the library, one sentence each."""


class CodeWorkspaces:
    """The workspaces of all goals in this process."""

    def __init__(
        self, sandbox: Sandbox, library: Library, *, folder_of: Callable[[str], Path]
    ) -> None:
        """`folder_of` returns the folder of a goal by its id. The folder outlives the process."""
        self.sandbox = sandbox
        self.library = library
        self._folder_of = folder_of
        self._benches: dict[str, CodeWorkspace] = {}

    def bench(self, run: GoalRun) -> CodeWorkspace:
        """Return the workspace of a goal."""
        bench = self._benches.get(run.goal.id)
        if bench is None:
            folder = self._folder_of(run.goal.id)
            bench = CodeWorkspace(run, self.sandbox, self.library, folder)
            self._benches[run.goal.id] = bench
        return bench

    async def close(self, goal_id: str) -> None:
        """End what runs for a goal that is over or cancelled."""
        bench = self._benches.pop(goal_id, None)
        if bench is not None:
            await bench.close()


class CodeWorkspace:
    """The session of one goal, started when code first runs. Its files outlive it."""

    def __init__(self, run: GoalRun, sandbox: Sandbox, library: Library, folder: Path) -> None:
        """`folder` belongs to the goal."""
        self.hosts = run.goal.terms.hosts
        """What code may reach: agreed in advance, or allowed by the user since."""
        self.files = WorkspaceFiles(folder / "texts")
        self._goal_run = run
        self._sandbox = sandbox
        self._library = library
        self._folder = folder
        self._session: CodeSession | None = None
        self._given: dict[str, Path] = {}
        """Files passed to the session; it checks there before each run."""
        self._attempt = 1
        self._laid_out = False
        self._damage: frozenset[str] = frozenset()
        runs = [entry for entry in run.log if entry.branch == RUNS_CODE]
        self._ran = any(entry.code for entry in runs)
        for entry in runs:
            self.files.own(entry.artifacts)

    async def protection(self) -> Protection:
        """Return what keeps code from the rest of the computer."""
        return await self._sandbox.protection()

    async def run(
        self,
        script: Script,
        *,
        approved: str,
        to: Path,
        timeout: float,
        report: Callable[[str], None],
        call: CallExpert | None = None,
    ) -> ScriptRun:
        """Run a script on all files available by now; see `CodeSession.run`."""
        news = await self._lay_out()
        files = self.files.new(self._goal_run)
        try:
            session = await self._with(files)
            outcome = await session.run(
                script, approved=approved, to=to, timeout=timeout, report=report, call=call
            )
        except JarvisError:
            self.files.withdraw(files)
            await self.close()
            raise
        lost = self._ran and outcome.fresh
        self._ran = True
        return ScriptRun(outcome, lost, news)

    async def allow(self, host: str) -> None:
        """Let code reach one more host. The session restarts, because its limits are fixed."""
        self.hosts = (*self.hosts, host)
        await self.close()

    async def start_over(self) -> None:
        """Continue in an empty folder, with the given files as they were."""
        await self.close()
        self._attempt += 1
        self._ran = False
        self.files.give_again()

    def library_changed(self) -> None:
        """Note that a function was saved: the next run finds it, even in a running session."""
        self._laid_out = False

    async def close(self) -> None:
        """End the session; the next run starts another one."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _lay_out(self) -> tuple[str, ...]:
        if self._laid_out:
            return ()
        refused = await asyncio.to_thread(self._library.lay_out, self._code)
        self._laid_out = True
        news = tuple(text for text in refused if text not in self._damage)
        self._damage |= set(news)
        for text in news:
            self._goal_run.live.show(Noted(text))
        return news

    async def _with(self, files: Mapping[str, Artifact]) -> CodeSession:
        paths = await asyncio.to_thread(self.files.paths, files)
        if self._session is None:
            self._given = dict(paths)
            self._session = self._sandbox.session(
                self._folder / ("files" if self._attempt == 1 else f"files-{self._attempt}"),
                protection=await self.protection(),
                files=self._given,
                hosts=self.hosts,
                library=self._code,
            )
        self._given.update(paths)
        return self._session

    @property
    def _code(self) -> Path:
        return self._folder / "code"


MAX_PACKAGES = 20
"""Packages installed for one piece of code."""


class PackageInstaller:
    """Installs packages for code, if the user agrees."""

    def __init__(self, packages: Packages, workshop: CodeWorkspaces) -> None:
        self._packages = packages
        self._library = workshop.library

    async def provide(self, run: GoalRun, *sources: str) -> Observation | None:
        """Install missing packages of the sources. Return why that was impossible, or None."""
        names = await asyncio.to_thread(self._missing, sources)
        if not names:
            return None
        if len(names) > MAX_PACKAGES:
            return failure(
                f"The code needs {len(names)} more packages; at most {MAX_PACKAGES} are added."
            )
        listed = join_words([one_line(name, limit=60) for name in names])
        them = "it" if len(names) == 1 else "them"
        question = trn(
            "This code needs {packages}, which is not installed. Install it into the environment "
            "that only code of goals uses?",
            "This code needs {packages}, which are not installed. Install them into the "
            "environment that only code of goals uses?",
            len(names),
            packages=listed,
        )
        if not await run.live.confirm(question):
            return failure(
                f"The code needs {listed}, and the person did not agree to install {them}. "
                "Do without, or ask the person."
            )
        try:
            await self._packages.install(names, run.progress_reporter())
        except JarvisError as error:
            # The reason may quote the package index.
            reason = f"{listed} could not be installed: {error} Do without."
            return Observation(reason, Status.FAILED)
        return None

    def _missing(self, sources: Iterable[str]) -> Sequence[str]:
        """Return missing packages, also of the library functions that the sources use."""
        found: dict[str, None] = {}
        for source in sources:
            found |= dict.fromkeys(self._packages.missing(source))
            for name in library_imports(source):
                try:
                    function = self._library.get(name)
                except (InputError, StorageError):  # importing it will fail and say so
                    continue
                found |= dict.fromkeys(self._packages.missing(function.draft.source))
        return tuple(found)


FAILURES_KEY = "failures"
GIVEN_UP_KEY = "given up"

ANOTHER_WAY = (
    "take another way: change the plan (re_plan), ask the person (ask_user), "
    "or finish with what there is"
)


class RepairCounter:
    """Counts the tries at one thing. They are saved in the frame, so a crash grants no new ones."""

    def __init__(self, run: GoalRun, subject: str) -> None:
        """`subject` is what is tried: the purpose of code, or the name of a function."""
        self._goal_run = run
        self._depth = run.inner
        self._subject = " ".join(re.findall(r"\w+", subject.casefold()))

    @property
    def is_over(self) -> bool:
        """Whether this very thing was given up before."""
        return bool(self._subject) and self._subject in self._kept(GIVEN_UP_KEY).split("\n")

    def failed(self) -> str:
        """Count one more failure in a row, and return what the LLM should make of it."""
        failures = int(self._kept(FAILURES_KEY) or 0) + 1
        left = self._goal_run.limits.repairs + 1 - failures
        if left > 0:
            self._keep({FAILURES_KEY: str(failures)})
            tries = "once more" if left == 1 else f"{left} times more"
            return f"It may be mended and tried {tries}."
        given_up = f"{self._kept(GIVEN_UP_KEY)}\n{self._subject}".strip()
        self._keep({FAILURES_KEY: "", GIVEN_UP_KEY: given_up})
        times = "once" if failures == 1 else f"{failures} times in a row"
        return f"It failed {times}, and mending it is given up: {ANOTHER_WAY}."

    def worked(self) -> None:
        """Reset the count: what fails next is something else."""
        if self._kept(FAILURES_KEY):
            self._keep({FAILURES_KEY: ""})

    def _kept(self, key: str) -> str:
        return self._goal_run.frames[self._depth].kept.get(key, "")

    def _keep(self, changed: dict[str, str]) -> None:
        self._goal_run.remember(self._depth, **changed)


def clean_code(code: str) -> str:
    """Return the code in an LLM's answer, without the fences and escapes around it.

    Valid Python stays as it is, except for its line ends. What cannot be made valid only gets its
    line ends fixed.
    """
    code = encodable(code).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    code = f"{code.strip(chr(10)).rstrip()}\n"
    fenced = textwrap.dedent("\n".join(_fenced.findall(code)))
    escaped = code.replace("\\n", "\n").replace('\\"', '"') if code.count("\n") == 1 else ""
    for tried in (code, textwrap.dedent(code), fenced, escaped):
        if tried.strip() and is_python(tried):
            return tried
    return code


def is_python(code: str) -> bool:
    """Return whether it has no syntax error."""
    try:
        parsed(code)
    except InputError:
        return False
    return True


def library_imports(code: str) -> tuple[str, ...]:
    """Return the names that a script imports from the library, in order; () if it is not Python."""
    try:
        tree = parsed(code)
    except InputError:
        return ()
    aliases: set[str] = set()
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(level=0, module=str(module), names=names):
                whole, _, inner = module.partition(".")
                if whole == LIBRARY:
                    found |= dict.fromkeys([inner] if inner else [name.name for name in names])
            case ast.Import(names=names):
                for name in names:
                    whole, _, inner = name.name.partition(".")
                    if whole == LIBRARY:
                        aliases.add(name.asname or whole)
                        found |= {inner: None} if inner else {}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=whole), attr=attribute) if whole in aliases:
                found[attribute] = None
    return tuple(found)


def format_diff(before: str, after: str, *, longest: int = 2000) -> str:
    """Return the changed lines as a unified diff."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    return cut_middle("\n".join(list(lines)[2:]), longest)
