"""The verbs of the command: one a file, each with `register(app)`."""
