"""The coder's branches on the real sandbox, the real code library and the real artifact store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent.approvals import Approvals
from jarvis_desktop.assistant.agent.branches import conversation
from jarvis_desktop.assistant.agent.branches.library import CallCoder, ExtendLibrary
from jarvis_desktop.assistant.agent.branches.run_code import RunCode
from jarvis_desktop.assistant.agent.branches.write_function import WriteFunction
from jarvis_desktop.assistant.agent.code_session import CodeWorkspaces, PackageInstaller
from jarvis_desktop.assistant.agent.controller import Controller
from jarvis_desktop.assistant.agent.function_tests import FunctionTester
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.roles import BranchRunner, Observation, roles
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.code import ExpertCall, Protection
from jarvis_desktop.core.events import RoundStarted
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice, CodeTerms, ControllerFrame
from jarvis_desktop.paths import shipped
from jarvis_desktop.sandbox.packages import PipPackages
from jarvis_desktop.sandbox.session import OsSandbox
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.code_library import CodeLibrary
from jarvis_desktop.storage.web_fetch import checked, look_up
from tests.assistant.agent.scripted import ScriptedLLM, goal_run_for, says
from tests.fakes import FakeFrontend, FakeLLMs
from tests.sandbox.sessions import LAUNCHERS, time_ends


class Place:
    """A goal's coder and librarian."""

    def __init__(self, root: Path, *, timeout: float = 60.0) -> None:
        self.root = root
        self.frontend = FakeFrontend()
        self.packages = PipPackages(root / "packages", network=lambda: False)
        self.store = FileStore(root / "store")
        self.library = CodeLibrary(
            root / "library", root / "history.db", now=lambda: datetime(2026, 3, 1, tzinfo=UTC)
        )
        sandbox = OsSandbox(
            launchers=LAUNCHERS,
            choose=lambda python, launchers: Protection(LAUNCHERS[0].name, True),
            packages=self.packages.site,
            find=look_up,
            check=checked,
        )
        self.workshop = CodeWorkspaces(
            sandbox, self.library, folder_of=lambda goal: root / "goals" / goal
        )
        approvals = Approvals(code=CodeTerms.SANDBOXED, acting=())
        providing = PackageInstaller(self.packages, self.workshop)
        self.runs = RunCode(
            self.workshop, providing, approvals, self.store, call=self._call, timeout=timeout
        )
        trying = FunctionTester(self.workshop, self.store, timeout=timeout)
        self.writes = WriteFunction(self.workshop, providing, approvals, trying)
        (root / "prices.csv").write_text("day,price\n1,4\n2,6\n")
        self.goal_run: GoalRun = goal_run_for(
            self.frontend,
            frames=[ControllerFrame("assistant", "x"), ControllerFrame("coder", "y")],
            files=[self.store.take_in(root / "prices.csv")],
        )
        self.goal_run.inner = 1
        self.goal_run.live.show(RoundStarted(0, "assistant/coder", "run_code", "to see"))

    async def _call(self, run: GoalRun, call: ExpertCall) -> Sequence[Artifact]:
        """An expert that reads."""
        item = call.args["text"]
        assert isinstance(item, Artifact)
        assert item.path
        kept = self.store.take_in(item.path)
        assert kept.path
        return [text_artifact(f"{run.goal.id}: {item.name}, {kept.path.read_text()[:9]}")]

    async def run(self, code: str) -> Observation:
        return await self.runs(
            self.goal_run, BranchChoice("run_code", {"code": code, "purpose": "to see"})
        )

    async def write(self, **args: object) -> Observation:
        args = {"packages": [], "replaces": "", **args}
        return await self.writes(self.goal_run, BranchChoice("write_function", args))


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    place = Place(tmp_path)
    yield place
    await place.workshop.close("g")


async def test_scripts_share_their_variables_and_the_files_of_the_goal(place: Place) -> None:
    seen = await place.run(
        "import csv\nrows = list(csv.DictReader(open('prices.csv')))\nprint(len(rows), 'rows')"
    )
    assert seen.status is Status.DONE
    assert "It printed:\n2 rows" in seen.text
    place.goal_run.made.append(text_artifact("said in between"))
    seen = await place.run(
        "total = sum(int(row['price']) for row in rows)\n"
        "open('total.txt', 'w').write(str(total))\n"
        "(total, open('text 1.txt').read())"
    )
    assert "(10, 'said in between')" in seen.text
    assert "variables" not in seen.text
    [made] = seen.artifacts
    assert made.name == "total.txt"
    assert made.path
    assert place.store.holds(made.path)
    assert made.path.read_text() == "10"


async def test_an_error_is_told_with_its_line_and_a_stop_ends_the_session(place: Place) -> None:
    seen = await place.run("x = 1\nprint(nothing)\n")
    assert seen.status is Status.FAILED
    assert "line 2, in <module>\n    print(nothing)" in seen.text
    assert "NameError: name 'nothing' is not defined" in seen.text
    work = asyncio.create_task(place.run("print('begun')\nwhile True: pass"))
    while "begun" not in place.goal_run.live.turn.rounds[0].printed:
        await asyncio.sleep(0.01)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    seen = await place.run("'x' in globals()")
    assert "the variables of earlier runs are gone" in seen.text
    assert "False" in seen.text


async def test_a_script_calls_an_expert_with_a_file_of_the_goal(place: Place) -> None:
    found = await place.run("import jarvis\nprint(jarvis.summarize('prices.csv'))")
    assert found.printed == "g: prices.csv, day,price"


async def test_a_package_that_came_since_is_found(place: Place) -> None:
    await place.run("x = 1")
    place.packages.site.mkdir(parents=True, exist_ok=True)
    (place.packages.site / "newcomer.py").write_text("NUMBER = 42\n")
    seen = await place.run("import newcomer\n(newcomer.NUMBER, x)")
    assert "(42, 1)" in seen.text


