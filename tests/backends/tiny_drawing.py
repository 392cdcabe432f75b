"""Builds painters of diffusers with tiny random weights, as the Hub would hold them.

See `bench`: each function saves one into a folder that does not exist yet.
"""

# mypy: ignore-errors
# The types that transformers and diffusers declare for their settings are not those they take.

from __future__ import annotations

from pathlib import Path
from typing import Any

LETTERS = [chr(code) for code in range(97, 123)]
CLIP_WORDS = [*LETTERS, *(f"{it}</w>" for it in LETTERS), "<|startoftext|>", "<|endoftext|>"]


def clip_tokenizer() -> Any:
    """One token a letter."""
    from transformers import CLIPTokenizer

    vocabulary = {name: at for at, name in enumerate(CLIP_WORDS)}
    return CLIPTokenizer(vocabulary, [], model_max_length=77)


def clip_config(**settings: Any) -> Any:
    from transformers import CLIPTextConfig

    end = len(CLIP_WORDS) - 1
    return CLIPTextConfig(
        vocab_size=len(CLIP_WORDS),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        bos_token_id=end - 1,
        eos_token_id=end,
        pad_token_id=end,
        **settings,
    )


def unet(channels: int = 4, **settings: Any) -> Any:
    from diffusers import UNet2DConditionModel

    return UNet2DConditionModel(
        **{
            "sample_size": 16,
            "in_channels": channels,
            "block_out_channels": (8, 16),
            "layers_per_block": 1,
            "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
            "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D"),
            "cross_attention_dim": 16,
            "norm_num_groups": 4,
            "attention_head_dim": 4,
            **settings,
        }
    )


def vae() -> Any:
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        block_out_channels=(8, 16),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=4,
        latent_channels=4,
    )


def stable_diffusion(**parts: Any) -> dict[str, Any]:
    """The parts of a Stable Diffusion that draws 32 by 32 pixels, in few steps, as Turbo does."""
    import torch
    from diffusers import EulerDiscreteScheduler
    from transformers import CLIPTextModel

    torch.manual_seed(1)
    return {
        "vae": vae(),
        "text_encoder": CLIPTextModel(clip_config()),
        "tokenizer": clip_tokenizer(),
        "unet": unet(),
        "scheduler": EulerDiscreteScheduler(timestep_spacing="trailing", steps_offset=1),
        "safety_checker": None,
        "feature_extractor": None,
        "requires_safety_checker": False,
        **parts,
    }


def painter(folder: Path) -> Path:
    """Stable Diffusion, in half precision as it is fetched."""
    import torch
    from diffusers import StableDiffusionPipeline

    pipeline = StableDiffusionPipeline(**stable_diffusion())
    pipeline.to(torch.float16).save_pretrained(folder, variant="fp16")
    return folder


def thorough_painter(folder: Path) -> Path:
    """Stable Diffusion as it first was, with as many steps as it likes."""
    from diffusers import DDIMScheduler, StableDiffusionPipeline

    scheduler = DDIMScheduler(clip_sample=False, set_alpha_to_one=False, steps_offset=1)
    return saved(StableDiffusionPipeline(**stable_diffusion(scheduler=scheduler)), folder)


def consistent_painter(folder: Path) -> Path:
    """A latent consistency painter."""
    from diffusers import LatentConsistencyModelPipeline, LCMScheduler

    parts = stable_diffusion(scheduler=LCMScheduler(), unet=unet(time_cond_proj_dim=8))
    return saved(LatentConsistencyModelPipeline(**parts), folder)


