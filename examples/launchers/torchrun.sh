#!/bin/sh
# Two processes of this machine. Several machines: docs/launchers.md has the options.
exec torchrun --standalone --no-python --nproc-per-node 2 trainwright train examples/small/flights.yaml --output out/torchrun "$@"
