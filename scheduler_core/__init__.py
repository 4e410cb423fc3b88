"""The scheduler: pure decisions over values. No Django, no sockets, no clock, no global random."""
