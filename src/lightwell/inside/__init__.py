"""The inside of a model by path: reading it, watching it, capturing it, changing it, comparing it."""
