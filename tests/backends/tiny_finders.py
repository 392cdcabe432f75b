"""Experts that find things in pictures, with tiny random weights; see bench.py."""

# mypy: ignore-errors
# The types that transformers declares for its settings are not those it takes.

from __future__ import annotations

from pathlib import Path

from tests.backends.tiny import save, word_tokenizer
from tests.backends.tiny_sight import SMALL, always, names, seeded


def finder(folder: Path) -> Path:
    """YOLOS that sees a dog wherever it looks."""
    from transformers import YolosConfig, YolosForObjectDetection, YolosImageProcessorPil

    seeded()
    config = YolosConfig(
        **SMALL, image_size=[32, 48], patch_size=8, num_detection_tokens=6, **names()
    )
    network = YolosForObjectDetection(config)
    always(network.class_labels_classifier.layers[-1], [0.0, 4.0, 0.0, 0.0])
    processor = YolosImageProcessorPil(size={"shortest_edge": 32, "longest_edge": 256})
    return save(folder, network, processor)


def quick_finder(folder: Path) -> Path:
    """RT-DETR over a small ResNet."""
    from transformers import (
        RTDetrConfig,
        RTDetrForObjectDetection,
        RTDetrImageProcessorPil,
        RTDetrResNetConfig,
    )

    seeded()
    backbone = RTDetrResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 16, 24, 32],
        depths=[1, 1, 1, 1],
        out_features=["stage2", "stage3", "stage4"],
        layer_type="basic",
    )
    config = RTDetrConfig(
        backbone_config=backbone,
        encoder_hidden_dim=16,
        encoder_in_channels=[16, 24, 32],
        encoder_ffn_dim=16,
        encoder_attention_heads=2,
        d_model=16,
        num_queries=5,
        decoder_in_channels=[16, 16, 16],
        decoder_ffn_dim=16,
        decoder_layers=1,
        decoder_attention_heads=2,
        num_denoising=0,
        **names(),
    )
    network = RTDetrForObjectDetection(config)
    for head in network.model.decoder.class_embed:
        always(head, [2.0, -4.0, 1.0])
    processor = RTDetrImageProcessorPil(size={"height": 64, "width": 64})
    return save(folder, network, processor)


def fine_finder(folder: Path) -> Path:
    """D-FINE over a small HGNetV2."""
    from transformers import (
        DFineConfig,
        DFineForObjectDetection,
        HGNetV2Config,
        RTDetrImageProcessorPil,
    )

    seeded()
    backbone = HGNetV2Config(
        stem_channels=[3, 8, 8],
        stage_in_channels=[8, 8, 16, 24],
        stage_mid_channels=[4, 8, 8, 8],
        stage_out_channels=[8, 16, 24, 32],
        stage_num_blocks=[1, 1, 1, 1],
        stage_numb_of_layers=[1, 1, 1, 1],
        embedding_size=8,
        hidden_sizes=[8, 16, 24, 32],
        depths=[1, 1, 1, 1],
        out_features=["stage2", "stage3", "stage4"],
    )
    config = DFineConfig(
        backbone_config=backbone,
        encoder_hidden_dim=16,
        encoder_in_channels=[16, 24, 32],
        encoder_ffn_dim=16,
        encoder_attention_heads=2,
        d_model=16,
        num_queries=5,
        decoder_in_channels=[16, 16, 16],
        decoder_ffn_dim=16,
        decoder_layers=2,
        decoder_attention_heads=2,
        decoder_n_points=[2, 2, 2],
        num_denoising=0,
        **names(),
    )
    network = DFineForObjectDetection(config)
    for head in network.model.decoder.class_embed:
        always(head, [2.0, -4.0, 1.0])
    processor = RTDetrImageProcessorPil(size={"height": 64, "width": 64})
    return save(folder, network, processor)


def word_finder(folder: Path) -> Path:
    """OWL-ViT that is sure of everything."""
    from transformers import (
        OwlViTConfig,
        OwlViTForObjectDetection,
        OwlViTImageProcessorPil,
        OwlViTProcessor,
        OwlViTTextConfig,
        OwlViTVisionConfig,
    )

    seeded()
    tokenizer = word_tokenizer(model_max_length=16)
    text = OwlViTTextConfig(**SMALL, vocab_size=len(tokenizer), max_position_embeddings=16)
    vision = OwlViTVisionConfig(**SMALL, image_size=32, patch_size=16)
    network = OwlViTForObjectDetection(
        OwlViTConfig(text_config=text.to_dict(), vision_config=vision.to_dict(), projection_dim=16)
    )
    always(network.class_head.logit_shift, [3.0])
    always(network.class_head.logit_scale, [0.0])
    processor = OwlViTProcessor(
        OwlViTImageProcessorPil(
            size={"height": 32, "width": 32}, crop_size={"height": 32, "width": 32}
        ),
        tokenizer,
    )
    return save(folder, network, processor)


def grounded_finder(folder: Path) -> Path:
    """Grounding DINO over a small Swin."""
    from transformers import (
        BertConfig,
        GroundingDinoConfig,
        GroundingDinoForObjectDetection,
        GroundingDinoImageProcessorPil,
        GroundingDinoProcessor,
        SwinConfig,
    )

    seeded()
    tokenizer = word_tokenizer(model_max_length=32)
    backbone = SwinConfig(
        image_size=64,
        embed_dim=8,
        depths=[1, 1, 1, 1],
        num_heads=[1, 1, 1, 1],
        window_size=2,
        out_features=["stage2", "stage3", "stage4"],
    )
    config = GroundingDinoConfig(
        backbone_config=backbone,
        text_config=BertConfig(**SMALL, vocab_size=len(tokenizer)).to_dict(),
        num_queries=9,
        encoder_layers=1,
        encoder_ffn_dim=16,
        encoder_attention_heads=2,
        decoder_layers=2,
        decoder_ffn_dim=16,
        decoder_attention_heads=2,
        d_model=32,
        max_text_len=32,
        num_feature_levels=4,
        encoder_n_points=2,
        decoder_n_points=2,
    )
    network = GroundingDinoForObjectDetection(config)
    processor = GroundingDinoProcessor(
        GroundingDinoImageProcessorPil(size={"shortest_edge": 64, "longest_edge": 96}), tokenizer
    )
    return save(folder, network, processor)
