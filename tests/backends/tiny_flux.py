"""Builds painters of the Flux family with tiny random weights; see `bench`."""

# mypy: ignore-errors
# The types that transformers and diffusers declare for their settings are not those they take.

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.backends.tiny import word_tokenizer
from tests.backends.tiny_drawing import clip_config, clip_tokenizer, saved


def flux(folder: Path) -> Path:
    """Flux as schnell is: a transformer that was distilled."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, FluxPipeline, FluxTransformer2DModel
    from transformers import CLIPTextModel, T5Config, T5EncoderModel

    torch.manual_seed(1)
    tokenizer = word_tokenizer(model_max_length=16)
    transformer = FluxTransformer2DModel(
        patch_size=1,
        in_channels=16,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=16,
        pooled_projection_dim=16,
        axes_dims_rope=[4, 4, 8],
        guidance_embeds=False,
    )
    reader = T5Config(
        vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2
    )
    return saved(
        FluxPipeline(
            scheduler=FlowMatchEulerDiscreteScheduler(),
            vae=vae_for_flux(),
            text_encoder=CLIPTextModel(clip_config()),
            tokenizer=clip_tokenizer(),
            text_encoder_2=T5EncoderModel(reader),
            tokenizer_2=tokenizer,
            transformer=transformer,
        ),
        folder,
    )


def klein(folder: Path) -> Path:
    """FLUX.2 klein, which says of itself that it was distilled."""
    import torch
    from diffusers import (
        AutoencoderKLFlux2,
        FlowMatchEulerDiscreteScheduler,
        Flux2KleinPipeline,
        Flux2Transformer2DModel,
    )
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(1)
    tokenizer = word_tokenizer(model_max_length=64)
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m.role }} : {{ m.content }} {% endfor %}assistant :"
    )
    reader = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=28,  # the words are read off the 9th, 18th and 27th layer
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=4,
        max_position_embeddings=512,
    )
    transformer = Flux2Transformer2DModel(
        in_channels=4,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=24,
        timestep_guidance_channels=16,
        axes_dims_rope=[4, 4, 4, 4],
        guidance_embeds=False,
    )
    eye = AutoencoderKLFlux2(
        down_block_types=("DownEncoderBlock2D",),
        up_block_types=("UpDecoderBlock2D",),
        block_out_channels=(4,),
        layers_per_block=1,
        latent_channels=1,
        norm_num_groups=1,
        use_quant_conv=False,
        use_post_quant_conv=False,
    )
    return saved(
        Flux2KleinPipeline(
            scheduler=FlowMatchEulerDiscreteScheduler(),
            vae=eye,
            text_encoder=Qwen3ForCausalLM(reader),
            tokenizer=tokenizer,
            transformer=transformer,
            is_distilled=True,
        ),
        folder,
    )


def vae_for_flux() -> Any:
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        block_out_channels=(8,),
        down_block_types=("DownEncoderBlock2D",),
        up_block_types=("UpDecoderBlock2D",),
        norm_num_groups=4,
        latent_channels=4,
        use_quant_conv=False,
        use_post_quant_conv=False,
        shift_factor=0.1,
        scaling_factor=0.4,
    )
