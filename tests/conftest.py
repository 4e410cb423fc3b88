"""Fixtures that more than one area uses: stores over memory, SQLite and PostgreSQL; a started Clustersim."""
