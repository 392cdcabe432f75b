"""The child process of the API backend: asks a provider to run an expert, and reads its answer.

huggingface_hub is imported here only: its switches are set first, its requests pass through
`transport`, and its exceptions become one of our errors.
"""

from __future__ import annotations

import importlib
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from jarvis_desktop.backends.inference_api import errors as failures
from jarvis_desktop.backends.inference_api.errors import ApiTarget
from jarvis_desktop.backends.inference_api.tasks import (
    ANY,
    CHAT,
    MAX_ANSWER_BYTES,
    ApiAccount,
    ApiJob,
    ApiMethod,
    ApiQuestion,
)
from jarvis_desktop.backends.inference_api.transport import (
    THE_HUB,
    Check,
    Gate,
    RequestBudget,
    hub_host,
)
from jarvis_desktop.backends.local.worker import limit_memory
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError
from jarvis_desktop.core.expert import Spent
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report

DEFAULT_ANSWER_BYTES = 16_000_000  # of one answer; see also MAX_ANSWER_BYTES
SECRETS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN", "HF_DEBUG")
SWITCHES = {
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_VERBOSITY": "error",
}


@dataclass(frozen=True, slots=True)
class ProviderOffer:
    """One provider of an expert, as the Hub describes it."""

    provider: str
    service: str
    live: bool


def serve(via: str, check: Check, memory: int) -> Callable[..., Any]:
    """The handler of the child: "run" an ApiJob, or return "who" a key belongs to."""
    limit_memory(memory)
    for name in SECRETS:  # the key comes with each call
        os.environ.pop(name, None)
    os.environ.update(SWITCHES)
    warnings.simplefilter("ignore")
    worker = ApiWorker(Gate(check=check, via=via, hub=hub_host()))

    def handle(report: Report, what: str, *args: Any) -> Any:
        return worker.run(report, *args) if what == "run" else worker.who(*args)

    return handle


class ApiWorker:
    """Keeps the connections, and the Hub's list of providers of each expert."""

    def __init__(self, gate: Gate) -> None:
        from huggingface_hub import set_client_factory

        self._gate = gate
        self._known: dict[str, tuple[ProviderOffer, ...]] = {}
        set_client_factory(gate.client)

    def run(self, report: Report, job: ApiJob) -> tuple[list[Artifact], Spent]:
        """The results of one call, and its price. Raises JarvisError."""
        from huggingface_hub import InferenceClient

        who = job.provider if job.provider != ANY else "The provider"
        task = job.call.task if job.endpoint else ""
        asked = ApiTarget(who, job.expert.id, job.key, task)
        most = MAX_ANSWER_BYTES.get(job.call.task, DEFAULT_ANSWER_BYTES)
        budget = RequestBudget(
            asked, time.monotonic() + job.seconds, most, endpoint=job.endpoint, key=job.key
        )
        with self._gate.open(budget), _in_words(budget):
            if job.endpoint:
                served = ProviderOffer("hf-inference", job.way.service, live=True)
            else:
                report(None, tr("Asking where {expert} runs", expert=job.expert.id))
                served = self._chosen(job, asked)
                budget.asked = asked = ApiTarget(served.provider, job.expert.id, job.key)
            client = InferenceClient(
                job.endpoint or job.expert.repo,
                provider=served.provider,  # type: ignore[arg-type]
                api_key=job.key or "none",
                timeout=job.seconds,
            )
            report(None, tr("Waiting for {provider}", provider=asked.who))
            question = ApiQuestion(
                client, job.call, report, job.expert, served.provider, asked, job.key
            )
            try:
                made = list(_function(job.way, served)(question))
                return made, sum(question.usage, Spent(calls=budget.calls))
            except JarvisError as error:
                if error.fault is Fault.GONE:  # the Hub's list is out of date
                    self._known.pop(job.expert.repo, None)
                raise

    def who(self, key: str, seconds: float) -> ApiAccount:
        """The owner of a key. Raises JarvisError if it is not accepted."""
        from huggingface_hub import HfApi

        budget = RequestBudget(
            ApiTarget(THE_HUB, "accounts", key),
            time.monotonic() + seconds,
            DEFAULT_ANSWER_BYTES,
            posted=True,
        )
        with self._gate.open(budget), _in_words(budget):
            found = HfApi(token=key).whoami()
            token = found["auth"]["accessToken"]
            return ApiAccount(str(found["name"])[:100], _may_call(token))

    def _chosen(self, job: ApiJob, asked: ApiTarget) -> ProviderOffer:
        """The provider for a job. Raises UnavailableError if there is none."""
        services = {job.way.service, CHAT} if job.way.chat else {job.way.service}
        for each in self._served_by(job.expert.repo):
            wanted = (
                each.live and each.provider not in job.besides
                if job.provider == ANY
                else each.provider == job.provider
            )
            if wanted and each.service in services:
                return each
        self._known.pop(job.expert.repo, None)  # next time there may be one
        raise failures.not_served(asked)

    def _served_by(self, repo: str) -> tuple[ProviderOffer, ...]:
        """The providers of an expert, in the order of the user's settings at the Hub."""
        from huggingface_hub import HfApi

        if repo not in self._known:
            info = HfApi(token=False).model_info(repo, expand=["inferenceProviderMapping"])
            self._known[repo] = tuple(
                ProviderOffer(str(each.provider), str(each.task), each.status == "live")
                for each in info.inference_provider_mapping or ()
            )
        return self._known[repo]


def _function(way: ApiMethod, served: ProviderOffer) -> Callable[[ApiQuestion], Iterable[Artifact]]:
    place = way.chat if served.service == CHAT else way.run
    module, _, name = place.partition(":")
    found: Callable[[ApiQuestion], Iterable[Artifact]] = getattr(
        importlib.import_module(module), name
    )
    return found


def _may_call(token: dict[str, Any]) -> bool | None:
    """Whether a token may make calls to Inference Providers; None if the Hub does not say."""
    role = token.get("role")
    if role in ("read", "write"):
        return True
    scopes = [
        *token.get("fineGrained", {}).get("global", ()),
        *(
            permission
            for scope in token.get("fineGrained", {}).get("scoped", ())
            for permission in scope.get("permissions", ())
        ),
    ]
    return any(str(each).startswith("inference.") for each in scopes) if scopes else None


@contextmanager
def _in_words(budget: RequestBudget) -> Iterator[None]:
    """Translate the exceptions of huggingface_hub and its dependencies."""
    try:
        yield
    except JarvisError:
        raise
    except MemoryError as error:
        raise ExpertError(
            tr("The answer of {whom} needs more memory than it may have.", whom=budget.asked.whom),
            fault=Fault.MEMORY,
        ) from error
    except TimeoutError as error:  # Replicate's, if nothing was made within a minute
        raise ExpertError(
            tr(
                "{who} is still making {expert} ready.",
                who=budget.asked.who,
                expert=budget.asked.expert,
            ),
            hint=tr("Try again in a while."),
            retryable=True,
            fault=Fault.LOADING,
        ) from error
    except json.JSONDecodeError as error:
        raise failures.unusable(budget.asked, why=tr("it is not whole"), retryable=True) from error
    except Exception as error:  # a foreign answer can make a foreign library raise anything
        if not budget.posted:
            raise failures.not_served(budget.asked) from error
        raise failures.unusable(budget.asked) from error
