"""Engine: the only place that owns graphs and sessions."""
