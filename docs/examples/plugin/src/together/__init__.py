"""A scheduler plugin for Clustersim."""
