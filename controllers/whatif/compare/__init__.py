"""Two schedulers on the same input and the same seed: each runs as a control plane of its own, in memory."""
