"""Hooks: objects that observe the steps of a run and act between them."""