def careful_painter(folder: Path) -> Path:
    """Stable Diffusion whose safety check finds everything unsuitable."""
    import torch
    from diffusers import StableDiffusionPipeline
    from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker
    from transformers import CLIPConfig, CLIPImageProcessorPil

    torch.manual_seed(1)
    config = CLIPConfig(
        projection_dim=8,
        text_config={"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2},
        vision_config={
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 32,
            "patch_size": 16,
        },
    )
    checker = StableDiffusionSafetyChecker(config)
    checker.concept_embeds_weights.data.fill_(-2.0)
    size = {"height": 32, "width": 32}
    parts = stable_diffusion(
        safety_checker=checker,
        feature_extractor=CLIPImageProcessorPil(size=size, crop_size=size),
        requires_safety_checker=True,
    )
    return saved(StableDiffusionPipeline(**parts), folder)


def black_painter(folder: Path) -> Path:
    """Stable Diffusion whose numbers overflow: all it draws is black."""
    import torch
    from diffusers import StableDiffusionPipeline

    parts = stable_diffusion()
    with torch.no_grad():
        parts["vae"].decoder.conv_out.weight.zero_()
        parts["vae"].decoder.conv_out.bias.fill_(-9.0)
    return saved(StableDiffusionPipeline(**parts), folder)


def editor(folder: Path) -> Path:
    """InstructPix2Pix."""
    from diffusers import StableDiffusionInstructPix2PixPipeline

    parts = stable_diffusion(unet=unet(8))
    return saved(StableDiffusionInstructPix2PixPipeline(**parts), folder)


def filler(folder: Path) -> Path:
    """Stable Diffusion made for inpainting: it sees the mask and what is around it."""
    from diffusers import StableDiffusionInpaintPipeline

    return saved(StableDiffusionInpaintPipeline(**stable_diffusion(unet=unet(9))), folder)


def control(folder: Path) -> Path:
    """A ControlNet for `painter`."""
    import torch
    from diffusers import ControlNetModel

    torch.manual_seed(1)
    network = ControlNetModel.from_unet(unet(), conditioning_embedding_out_channels=(8, 16))
    awakened(network)
    network.save_pretrained(folder)
    return folder


def large_unet() -> Any:
    return unet(
        cross_attention_dim=32,
        attention_head_dim=(2, 4),
        use_linear_projection=True,
        addition_embed_type="text_time",
        addition_time_embed_dim=8,
        transformer_layers_per_block=(1, 1),
        projection_class_embeddings_input_dim=64,
    )


def large_painter(folder: Path) -> Path:
    """Stable Diffusion XL, with its two readers of words."""
    import torch
    from diffusers import EulerDiscreteScheduler, StableDiffusionXLPipeline
    from transformers import CLIPTextModel, CLIPTextModelWithProjection

    torch.manual_seed(1)
    settings = clip_config(projection_dim=16)
    return saved(
        StableDiffusionXLPipeline(
            vae=vae(),
            text_encoder=CLIPTextModel(settings),
            text_encoder_2=CLIPTextModelWithProjection(settings),
            tokenizer=clip_tokenizer(),
            tokenizer_2=clip_tokenizer(),
            unet=large_unet(),
            scheduler=EulerDiscreteScheduler(timestep_spacing="trailing"),
        ),
        folder,
    )


def union_control(folder: Path) -> Path:
    """One ControlNet for all kinds of control, for `large_painter`."""
    import inspect

    import torch
    from diffusers import ControlNetUnionModel

    torch.manual_seed(1)
    settings = {**large_unet().config, "conditioning_embedding_out_channels": (8, 16)}
    known = inspect.signature(ControlNetUnionModel.__init__).parameters
    network = ControlNetUnionModel(
        **{name: value for name, value in settings.items() if name in known},
        num_trans_channel=8,
        num_trans_head=2,
        num_proj_channel=8,
    )
    awakened(network)
    network.save_pretrained(folder)
    return folder


def awakened(network: Any) -> None:
    """New ControlNets begin with zeros, and would change nothing."""
    import torch

    with torch.no_grad():
        shown = network.controlnet_cond_embedding.conv_out
        for block in (shown, *network.controlnet_down_blocks, network.controlnet_mid_block):
            for weights in block.parameters():
                weights.normal_(0, 1.0)


def saved(pipeline: Any, folder: Path) -> Path:
    pipeline.save_pretrained(folder)
    return folder


def foreign(folder: Path) -> Path:
    """A network that is no ControlNet."""
    vae().save_pretrained(folder)
    return folder


def with_code(folder: Path) -> Path:
    painter(folder)
    (folder / "unet" / "mine.py").write_text("print('run')")
    return folder


def with_foreign_part(folder: Path) -> Path:
    return _with(folder, unet=["antigravity", "Flight"])


def with_own_class(folder: Path) -> Path:
    return _with(folder, _class_name=["mine", "Pipeline"])


def _with(folder: Path, **changed: Any) -> Path:
    import json

    path = painter(folder) / "model_index.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    return folder
