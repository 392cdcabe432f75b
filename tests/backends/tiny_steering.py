"""Builds experts that see poses and areas, with tiny random weights; see `bench`.

Where they see something is settled by their biases, so that the test knows what must be drawn.
"""

# mypy: ignore-errors
# The types that transformers declares for its settings are not those it takes.

from __future__ import annotations

from pathlib import Path

from tests.backends.tiny import save


def poser(folder: Path) -> Path:
    """ViTPose, to which every map of a joint is high all over."""
    import torch
    from transformers import (
        VitPoseBackboneConfig,
        VitPoseConfig,
        VitPoseForPoseEstimation,
        VitPoseImageProcessorPil,
    )

    torch.manual_seed(1)
    backbone = VitPoseBackboneConfig(
        image_size=(64, 48),
        patch_size=(16, 16),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        mlp_ratio=1,
        num_experts=2,
        part_features=4,
        out_indices=[1],
    )
    config = VitPoseConfig(
        backbone_config=backbone,
        use_simple_decoder=True,
        num_labels=17,
        id2label={at: f"joint {at}" for at in range(17)},
        label2id={f"joint {at}": at for at in range(17)},
    )
    network = VitPoseForPoseEstimation(config)
    with torch.no_grad():
        network.head.conv.bias.fill_(0.8)
    return save(folder, network, VitPoseImageProcessorPil(size={"height": 64, "width": 48}))


def blind_poser(folder: Path) -> Path:
    """The same, to which no map of a joint is high."""
    import torch
    from transformers import VitPoseForPoseEstimation

    poser(folder)
    network = VitPoseForPoseEstimation.from_pretrained(folder)
    with torch.no_grad():
        network.head.conv.bias.fill_(-9.0)
    network.save_pretrained(folder)
    return folder


def detector(folder: Path) -> Path:
    """YOLOS that takes everything for a person."""
    return _detector(folder, 100.0)


def no_detector(folder: Path) -> Path:
    """YOLOS that sees nobody."""
    return _detector(folder, -100.0)


def _detector(folder: Path, sure: float) -> Path:
    import torch
    from transformers import YolosConfig, YolosForObjectDetection, YolosImageProcessorPil

    torch.manual_seed(1)
    config = YolosConfig(
        image_size=[32, 32],
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_detection_tokens=3,
        id2label={0: "cat", 1: "person"},
        label2id={"cat": 0, "person": 1},
    )
    network = YolosForObjectDetection(config)
    with torch.no_grad():
        network.class_labels_classifier.layers[-1].bias[1] = sure
    size = {"height": 32, "width": 32}
    return save(folder, network, YolosImageProcessorPil(size=size, do_pad=False))


def scene(folder: Path) -> Path:
    """Segformer, to which everything is sky."""
    return _scene(folder, 150)


def small_scene(folder: Path) -> Path:
    """Segformer that knows other kinds of things."""
    return _scene(folder, 21)


def _scene(folder: Path, kinds: int) -> Path:
    import torch
    from transformers import (
        SegformerConfig,
        SegformerForSemanticSegmentation,
        SegformerImageProcessorPil,
    )

    torch.manual_seed(1)
    config = SegformerConfig(
        depths=[1, 1, 1, 1],
        hidden_sizes=[8, 8, 8, 8],
        num_attention_heads=[1, 1, 1, 1],
        decoder_hidden_size=8,
        num_labels=kinds,
    )
    network = SegformerForSemanticSegmentation(config)
    with torch.no_grad():
        network.decode_head.classifier.bias[2] = 100.0
    size = {"height": 64, "width": 64}
    return save(folder, network, SegformerImageProcessorPil(size=size))
