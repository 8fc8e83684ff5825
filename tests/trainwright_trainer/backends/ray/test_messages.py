"""The process of the mailbox passes the content of a message on without unpickling it."""

from __future__ import annotations

import pickle
import subprocess
import sys

from trainwright_trainer.backends.ray.messages import Message, pickled, unpickled
from trainwright_trainer.rundir.attempt import AttemptReference

REFERENCE = AttemptReference(number=2, first=1, pinned=None, start=None)
RELAY = """
import pickle, sys
from trainwright_trainer.backends.ray.mailbox import Mailbox
message = pickle.load(sys.stdin.buffer)
assert "torch" not in sys.modules
sys.stdout.buffer.write(message.content)
"""


def test_a_message_is_relayed_without_torch():
    message = pickle.dumps(Message("ready", pickled(REFERENCE)))
    relayed = subprocess.run([sys.executable, "-c", RELAY], input=message, stdout=subprocess.PIPE, check=True).stdout
    assert unpickled(relayed) == REFERENCE
