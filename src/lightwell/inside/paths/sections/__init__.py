"""The sections of a program's paths: one file for each kind of value."""
