"""Epochs, steps, evaluation, early stopping. Training can be killed at any moment and resumes bit for bit.

`trainer.py` holds the loop and calls the other modules; each of these holds one subject.
"""
