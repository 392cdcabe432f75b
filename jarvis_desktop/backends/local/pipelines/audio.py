"""Speech recognition, audio classification, speech synthesis and music generation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from jarvis_desktop.backends.local.pipelines.text_classification import ranked
from jarvis_desktop.backends.local.pipelines.text_generation import TokenProgress
from jarvis_desktop.backends.local.pipelines.text_network import context
from jarvis_desktop.backends.local.worker import ExpertLoader, Run
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.audio.media import read_audio, write_wav, write_wav_blocks
from jarvis_desktop.tasks.audio.recognition import format_segments
from jarvis_desktop.tasks.audio.synthesis import spoken_parts
from jarvis_desktop.text.languages import code_of_text
from jarvis_desktop.text.numbers import in_words

Samples = NDArray[np.float32]

CHUNK_SECONDS = 28.0  # seconds of speech recognised at once; Whisper was trained on 30
CLASSIFIED_SECONDS = 10.0  # seconds of sound classified at once
MIN_SECONDS = 0.5  # shorter sound is padded: the first layers of a network need some
MAX_TOKENS_PER_SECOND = 6.5  # for models that know English only
SILENCE_RMS = 1e-4  # the root mean square below which nothing is said: -80 dB

Transcribe = Callable[[list[Samples]], list[str]]
"""Returns what is said in each of some sounds."""


def load_transcriber(loading: ExpertLoader) -> Run:
    """Transcribe speech with Whisper, Moonshine or a model like them, or with a CTC model."""
    extractor = loading.part("AutoFeatureExtractor")
    tokenizer = loading.part("AutoTokenizer")
    config = loading.part("AutoConfig")
    rate = int(extractor.sampling_rate)
    kind = next(iter(config.architectures or ()), "")
    transcribe = (_ctc if kind.endswith("CTC") else _seq2seq)(loading, extractor, tokenizer)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        title = call.title("audio")
        sound, _ = read_audio(call.file("audio"), rate=rate, mono=True, name=title)
        parts = [
            (start, end)
            for start, end in quiet_chunks(sound[0], rate, seconds=CHUNK_SECONDS)
            # Recognisers invent words in silence.
            if end > start and float(np.sqrt((sound[0, start:end] ** 2).mean())) >= SILENCE_RMS
        ]
        lines: list[tuple[float, str]] = []
        for at, (start, end) in enumerate(parts):
            report(
                at / len(parts),
                tr("{at:.0f} of {whole:.0f} seconds", at=start / rate, whole=sound.shape[1] / rate),
            )
            (text,) = transcribe([_padded(sound[0, start:end], rate)])
            if text := " ".join(text.split()):
                lines.append((start / rate, text))
        if not lines:
            raise ExpertError(tr("No words were heard in {title}.", title=title))
        return [text_artifact(format_segments(lines, times=bool(call.options.get("timestamps"))))]

    return run


def quiet_chunks(sound: Samples, rate: int, *, seconds: float) -> list[tuple[int, int]]:
    """Split mono sound at its quietest moments into parts of at most `seconds` (start, end)."""
    most, hop = int(seconds * rate), max(rate // 50, 1)
    cuts: list[tuple[int, int]] = []
    start = 0
    while len(sound) - start > most:
        # The quietest fifth of a second in the last third of what fits.
        tail = sound[start + most * 2 // 3 : start + most]
        blocks = tail[: len(tail) // hop * hop].reshape(-1, hop)
        loud = np.convolve((blocks**2).mean(axis=1), np.ones(10), mode="same")
        quiet = most * 2 // 3 + int(loud.argmin()) * hop + hop // 2
        cuts.append((start, start + quiet))
        start += quiet
    cuts.append((start, len(sound)))
    return cuts


def _padded(sound: Samples, rate: int) -> Samples:
    missing = int(MIN_SECONDS * rate) - len(sound)
    return np.pad(sound, (0, missing)) if missing > 0 else sound


def _seq2seq(loading: ExpertLoader, extractor: Any, tokenizer: Any) -> Transcribe:
    network = loading.network("AutoModelForSpeechSeq2Seq")
    rate = int(extractor.sampling_rate)
    whisper = network.config.model_type == "whisper"
    room = context(network.config) - 8  # its first tokens are the language and the task

    def transcribe(sounds: list[Samples]) -> list[str]:
        inputs = extractor(
            sounds,
            sampling_rate=rate,
            return_tensors="pt",
            return_attention_mask=True,
            **({} if whisper else {"padding": True}),
        ).to(network.device, network.dtype)
        # More tokens a second are not speech, but a loop.
        most = (
            room
            if whisper
            else min(int(max(map(len, sounds)) / rate * MAX_TOKENS_PER_SECOND) + 8, room)
        )
        ids = network.generate(**inputs, max_new_tokens=most)
        return [str(text) for text in tokenizer.batch_decode(ids, skip_special_tokens=True)]

    return transcribe


def _ctc(loading: ExpertLoader, extractor: Any, tokenizer: Any) -> Transcribe:
    """A CTC model, which spells: a letter or none for each moment (Graves et al., 2006)."""
    network = loading.network("AutoModelForCTC")
    rate = int(extractor.sampling_rate)

    def transcribe(sounds: list[Samples]) -> list[str]:
        inputs = extractor(sounds, sampling_rate=rate, padding=True, return_tensors="pt")
        ids = network(**inputs.to(network.device, network.dtype)).logits.argmax(-1)
        texts = [str(text) for text in tokenizer.batch_decode(ids, skip_special_tokens=True)]
        # Many were trained on capital letters only.
        return [text.capitalize() if text.isupper() else text for text in texts]

    return transcribe


def load_audio_classifier(loading: ExpertLoader) -> Run:
    """Classify the sounds in a recording, the most likely first."""
    extractor = loading.part("AutoFeatureExtractor")
    network = loading.network("AutoModelForAudioClassification")
    labels = [str(network.config.id2label[at]) for at in range(len(network.config.id2label))]
    several = network.config.problem_type == "multi_label_classification"
    rate = int(extractor.sampling_rate)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        title = call.title("audio")
        sound, _ = read_audio(call.file("audio"), rate=rate, mono=True, name=title)
        if not sound.size:
            raise InputError(tr("{title} holds no sound.", title=title))
        step = int(CLASSIFIED_SECONDS * rate)
        parts = [
            part
            for at in range(0, sound.shape[1], step)
            # A rest of less than a second matters only if it is all there is.
            if len(part := sound[0, at : at + step]) >= rate or at == 0
        ]
        total = np.zeros(len(labels))
        # One by one: some were trained without a mask for padding.
        for at, part in enumerate(parts):
            report(
                at / len(parts),
                f"{at * CLASSIFIED_SECONDS:.0f} of {sound.shape[1] / rate:.0f} seconds",
            )
            inputs = extractor(_padded(part, rate), sampling_rate=rate, return_tensors="pt")
            scores = network(**inputs.to(network.device, network.dtype)).logits[0].float()
            shares = scores.sigmoid() if several else scores.softmax(-1)
            total += shares.cpu().numpy() * len(part)
        shares = total / sum(map(len, parts))
        return [text_artifact(ranked(labels, shares.tolist()))]

    return run


Synthesize = Callable[[str], Samples | None]
"""Returns the speech for a text; None if the voice has no token for any of it."""

PAUSE_SECONDS = 0.3  # between two parts of the text
BARK_VOICE = "speaker_6"  # one of Bark's ten voices per language
MAX_MUSIC_SECONDS = 30.0  # the length that MusicGen was trained on
MAX_PEAK = 0.95  # sound that would clip is turned down to this


def load_speech_synthesizer(loading: ExpertLoader) -> Run:
    """Speak a text with VITS (MMS), SpeechT5 and its vocoder, or Bark."""
    config = loading.part("AutoConfig")
    ways = {"vits": _vits, "speecht5": _speecht5, "bark": _bark}
    if config.model_type not in ways:
        raise loading.error(mark("{id} is of a kind that does not speak here."))
    say, rate = ways[config.model_type](loading)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        parts = spoken_parts(call)
        path = call.workdir / "speech.wav"
        if not write_wav_blocks(path, _spoken(say, rate, parts, report)):
            raise loading.error(
                mark("{id} knows none of the letters of the text."),
                hint=tr("Choose a voice of its language."),
            )
        return [Artifact(Kind.AUDIO, path=path, name="speech.wav")]

    return run


def _spoken(
    say: Synthesize, rate: int, parts: list[str], report: Report
) -> Iterator[tuple[Samples, int]]:
    """The parts with pauses between them, as blocks of one channel."""
    pause = np.zeros((1, int(PAUSE_SECONDS * rate)), np.float32)
    began = False
    for at, part in enumerate(parts):
        report(
            at / len(parts),
            tr("Speaking sentence {number} of {count}", number=at + 1, count=len(parts)),
        )
        torch.manual_seed(0)  # the same words always sound the same
        sound = say(part)
        if sound is None or not sound.size:
            continue
        if began:
            yield pause, rate
        began = True
        yield _bounded(sound)[None, :], rate


def _bounded(sound: Samples) -> Samples:
    """Turn down sound that would clip. Raises ExpertError if it has values that are not finite."""
    if not np.isfinite(sound).all():
        raise ExpertError(tr("The expert made a sound that is damaged."))
    peak = float(np.abs(sound).max(initial=0.0))
    return sound * np.float32(MAX_PEAK / peak) if peak > 1 else sound


def _exact(loading: ExpertLoader) -> ExpertLoader:
    """Always use 32 bits: in 16 a small voice sounds rough, and little memory would be saved."""
    return replace(loading, place=replace(loading.place, half=False))


def _vits(loading: ExpertLoader) -> tuple[Synthesize, int]:
    tokenizer = loading.part("AutoTokenizer")
    network = _exact(loading).network("VitsModel")
    if tokenizer.phonemize:
        raise loading.error(mark("{id} needs a program for phonemes, which is not here."))
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


def _speecht5(loading: ExpertLoader) -> tuple[Synthesize, int]:
    if loading.base is None:
        raise loading.error(mark("{id} lacks its vocoder."))
    tokenizer = loading.part("SpeechT5Tokenizer")
    network = _exact(loading).network("SpeechT5ForTextToSpeech")
    vocoder = _exact(replace(loading, folder=loading.base)).network("SpeechT5HifiGan")
    # A speaker is a vector made from a recording; the zero vector is the mean of all.
    voice = torch.zeros((1, network.config.speaker_embedding_dim), device=network.device)

    def say(part: str) -> Samples | None:
        inputs = tokenizer(in_words(part), return_tensors="pt").to(network.device)
        wave: Samples = (
            network.generate_speech(inputs["input_ids"], voice, vocoder=vocoder)
            .float().cpu().numpy()
        )  # fmt: skip
        return wave

    return say, int(vocoder.config.sampling_rate)


def _bark(loading: ExpertLoader) -> tuple[Synthesize, int]:
    """Bark with one of its voices, which every part of the text needs again."""
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
    """A voice of the language, or English; None if neither was downloaded."""
    for code in (language, "en"):
        paths = {
            kind: folder / "speaker_embeddings" / "v2" / f"{code}_{BARK_VOICE}_{kind}.npy"
            for kind in ("semantic_prompt", "coarse_prompt", "fine_prompt")
        }
        if all(path.is_file() for path in paths.values()):
            return {
                kind: torch.from_numpy(np.load(path, allow_pickle=False)).to(device)
                for kind, path in paths.items()
            }
    return None


def load_music_generator(loading: ExpertLoader) -> Run:
    """Compose music from words with MusicGen (Copet et al., 2023)."""
    config = loading.part("AutoConfig")
    if config.model_type != "musicgen":
        raise loading.error(mark("{id} is of a kind that does not compose here."))
    tokenizer = loading.part("AutoTokenizer")
    network = loading.network("MusicgenForConditionalGeneration")
    rate = int(config.audio_encoder.sampling_rate)
    frames = float(config.audio_encoder.frame_rate)
    # The codebooks are delayed by one step each; what is not in all of them is cut off.
    books = int(config.decoder.num_codebooks)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        prompt = call.text("prompt").strip()
        if not prompt:
            raise InputError(
                tr("There is nothing to make music of."), hint=tr("Describe it in words.")
            )
        wanted = call.number("seconds")
        seconds = min(max(wanted, 1.0), MAX_MUSIC_SECONDS)
        if wanted > seconds:
            report(
                None,
                tr("At most {seconds:.0f} seconds can be made at once", seconds=MAX_MUSIC_SECONDS),
            )
        tokens = int(seconds * frames) + books
        torch.manual_seed(int(call.number("seed")))
        inputs = tokenizer([prompt], truncation=True, max_length=256, return_tensors="pt")
        report(0.0, tr("Composing"))
        sound = network.generate(
            **inputs.to(network.device),
            max_new_tokens=tokens,
            do_sample=True,
            guidance_scale=3.0,
            logits_processor=[TokenProgress(report, tokens, every=25, words="composing")],
        )
        wave = _bounded(sound[0].float().cpu().numpy())[:, : int(seconds * rate)]
        path = write_wav(call.workdir / "music.wav", wave, rate)
        return [Artifact(Kind.AUDIO, path=path, name="music.wav")]

    return run
