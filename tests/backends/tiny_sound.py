"""Tiny experts that hear, speak and compose."""

# mypy: ignore-errors
# The types that transformers declares for its settings are not those they take.

from __future__ import annotations

import json
from pathlib import Path

from tests.backends.tiny import save, word_of, word_tokenizer

LETTERS = "abcdefghijklmnopqrstuvwxyz '"


def wave_namer(folder: Path) -> Path:
    """Wav2Vec 2.0 that takes sound as it is, and hears a dog."""
    import torch
    from transformers import Wav2Vec2FeatureExtractor, Wav2Vec2ForSequenceClassification

    torch.manual_seed(1)
    labels = {0: "cat", 1: "dog"}
    config = _wave_config(
        2, id2label=labels, label2id={v: k for k, v in labels.items()}, classifier_proj_size=8
    )
    network = Wav2Vec2ForSequenceClassification(config)
    with torch.no_grad():
        network.classifier.bias[1] = 100.0
    return save(folder, network, Wav2Vec2FeatureExtractor())


def _wave_config(words: int, **settings):
    from transformers import Wav2Vec2Config

    return Wav2Vec2Config(
        vocab_size=words,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        conv_dim=(8, 8, 8),
        conv_kernel=(10, 8, 8),
        conv_stride=(10, 8, 8),
        num_feat_extract_layers=3,
        num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2,
        mask_time_prob=0.0,
        **settings,
    )


def speller(folder: Path) -> Path:
    """Wav2Vec 2.0 with CTC that hears nothing but A."""
    import torch
    from transformers import Wav2Vec2CTCTokenizer, Wav2Vec2FeatureExtractor, Wav2Vec2ForCTC

    torch.manual_seed(1)
    folder.mkdir(parents=True)
    words = ["<pad>", "<s>", "</s>", "<unk>", "|", *"ABCDE"]
    vocabulary = folder / "vocab.json"
    vocabulary.write_text(json.dumps({word: at for at, word in enumerate(words)}))
    tokenizer = Wav2Vec2CTCTokenizer(str(vocabulary))
    network = Wav2Vec2ForCTC(_wave_config(len(words), pad_token_id=0))
    with torch.no_grad():
        network.lm_head.bias[words.index("A")] = 100.0
    return save(folder, network, Wav2Vec2FeatureExtractor(return_attention_mask=False), tokenizer)


def scribe(folder: Path) -> Path:
    """Whisper that hears the cat, thrice."""
    import torch
    from transformers import (
        WhisperConfig,
        WhisperFeatureExtractor,
        WhisperForConditionalGeneration,
    )

    torch.manual_seed(1)
    tokenizer = word_tokenizer()
    config = WhisperConfig(
        vocab_size=len(tokenizer),
        num_mel_bins=16,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )
    network = WhisperForConditionalGeneration(config)
    settings = network.generation_config
    settings.max_new_tokens = None
    settings.is_multilingual = False
    settings.no_timestamps_token_id = 4
    settings.eos_token_id, settings.pad_token_id, settings.decoder_start_token_id = 2, 0, 1
    settings.return_timestamps = False
    cat = word_of(tokenizer, "cat")
    settings.suppress_tokens = [at for at in range(len(tokenizer)) if at not in (2, cat)]
    settings.begin_suppress_tokens = [2]
    settings.exponential_decay_length_penalty = (3, 9.0)  # or it would never end
    return save(folder, network, WhisperFeatureExtractor(feature_size=16), tokenizer)


def moonshine(folder: Path) -> Path:
    """Moonshine, which takes sound as it is."""
    import torch
    from transformers import (
        MoonshineConfig,
        MoonshineForConditionalGeneration,
        Wav2Vec2FeatureExtractor,
    )

    torch.manual_seed(1)
    tokenizer = word_tokenizer()
    config = MoonshineConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        encoder_num_hidden_layers=1,
        decoder_num_hidden_layers=1,
        encoder_num_attention_heads=2,
        decoder_num_attention_heads=2,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
        decoder_start_token_id=1,
    )
    network = MoonshineForConditionalGeneration(config)
    cat = word_of(tokenizer, "cat")
    network.generation_config.suppress_tokens = [
        at for at in range(len(tokenizer)) if at not in (2, cat)
    ]
    network.generation_config.begin_suppress_tokens = [2]
    network.generation_config.exponential_decay_length_penalty = (3, 9.0)
    return save(folder, network, Wav2Vec2FeatureExtractor(), tokenizer)


