"""`code`: the functions that agent mode wrote, tested and kept."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from jarvis_desktop.cli import output
from jarvis_desktop.cli.arguments import Subparsers, add_shared
from jarvis_desktop.cli.code_review import numbered
from jarvis_desktop.cli.keyboard import agreed
from jarvis_desktop.core.code import Function
from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.shown import one_line

if TYPE_CHECKING:
    from jarvis_desktop.compose_app import App


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    code = subparsers.add_parser("code", help="list, show, test and remove functions it wrote")
    actions = code.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="all functions of the code library")
    listing.set_defaults(command=_list)
    show = actions.add_parser("show", help="one function: its code, its tests, its versions")
    show.add_argument("name", metavar="NAME")
    show.set_defaults(command=_show)
    test = actions.add_parser("test", help="run the tests of functions in the sandbox")
    test.add_argument("names", nargs="*", metavar="NAME", help="none: all of them")
    test.set_defaults(command=_test)
    remove = actions.add_parser("remove", help="delete a function with all its versions")
    remove.add_argument("name", metavar="NAME")
    remove.add_argument("--yes", action="store_true", help="do not ask")
    remove.set_defaults(command=_remove)
    for action in (listing, show, test, remove):
        add_shared(action)


def _list(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        found, damaged = app.library.list(), app.library.damaged()
        if args.json:
            output.write_json({"functions": [_listed(item) for item in found], "damaged": damaged})
        else:
            for item in found:
                output.say(item.signature)
                output.say(f"    {item.summary}")
                output.say(f"    {_figures(item)}")
            if not found and not damaged:
                output.say("The code library is empty.")
        return _told(damaged)

    return session.run(args, work)


def _show(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        function = app.library.get(args.name)
        versions = app.library.versions(args.name)
        if args.json:
            output.write_json(_whole(function, versions))
            return output.DONE
        draft = function.draft
        output.say(f"{function.signature}\n    {function.summary}\n    {_figures(function)}")
        for item in versions:
            output.say(
                f"    version {item.version}  {output.when(item.approved)}  {item.draft.sha256}"
            )
        output.say(f"\n{numbered(draft.source)}")
        if draft.tests:
            output.say(f"\ntests\n{numbered(draft.tests)}")
        return output.DONE

    return session.run(args, work)


def _test(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        damaged: Sequence[str] = ()
        if args.names:
            chosen: Sequence[Function] = [app.library.get(name) for name in args.names]
        else:
            chosen, damaged = app.library.list(), app.library.damaged()
        results: list[dict[str, Any]] = []
        for function in chosen:
            report = await app.tester.test(function)
            results.append({"name": function.name, "passed": report.passed, "text": report.text})
            if not args.json:
                mark = "done   " if report.passed else "failed "
                words = report.text.strip().replace("\n", "\n        ")
                output.say(f"{mark} {function.name}: {words}")
        if args.json:
            output.write_json({"functions": results, "damaged": damaged})
        elif not chosen and not damaged:
            output.say("The code library is empty.")
        _told(damaged)
        return _verdict([item["passed"] for item in results] + [False for _ in damaged])

    return session.run(args, work)


def _verdict(passed: Sequence[bool]) -> int:
    if all(passed):
        return output.DONE
    return output.PARTLY if any(passed) else output.FAILED


def _remove(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        name = one_line(args.name)
        with suppress(StorageError):  # one that was changed can still be removed
            app.library.get(args.name)
        if not args.yes and not await agreed(f"Remove {name} with all its versions? [y/N]"):
            output.note("Nothing was removed (--yes agrees in advance).")
            return output.FAILED
        app.library.remove(args.name)
        if args.json:
            output.write_json({"removed": args.name})
        else:
            output.say(f"{name} is removed.")
        return output.DONE

    return session.run(args, work)


def _told(damaged: Sequence[str]) -> int:
    """Says which functions are refused; gives the exit code that this makes."""
    for sentence in damaged:
        output.note(f"note    {sentence}")
    return output.PARTLY if damaged else output.DONE


def _figures(function: Function) -> str:
    used = "not used yet" if not function.used else f"used {function.used}×"
    tests = "with tests" if function.draft.tests else "without tests"
    needs = ", ".join(function.draft.packages)
    return f"version {function.version}, {tests}, {used}" + (f"; needs {needs}" if needs else "")


def _listed(function: Function) -> dict[str, object]:
    return {
        "name": function.name,
        "signature": function.signature,
        "summary": function.summary,
        "version": function.version,
        "tests": bool(function.draft.tests),
        "used": function.used,
        "packages": function.draft.packages,
        "sha256": function.draft.sha256,
    }


def _whole(function: Function, versions: Sequence[Function]) -> dict[str, object]:
    draft = function.draft
    return {
        **_listed(function),
        "source": draft.source,
        "tests": draft.tests,
        "approved": function.approved,
        "versions": [
            {"version": item.version, "approved": item.approved, "sha256": item.draft.sha256}
            for item in versions
        ],
    }
