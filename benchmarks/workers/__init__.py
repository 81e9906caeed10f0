"""One process per peer. Each module here is run as `python -m benchmarks.workers.<peer>` in that peer's environment."""
