"""K-means: points, distances, first centers and their updates."""
