"""Kinds of apiextensions.k8s.io: what defines further kinds."""
