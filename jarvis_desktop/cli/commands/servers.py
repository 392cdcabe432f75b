"""`servers` sets, tests and removes servers that do one kind of work each, by their addresses."""

from __future__ import annotations

import argparse
import asyncio
from functools import partial
from typing import TYPE_CHECKING

from jarvis_desktop import settings
from jarvis_desktop.app.server_trial import try_server
from jarvis_desktop.backends.inference_api.endpoints import Endpoints
from jarvis_desktop.cli import output, session
from jarvis_desktop.cli.commands.llm import add_keys
from jarvis_desktop.cli.session import Subparsers, add_action, add_actions, app_command
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.paths import user_paths
from jarvis_desktop.platform.api_keys import origin
from jarvis_desktop.platform.work_server import Work

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.platform.work_server import WorkServer


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    about = "let servers with OpenAI's protocol do some of the work"
    actions = add_actions(subparsers, "servers", about)
    action = partial(add_action, actions)
    use = action("use", "name the server for a kind of work", _use)
    models = action("models", "the models of a server", _models)
    test = action("test", "let a server work once, and measure it", _test)
    remove = action("remove", "forget a server", _remove)
    for parser in (use, models, test, remove, *add_keys(actions, _address)):
        kinds = f"{', '.join(Work)}, or a task such as translation"
        parser.add_argument("work", metavar="WORK", help=kinds)
    use.add_argument("address", metavar="URL", help="such as 192.168.1.5:8000")
    use.add_argument("--model", metavar="NAME", help="one of its models (default: what fits)")
    use.add_argument("--voice", metavar="NAME", help="for speech, the server's name of the voice")
    action("list", "the servers that are set, and what is sent where", _list)


@app_command
async def _use(args: argparse.Namespace, app: Application) -> int:
    origin(args.address)  # refuses invalid addresses
    if not _is_work(args):
        return await _use_endpoint(args, app)
    work = Work(args.work)
    values = {work.value: args.address, f"{work}_model": args.model or ""}
    if args.voice is not None:
        if work is not Work.SPEECH:
            raise InputError("--voice is for speech.")
        values["speech_voice"] = args.voice
    settings.change(app.paths.settings, "servers", values)
    app.current.settings, _ = settings.load(app.paths.settings)
    server = app.servers[work]
    if not args.model and not server.objection():
        try:
            names = await server.models()
        except JarvisError as error:
            output.note(f"note    {error}")
        else:
            if names and server.fits(names[0]):
                values[f"{work}_model"] = names[0]
                settings.change(app.paths.settings, "servers", values)
                app.current.settings, _ = settings.load(app.paths.settings)
    output.note(f"note    {server.sent()}")
    if objection := server.objection():
        output.note(f"note    {objection}")
    host = server.server.host
    return output.result(
        args, {"servers": values}, f"{host} is used for {work}, with {server.model}."
    )


def _is_work(args: argparse.Namespace) -> bool:
    """Whether the server speaks OpenAI's protocol; otherwise it does one task."""
    return args.work in tuple(Work)


async def _use_endpoint(args: argparse.Namespace, app: Application) -> int:
    if args.model or args.voice is not None:
        raise InputError("--model and --voice are for servers with OpenAI's protocol.")
    server = await asyncio.to_thread(app.endpoints.set, args.work, args.address)
    output.note(f"note    {server.sent()}")
    if objection := server.objection():
        output.note(f"note    {objection}")
    document = {"endpoints": {args.work: server.server.address}}
    return output.result(args, document, f"{server.server.host} is used for {args.work}.")


@app_command
async def _list(args: argparse.Namespace, app: Application) -> int:
    there = [server for server in app.servers.values() if server.chosen.address]
    there += [app.endpoints.find(task) for task in app.endpoints.all()]
    if args.json:
        output.write_json({"servers": [_record(each) for each in there]})
        return output.DONE
    for server in there:
        output.say(f"{server.work:14} {server.server.address}  {server.model}")
        output.say(f"{'':14} {server.objection() or server.sent()}")
    if not there:
        output.say("No server is set: this computer does the work.")
    return output.DONE


def _record(server: WorkServer) -> dict[str, object]:
    record = {"work": server.work, "address": server.server.address, "model": server.model}
    return {**record, "sent": server.sent(), "objection": str(server.objection() or "")}


@app_command
async def _models(args: argparse.Namespace, app: Application) -> int:
    if not _is_work(args):
        raise InputError("A server for a single task has one model, and lists none.")
    names = await app.servers[Work(args.work)].models()
    return output.result(args, {"models": names}, "\n".join(names) or "It lists none.")


@app_command
async def _test(args: argparse.Namespace, app: Application) -> int:
    if not _is_work(args):
        endpoint = app.endpoints.find(args.work)
        seconds = await endpoint.reach()
        told = f"{endpoint.server.host} answers in {1000 * seconds:.0f} ms; nothing was sent."
        return output.result(args, {"seconds": round(seconds, 3)}, told)
    server = app.servers[Work(args.work)]
    trial = await try_server(app, Work(args.work))
    record = {"seconds": round(trial.seconds, 3), "outcome": trial.words, "sent": server.sent()}
    output.note(f"note    {server.sent()}")
    return output.result(args, record, f"{trial.words} It took {trial.seconds * 1000:.0f} ms.")


@app_command
async def _remove(args: argparse.Namespace, app: Application) -> int:
    if not _is_work(args):
        await asyncio.to_thread(app.endpoints.remove, args.work)
        return output.result(args, {"removed": args.work}, f"{args.work} is no longer sent there.")
    work = Work(args.work)
    names = [name for name in type(app.settings.servers).model_fields if name.startswith(work)]
    settings.change(app.paths.settings, "servers", dict.fromkeys(names))
    return output.result(args, {"removed": work}, f"This computer is used for {work} again.")


def _address(args: argparse.Namespace) -> str:
    if _is_work(args):
        address: str = getattr(session.load(args)[0].servers, args.work)
    else:
        endpoints = Endpoints(user_paths().endpoints, Policy(), {args.work})
        address = endpoints.all().get(args.work, "")
    if not address:
        raise InputError(f"No server is set for {args.work}.")
    return address
