"""What may be connected to."""
