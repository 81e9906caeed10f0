"""Where a model runs: the devices of a machine, the processes of a cluster."""
