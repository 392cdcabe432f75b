"""Experts as functions of scripts: the calls, their limits, and what a hostile script makes of
them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.code import Ending, ExpertCall
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.sandbox import process_tree
from jarvis_desktop.sandbox.expert_calls import MAX_RESULT_CHARS, CallLimits
from jarvis_desktop.sandbox.inside.channel import MAX_CALL_BYTES
from jarvis_desktop.sandbox.profile import Launcher
from jarvis_desktop.sandbox.self_test import Unsandboxed
from jarvis_desktop.sandbox.session import TimeLimit
from tests.sandbox.sessions import LAUNCHERS, Bench, bench

each = pytest.mark.parametrize("launcher", [*LAUNCHERS, Unsandboxed()], ids=lambda item: item.name)


@dataclass
class Experts:
    """Gives what it is told to, and remembers its calls with the bytes of their files."""

    gives: Sequence[Artifact] = (text_artifact("four words of it"),)
    error: Exception | None = None
    calls: list[ExpertCall] = field(default_factory=list)
    files: list[bytes] = field(default_factory=list)
    working: int = 0

    async def __call__(self, call: ExpertCall) -> Sequence[Artifact]:
        assert not self.working, "two at once"
        self.working += 1
        await asyncio.sleep(0)
        self.calls.append(call)
        for arg in call.args.values():
            for item in arg if isinstance(arg, tuple) else (arg,):
                if isinstance(item, Artifact) and item.path:
                    self.files.append(item.path.read_bytes())
        self.working -= 1
        if self.error:
            raise self.error
        return self.gives


@pytest.fixture
def experts() -> Experts:
    return Experts()


@pytest.fixture
async def made(tmp_path: Path, experts: Experts) -> AsyncIterator[Bench]:
    speech = tmp_path / "given.wav"
    speech.write_bytes(b"RIFF")
    async with bench(tmp_path, files={"talk.wav": speech}, call=experts) as found:
        yield found


@each
async def test_a_file_goes_out_and_a_text_comes_back(
    tmp_path: Path, launcher: Launcher, experts: Experts
) -> None:
    speech = tmp_path / "given.wav"
    speech.write_bytes(b"RIFF")
    async with bench(tmp_path, launcher, files={"talk.wav": speech}, call=experts) as made:
        done = await made.run("import jarvis\nlen(jarvis.transcribe('talk.wav').split())")
    assert (done.value, done.error, done.made) == ("4", "", ())
    (call,) = experts.calls
    (item,) = call.args.values()
    assert call.task == "automatic-speech-recognition"
    assert isinstance(item, Artifact)
    assert (item.kind, item.name, list(call.args)) == (Kind.AUDIO, "talk.wav", ["audio"])
    assert item.path
    assert item.path.is_relative_to(made.to)
    assert experts.files == [b"RIFF"]


@each
async def test_a_file_comes_back_into_the_folder(
    tmp_path: Path, launcher: Launcher, experts: Experts
) -> None:
    picture = tmp_path / "stored-by-hash.png"
    picture.write_bytes(b"PNG")
    experts.gives = (
        Artifact(Kind.IMAGE, path=picture, name="../a light house.png"),
        text_artifact("in the light"),
    )
    async with bench(tmp_path, launcher, call=experts) as made:
        done = await made.run(
            "import jarvis\n"
            "open('a_light_house.png', 'w').close()\n"
            "picture, text = jarvis.run('text-to-image', prompt=['a', 'b'], seed=3, wide=None)\n"
            "str(picture), text, open(picture).read()"
        )
        assert done.value == "('a_light_house-2.png', 'in the light', 'PNG')"
    assert [item.name for item in done.made] == ["a_light_house-2.png"]
    assert experts.calls == [ExpertCall("text-to-image", {"prompt": ("a", "b"), "seed": 3})]


async def test_each_function_is_a_task(made: Bench, experts: Experts) -> None:
    done = await made.run(
        "import jarvis\n"
        "from pathlib import Path\n"
        "for name in ('a.png', 'a.csv', 'a.txt', 'odd name.txt'):\n"
        "    open(name, 'w').write('x')\n"
        "jarvis.summarize('Much text.')\n"
        "jarvis.summarize('a.txt', sentences=1)\n"
        "jarvis.translate('One. Two.', 'French')\n"
        "jarvis.translate(Path('odd name.txt'), 'French')\n"
        "jarvis.caption('a.png')\n"
        "jarvis.read_picture('a.png')\n"
        "jarvis.ask('Who?', 'a.png')\n"
        "jarvis.ask('How many?', 'a.csv')\n"
        "jarvis.ask('Why?', 'Because of the rain. It rained.')\n"
        "jarvis.ask('Why?', 'odd name.txt')\n"
    )
    assert done.error == ""

    def shown(call: ExpertCall) -> tuple[str, dict[str, object]]:
        return call.task, {
            name: item.name if isinstance(item, Artifact) else item
            for name, item in call.args.items()
        }

    assert list(map(shown, experts.calls)) == [
        ("summarization", {"text": "Much text.", "sentences": 3}),
        ("summarization", {"text": "a.txt", "sentences": 1}),
        ("translation", {"text": "One. Two.", "language": "French"}),
        ("translation", {"text": "odd name.txt", "language": "French"}),
        ("image-to-text", {"image": "a.png", "what": "caption"}),
        ("image-to-text", {"image": "a.png", "what": "text"}),
        ("visual-question-answering", {"image": "a.png", "question": "Who?"}),
        ("table-question-answering", {"table": "a.csv", "question": "How many?"}),
        ("question-answering", {"context": "Because of the rain. It rained.", "question": "Why?"}),
        ("question-answering", {"context": "odd name.txt", "question": "Why?"}),
    ]
    assert experts.files == [b"x"] * 7


async def test_a_result_without_text_is_an_empty_one(made: Bench, experts: Experts) -> None:
    experts.gives = ()
    assert (await made.run("import jarvis\njarvis.summarize('x y')")).value == "''"
    experts.gives = (text_artifact("é\ud800" * MAX_RESULT_CHARS), text_artifact("more"))
    done = await made.run("first, more = jarvis.run('x', text='y')\nlen(first), first[:2], more")
    assert done.value == f"({MAX_RESULT_CHARS}, 'é?', '')"


async def test_a_reason_is_an_exception(made: Bench, experts: Experts) -> None:
    experts.error = ExpertError("No words were heard in talk.wav.", hint="Speak\nup.")
    done = await made.run("import jarvis\njarvis.transcribe('talk.wav')")
    assert done.ending is Ending.ERROR
    assert done.error.splitlines() == [
        "Traceback (most recent call last):",
        '  File "script.py", line 2, in <module>',
        "    jarvis.transcribe('talk.wav')",
        "jarvis.ExpertCallError: No words were heard in talk.wav. Speak up.",
    ]
    caught = await made.run(
        "try:\n    jarvis.transcribe('talk.wav')\nexcept jarvis.ExpertCallError as error:\n"
        "    print(error)"
    )
    assert caught.printed == "No words were heard in talk.wav. Speak up.\n"


async def test_a_file_that_is_not_there_is_named(made: Bench, experts: Experts) -> None:
    for source in ("transcribe('tlak.wav')", "summarize('notes.txt')", "ask('Who?', 'a.png')"):
        done = await made.run(f"import jarvis\njarvis.{source}")
        assert "FileNotFoundError: [Errno 2] No such file or directory: " in done.error
    assert experts.calls == []


async def test_nobody_is_called_where_nobody_is(tmp_path: Path) -> None:
    async with bench(tmp_path) as made:
        done = await made.run("import jarvis\njarvis.summarize('x y')")
    assert done.error.endswith("jarvis.ExpertCallError: Experts cannot be called here.")


async def test_too_long_a_text_goes_by_a_file(made: Bench, experts: Experts) -> None:
    done = await made.run(
        f"import jarvis\ntext = 'ab ' * {MAX_CALL_BYTES // 3}\n"
        "try:\n"
        "    jarvis.summarize(text)\n"
        "except jarvis.ExpertCallError as error:\n"
        "    print(error)\n"
        "jarvis.write_text('long.txt', text)\n"
        "jarvis.summarize('long.txt')\n"
    )
    assert "That is too long for an expert: write it to a file" in done.printed
    assert done.value == "'four words of it'"
    assert len(experts.files[0]) > MAX_CALL_BYTES - 3


async def test_calls_are_counted(tmp_path: Path, experts: Experts) -> None:
    async with bench(tmp_path, call=experts, calls=CallLimits(calls=2)) as made:
        done = await made.run("import jarvis\nfor n in range(9): jarvis.summarize(f'{n} x')")
        assert done.error.endswith("A script can call experts 2 times at most.")
        assert len(experts.calls) == 2
        assert (await made.run("jarvis.summarize('x y')")).ending is Ending.DONE


async def test_their_time_is_bounded(tmp_path: Path) -> None:
    ended = []

    async def slow(call: ExpertCall) -> Sequence[Artifact]:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(call.task)
        raise AssertionError

    async with bench(tmp_path, call=slow, calls=CallLimits(seconds=0.6)) as made:
        done = await made.run(
            "import jarvis\n"
            "for _ in range(2):\n"
            "    try:\n        jarvis.summarize('x y')\n"
            "    except jarvis.ExpertCallError as error:\n        print(error)\n"
        )
    assert done.printed == "The experts of a script can take 0.01 minutes at most.\n" * 2
    assert ended[0] == "summarization"


async def test_a_scripts_time_stands_still_while_an_expert_works() -> None:
    limit, later = TimeLimit(0.01), asyncio.Event()
    with limit.held():
        asyncio.get_running_loop().call_later(0.05, later.set)
        await later.wait()
        assert not limit.passed.is_set()
    await limit.passed.wait()


async def test_no_thread_goes_on_while_an_expert_works(tmp_path: Path) -> None:
    states: set[str] = set()

    async def look(call: ExpertCall) -> Sequence[Artifact]:
        kernel = place.session._kernel
        assert kernel
        assert kernel._process
        root = kernel._process.pid
        inside = {found.number for found in process_tree.descendants(root)} - {root}
        async with asyncio.timeout(60):  # a busy computer stops them a moment later
            while states != {"T"}:
                states.clear()
                for number in inside:
                    told = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2]
                    states.add(told.split()[0])
                await asyncio.sleep(0)
        return [text_artifact("seen")]

    async with bench(tmp_path, call=look) as place:
        done = await place.run(
            "import jarvis, threading\n"
            "over = threading.Event()\n"
            "def spin():\n    while not over.is_set(): pass\n"
            "threading.Thread(target=spin).start()\n"
            "seen = jarvis.summarize('x y')\n"
            "over.set()\n"
            "seen"
        )
    assert (done.value, states) == ("'seen'", {"T"})


async def test_cancelling_reaches_the_expert(tmp_path: Path) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def slow(call: ExpertCall) -> Sequence[Artifact]:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    async with bench(tmp_path, call=slow) as made:
        task = asyncio.ensure_future(made.run("import jarvis\njarvis.summarize('x y')"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()
        assert (await made.run("1")).fresh


async def test_threads_take_turns(made: Bench, experts: Experts) -> None:
    done = await made.run(
        "import jarvis\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    found = list(pool.map(lambda n: jarvis.summarize(f'{n} x'), range(8)))\n"
        "len(set(found)), len(found)"
    )
    assert done.value == "(1, 8)"
    assert sorted(str(call.args["text"]) for call in experts.calls) == [f"{n} x" for n in range(8)]


async def test_a_call_within_a_call_is_refused(made: Bench, experts: Experts) -> None:
    done = await made.run(
        "import jarvis, sys\n"
        "def look(frame, event, arg):\n"
        "    if frame.f_code.co_name == '_result':\n"
        "        try:\n            jarvis.summarize('inner one')\n"
        "        except jarvis.ExpertCallError as error:\n            print(error)\n"
        "sys.settrace(look)\n"
        "found = jarvis.summarize('outer one')\n"
        "sys.settrace(None)\n"
        "found"
    )
    assert done.printed == "An expert cannot be called while another one is waited for.\n"
    assert (done.value, len(experts.calls)) == ("'four words of it'", 1)


async def test_a_fork_calls_nobody(made: Bench, experts: Experts) -> None:
    done = await made.run(
        "import jarvis, os\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    try:\n        jarvis.summarize('x y')\n"
        "    except jarvis.ExpertCallError as error:\n        print(error)\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "jarvis.summarize('z y')\n"
    )
    assert done.printed == "Experts work only for the script's first process.\n"
    assert [call.args["text"] for call in experts.calls] == ["z y"]


async def test_a_thread_that_outlives_its_script_calls_nobody(tmp_path: Path) -> None:
    seen: list[object] = []

    async def called(call: ExpertCall) -> Sequence[Artifact]:
        seen.append(call.args["text"])
        return [text_artifact("done")]

    async with bench(tmp_path, call=called) as made:
        # The kernel waits for the call of its daemon thread before it answers.
        done = await made.run(
            "import jarvis, threading\n"
            "from _inside import channel\n"
            "calling, found, errors = threading.Event(), [], []\n"
            "def work():\n"
            "    channel.current._lock.acquire()\n"
            "    calling.set()\n"
            "    found.append(jarvis.summarize('x y'))\n"
            "    channel.current._lock.release()\n"
            "    try:\n        jarvis.summarize('late one')\n"
            "    except jarvis.ExpertCallError as error:\n        errors.append(str(error))\n"
            "thread = threading.Thread(target=work, daemon=True)\n"
            "thread.start()\n"
            "calling.wait()\n"
        )
        assert done.ending is Ending.DONE
        assert seen[0] == "x y"
        later = await made.run("thread.join()\nfound, errors")
    assert later.value.startswith("(['done'], [")
    assert set(seen) <= {"x y", "late one"}


RAW = """
import json, os, jarvis
from _inside import channel
pipes = channel.current
def raw(**changed):
    call = {"call": 1, "mark": pipes._mark, "task": "summarization", "inputs": {"text": ["x"]}}
    pipes._write(json.dumps({**call, **changed}).encode())
