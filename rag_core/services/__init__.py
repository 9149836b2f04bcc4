"""What a library does, a service a file; `Library` wires them, and what it offers of them is the public face."""
