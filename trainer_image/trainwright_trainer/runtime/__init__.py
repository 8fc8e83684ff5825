"""What a process needs around a task: signals, memory errors, early imports."""
