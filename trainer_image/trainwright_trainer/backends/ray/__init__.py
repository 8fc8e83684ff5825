"""Workers on Ray Train."""
