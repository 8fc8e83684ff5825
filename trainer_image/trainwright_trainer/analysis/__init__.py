"""The parts of the report that need the trained model again: computed after training, in bounded time."""
