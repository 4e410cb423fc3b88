"""Polls: what a class is asked, how it votes, what the engine says to it, and what nobody is told before."""