def voice(folder: Path) -> Path:
    """VITS, as the voices of MMS are, that knows small letters."""
    import torch
    from transformers import VitsConfig, VitsModel, VitsTokenizer

    torch.manual_seed(1)
    folder.mkdir(parents=True)
    vocabulary = folder / "vocab.json"
    vocabulary.write_text(json.dumps({sign: at for at, sign in enumerate("_" + LETTERS)}))
    tokenizer = VitsTokenizer(str(vocabulary), pad_token="_", unk_token="_", phonemize=False)
    config = VitsConfig(
        vocab_size=len(LETTERS) + 1,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        window_size=2,
        ffn_dim=16,
        flow_size=16,
        spectrogram_bins=9,
        prior_encoder_num_flows=1,
        prior_encoder_num_wavenet_layers=1,
        posterior_encoder_num_wavenet_layers=1,
        wavenet_dilation_rate=1,
        duration_predictor_num_flows=1,
        duration_predictor_flow_bins=4,
        duration_predictor_filter_channels=16,
        upsample_initial_channel=16,
        upsample_rates=[4, 4],
        upsample_kernel_sizes=[8, 8],
        resblock_kernel_sizes=[3],
        resblock_dilation_sizes=[[1]],
        depth_separable_num_layers=1,
    )
    return save(folder, VitsModel(config), tokenizer)


def reader_aloud(folder: Path) -> Path:
    """SpeechT5, with a vocabulary of letters."""
    import sentencepiece
    import torch
    from transformers import SpeechT5Config, SpeechT5ForTextToSpeech, SpeechT5Tokenizer

    torch.manual_seed(1)
    folder.mkdir(parents=True)
    text = folder / "text.txt"
    text.write_text("\n".join(["the quick brown fox jumps over a lazy dog", LETTERS] * 20))
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "spm_char"), model_type="char",
        vocab_size=40, hard_vocab_limit=False, minloglevel=3, pad_id=1, bos_id=0, eos_id=2,
        unk_id=3,
    )  # fmt: skip
    text.unlink()
    (folder / "spm_char.vocab").unlink()
    tokenizer = SpeechT5Tokenizer(str(folder / "spm_char.model"))
    (folder / "spm_char.model").unlink()
    config = SpeechT5Config(
        vocab_size=len(tokenizer),
        hidden_size=16,
        encoder_layers=1,
        encoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_layers=1,
        decoder_attention_heads=2,
        decoder_ffn_dim=16,
        num_mel_bins=8,
        speech_decoder_prenet_units=16,
        speech_decoder_postnet_layers=1,
        speech_decoder_postnet_units=16,
        speaker_embedding_dim=4,
        max_text_positions=200,
        max_speech_positions=200,
    )
    return save(folder, SpeechT5ForTextToSpeech(config), tokenizer)


def vocoder(folder: Path) -> Path:
    """HiFi-GAN, which makes sound of what SpeechT5 gives."""
    import torch
    from transformers import SpeechT5HifiGan, SpeechT5HifiGanConfig

    torch.manual_seed(1)
    config = SpeechT5HifiGanConfig(
        model_in_dim=8,
        upsample_initial_channel=8,
        upsample_rates=[4, 4],
        upsample_kernel_sizes=[8, 8],
        resblock_kernel_sizes=[3],
        resblock_dilation_sizes=[[1]],
    )
    return save(folder, SpeechT5HifiGan(config))


