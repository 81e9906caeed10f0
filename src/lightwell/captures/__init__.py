"""What was seen of a model, kept on disk: Arrow files, written while it runs and read without it."""
