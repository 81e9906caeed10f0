"""Loops: a step of a graph becomes a loop over steps."""
