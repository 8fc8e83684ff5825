"""The situations that a job can be in, by the stage of its life. Each function knows one, and plans its pass."""
