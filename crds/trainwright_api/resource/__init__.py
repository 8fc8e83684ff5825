"""The resource TrainingJob: spec, status, and the messages between pods and operator."""
