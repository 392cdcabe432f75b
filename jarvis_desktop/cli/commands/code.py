"""`code` manages the functions that agent mode wrote; `memory` what it remembers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from jarvis_desktop.cli import output
from jarvis_desktop.cli.input import agreed
from jarvis_desktop.cli.session import Subparsers, add_action, add_actions, app_command, count
from jarvis_desktop.cli.terminal import numbered
from jarvis_desktop.core.code import Function
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import StorageError

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application


def add_code(subparsers: Subparsers) -> None:
    """Add the commands."""
    actions = add_actions(subparsers, "code", "list, show, test and remove functions it wrote")
    add_action(actions, "list", "all functions of the code library", _list)
    add_action(actions, "show", "one function: its code, its tests, its versions", _show, "NAME")
    test = add_action(actions, "test", "run the tests of functions in the sandbox", _test)
    test.add_argument("names", nargs="*", metavar="NAME", help="none: all of them")
    about = "delete a function with all its versions"
    remove = add_action(actions, "remove", about, _remove, "NAME")
    remove.add_argument("--yes", action="store_true", help="do not ask")


@app_command
async def _list(args: argparse.Namespace, app: Application) -> int:
    found, damaged = app.library.list(), app.library.damaged()
    if args.json:
        output.write_json(
            {"functions": [_function_values(item) for item in found], "damaged": damaged}
        )
    else:
        for item in found:
            output.say(item.signature)
            output.say(f"    {item.summary}")
            output.say(f"    {_figures(item)}")
        if not found and not damaged:
            output.say("The code library is empty.")
    return _report_damaged(damaged)


@app_command
async def _show(args: argparse.Namespace, app: Application) -> int:
    function = app.library.get(args.name)
    versions = app.library.versions(args.name)
    if args.json:
        output.write_json(_whole(function, versions))
        return output.DONE
    draft = function.draft
    output.say(f"{function.signature}\n    {function.summary}\n    {_figures(function)}")
    for item in versions:
        approved = output.format_time(item.approved)
        output.say(f"    version {item.version}  {approved}  {item.draft.sha256}")
    output.say(f"\n{numbered(draft.source)}")
    if draft.tests:
        output.say(f"\ntests\n{numbered(draft.tests)}")
    return output.DONE


@app_command
async def _test(args: argparse.Namespace, app: Application) -> int:
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
    _report_damaged(damaged)
    return _verdict([item["passed"] for item in results] + [False for _ in damaged])


def _verdict(passed: Sequence[bool]) -> int:
    if all(passed):
        return output.DONE
    return output.PARTLY if any(passed) else output.FAILED


@app_command
async def _remove(args: argparse.Namespace, app: Application) -> int:
    name = one_line(args.name)
    with suppress(StorageError):  # a modified one can still be removed
        app.library.get(args.name)
    if not args.yes and not await agreed(f"Remove {name} with all its versions? [y/N]"):
        output.note("Nothing was removed (--yes agrees in advance).")
        return output.FAILED
    app.library.remove(args.name)
    return output.result(args, {"removed": args.name}, f"{name} is removed.")


def _report_damaged(damaged: Sequence[str]) -> int:
    """Report refused functions. Return the exit code."""
    for sentence in damaged:
        output.note(f"note    {sentence}")
    return output.PARTLY if damaged else output.DONE


def _figures(function: Function) -> str:
    used = "not used yet" if not function.used else f"used {function.used}×"
    tests = "with tests" if function.draft.tests else "without tests"
    needs = ", ".join(function.draft.packages)
    return f"version {function.version}, {tests}, {used}" + (f"; needs {needs}" if needs else "")


def _function_values(function: Function) -> dict[str, object]:
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
        **_function_values(function),
        "source": draft.source,
        "tests": draft.tests,
        "approved": function.approved,
        "versions": [
            {"version": item.version, "approved": item.approved, "sha256": item.draft.sha256}
            for item in versions
        ],
    }


def add_memory(subparsers: Subparsers) -> None:
    """Add the commands."""
    actions = add_actions(subparsers, "memory", "list, add and remove what is remembered")
    add_action(actions, "list", "all that is remembered, with its numbers", _list_facts)
    adding = add_action(actions, "add", "remember something in every conversation", _add)
    adding.add_argument("text", metavar="TEXT", help="such as “always answer in German”")
    remove = add_action(actions, "remove", "forget one thing", _remove_fact)
    remove.add_argument("number", type=count, metavar="NUMBER", help="as `memory list` shows it")
    clear = add_action(actions, "clear", "forget everything", _clear)
    clear.add_argument("--yes", action="store_true", help="do not ask")


@app_command
async def _list_facts(args: argparse.Namespace, app: Application) -> int:
    facts = app.history.facts.list()
    listed = "\n".join(f"{fact.number:>4}  {fact.text}" for fact in facts)
    return output.result(args, list(facts), listed or "Nothing is remembered yet.")


@app_command
async def _add(args: argparse.Namespace, app: Application) -> int:
    fact = app.history.facts.add(args.text)
    return output.result(args, fact, f"{fact.number:>4}  {fact.text}")


@app_command
async def _remove_fact(args: argparse.Namespace, app: Application) -> int:
    app.history.facts.remove(args.number)
    return output.result(args, {"removed": args.number}, f"Number {args.number} is forgotten.")


@app_command
async def _clear(args: argparse.Namespace, app: Application) -> int:
    if not args.yes and not await agreed("Forget everything that is remembered? [y/N]"):
        output.note("Nothing was forgotten (--yes agrees in advance).")
        return output.FAILED
    gone = app.history.facts.clear()
    return output.result(
        args, {"removed_facts": gone}, f"Forgot {gone} thing{'s' if gone != 1 else ''}."
    )
