"""The backends, by `backend.type`: `local` and `ray`. A backend starts processes and gives each its rank info.

Only the subpackage `ray` imports Ray, and only for a run that trains on Ray.
"""
