"""Experts that speak and compose. Used in the worker process only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.local.worker import Loading, Run
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.audio.media import write_wav, write_wav_blocks
from jarvis_desktop.tasks.audio.synthesis import LONGEST_TEXT
from jarvis_desktop.text.languages import code_of_text
from jarvis_desktop.text.numbers import in_words
from jarvis_desktop.text.sentences import stretches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

Say = Callable[[str], "Samples | None"]
"""One stretch of text as sound; None where the voice has no sign for any of it."""

PAUSE = 0.3
"""Seconds between two stretches."""

VOICE = "speaker_6"
"""Which of Bark's ten voices per language."""

MOST_SECONDS = 30.0
"""Of music: what MusicGen was taught to make at once."""

LOUDEST = 0.95
"""Where sound that came out too loud is turned down to."""


def load_speaker(loading: Loading) -> Run:
    """A voice: VITS (MMS), SpeechT5 with its vocoder, or Bark."""
    config = loading.part("AutoConfig")
    ways = {"vits": _vits, "speecht5": _speecht5, "bark": _bark}
    if config.model_type not in ways:
        raise ExpertError(tr("{id} is of a kind that does not speak here.", id=loading.expert.id))
    say, rate = ways[config.model_type](loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        text = call.text("text")
        if len(text) > LONGEST_TEXT:
            raise InputError(
                tr(
                    "The text is too long to be spoken in one piece ({text:,} characters).",
                    text=len(text),
                ),
                hint=tr("Have it summarised first, or give it in parts."),
            )
        parts = stretches(text)
        if not parts:
            raise InputError(tr("There is nothing to say."))
        path = call.workdir / "speech.wav"
        if not write_wav_blocks(path, _spoken(say, rate, parts, report)):
            raise ExpertError(
                tr("{id} knows none of the letters of the text.", id=loading.expert.id),
                hint=tr("Choose a voice of its language."),
            )
        return [Artifact(Kind.AUDIO, path=path, name="speech.wav")]

    return run


def _spoken(say: Say, rate: int, parts: list[str], report: Report) -> Iterator[tuple[Samples, int]]:
    """The stretches one after the other, with pauses, as blocks of one channel."""
    import numpy as np
    import torch

    pause = np.zeros((1, int(PAUSE * rate)), np.float32)
    began = False
    for at, part in enumerate(parts):
        report(at / len(parts), f"Speaking sentence {at + 1} of {len(parts)}")
        torch.manual_seed(0)  # the same words sound the same, whatever was said before
        with torch.inference_mode():
            sound = say(part)
        if sound is None or not sound.size:
            continue
        if began:
            yield pause, rate
        began = True
        yield _bounded(sound)[None, :], rate


def _bounded(sound: Samples) -> Samples:
    """Sound within what a file holds. Raises ExpertError where it has values without a size."""
    import numpy as np

    if not np.isfinite(sound).all():
        raise ExpertError(tr("The expert made a sound that is damaged."))
    peak = float(np.abs(sound).max(initial=0.0))
    return sound * np.float32(LOUDEST / peak) if peak > 1 else sound


def _exact(loading: Loading) -> Loading:
    """In 32 bits, always: in 16 a small voice sounds rough, and little would be saved."""
    return replace(loading, place=replace(loading.place, half=False))


def _vits(loading: Loading) -> tuple[Say, int]:
    tokenizer = loading.part("AutoTokenizer")
    network = _exact(loading).network("VitsModel")
    if tokenizer.phonemize:
        raise ExpertError(
            tr("{id} needs a program for phonemes, which is not here.", id=loading.expert.id)
        )
    letters_only = "1" not in tokenizer.get_vocab()

    def say(part: str) -> Samples | None:
        if letters_only and loading.expert.languages == ("en",):
            part = in_words(part)
        inputs = tokenizer(part, return_tensors="pt").to(network.device)
        if not any(sign in tokenizer.get_vocab() for sign in part.lower() if sign.isalnum()):
            return None
        wave: Samples = network(**inputs).waveform[0].float().cpu().numpy()
        return wave

    return say, int(network.config.sampling_rate)


def _speecht5(loading: Loading) -> tuple[Say, int]:
    import torch

    if loading.base is None:
        raise ExpertError(tr("{id} lacks its vocoder.", id=loading.expert.id))
    tokenizer = loading.part("SpeechT5Tokenizer")
    network = _exact(loading).network("SpeechT5ForTextToSpeech")
    vocoder = _exact(replace(loading, folder=loading.base)).network("SpeechT5HifiGan")
    # Whose voice it is, is a vector made of a recording; the middle of all voices needs none.
    voice = torch.zeros((1, network.config.speaker_embedding_dim), device=network.device)

    def say(part: str) -> Samples | None:
        inputs = tokenizer(in_words(part), return_tensors="pt").to(network.device)
        wave: Samples = (
            network.generate_speech(inputs["input_ids"], voice, vocoder=vocoder)
            .float().cpu().numpy()
        )  # fmt: skip
        return wave

    return say, int(vocoder.config.sampling_rate)


def _bark(loading: Loading) -> tuple[Say, int]:
    """Bark in one of its own voices, which it must be told anew for every stretch."""
    tokenizer = loading.part("AutoTokenizer")
    network = loading.network("BarkModel")

    def say(part: str) -> Samples | None:
        inputs = tokenizer(
            part,
            padding="max_length",
            max_length=256,
            truncation=True,
            add_special_tokens=False,
            return_attention_mask=True,
            return_token_type_ids=False,
            return_tensors="pt",
        ).to(network.device)
        voice = _voice(loading.folder, code_of_text(part), network.device)
        wave: Samples = network.generate(**inputs, history_prompt=voice)[0].float().cpu().numpy()
        return wave

    return say, int(network.generation_config.sample_rate)


def _voice(folder: Path, language: str, device: Any) -> dict[str, Any] | None:
    """A voice of the language, English where there is none; None where none was fetched."""
    import numpy as np
    import torch

    for code in (language, "en"):
        paths = {
            kind: folder / "speaker_embeddings" / "v2" / f"{code}_{VOICE}_{kind}.npy"
            for kind in ("semantic_prompt", "coarse_prompt", "fine_prompt")
        }
        if all(path.is_file() for path in paths.values()):
            return {
                kind: torch.from_numpy(np.load(path, allow_pickle=False)).to(device)
                for kind, path in paths.items()
            }
    return None


def load_composer(loading: Loading) -> Run:
    """Music from words, by MusicGen (Copet et al., 2023)."""
    import torch

    config = loading.part("AutoConfig")
    if config.model_type != "musicgen":
        raise ExpertError(tr("{id} is of a kind that does not compose here.", id=loading.expert.id))
    tokenizer = loading.part("AutoTokenizer")
    network = loading.network("MusicgenForConditionalGeneration")
    rate = int(config.audio_encoder.sampling_rate)
    frames = float(config.audio_encoder.frame_rate)
    # The books of sounds begin one step after the other, and what is not in all of them is lost.
    books = int(config.decoder.num_codebooks)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        prompt = call.text("prompt").strip()
        if not prompt:
            raise InputError(
                tr("There is nothing to make music of."), hint=tr("Describe it in words.")
            )
        wanted = call.number("seconds")
        seconds = min(max(wanted, 1.0), MOST_SECONDS)
        if wanted > seconds:
            report(None, f"at most {MOST_SECONDS:.0f} seconds can be made at once")
        tokens = int(seconds * frames) + books
        torch.manual_seed(int(call.number("seed")))
        inputs = tokenizer([prompt], truncation=True, max_length=256, return_tensors="pt")
        report(0.0, "composing")
        with torch.inference_mode():
            sound = network.generate(
                **inputs.to(network.device),
                max_new_tokens=tokens,
                do_sample=True,
                guidance_scale=3.0,
                logits_processor=[_Told(report, tokens)],
            )
        wave = _bounded(sound[0].float().cpu().numpy())[:, : int(seconds * rate)]
        path = write_wav(call.workdir / "music.wav", wave, rate)
        return [Artifact(Kind.AUDIO, path=path, name="music.wav")]

    return run


class _Told:
    """Called by transformers before every token: tells how far the piece is, changes nothing."""

    def __init__(self, report: Report, tokens: int) -> None:
        self._report = report
        self._tokens = tokens
        self._count = 0

    def __call__(self, ids: Any, scores: Any) -> Any:
        self._count += 1
        if self._count % 25 == 0:
            self._report(min(self._count / self._tokens, 1.0), "composing")
        return scores
