"""Scheduling as a formal model: definitions over objects, what the engine does otherwise, and the optimum."""
