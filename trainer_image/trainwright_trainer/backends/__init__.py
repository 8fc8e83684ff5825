"""Where a run computes, by the word of `backend.type`: one file each. A backend starts processes and hands over seats.

Ray is imported by `ray.py` alone, and that by nobody who does not train there.
"""
