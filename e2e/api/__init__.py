"""The tests' own client of the API server: faults of the operator's client never affect it."""

from e2e.api.client import Api, Change, Listing
from e2e.api.errors import ApiError, NotReached
from e2e.api.resource import Manifest, Resource
from e2e.api.waiting import condition, until, until_gone, until_object

__all__ = [
    "Api",
    "ApiError",
    "Change",
    "Listing",
    "Manifest",
    "NotReached",
    "Resource",
    "condition",
    "until",
    "until_gone",
    "until_object",
]
