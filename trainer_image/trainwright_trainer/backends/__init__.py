"""The backends, by `backend.type`. A backend starts processes and gives each its rank info.

`local`, `deepspeed` and `horovod` train in this process, or in workers that it starts (`workers`). A process of
torchrun, horovodrun or mpirun (`launchers`) joins the others (`rendezvous`). Only the subpackage `ray` imports Ray,
and only for a run that trains on Ray.
"""
