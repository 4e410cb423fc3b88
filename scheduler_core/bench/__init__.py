"""Scheduling speed on fixed workloads: cycles alone, without binding, storage or watch."""