def composer(folder: Path) -> Path:
    """MusicGen over a small T5 and a small EnCodec; eight frames a second."""
    import torch
    from transformers import (
        EncodecConfig,
        MusicgenConfig,
        MusicgenDecoderConfig,
        MusicgenForConditionalGeneration,
        T5Config,
    )

    torch.manual_seed(1)
    tokenizer = word_tokenizer()
    codec = EncodecConfig(
        target_bandwidths=[0.064],
        sampling_rate=256,
        audio_channels=1,
        num_filters=4,
        hidden_size=8,
        codebook_size=16,
        codebook_dim=8,
        upsampling_ratios=[8, 4],
        num_lstm_layers=1,
        num_residual_layers=1,
        kernel_size=3,
        last_kernel_size=3,
    )
    text = T5Config(
        vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2,
        pad_token_id=0, eos_token_id=2,
    )  # fmt: skip
    decoder = MusicgenDecoderConfig(
        vocab_size=16,
        max_position_embeddings=512,
        num_hidden_layers=1,
        ffn_dim=16,
        num_attention_heads=2,
        hidden_size=16,
        num_codebooks=2,
        audio_channels=1,
        pad_token_id=16,
        bos_token_id=16,
        eos_token_id=None,
    )
    config = MusicgenConfig(
        text_encoder=text.to_dict(), audio_encoder=codec.to_dict(), decoder=decoder.to_dict()
    )
    network = MusicgenForConditionalGeneration(config)
    for layer in network.audio_encoder.quantizer.layers:
        layer.codebook.embed.normal_()  # no two sounds are the same
    settings = network.generation_config
    settings.decoder_start_token_id = settings.pad_token_id = settings.bos_token_id = 16
    settings.max_length = None
    return save(folder, network, tokenizer)


def actor(folder: Path) -> Path:
    """Bark, over an EnCodec of its own, with a voice in English."""
    import numpy as np
    import torch
    from transformers import (
        BarkCoarseConfig,
        BarkConfig,
        BarkFineConfig,
        BarkModel,
        BarkSemanticConfig,
        EncodecConfig,
        GenerationConfig,
    )

    torch.manual_seed(1)
    small = {"hidden_size": 16, "num_layers": 1, "num_heads": 2, "block_size": 1024}
    # Semantic words 0 to 19, text from 20; coarse books from 20 with 10 words each.
    semantic = BarkSemanticConfig(input_vocab_size=200, output_vocab_size=40, **small)
    coarse = BarkCoarseConfig(input_vocab_size=60, output_vocab_size=60, **small)
    fine = BarkFineConfig(input_vocab_size=20, output_vocab_size=20, n_codes_total=8, **small)
    codec = EncodecConfig(
        target_bandwidths=[0.256], sampling_rate=256, audio_channels=1, num_filters=4,
        hidden_size=8, codebook_size=16, codebook_dim=8, upsampling_ratios=[8, 4],
        num_lstm_layers=1, num_residual_layers=1, kernel_size=3, last_kernel_size=3,
    )  # fmt: skip
    config = BarkConfig(
        semantic_config=semantic.to_dict(),
        coarse_acoustics_config=coarse.to_dict(),
        fine_acoustics_config=fine.to_dict(),
        codec_config=codec.to_dict(),
    )
    network = BarkModel(config)
    network.generation_config = GenerationConfig(
        semantic_config={
            "max_new_tokens": 8, "semantic_vocab_size": 20, "text_encoding_offset": 20,
            "semantic_pad_token": 20, "text_pad_token": 195, "semantic_infer_token": 196,
            "max_input_semantic_length": 32, "eos_token_id": 20,
        },
        coarse_acoustics_config={
            "max_new_tokens": 8, "coarse_semantic_pad_token": 58, "coarse_infer_token": 59,
            "max_coarse_input_length": 16, "max_coarse_history": 16, "sliding_window_len": 8,
        },
        fine_acoustics_config={"max_new_tokens": 1, "max_fine_history_length": 8,
                               "max_fine_input_length": 16},
        sample_rate=256,
        codebook_size=10,
    )  # fmt: skip
    voices = folder / "speaker_embeddings" / "v2"
    voices.mkdir(parents=True)
    chance = np.random.default_rng(1)
    for name, shape in (("semantic", (9,)), ("coarse", (2, 9)), ("fine", (8, 9))):
        np.save(voices / f"en_speaker_6_{name}_prompt.npy", chance.integers(0, 9, shape))
    return save(folder, network, word_tokenizer())
