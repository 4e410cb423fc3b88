"""The pod: its strategy, defaults and rules, and the template that other kinds hold."""
