"""The situations of a job, grouped by the stage of its life. Each function recognizes one situation and plans its
pass."""
