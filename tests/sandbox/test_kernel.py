"""What a script sees of the Python that runs it, and what is told of it afterwards."""

from __future__ import annotations

import csv
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.code import Ending
from tests.sandbox.sessions import PACKAGES, Bench, bench


@pytest.fixture
async def plain(tmp_path: Path) -> AsyncIterator[Bench]:
    async with bench(tmp_path) as made:
        yield made


async def test_variables_stay_and_the_last_value_is_told(plain: Bench) -> None:
    first = await plain.run("x = 20\ndef double(n):\n    return 2 * n")
    assert (first.ending, first.value, first.fresh) == (Ending.DONE, "", True)
    second = await plain.run("x += 1\ndouble(x)")
    assert (second.value, second.fresh) == ("42", False)
    assert (await plain.run("'a\\tb'")).value == "'a\\tb'"
    assert (await plain.run("None")).value == ""
    assert (await plain.run("print(1); 2;")).value == "2"
    assert (await plain.run("")).ending is Ending.DONE
    assert (await plain.run("# nothing but a word")).ending is Ending.DONE


async def test_nothing_of_the_kernel_is_among_a_scripts_names(plain: Bench) -> None:
    names = await plain.run("sorted(name for name in globals() if name != '__builtins__')")
    assert names.value == "['__doc__', '__loader__', '__name__', '__package__', '__spec__']"
    assert (await plain.run("__name__, __import__('sys').argv")).value == (
        "('__main__', ['script-2.py'])"
    )
    flags = await plain.run(
        "import __future__\nf = lambda: 0\n1 / 2, f.__code__.co_flags & 0x1000000"
    )
    assert flags.value == "(0.5, 0)"


async def test_annotations_and_pickles_find_the_module_of_the_script(plain: Bench) -> None:
    done = await plain.run(
        "from __future__ import annotations\n"
        "import dataclasses, pickle, typing\n"
        "@dataclasses.dataclass\n"
        "class Point:\n"
        "    x: int\n"
        "pickle.loads(pickle.dumps(Point(3))).x, typing.get_type_hints(Point)['x'].__name__\n"
    )
    assert done.value == "(3, 'int')"


async def test_what_is_printed_comes_in_order_from_python_c_and_children(plain: Bench) -> None:
    done = await plain.run(
        "import ctypes, os, subprocess, sys\n"
        "print('one')\n"
        "sys.stderr.write('two\\n')\n"
        "os.write(1, b'three\\n')\n"
        "subprocess.run(['sh', '-c', 'echo four; echo five >&2'], check=True)\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.puts(b'six')\n"
        "libc.fflush(None)\n"
        "print('seven', end='')\n"
    )
    assert done.printed.split() == "one two three four five six seven".split()
    assert "".join(plain.told) == done.printed


async def test_output_goes_on_after_a_script_that_closed_it(plain: Bench) -> None:
    await plain.run("import os, sys\nsys.stdout = None\nos.close(1)\nos.close(2)")
    assert (await plain.run("print('still here')")).printed == "still here\n"


async def test_a_flood_is_cut_in_the_middle(plain: Bench) -> None:
    done = await plain.run("for n in range(100000): print(f'line {n:06}')")
    assert done.printed.startswith("line 000000\nline 000001\n")
    assert done.printed.endswith("line 099998\nline 099999\n")
    assert "bytes are left out" in done.printed
    assert len(done.printed) < 1_100_000
    assert len("".join(plain.told)) <= 1 << 19


async def test_what_steers_a_terminal_is_not_told(plain: Bench) -> None:
    done = await plain.run(
        "import sys\n"
        "print('\\x1b[31mred\\x1b[0m \\x1b]0;title\\x07end')\n"
        "print('10 %\\r20 %\\r\\n')\n"
        "sys.stdout.buffer.write(b'\\xff\\x00')\n"
        "raise ValueError('\\x1b[2Jgone \\u202eback')\n"
    )
    assert done.printed == "red end\n10 %\n20 %\n\n��"
    assert done.error.endswith("ValueError: �[2Jgone �back") or done.error.endswith(
        "ValueError: gone �back"
    )


