"""The trainer: trains a model from a TrainingJob, in a pod or on a laptop.

from trainwright_trainer import predict, train

result = train("flights.yaml", output="out", overwrite=True)
print(result.test["late"]["roc_auc"], result.model)
predictions = predict(dataset=frame, model="out").to_pandas()
"""

import signal
import sys
from pathlib import Path

# The program imports for half a second before it handles signals. Ctrl-C ends it without a traceback meanwhile.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler and (
    Path(sys.argv[0]).name == "trainwright" or sys.orig_argv[1:3] == ["-m", __name__]
):
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from trainwright_trainer.api import evaluate, predict, train

__all__ = ["evaluate", "predict", "train"]
