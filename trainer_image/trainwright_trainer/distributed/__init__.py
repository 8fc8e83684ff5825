"""The rank, world size and devices of a distributed run."""
