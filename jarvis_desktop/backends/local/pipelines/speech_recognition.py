"""Experts that hear: what is said, and what kinds of sound there are. Used in the worker only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.local.pipelines.text_classification import context, ranked, stretches
from jarvis_desktop.backends.local.worker import Loading, Run
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.audio.media import read_audio
from jarvis_desktop.tasks.audio.recognition import written

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

HEARD_AT_ONCE = 28.0
"""Seconds of speech; Whisper was taught on 30."""

LISTENED = 10.0
"""Seconds of sound that are named at once."""

SHORTEST = 0.5
"""Seconds that a network is given at least: its first layers need some."""

FASTEST = 6.5
"""Tokens a second of an expert that knows English only."""

SILENT = 1e-4
"""The root of the mean square below which nothing is said: -80 dB."""

Hear = Callable[[list["Samples"]], list[str]]
"""What is said in each of some stretches of sound."""


def load_transcriber(loading: Loading) -> Run:
    """Writes down speech, by Whisper, Moonshine and their kin, or by a network with CTC."""
    extractor = loading.part("AutoFeatureExtractor")
    tokenizer = loading.part("AutoTokenizer")
    config = loading.part("AutoConfig")
    rate = int(extractor.sampling_rate)
    kind = next(iter(config.architectures or ()), "")
    hear = (_spelling if kind.endswith("CTC") else _writing)(loading, extractor, tokenizer)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        title = call.title("audio")
        sound, _ = read_audio(call.file("audio"), rate=rate, mono=True, name=title)
        parts = [
            (start, end)
            for start, end in stretches(sound[0], rate, seconds=HEARD_AT_ONCE)
            if not _is_silent(sound[0, start:end])
        ]
        lines: list[tuple[float, str]] = []
        for at, (start, end) in enumerate(parts):
            report(at / len(parts), f"{start / rate:.0f} of {sound.shape[1] / rate:.0f} seconds")
            (text,) = hear([_padded(sound[0, start:end], rate)])
            if text := " ".join(text.split()):
                lines.append((start / rate, text))
        if not lines:
            raise ExpertError(tr("No words were heard in {title}.", title=title))
        return [text_artifact(written(lines, times=bool(call.options.get("timestamps"))))]

    return run


def _is_silent(sound: Samples) -> bool:
    import numpy as np

    # Recognisers invent words where there is nothing to hear.
    return not sound.size or float(np.sqrt((sound**2).mean())) < SILENT


def _padded(sound: Samples, rate: int) -> Samples:
    import numpy as np

    missing = int(SHORTEST * rate) - len(sound)
    return np.pad(sound, (0, missing)) if missing > 0 else sound


def _writing(loading: Loading, extractor: Any, tokenizer: Any) -> Hear:
    """A network that writes the words one by one."""
    import torch

    network = loading.network("AutoModelForSpeechSeq2Seq")
    rate = int(extractor.sampling_rate)
    whisper = network.config.model_type == "whisper"
    room = context(network.config) - 8  # its first tokens say the language and what to do

    def hear(sounds: list[Samples]) -> list[str]:
        inputs = extractor(
            sounds,
            sampling_rate=rate,
            return_tensors="pt",
            return_attention_mask=True,
            **({} if whisper else {"padding": True}),
        ).to(network.device, network.dtype)
        # More than that in a second is no speech, but words going round in a circle.
        most = room if whisper else min(int(max(map(len, sounds)) / rate * FASTEST) + 8, room)
        with torch.inference_mode():
            ids = network.generate(**inputs, max_new_tokens=most)
        return [str(text) for text in tokenizer.batch_decode(ids, skip_special_tokens=True)]

    return hear


def _spelling(loading: Loading, extractor: Any, tokenizer: Any) -> Hear:
    """A network that spells: a letter or none for each moment (Graves et al., 2006)."""
    import torch

    network = loading.network("AutoModelForCTC")
    rate = int(extractor.sampling_rate)

    def hear(sounds: list[Samples]) -> list[str]:
        inputs = extractor(sounds, sampling_rate=rate, padding=True, return_tensors="pt")
        with torch.inference_mode():
            ids = network(**inputs.to(network.device, network.dtype)).logits.argmax(-1)
        texts = [str(text) for text in tokenizer.batch_decode(ids, skip_special_tokens=True)]
        # Taught on capitals alone, many know no others.
        return [text.capitalize() if text.isupper() else text for text in texts]

    return hear


def load_listener(loading: Loading) -> Run:
    """Says what kinds of sound a recording holds, the likeliest first."""
    import numpy as np
    import torch

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
        step = int(LISTENED * rate)
        parts = [
            part
            for at in range(0, sound.shape[1], step)
            # A rest of less than a second says little, unless it is all there is.
            if len(part := sound[0, at : at + step]) >= rate or at == 0
        ]
        total = np.zeros(len(labels))
        # One by one: some were taught without a mask for what is filled up.
        for at, part in enumerate(parts):
            report(at / len(parts), f"{at * LISTENED:.0f} of {sound.shape[1] / rate:.0f} seconds")
            inputs = extractor(_padded(part, rate), sampling_rate=rate, return_tensors="pt")
            with torch.inference_mode():
                scores = network(**inputs.to(network.device, network.dtype)).logits[0].float()
            shares = scores.sigmoid() if several else scores.softmax(-1)
            total += shares.cpu().numpy() * len(part)
        shares = total / sum(map(len, parts))
        return [text_artifact(ranked(labels, shares.tolist()))]

    return run
