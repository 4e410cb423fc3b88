"""What controllers are made of: client, reflector, informer, work queue, expectations, recorder."""
