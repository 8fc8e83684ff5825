"""The situations of a job, grouped by the stage of its life. Each function knows one situation and plans its pass."""
