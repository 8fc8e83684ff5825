"""The environment of a task in its process: signals, memory errors, threads, early imports."""
