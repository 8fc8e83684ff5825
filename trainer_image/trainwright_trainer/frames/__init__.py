"""Processors read a data set and map functions over its blocks. Each has one file."""
