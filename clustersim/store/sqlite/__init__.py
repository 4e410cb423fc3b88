"""Django's SQLite backend with a turnstile before the write lock (docs/adr/0001-one-sqlite-file-and-a-turnstile.md)."""
