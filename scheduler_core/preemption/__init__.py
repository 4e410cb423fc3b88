"""Preemption as kube-scheduler v1.34 does it: who may displace whom, where it costs least, how it is carried out."""
