"""A library of another process or machine, by its server's REST interface."""
