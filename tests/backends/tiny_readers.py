"""Experts that read pictures, describe them and answer questions, tiny; see bench.py."""

# mypy: ignore-errors
# The types that transformers declares for its settings are not those it takes.

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.backends.tiny import save, word_of, word_tokenizer
from tests.backends.tiny_sight import SMALL, always, names, seeded


def blip_config(words: int, **text: Any) -> Any:
    from transformers import BlipConfig, BlipTextConfig, BlipVisionConfig

    return BlipConfig(
        text_config=BlipTextConfig(
            **SMALL, vocab_size=words, encoder_hidden_size=16, projection_dim=16,
            max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=0,
            sep_token_id=2, **text,
        ).to_dict(),
        vision_config=BlipVisionConfig(**SMALL, image_size=32, patch_size=8).to_dict(),
        projection_dim=16,
    )  # fmt: skip


def blip_parts() -> tuple[Any, Any]:
    from transformers import BlipImageProcessorPil, BlipProcessor

    seeded()
    tokenizer = word_tokenizer()
    images = BlipImageProcessorPil(size={"height": 32, "width": 32})
    return tokenizer, BlipProcessor(images, tokenizer)


def captioner(folder: Path) -> Path:
    """BLIP that always says cat."""
    from transformers import BlipForConditionalGeneration

    tokenizer, processor = blip_parts()
    network = BlipForConditionalGeneration(blip_config(len(tokenizer)))
    says(network.text_decoder.cls.predictions.decoder, tokenizer, "cat")
    return save(folder, network, processor)


def short_answerer(folder: Path) -> Path:
    """BLIP tuned for questions, that always says dog."""
    from transformers import BlipForQuestionAnswering

    tokenizer, processor = blip_parts()
    network = BlipForQuestionAnswering(blip_config(len(tokenizer)))
    says(network.text_decoder.cls.predictions.decoder, tokenizer, "dog")
    return save(folder, network, processor)


def says(layer: Any, tokenizer: Any, word: str) -> None:
    """One word wins over all others."""
    import torch

    with torch.no_grad():
        layer.bias[word_of(tokenizer, word)] = 100.0


def chooser(folder: Path) -> Path:
    """ViLT that answers yes."""
    from transformers import (
        ViltConfig,
        ViltForQuestionAnswering,
        ViltImageProcessorPil,
        ViltProcessor,
    )

    seeded()
    tokenizer = word_tokenizer()
    config = ViltConfig(
        **SMALL, vocab_size=len(tokenizer), max_position_embeddings=16, image_size=32,
        patch_size=8, **names({0: "no", 1: "yes", 2: "two"}),
    )  # fmt: skip
    network = ViltForQuestionAnswering(config)
    always(network.classifier[-1], [0.0, 5.0, 1.0])
    images = ViltImageProcessorPil(size={"shortest_edge": 32}, size_divisor=8)
    return save(folder, network, ViltProcessor(images, tokenizer))


def encoder_decoder(folder: Path, decoder: Any, network_kind: Any, tokenizer: Any) -> Path:
    """A ViT with a writer behind it."""
    from transformers import (
        VisionEncoderDecoderConfig,
        VisionEncoderDecoderModel,
        ViTConfig,
        ViTImageProcessorPil,
        ViTModel,
    )

    seeded()
    encoder = ViTConfig(**SMALL, image_size=32, patch_size=8)
    config = VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    config.decoder_start_token_id, config.pad_token_id, config.eos_token_id = 1, 0, 2
    network = VisionEncoderDecoderModel(
        config, encoder=ViTModel(encoder), decoder=network_kind(decoder)
    )
    made = network.generation_config
    made.decoder_start_token_id, made.pad_token_id, made.eos_token_id = 1, 0, 2
    made.suppress_tokens = [0, 1, 3, 4]
    return save(folder, network, tokenizer, ViTImageProcessorPil(size={"height": 32, "width": 32}))


