"""The API registry: how a document of any kind is decoded, checked, changed and stored."""