async def test_a_traceback_begins_at_the_script_and_shows_its_lines(plain: Bench) -> None:
    done = await plain.run("def half(n):\n    return n / 0\n\nhalf(3)\n")
    assert done.ending is Ending.ERROR
    assert done.error.splitlines()[:5] == [
        "Traceback (most recent call last):",
        '  File "script.py", line 4, in <module>',
        "    half(3)",
        '  File "script.py", line 2, in half',
        "    return n / 0",
    ]
    assert done.error.endswith("ZeroDivisionError: division by zero")
    again = await plain.run("half(4)")
    assert '  File "script-2.py", line 1, in <module>' in again.error
    assert '  File "script.py", line 2, in half' in again.error


async def test_of_python_and_packages_only_the_last_place_is_told(plain: Bench) -> None:
    done = await plain.run("import json\njson.loads('{')")
    assert done.error.count("File ") == 2
    assert '  File "json/decoder.py", line ' in done.error
    chained = await plain.run(
        "try:\n    json.loads('{')\nexcept ValueError as error:\n"
        "    raise ExceptionGroup('many', [KeyError('x')]) from error"
    )
    assert "direct cause" in chained.error
    assert "KeyError: 'x'" in chained.error
    assert "/" not in chained.error.replace("json/decoder.py", "")


async def test_paths_are_told_as_seen_from_the_folder(plain: Bench) -> None:
    done = await plain.run("import os\nopen(os.path.join(os.getcwd(), 'no', 'such'))")
    assert done.error.endswith("FileNotFoundError: [Errno 2] No such file or directory: 'no/such'")


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("x = (", "SyntaxError"),
        ("x = 1\n  y = 2", "IndentationError"),
        ("x = '\0'", "null bytes"),
        ("def f():\n    return f()\nf()", "RecursionError"),
        ("input('name? ')", "EOFError: A script gets no input"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import sys\nsys.exit('all is lost')", "SystemExit: all is lost"),
        (
            "class Bad(Exception):\n    def __str__(self):\n        raise Bad\nraise Bad",
            "<exception str() failed>",
        ),
        (
            "class Bad:\n    def __repr__(self):\n        raise ValueError('no name')\nBad()",
            "ValueError: no name",
        ),
        (
            "class Bad:\n    def __str__(self):\n        raise ValueError\nraise SystemExit(Bad())",
            "SystemExit: Bad",
        ),
    ],
)
async def test_errors_of_all_kinds_are_told_and_nothing_is_lost(
    plain: Bench, source: str, word: str
) -> None:
    await plain.run("kept = 7")
    done = await plain.run(source)
    assert done.ending is Ending.ERROR
    assert word in done.error
    assert len(done.error) < 20_000
    assert (await plain.run("kept")).value == "7"


async def test_a_script_may_end_itself(plain: Bench) -> None:
    for source in ("exit()", "quit(0)", "import sys\nsys.exit()"):
        done = await plain.run(f"print('last words')\n{source}\nprint('not this')")
        assert (done.ending, done.printed, done.error) == (Ending.DONE, "last words\n", "")


async def test_too_much_memory_is_told_apart(plain: Bench) -> None:
    done = await plain.run("x = bytearray(1 << 40)")
    assert done.ending is Ending.MEMORY
    assert "MemoryError" in done.error
    assert not (await plain.run("1")).fresh


async def test_long_values_lose_their_middle(plain: Bench) -> None:
    done = await plain.run("list(range(100000))")
    assert len(done.value) < 21_000
    assert done.value.startswith("[0, 1, 2")
    assert done.value.endswith("99999]")
    assert "characters are left out" in done.value


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ("import no_such_thing.inner", "no_such_thing"),
        ("from no_such_thing import x", "no_such_thing"),
        ("import json.nothing", ""),
        ("raise ModuleNotFoundError(name='../x')", ""),
        (
            "try:\n    import no_such_thing\nexcept ImportError as error:\n"
            "    raise ImportError('pip install it') from error",
            "no_such_thing",
        ),
        ("try:\n    import no_such_thing\nexcept ImportError:\n    1 / 0", ""),
    ],
)
async def test_what_is_not_installed_is_named(plain: Bench, source: str, missing: str) -> None:
    assert (await plain.run(source)).missing == missing


