"""Kinds of the group metrics.k8s.io: computed when they are read, from what runs."""
