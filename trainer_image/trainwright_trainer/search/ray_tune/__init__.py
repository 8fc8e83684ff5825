"""The edge to Ray Tune: it asks the searcher for trials, runs them, and stops them by the scheduler."""
