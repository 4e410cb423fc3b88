"""Faults that replicas are asked to have: one value a fault, one line each in `table`."""
