"""Extension points, Status, CycleState, the columnar snapshot, plugin registry, profiles and their runtime."""
