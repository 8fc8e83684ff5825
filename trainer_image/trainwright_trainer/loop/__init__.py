"""Epochs, steps, evaluation, early stopping. Training can be killed at any moment and resumes bit for bit.

`fit.py` is the entry point and calls the other modules; each of these holds one subject.
"""
