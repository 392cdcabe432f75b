"""Tests that need a graphics card."""
