"""A small shell that answers for containers in which nothing runs: pure, bounded, in simulated time.

`syntax` reads a script, `interpreter` runs it, `programs` and `looking` are the commands that it knows, `inside` what a
container sees of itself.
"""
