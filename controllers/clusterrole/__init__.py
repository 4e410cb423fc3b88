"""Writes into ClusterRoles that gather the rules of others."""

from controllers.clusterrole.controller import ClusterRoleAggregation

__all__ = ["ClusterRoleAggregation"]
