"""The tests' own client of the API server: faults of the operator's client never affect it."""

from testkit.api.client import Api, Change, Listing
from testkit.api.errors import ApiError, NotReached
from testkit.api.resource import Manifest, Resource
from testkit.api.waiting import condition, until, until_gone, until_object

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
