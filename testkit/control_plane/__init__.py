"""The operator on a control plane: as a process, with crashes, faults and manual edits."""
