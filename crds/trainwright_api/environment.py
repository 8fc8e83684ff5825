"""The names of the environment that the operator gives to pods, and of what is mounted in them."""

from __future__ import annotations

ATTEMPT = "TRAINWRIGHT_ATTEMPT"
"""The attempt's number, from 1."""
PHASE = "TRAINWRIGHT_PHASE"
"""What the pod's child does: the task, or preprocess before it."""
RUN = "TRAINWRIGHT_RUN"
"""The run folder."""
PROGRESS_URL = "TRAINWRIGHT_PROGRESS_URL"
"""Where progress and the outcome are posted."""
CA = "TRAINWRIGHT_CA"
"""The file with the certificate authority of that address."""
TOKEN_FILE = "TRAINWRIGHT_TOKEN_FILE"
"""The file with the token to post with. It is renewed: read it for every post."""
WORKERS = "TRAINWRIGHT_WORKERS"
"""The number of workers that was resolved."""

JOB_FILE = "/etc/trainwright/job.yaml"
TOKEN_FOLDER = "/var/run/secrets/trainwright"
CREDENTIALS_FOLDER = "/etc/trainwright/credentials"
"""Where the Secret of spec.credentials is mounted, one file a key."""
CACHE_CREDENTIALS_FOLDER = "/etc/trainwright/cache-credentials"
"""Where keys that the job's file gave as a dictionary are mounted, one JSON file each."""
AUDIENCE = "trainwright"
"""What a token to post with is made for."""

OWN_FOLDERS = ("/etc/trainwright", "/var/run/secrets/trainwright", "/run/secrets/trainwright")
"""Nothing else may be mounted in these: /var/run is a link to /run in most images."""
OWN_VARIABLES = "TRAINWRIGHT_"
OWN_VOLUMES = "trainwright-"
"""What the names of the operator's own variables and volumes begin with. No other may."""
