"""What every process of a distributed run knows of the others."""