async def test_threads_are_waited_for_and_their_errors_told(plain: Bench) -> None:
    done = await plain.run(
        "import threading, time\n"
        "ready = threading.Event()\n"
        "def work():\n"
        "    ready.wait()\n"
        "    print('done later')\n"
        "    raise ValueError('in a thread')\n"
        "threading.Thread(target=work).start()\n"
        "threading.Thread(target=ready.wait, daemon=True).start()\n"
        "threading.Timer(0.05, ready.set).start()\n"
    )
    assert done.ending is Ending.DONE
    assert "done later" in done.printed
    assert "ValueError: in a thread" in done.printed
    assert '  File "script.py", line 6, in work' in done.printed


async def test_a_forked_process_is_not_taken_for_the_first(plain: Bench) -> None:
    done = await plain.run(
        "import os\n"
        "child = os.fork()\n"
        "if child:\n"
        "    os.waitpid(child, 0)\n"
        "print('child' if child == 0 else 'parent')\n"
    )
    assert sorted(done.printed.split()) == ["child", "parent"]
    assert (await plain.run("child > 0")).value == "True"


async def test_processes_of_multiprocessing_work(plain: Bench) -> None:
    done = await plain.run(
        "import multiprocessing\n"
        "def square(n):\n"
        "    return n * n\n"
        "with multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "    found = pool.map(square, [1, 2, 3])\n"
        "found\n"
    )
    assert done.value == "[1, 4, 9]"


async def test_that_fonts_are_looked_up_is_not_printed(tmp_path: Path) -> None:
    async with bench(tmp_path, packages=PACKAGES) as made:
        slow = await made.run(
            "import matplotlib.font_manager\n"
            "matplotlib.font_manager._log.warning('building the font cache')\n"
            "matplotlib.font_manager._log.error('no font')\n"
        )
        assert slow.printed == "no font\n"


async def test_figures_tables_and_pictures_become_files(tmp_path: Path) -> None:
    async with bench(tmp_path, packages=PACKAGES) as made:
        plot = await made.run(
            "import matplotlib.pyplot as plt\n"
            "plt.plot([1, 3, 2])\n"
            "plt.show()\n"
            "fig, ax = plt.subplots()\n"
            "fig.savefig('mine.png')\n"
            "plt.figure()\n"
        )
        assert (plot.ending, plot.printed) == (Ending.DONE, "")
        assert [(item.kind, item.name) for item in plot.made] == [
            (Kind.IMAGE, "figure-1.png"),
            (Kind.IMAGE, "mine.png"),
        ]
        assert all(item.path and item.path.read_bytes()[:4] == b"\x89PNG" for item in plot.made)
        table = await made.run(
            "import pandas as pd\npd.DataFrame({'n': [1, 2]}, index=pd.Index([3, 4], name='k'))"
        )
        assert [(item.kind, item.name) for item in table.made] == [(Kind.TABLE, "table-1.csv")]
        assert table.made[0].path is not None
        rows = list(csv.reader(table.made[0].path.read_text().splitlines()))
        assert rows == [["k", "n"], ["3", "1"], ["4", "2"]]
        assert table.value.splitlines()[0].split() == ["n"]
        picture = await made.run("from PIL import Image\nImage.new('L', (3, 2))")
        assert [item.name for item in picture.made] == ["picture-1.png"]
        broken = await made.run("fig = plt.figure()\nfig.add_subplot().set_title('$\\\\frac{$')")
        assert broken.ending is Ending.ERROR
        assert "ParseException" in broken.error or "ValueError" in broken.error
        again = await made.run("plt.plot([1])\npd.Series([1, 2])")
        assert [item.name for item in again.made] == ["figure-2.png", "table-2.csv"]
