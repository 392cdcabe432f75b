"""Builds film makers of diffusers with tiny random weights; see `bench`."""

# mypy: ignore-errors
# The types that transformers and diffusers declare for their settings are not those they take.

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.backends.tiny import word_tokenizer
from tests.backends.tiny_drawing import saved


def reader(kind: str) -> dict[str, Any]:
    """A reader of words, a T5 or UMT5, with its tokenizer."""
    import torch
    import transformers

    torch.manual_seed(1)
    tokenizer = word_tokenizer(model_max_length=16)
    settings = getattr(transformers, f"{kind}Config")(
        vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2
    )
    network = getattr(transformers, f"{kind}EncoderModel")(settings)
    return {"tokenizer": tokenizer, "text_encoder": network}


def wan_parts(channels: int = 16) -> dict[str, Any]:
    import torch
    from diffusers import (
        AutoencoderKLWan,
        FlowMatchEulerDiscreteScheduler,
        WanTransformer3DModel,
    )

    torch.manual_seed(1)
    return {
        **reader("UMT5"),
        "transformer": WanTransformer3DModel(
            num_attention_heads=2,
            attention_head_dim=12,
            in_channels=channels,
            text_dim=16,
            freq_dim=16,
            ffn_dim=16,
            num_layers=1,
            rope_max_seq_len=64,
        ),
        "vae": AutoencoderKLWan(base_dim=3, dim_mult=[1, 1, 1, 1], num_res_blocks=1),
        "scheduler": FlowMatchEulerDiscreteScheduler(shift=7.0),
    }


def wan(folder: Path) -> Path:
    """Wan, from words."""
    from diffusers import WanPipeline

    return saved(WanPipeline(**wan_parts()), folder)


def wan_from_picture(folder: Path) -> Path:
    """Wan, from a picture: it sees it, and which pictures of the film are given."""
    from diffusers import WanImageToVideoPipeline

    return saved(
        WanImageToVideoPipeline(**wan_parts(36), image_encoder=None, image_processor=None), folder
    )


def ltx(folder: Path) -> Path:
    """LTX-Video, whose weights begin with words or with a picture."""
    from diffusers import (
        AutoencoderKLLTXVideo,
        FlowMatchEulerDiscreteScheduler,
        LTXPipeline,
        LTXVideoTransformer3DModel,
    )

    parts = reader("T5")
    blocks, layers = (8, 8, 8, 8), (1, 1, 1, 1, 1)
    return saved(
        LTXPipeline(
            **parts,
            transformer=LTXVideoTransformer3DModel(
                in_channels=8,
                out_channels=8,
                num_attention_heads=2,
                attention_head_dim=8,
                cross_attention_dim=16,
                num_layers=1,
                caption_channels=16,
            ),
            vae=AutoencoderKLLTXVideo(
                latent_channels=8,
                block_out_channels=blocks,
                decoder_block_out_channels=blocks,
                layers_per_block=layers,
                decoder_layers_per_block=layers,
            ),
            scheduler=FlowMatchEulerDiscreteScheduler(),
        ),
        folder,
    )


def mover(folder: Path) -> Path:
    """What makes the pictures of `tiny_drawing:painter` move."""
    import torch
    from diffusers import MotionAdapter

    torch.manual_seed(1)
    MotionAdapter(
        block_out_channels=(8, 16),
        motion_layers_per_block=1,
        motion_num_attention_heads=2,
        motion_norm_num_groups=4,
        motion_max_seq_length=12,
        use_motion_mid_block=False,
    ).save_pretrained(folder)
    return folder
