"""Errors around a cluster, as one line, or one line and the end of a log."""

from __future__ import annotations


class ClusterError(Exception):
    """The cluster cannot do a requested operation. The text is for the user and needs no traceback."""
