"""The tasks, one file each: train, evaluate, predict, preprocess. Each reads from top to bottom."""
