"""Failures: what an error of a step or of a function means, in the words of the program it happened in."""
