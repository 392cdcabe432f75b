"""Experts of the Hugging Face Inference API."""
