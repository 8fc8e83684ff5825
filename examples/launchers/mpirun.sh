#!/bin/sh
# Two processes of this machine, with Open MPI. Several machines: -H node-1:4,node-2:4 -x MASTER_ADDR=node-1
exec mpirun -np 2 trainwright train examples/small/flights.yaml --output out/mpirun "$@"
