"""The Django side: store, REST, websockets, classroom, workers."""
