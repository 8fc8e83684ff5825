"""What runs in the pods and on a laptop: from a TrainingJob to a trained model."""
