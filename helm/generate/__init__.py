"""Generates files from the chart's values, from the TrainingJob CRD, and from the rendered chart."""
