"""The trainer: trains a model from a TrainingJob, in a pod or on a laptop.

from trainwright_trainer import predict, train

result = train("flights.yaml", output="out", overwrite=True)
print(result.test["late"]["roc_auc"], result.model)
predictions = predict(dataset=frame, model="out").to_pandas()
"""

from trainwright_trainer.api import evaluate, predict, train

__all__ = ["evaluate", "predict", "train"]
