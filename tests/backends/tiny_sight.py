"""Experts that look at pictures and films, with tiny random weights; see bench.py."""

# mypy: ignore-errors
# The types that transformers declares for its settings are not those it takes.

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.backends.tiny import save, word_tokenizer

KINDS = {0: "person", 1: "dog", 2: "traffic light"}
SMALL: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
}


def names(kinds: dict[int, str] | None = None) -> dict[str, Any]:
    kinds = kinds or KINDS
    return {"id2label": kinds, "label2id": {name: at for at, name in kinds.items()}}


def seeded() -> None:
    import torch

    torch.manual_seed(1)


def always(layer: Any, values: list[float]) -> None:
    """Makes a layer give these values whatever it is given."""
    import torch

    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.copy_(torch.tensor(values))


def classifier(folder: Path) -> Path:
    """ViT that sees a dog in every picture."""
    from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessorPil

    seeded()
    network = ViTForImageClassification(ViTConfig(**SMALL, image_size=32, patch_size=8, **names()))
    always(network.classifier, [0.0, 3.0, 1.0])
    return save(folder, network, ViTImageProcessorPil(size={"height": 32, "width": 32}))


def matcher(folder: Path) -> Path:
    """CLIP."""
    from transformers import (
        CLIPConfig,
        CLIPImageProcessorPil,
        CLIPModel,
        CLIPTextConfig,
        CLIPVisionConfig,
    )

    seeded()
    tokenizer = word_tokenizer()
    text = CLIPTextConfig(**SMALL, vocab_size=len(tokenizer), max_position_embeddings=24)
    vision = CLIPVisionConfig(**SMALL, image_size=32, patch_size=8)
    network = CLIPModel(
        CLIPConfig(text_config=text.to_dict(), vision_config=vision.to_dict(), projection_dim=16)
    )
    processor = CLIPImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    return save(folder, network, tokenizer, processor)


def sigmoid_matcher(folder: Path) -> Path:
    """SigLIP."""
    from transformers import (
        SiglipConfig,
        SiglipImageProcessorPil,
        SiglipModel,
        SiglipTextConfig,
        SiglipVisionConfig,
    )

    seeded()
    tokenizer = word_tokenizer()
    text = SiglipTextConfig(**SMALL, vocab_size=len(tokenizer), max_position_embeddings=64)
    vision = SiglipVisionConfig(**SMALL, image_size=32, patch_size=8)
    network = SiglipModel(SiglipConfig(text_config=text.to_dict(), vision_config=vision.to_dict()))
    processor = SiglipImageProcessorPil(size={"height": 32, "width": 32})
    return save(folder, network, tokenizer, processor)


def metres(folder: Path) -> Path:
    """GLPN, which gives depth in metres."""
    from transformers import GLPNConfig, GLPNForDepthEstimation, GLPNImageProcessorPil

    seeded()
    config = GLPNConfig(
        num_encoder_blocks=2,
        depths=[1, 1],
        sr_ratios=[2, 1],
        hidden_sizes=[8, 16],
        patch_sizes=[7, 3],
        strides=[4, 2],
        num_attention_heads=[1, 2],
        mlp_ratios=[2, 2],
        decoder_hidden_size=8,
    )
    network = GLPNForDepthEstimation(config)
    return save(folder, network, GLPNImageProcessorPil(size_divisor=32))


def watcher(folder: Path) -> Path:
    """VideoMAE that takes four pictures."""
    from transformers import (
        VideoMAEConfig,
        VideoMAEForVideoClassification,
        VideoMAEImageProcessorPil,
    )

    seeded()
    config = VideoMAEConfig(
        **SMALL, image_size=32, patch_size=16, num_frames=4, tubelet_size=2,
        **names({0: "dancing", 1: "cooking", 2: "swimming"}),
    )  # fmt: skip
    network = VideoMAEForVideoClassification(config)
    processor = VideoMAEImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    return save(folder, network, processor)


def parter(folder: Path) -> Path:
    """SegFormer that knows three kinds of things."""
    from transformers import (
        SegformerConfig,
        SegformerForSemanticSegmentation,
        SegformerImageProcessorPil,
    )

    seeded()
    config = SegformerConfig(
        num_encoder_blocks=2,
        depths=[1, 1],
        sr_ratios=[2, 1],
        hidden_sizes=[8, 16],
        patch_sizes=[7, 3],
        strides=[4, 2],
        num_attention_heads=[1, 2],
        mlp_ratios=[2, 2],
        decoder_hidden_size=8,
        **names(),
    )
    network = SegformerForSemanticSegmentation(config)
    processor = SegformerImageProcessorPil(size={"height": 64, "width": 64})
    return save(folder, network, processor)


def panoptic_parter(folder: Path) -> Path:
    """DETR for panoptic segmentation, over a small ResNet of transformers' own."""
    from transformers import DetrConfig, DetrForSegmentation, DetrImageProcessorPil, ResNetConfig

    seeded()
    backbone = ResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 16, 24, 32],
        depths=[1, 1, 1, 1],
        layer_type="basic",
        out_features=["stage1", "stage2", "stage3", "stage4"],
    )
    config = DetrConfig(
        use_timm_backbone=False,
        backbone=None,
        backbone_config=backbone,
        d_model=32,
        num_queries=4,
        encoder_layers=1,
        encoder_ffn_dim=16,
        encoder_attention_heads=8,
        decoder_layers=1,
        decoder_ffn_dim=16,
        decoder_attention_heads=8,
        **names(),
    )
    network = DetrForSegmentation(config)
    always(network.detr.class_labels_classifier, [4.0, 0.0, 0.0, 0.0])
    processor = DetrImageProcessorPil(size={"shortest_edge": 64, "longest_edge": 96})
    return save(folder, network, processor)


def masker(folder: Path) -> Path:
    """SAM that is sure of all its masks."""
    import torch
    from transformers import SamConfig, SamImageProcessorPil, SamModel, SamProcessor

    seeded()
    vision = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "mlp_dim": 16,
        "image_size": 64,
        "patch_size": 16,
        "output_channels": 16,
        "global_attn_indexes": [0],
        "window_size": 0,
        "num_pos_feats": 8,
    }
    prompt = {
        "hidden_size": 16,
        "image_size": 64,
        "patch_size": 16,
        "image_embedding_size": 4,
        "mask_input_channels": 4,
    }
    decoder = {
        "hidden_size": 16,
        "mlp_dim": 16,
        "num_attention_heads": 2,
        "num_hidden_layers": 1,
        "iou_head_hidden_dim": 8,
    }
    network = SamModel(
        SamConfig(vision_config=vision, prompt_encoder_config=prompt, mask_decoder_config=decoder)
    )
    head = network.mask_decoder.iou_prediction_head
    always(head.proj_out, [0.95] * head.proj_out.out_features)
    with torch.no_grad():  # no mask is near its border
        for mlp in network.mask_decoder.output_hypernetworks_mlps:
            mlp.proj_out.weight *= 1e6
    processor = SamProcessor(
        SamImageProcessorPil(
            size={"longest_edge": 64}, pad_size={"height": 64, "width": 64},
            mask_size={"longest_edge": 16}, mask_pad_size={"height": 16, "width": 16},
        )
    )  # fmt: skip
    return save(folder, network, processor)
