"""Trainwright in Python: the tasks of the command line as functions, and trained models in memory.

>>> import trainwright
>>> result = trainwright.train("churn.yaml", output="out/churn", overwrite=True, quiet=True)
>>> result.test["left"]["roc_auc"] > 0.6
True
>>> model = trainwright.load("out/churn")
>>> model.predict(customers.head(2))[["left", "left_predictions"]].shape
(2, 2)
"""

from trainwright_api.problems import Mistakes
from trainwright_api.resource.job import TrainingJob
from trainwright_trainer.api import auto_train, evaluate, init_config, load, predict, train, validate
from trainwright_trainer.errors import AlreadyDone, EnvironmentFailure, StoppedRun
from trainwright_trainer.tasks.trained_model import TrainedModel

__all__ = [
    "AlreadyDone",
    "EnvironmentFailure",
    "Mistakes",
    "StoppedRun",
    "TrainedModel",
    "TrainingJob",
    "auto_train",
    "evaluate",
    "init_config",
    "load",
    "predict",
    "train",
    "validate",
]
