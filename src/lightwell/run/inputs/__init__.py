"""Inputs: whatever `input_fn` returns becomes features and labels."""