async def test_a_goal_goes_through_coder_and_librarian_to_its_answer(place: Place) -> None:
    llm = ScriptedLLM(
        [
            says("coder", task="Double the sum of the prices."),
            says("extend_library", task="A function that doubles a number."),
            says("write_function", name="double", code=DOUBLE, tests=TESTS),
            says("finish", summary="double(x) is kept."),
            says("run_code", code=SUMMING, purpose="Double the sum"),
            says("finish", summary="It is 20.", uses=["sum.txt"]),
            says("final_answer", text="It is 20.", uses=["sum.txt"]),
        ]
    )
    goal_run = goal_run_for(place.frontend, files=place.goal_run.context.attachments)
    branches: dict[str, BranchRunner] = {
        "finish": conversation.finish,
        "final_answer": conversation.final_answer,
        "run_code": place.runs,
        "write_function": place.writes,
    }
    controller = Controller(
        roles(),
        branches,
        llms=FakeLLMs(llm),
        prompts=Prompts(shipped("resources", "prompts")),
        library=place.library,
    )
    branches["coder"] = CallCoder(controller.call, place.workshop)
    branches["extend_library"] = ExtendLibrary(controller.call, place.library)
    seen = await controller.run(goal_run, 0)
    assert seen.status is Status.DONE
    [made] = seen.artifacts
    assert made.path
    assert made.path.read_text() == "20"
    assert goal_run.live.turn.artifacts == (made,)
    told = [(entry.path, entry.branch, entry.status) for entry in goal_run.log]
    assert all(status is Status.DONE for _, _, status in told), goal_run.log
    assert ("assistant/coder/librarian", "write_function", Status.DONE) in told
    assert ("assistant/coder", "run_code", Status.DONE) in told
    assert goal_run.frames[0].tainted


SUMMING = """import csv
from library import double

total = sum(int(row["price"]) for row in csv.DictReader(open("prices.csv")))
open("sum.txt", "w").write(str(double(total)))
"""


async def test_a_host_that_code_may_not_reach_is_asked_about(place: Place) -> None:
    reach = "import socket\nsocket.create_connection(('prices.example.org', 80), timeout=5)"
    place.frontend.consent = False
    seen = await place.run(reach)
    assert seen.status is Status.FAILED
    assert "Code may not reach prices.example.org:80: do without." in seen.text
    [question] = place.frontend.questions
    assert question.startswith("The code wanted to reach prices.example.org:80,")


DOUBLE = 'def double(x: int) -> int:\n    """Twice it."""\n    return 2 * x\n'
TESTS = "from library import double\n\n\ndef test_of_two():\n    assert double(2) == 4\n"


async def test_a_function_is_tested_kept_and_used_in_a_session_that_goes_on(place: Place) -> None:
    await place.run("x = 21")
    wrong = await place.write(name="double", code=DOUBLE.replace("2 * x", "str(x)"), tests=TESTS)
    assert wrong.status is Status.FAILED
    assert "the return value (str) is not an instance of int" in wrong.text
    assert not place.library.list()
    seen = await place.write(name="double", code=DOUBLE, tests=TESTS)
    assert seen.status is Status.DONE, seen.text
    seen = await place.run("from library import double\ndouble(x)")
    assert "42" in seen.text
    newer = DOUBLE.replace("2 * x", "x + x + 0 * len(str(x))").replace("Twice", "Double")
    # It is shown: what scripts printed may have had a hand in it.
    place.goal_run.change(1, tainted=True)
    seen = await place.write(
        name="double", code=newer, tests=TESTS.replace("2", "5").replace("4", "10")
    )
    assert seen.status is Status.DONE, seen.text
    assert place.frontend.codes[0].replaces == DOUBLE
    assert "passed earlier test_of_two" in place.frontend.codes[0].tests
    seen = await place.run("from library import double\n(double(x), double.__doc__)")
    assert "(42, 'Double it.')" in seen.text
    function = place.library.get("double")
    assert (function.version, function.used) == (2, 2)


async def test_one_function_builds_on_another(place: Place) -> None:
    await place.write(name="double", code=DOUBLE, tests=TESTS)
    code = (
        "from library import double\n\n\n"
        'def four_times(x: int) -> int:\n    """Four of it."""\n    return double(double(x))\n'
    )
    tests = (
        "from library import four_times\n\n\ndef test_of_two():\n    assert four_times(2) == 8\n"
    )
    seen = await place.write(name="four_times", code=code, tests=tests)
    assert seen.status is Status.DONE, seen.text
    assert "12" in (await place.run("import library\nlibrary.four_times(3)")).text


async def test_tests_without_end_are_ended(tmp_path: Path) -> None:
    place = Place(tmp_path, timeout=2.0)
    endless = "def test_of_all():\n    open('begun', 'w')\n    while True:\n        pass\n"
    with time_ends(lambda: list(tmp_path.rglob("begun"))):
        seen = await place.write(name="double", code=DOUBLE, tests=f"{TESTS}\n\n{endless}")
    assert seen.status is Status.FAILED
    assert "The tests did not run to their end." in seen.text
    assert "passed test_of_two" in seen.text


async def test_a_library_that_was_changed_is_refused(place: Place) -> None:
    await place.write(name="double", code=DOUBLE, tests=TESTS)
    (place.root / "library" / "library" / "double.py").write_text("def double(x): return 'evil'\n")
    seen = await place.run("from library import double")
    assert seen.status is Status.FAILED
    assert "“double” is refused" in seen.text
    assert place.goal_run.live.turn.notes