"""


@pytest.mark.parametrize(
    "attack",
    [
        "raw(mark='')",
        "raw(mark=None)",
        "raw(call=True)",
        "raw(call='1')",
        "raw(task=['summarization'])",
        "raw(inputs=None)",
        "raw(inputs=[['text', 'x']])",
        "raw(inputs={'text': 'x'})",
        "raw(inputs={'text': [['a', 'b']]})",
        "raw(inputs={'text': [{'path': 'a'}]})",
        "raw(inputs={'text': [None]})",
        "raw(inputs={'text': [float('nan')]})",
        "raw(inputs={'text': [1e300]})",
        "raw(inputs={'text': ['x'] * 51})",
        "raw(inputs={'a/b': ['x']})",
        "raw(inputs={f'a{n}': ['x'] for n in range(13)})",
        "pipes._write(b'[1]')",
        "pipes._write(b'{')",
        "pipes._write(b'[' * 400000)",
        "os.write(pipes._answers, b'\\xff\\xff\\xff\\xff')",
        "os.write(pipes._answers, b'\\0\\0\\0\\0')",
        "pipes._write(b'x' * (1 << 19))",
    ],
)
async def test_what_is_no_call_ends_the_process(made: Bench, experts: Experts, attack: str) -> None:
    done = await made.run(RAW + attack + "\nimport time\nwhile True: time.sleep(1)")
    assert done.ending is Ending.CRASHED
    assert "it wrote where only its own Python process may write" in done.error
    assert experts.calls == []
    assert (await made.run("1")).fresh


async def test_calls_whose_results_nobody_reads_do_not_block_the_next_script(
    made: Bench, experts: Experts
) -> None:
    done = await made.run(RAW + "for _ in range(60): raw()")
    assert done.ending is Ending.DONE
    assert len(experts.calls) == CallLimits().calls
    again = await made.run("jarvis.summarize('x y')")
    assert (again.value, again.fresh) == ("'four words of it'", False)


async def test_one_who_floods_the_pipe_runs_out_of_time(made: Bench, experts: Experts) -> None:
    experts.gives = (text_artifact("x" * 400_000),)
    done = await made.run(RAW + "while True: raw()", timeout=2)
    assert done.ending is Ending.TIMEOUT
    assert len(experts.calls) <= CallLimits().calls
    assert (await made.run("1")).value == "1"


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda item: item.name)
async def test_only_plain_files_of_the_folder_go_out(
    tmp_path: Path, launcher: Launcher, experts: Experts
) -> None:
    secret = tmp_path / "secret.wav"
    secret.write_text("secret")
    paths = {
        "../secret.wav": "is not in the folder of the script",
        "deep/../../secret.wav": "is not in the folder of the script",
        str(secret): "is not in the folder of the script",
        "/etc/passwd": "is not in the folder of the script",
        "": "is not in the folder of the script",
        ".": "is not in the folder of the script",
        "a\\b.wav": "is not in the folder of the script",
        "C:x.wav": "is not in the folder of the script",
        "a\0b.wav": "is not in the folder of the script",
        "/".join("a" * 17): "is not in the folder of the script",
        "link.wav": "cannot be read",
        "linked/secret.wav": "cannot be read",
        "twice.wav": "the same file as another one",
        "deep": "cannot be read",
        "empty.wav": "it is empty",
        "none.wav": "No such file",
        "x" * 300: "cannot be read",
        "large.wav": "it is too large",
        "\ud800.wav": "cannot be read",
    }
    async with bench(tmp_path, launcher, call=experts, calls=CallLimits(bytes=99)) as made:
        done = await made.run(
            RAW + "os.mkdir('deep')\n"
            "open('empty.wav', 'w').close()\n"
            "open('large.wav', 'w').write('x' * 100)\n"
            "open('once.wav', 'w').write('x')\n"
            "os.link('once.wav', 'twice.wav')\n"
            f"os.symlink({str(secret)!r}, 'link.wav')\n"
            f"os.symlink({str(tmp_path)!r}, 'linked')\n"
            f"for path in {list(paths)!r}:\n"
            "    try:\n"
            "        pipes.call('x', {'audio': [[path]]})\n"
            "        print('got it')\n"
            "    except jarvis.ExpertCallError as error:\n"
            "        print(error)\n"
        )
        assert done.error == ""
        told = done.printed.splitlines()
        assert len(told) == len(paths)
        for path, line in zip(paths, told, strict=True):
            assert paths[path] in line, (path, line)
        assert experts.calls == []
        inside = await made.run(
            "open('deep/ok.wav', 'w').write('mine')\n"
            "os.chdir('deep')\n"
            "found = jarvis.transcribe('ok.wav')\n"
            "os.chdir('..')\n"
            "found"
        )
        assert inside.value == "'four words of it'"
    assert experts.files == [b"mine"]


async def test_a_result_does_not_follow_a_link(tmp_path: Path, experts: Experts) -> None:
    outside, result = tmp_path / "outside.txt", tmp_path / "made.txt"
    outside.write_text("untouched")
    result.write_text("result")
    experts.gives = (Artifact(Kind.DOCUMENT, path=result, name="made.txt"),)
    async with bench(tmp_path, call=experts) as made:
        done = await made.run(
            f"import jarvis, os\nos.symlink({str(outside)!r}, 'made.txt')\n"
            "str(jarvis.run('x', text='y'))"
        )
    assert done.value == "'made-2.txt'"
    assert outside.read_text() == "untouched"
