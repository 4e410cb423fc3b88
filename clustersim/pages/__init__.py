"""The HTML pages: home, join by code, session. Everything that moves on them is done by static/js."""
