"""The trace value: what one cycle saw and decided, in the conformance format's words."""
