"""One job on this machine: what the file, the command line and the pod say together."""
