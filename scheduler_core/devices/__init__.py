"""Dynamic resource allocation: which devices a pod's ResourceClaims get on a node, and which are taken.

Source: k8s.io/dynamic-resource-allocation (structured, cel, resourceclaim) and the scheduler's plugin dynamicresources,
v1.34 with its default features: admin access and alternatives (`firstAvailable`) are on; devices that share counters,
device taints and binding conditions are off.
"""
