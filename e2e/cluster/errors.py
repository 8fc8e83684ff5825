"""What goes wrong around a cluster, said in one line, or in one line and the end of a log."""

from __future__ import annotations


class ClusterError(Exception):
    """The cluster cannot do what was asked. Its text is for the user: no traceback is needed to understand it."""
