"""What every controller stands on: store protocol, registry, informers, workqueues, the event loop."""
