"""What is made from the chart's values, from the definition of TrainingJob, and from the chart as a whole."""