def line_reader(folder: Path) -> Path:
    """TrOCR."""
    from transformers import TrOCRConfig, TrOCRForCausalLM

    tokenizer = word_tokenizer()
    decoder = TrOCRConfig(
        vocab_size=len(tokenizer),
        d_model=16,
        decoder_layers=1,
        decoder_attention_heads=2,
        decoder_ffn_dim=16,
        max_position_embeddings=80,
        cross_attention_hidden_size=16,
        is_decoder=True,
        add_cross_attention=True,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    return encoder_decoder(folder, decoder, TrOCRForCausalLM, tokenizer)


def old_captioner(folder: Path) -> Path:
    """A ViT with GPT-2 behind it."""
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = word_tokenizer()
    decoder = GPT2Config(
        vocab_size=len(tokenizer), n_embd=16, n_layer=1, n_head=2, n_positions=80,
        add_cross_attention=True, is_decoder=True, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    return encoder_decoder(folder, decoder, GPT2LMHeadModel, tokenizer)


def page_reader(folder: Path) -> Path:
    """Donut, tuned for questions."""
    from transformers import (
        DonutImageProcessorPil,
        DonutSwinConfig,
        DonutSwinModel,
        MBartConfig,
        MBartForCausalLM,
        VisionEncoderDecoderConfig,
        VisionEncoderDecoderModel,
    )

    seeded()
    marks = ["<s_docvqa>", "<s_question>", "</s_question>", "<s_answer>", "</s_answer>"]
    tokenizer = word_tokenizer(more=marks, additional_special_tokens=marks)
    encoder = DonutSwinConfig(
        image_size=[32, 32], embed_dim=8, depths=[1, 1], num_heads=[1, 1], window_size=2
    )
    decoder = MBartConfig(
        vocab_size=len(tokenizer), d_model=16, decoder_layers=1, decoder_attention_heads=2,
        decoder_ffn_dim=16, max_position_embeddings=160, is_decoder=True,
        add_cross_attention=True, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    config = VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    config.decoder_start_token_id, config.pad_token_id, config.eos_token_id = 1, 0, 2
    network = VisionEncoderDecoderModel(
        config, encoder=DonutSwinModel(encoder), decoder=MBartForCausalLM(decoder)
    )
    made = network.generation_config
    made.decoder_start_token_id, made.pad_token_id, made.eos_token_id = 1, 0, 2
    made.suppress_tokens = [0, 1, 3, 4, *range(5, 5 + len(marks))]
    processor = DonutImageProcessorPil(size={"height": 32, "width": 32})
    return save(folder, network, tokenizer, processor)


def receipt_reader(folder: Path) -> Path:
    """Donut, tuned for something else: it knows no questions."""
    page_reader(folder)
    word_tokenizer().save_pretrained(folder)
    return folder


def git(folder: Path) -> Path:
    """GIT."""
    from transformers import (
        CLIPImageProcessorPil,
        GitConfig,
        GitForCausalLM,
        GitProcessor,
        GitVisionConfig,
    )

    seeded()
    tokenizer = word_tokenizer()
    vision = GitVisionConfig(**SMALL, image_size=32, patch_size=8)
    config = GitConfig(
        **SMALL, vision_config=vision.to_dict(), vocab_size=len(tokenizer),
        max_position_embeddings=96, bos_token_id=1, eos_token_id=2, pad_token_id=0,
    )  # fmt: skip
    network = GitForCausalLM(config)
    network.generation_config.suppress_tokens = [0, 1, 3, 4]
    images = CLIPImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    return save(folder, network, GitProcessor(images, tokenizer))


def florence(folder: Path) -> Path:
    """Florence-2."""
    from transformers import (
        BartConfig,
        CLIPImageProcessorPil,
        Florence2Config,
        Florence2ForConditionalGeneration,
        Florence2Processor,
        Florence2VisionConfig,
    )

    seeded()
    mark = {"image_token": "<image>"}
    tokenizer = word_tokenizer(more=["<image>"], extra_special_tokens=mark)
    vision = Florence2VisionConfig(
        depths=[1, 1], patch_size=[7, 3], patch_stride=[4, 2], patch_padding=[3, 1],
        patch_prenorm=[False, True], embed_dim=[8, 16], num_heads=[1, 2], num_groups=[1, 2],
        window_size=4, projection_dim=16, max_temporal_embeddings=8,
        max_position_embeddings=16,
    )  # fmt: skip
    text = BartConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16,
        decoder_ffn_dim=16, max_position_embeddings=64, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, decoder_start_token_id=2, forced_bos_token_id=None,
    )  # fmt: skip
    config = Florence2Config(
        text_config=text.to_dict(), vision_config=vision.to_dict(),
        image_token_id=word_of(tokenizer, "<image>"),
    )  # fmt: skip
    network = Florence2ForConditionalGeneration(config)
    made = network.generation_config
    made.suppress_tokens, made.max_new_tokens = [0, 1, 3, 4, 5], 16
    images = CLIPImageProcessorPil(size={"height": 32, "width": 32}, do_center_crop=False)
    images.image_seq_length = 17
    return save(folder, network, Florence2Processor(images, tokenizer))


def layout_reader(folder: Path) -> Path:
    """LayoutLM."""
    from transformers import LayoutLMConfig, LayoutLMForQuestionAnswering

    seeded()
    tokenizer = word_tokenizer(model_max_length=48)
    config = LayoutLMConfig(
        **SMALL, vocab_size=len(tokenizer), max_position_embeddings=64,
        max_2d_position_embeddings=1024, pad_token_id=0,
    )  # fmt: skip
    return save(folder, LayoutLMForQuestionAnswering(config), tokenizer)
