"""Which function loads the experts of a task. A table only: nothing heavy is imported for it."""

from __future__ import annotations

from collections.abc import Mapping

WORDS_AND_SOUND: Mapping[str, str] = {
    "text-generation": "text_experts:load_writer",
    "translation": "text_experts:load_translator",
    "summarization": "text_experts:load_summariser",
    "fill-mask": "text_experts:load_gap_filler",
    "token-classification": "label_experts:load_labeller",
    "text-classification": "label_experts:load_judge",
    "zero-shot-classification": "label_experts:load_sorter",
    "question-answering": "answer_experts:load_reader",
    "table-question-answering": "answer_experts:load_table_reader",
    "sentence-similarity": "vector_experts:load_comparer",
    "feature-extraction": "vector_experts:load_embedder",
    "audio-classification": "hearing_experts:load_listener",
    "automatic-speech-recognition": "hearing_experts:load_transcriber",
    "text-to-speech": "speaking_experts:load_speaker",
    "text-to-audio": "speaking_experts:load_composer",
}
SIGHT: Mapping[str, str] = {
    "image-classification": "sight_experts:load_classifier",
    "zero-shot-image-classification": "sight_experts:load_matcher",
    "depth-estimation": "sight_experts:load_depth",
    "video-classification": "sight_experts:load_watcher",
    "object-detection": "finding_experts:load_finder",
    "zero-shot-object-detection": "finding_experts:load_word_finder",
    "image-segmentation": "parting_experts:load_parter",
    "mask-generation": "parting_experts:load_masker",
    "image-to-text": "reading_experts:load_viewer",
    "visual-question-answering": "reading_experts:load_viewer",
    "document-question-answering": "reading_experts:load_viewer",
}
DRAWING: Mapping[str, str] = {
    "text-to-image": "painting_experts:load_painter",
    "image-to-image": "painting_experts:load_restyler",
    "image-editing": "painting_experts:load_editor",
    "inpainting": "painting_experts:load_filler",
    "text-to-video": "film_experts:load_film_maker",
    "image-to-video": "film_experts:load_animator",
    "canny-text-to-image": "control_experts:load_controlled",
    "depth-text-to-image": "control_experts:load_controlled",
    "hed-text-to-image": "control_experts:load_controlled",
    "mlsd-text-to-image": "control_experts:load_controlled",
    "normal-text-to-image": "control_experts:load_controlled",
    "openpose-text-to-image": "control_experts:load_controlled",
    "scribble-text-to-image": "control_experts:load_controlled",
    "seg-text-to-image": "control_experts:load_controlled",
}
STEERING: Mapping[str, str] = {
    "depth-control": "sight_experts:load_depth",
    "normal-control": "steering_experts:load_normals",
    "openpose-control": "steering_experts:load_poses",
    "seg-control": "steering_experts:load_areas",
}
"""Control pictures, which need nothing but transformers."""
LOADERS: Mapping[str, str] = {**WORDS_AND_SOUND, **SIGHT, **DRAWING, **STEERING}
"""Per task: which function of which module here takes a Loading and gives a Run."""

NEEDS: Mapping[str, str] = dict.fromkeys(DRAWING, "diffusers")
"""Tasks whose experts need a library that is not always installed."""
