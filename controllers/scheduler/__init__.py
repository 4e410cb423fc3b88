"""The scheduler as a component of the control plane: cycles driven by the event loop."""
