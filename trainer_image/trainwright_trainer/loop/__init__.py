"""Epochs, steps, evaluation, early stopping: training that can be killed at any moment and goes on to the bit.

`train.py` tells the story; each other module answers one question of it.
"""
