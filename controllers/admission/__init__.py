"""Admission plugins, a file each, named as upstream's; `table.py` has them in the order in which they run."""
