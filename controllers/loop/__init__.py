"""The deterministic event loop, its clock, and what a component is to it."""
