"""The numbers of docs/benchmarks.md: `make bench` measures, nothing in the tests times."""
