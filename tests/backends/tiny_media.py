"""The experts of `tiny` that see, draw and listen."""

# mypy: ignore-errors
# The types that transformers and diffusers declare for their settings are not those they take.

from __future__ import annotations

from pathlib import Path

from tests.backends.tiny import save, word_of, word_tokenizer


def depth(folder: Path) -> Path:
    """Depth Anything over a small DINOv2."""
    import torch
    from transformers import (
        DepthAnythingConfig,
        DepthAnythingForDepthEstimation,
        Dinov2Config,
        DPTImageProcessorPil,
    )

    torch.manual_seed(1)
    backbone = Dinov2Config(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        image_size=28,
        patch_size=14,
        out_features=["stage1", "stage2"],
        apply_layernorm=True,
        reshape_hidden_states=False,
    )
    config = DepthAnythingConfig(
        backbone_config=backbone,
        patch_size=14,
        reassemble_hidden_size=16,
        reassemble_factors=[2, 1],
        neck_hidden_sizes=[8, 8],
        fusion_hidden_size=8,
        head_hidden_size=8,
    )
    processor = DPTImageProcessorPil(
        size={"height": 28, "width": 28}, keep_aspect_ratio=True, ensure_multiple_of=14
    )
    return save(folder, DepthAnythingForDepthEstimation(config), processor)


def viewer(folder: Path) -> Path:
    """Idefics 3, as SmolVLM is, with a chat template."""
    import torch
    from transformers import (
        Idefics3Config,
        Idefics3ForConditionalGeneration,
        Idefics3ImageProcessorPil,
        Idefics3Processor,
        Idefics3VisionConfig,
        LlamaConfig,
    )

    torch.manual_seed(1)
    marks = ("<fake_token_around_image>", "<image>", "<end_of_utterance>", "<global-img>")
    rows = [f"<row_{row}_col_{column}>" for row in (1, 2) for column in (1, 2)]
    tokenizer = word_tokenizer(more=(*marks, *rows), additional_special_tokens=[*marks, *rows])
    template = (
        "{% for m in messages %}{{ m.role }} : {% for c in m.content %}"
        "{% if c.type == 'image' %}<image>{% else %}{{ c.text }}{% endif %}{% endfor %} "
        "{% endfor %}assistant :"
    )
    images = Idefics3ImageProcessorPil(
        size={"longest_edge": 32}, max_image_size={"longest_edge": 32}, do_image_splitting=False
    )
    processor = Idefics3Processor(images, tokenizer, image_seq_len=4, chat_template=template)
    config = Idefics3Config(
        vision_config=Idefics3VisionConfig(
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            image_size=32,
            patch_size=8,
        ),
        text_config=LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=160,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
        ),
        scale_factor=2,
        image_token_id=word_of(tokenizer, "<image>"),
        pad_token_id=0,
    )
    network = Idefics3ForConditionalGeneration(config)
    network.generation_config.suppress_tokens = list(range(5 + len(marks) + len(rows)))
    return save(folder, network, processor)


def listener(folder: Path) -> Path:
    """An Audio Spectrogram Transformer that hears three kinds of sound."""
    import torch
    from transformers import ASTConfig, ASTFeatureExtractor, ASTForAudioClassification

    torch.manual_seed(1)
    labels = {0: "Speech", 1: "Music", 2: "Dog"}
    config = ASTConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_length=64,
        num_mel_bins=32,
        id2label=labels,
        label2id={v: k for k, v in labels.items()},
    )
    network = ASTForAudioClassification(config)
    with torch.no_grad():
        network.classifier.dense.bias[2] = 100.0
    return save(folder, network, ASTFeatureExtractor(max_length=64, num_mel_bins=32))


def painter(folder: Path) -> Path:
    """Stable Diffusion, 64 pixels wide, in half precision as it is fetched."""
    import torch
    from diffusers import (
        AutoencoderKL,
        EulerDiscreteScheduler,
        StableDiffusionPipeline,
        UNet2DConditionModel,
    )
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

    torch.manual_seed(1)
    letters = [chr(code) for code in range(97, 123)]
    names = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    tokenizer = CLIPTokenizer({name: at for at, name in enumerate(names)}, [], model_max_length=77)
    unet = UNet2DConditionModel(
        sample_size=8,
        block_out_channels=(8, 16),
        layers_per_block=1,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=16,
        norm_num_groups=4,
        attention_head_dim=4,
    )
    vae = AutoencoderKL(
        block_out_channels=(8, 16),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=4,
        latent_channels=4,
    )
    text = CLIPTextModel(
        CLIPTextConfig(
            vocab_size=len(names),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            bos_token_id=len(names) - 2,
            eos_token_id=len(names) - 1,
            pad_token_id=len(names) - 1,
        )
    )
    pipeline = StableDiffusionPipeline(
        vae=vae,
        text_encoder=text,
        tokenizer=tokenizer,
        unet=unet,
        scheduler=EulerDiscreteScheduler(timestep_spacing="trailing", steps_offset=1),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipeline.to(torch.float16).save_pretrained(folder, variant="fp16", safe_serialization=True)
    return folder
