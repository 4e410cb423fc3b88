"""Scheduling as a formal model: definitions over objects, what the engine does otherwise, and the optimum.

"The document" is a published description of kube-scheduler as a formal model, drawn in part from a TLA+ specification;
section numbers are its own. docs/model.md has an overview.
"""
