"""What if: a decision taken again on changed input, and single changes that would let a pod in. Nothing is kept."""
