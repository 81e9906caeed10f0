"""Taps: values read by path while a model trains, evaluates or predicts, and where they go."""
