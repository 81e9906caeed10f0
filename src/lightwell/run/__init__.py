"""How a model runs: settings, inputs, hooks, checkpoints, events, devices, loops of steps, graphs and sessions."""
