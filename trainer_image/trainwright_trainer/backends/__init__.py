"""Where a run computes, by the word of `backend.type`: one file each. A backend starts processes and hands over seats.

Ray is imported by the subpackage `ray` alone, and only where a run trains on Ray.
"""
