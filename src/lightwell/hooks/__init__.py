"""Hooks: what may look at, and act between, the steps of a run."""
