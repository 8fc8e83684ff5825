"""One job on this machine, resolved from the file, the command line and the pod."""
