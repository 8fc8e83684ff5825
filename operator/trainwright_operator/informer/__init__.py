"""What is there: reflectors that list and watch, and the snapshot that a decision sees."""
