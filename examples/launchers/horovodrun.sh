#!/bin/sh
# Two processes of this machine. Several machines: -np 16 -H server1:4,server2:4,server3:4,server4:4
exec horovodrun -np 2 -H localhost:2 trainwright train examples/small/flights.yaml --output out/horovodrun "$@"
