"""Loads one chat LLM with transformers and answers prompts. Runs in a child process only.

Only safetensors are read, and no code of a repository runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.platform.http import cut_short
from jarvis_desktop.process.model_files import check, device, memory_in_words, quiet_libraries

MIN_ANSWER_TOKENS = 32
"""Tokens that an answer needs at least."""

THINK = "<think>"


class StopCounter(Protocol):
    """A number in shared memory: all prompts up to it must stop."""

    value: int


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """A prompt for the child."""

    number: int
    """Counts up, for stopping."""
    messages: Sequence[Mapping[str, str]]
    """Each with "role" and "content"."""
    longest: int
    temperature: float
    think: bool


def serve(
    name: str, folder: Path, window: int, stopped: StopCounter
) -> Callable[..., tuple[int, int]]:
    """Return the child's handler.

    It reports the pieces of the answer, and returns the tokens that were read and written.
    """
    quiet_libraries()
    writer: LoadedLLM | None = None

    def handle(report: Report, question: PromptMessage) -> tuple[int, int]:
        nonlocal writer
        with memory_in_words(name, retryable=False):
            if writer is None:
                check(name, folder)
                writer = LoadedLLM(name, folder, window)
            return writer.write(
                question,
                say=lambda text: report(None, text),
                is_stopped=lambda: stopped.value >= question.number,
            )

    return handle


class LoadedLLM:
    """A loaded LLM."""

    def __init__(self, name: str, folder: Path, window: int) -> None:
        import torch
        import transformers

        quiet: Any = transformers.utils.logging.disable_progress_bar
        quiet()
        settings: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        self._name = name
        self._window = window
        self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder, **settings)
        if not self._tokenizer.chat_template:
            raise ExpertError(
                tr("{name} was not made for conversations: it has no chat template.", name=name),
                hint=tr("Choose another LLM: jarvis-desktop llm list."),
            )
        where = device()
        network: Any = transformers.AutoModelForCausalLM.from_pretrained(
            folder,
            use_safetensors=True,
            # Processors are slow with 16 bits.
            dtype=torch.float32 if where == "cpu" else torch.bfloat16,
            **settings,
        )
        self._network = network.to(where)
        ends = network.generation_config.eos_token_id
        self._ends = ends if isinstance(ends, list) else [ends]

    def write(
        self, question: PromptMessage, *, say: Callable[[str], None], is_stopped: Callable[[], bool]
    ) -> tuple[int, int]:
        """Write the answer in pieces; return the tokens that were read and written.

        Raises ExpertError if the answer or the prompt does not fit.
        """
        import transformers

        text = self._as_text(question)
        inputs = self._tokenizer(text, return_tensors="pt", add_special_tokens=False)
        given = inputs["input_ids"].shape[1]
        room = self._window - given
        if room < min(MIN_ANSWER_TOKENS, question.longest):
            raise ExpertError(
                tr(
                    "The prompt is too long for {name}: {given} tokens, of {window} "
                    "that it takes together with its answer.",
                    name=self._name,
                    given=given,
                    window=self._window,
                ),
                hint=tr("Ask for less at once, or choose an LLM with a larger window."),
            )
        if text.rstrip().endswith(THINK):
            say(THINK)  # the template opened it; otherwise the answer would begin in the middle
        sampling: dict[str, Any] = {"do_sample": False}
        if question.temperature > 0:
            sampling = {"do_sample": True, "temperature": question.temperature}
        longest = min(question.longest, room)
        written = self._network.generate(
            **inputs.to(self._network.device),
            max_new_tokens=longest,
            return_dict_in_generate=False,
            num_beams=1,
            streamer=_streamer(self._tokenizer, say),
            stopping_criteria=transformers.StoppingCriteriaList([_criterion(is_stopped)]),
            **sampling,
        )[0, given:].tolist()
        if len(written) == longest and written[-1] not in self._ends and not is_stopped():
            raise cut_short(self._name)
        return given, len(written)

    def _as_text(self, question: PromptMessage) -> str:
        import jinja2

        def rendered(messages: Sequence[Mapping[str, str]]) -> str:
            return str(
                self._tokenizer.apply_chat_template(
                    messages,
                    add_generation_prompt=True,
                    tokenize=False,
                    enable_thinking=question.think,
                )
            )

        try:
            return rendered(question.messages)
        except jinja2.TemplateError:
            # Some templates refuse system messages.
            return rendered(_without_system(question.messages))


def _without_system(messages: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """The messages with the system's text before the first of the user."""
    system = [each["content"] for each in messages if each["role"] == "system"]
    others = [each for each in messages if each["role"] != "system"]
    if not others:
        return [{"role": "user", "content": "\n\n".join(system)}]
    first = {**others[0], "content": "\n\n".join([*system, others[0]["content"]])}
    return [first, *others[1:]]


def _streamer(tokenizer: Any, say: Callable[[str], None]) -> Any:
    from transformers import TextStreamer

    class Streamer(TextStreamer):  # type: ignore[misc]  # mypy does not read it
        """Reports each word when it is complete."""

        def on_finalized_text(self, text: str, stream_end: bool = False) -> None:
            if text:
                say(text)

    return Streamer(tokenizer, skip_prompt=True, skip_special_tokens=True)


def _criterion(is_stopped: Callable[[], bool]) -> Any:
    import torch
    from transformers import StoppingCriteria

    class Criterion(StoppingCriteria):  # type: ignore[misc]  # as above
        """Ends the writing when the prompt was stopped."""

        def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
            return torch.full((input_ids.shape[0],), is_stopped(), device=input_ids.device)

    return Criterion()
