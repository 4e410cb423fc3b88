"""The nodes as a cycle reads them: rows of arrays, with the pods on them as objects, and columns made on demand."""
