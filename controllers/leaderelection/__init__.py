"""Leader election: a pure elector, the Lease lock, and the replica that runs a component under it."""
