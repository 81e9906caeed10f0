"""Captures: tapped values of a data set in Arrow files, written while a model runs and read without it."""
