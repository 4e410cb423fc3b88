"""Kinds of this project's own group, clustersim.io."""
