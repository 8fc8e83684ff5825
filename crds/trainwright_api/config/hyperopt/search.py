"""The search algorithms of the hyperparameter search, with Ray Tune's names."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from trainwright_api.schema.choice import Choice, Chosen
from trainwright_api.schema.fields import Fraction, NonNegativeInt, PositiveInt

Points = Annotated[list[dict[str, Any]] | None, Field(description="Parameters to evaluate first.")]
Rewards = Annotated[list[Any] | None, Field(description="Known results of these parameters.")]
ListSpace = Annotated[list[dict[str, Any]] | None, Field(description="Search space in the library's own format.")]
DictSpace = Annotated[dict[str, Any] | None, Field(description="Search space in the library's own format.")]
Seed = Annotated[NonNegativeInt | None, Field(description="Seed of the search. null: the job's seed.")]
MaxConcurrent = Annotated[NonNegativeInt, Field(description="Maximum number of concurrent trials. 0: no limit.")]


class SearchAlgorithm(Chosen):
    """The search algorithm. `type` selects it."""


class BasicVariantSearch(SearchAlgorithm):
    """Random search and grid search."""

    type: Literal["random", "variant_generator"] = Field("random", description="Random search and grid search.")
    points_to_evaluate: Points = None
    max_concurrent: MaxConcurrent = 0
    constant_grid_search: bool = Field(
        False, description="Keep the random values constant over each pass through the grid."
    )
    random_state: Seed = None


class AxSearch(SearchAlgorithm):
    """Ax."""

    type: Literal["ax"] = Field("ax", description="Ax.")
    space: ListSpace = None
    points_to_evaluate: Points = None
    parameter_constraints: list[Any] | None = Field(None, description="Constraints on the parameters.")
    outcome_constraints: list[Any] | None = Field(None, description="Constraints on the results.")


class BayesOptSearch(SearchAlgorithm):
    """Bayesian optimisation."""

    type: Literal["bayesopt"] = Field("bayesopt", description="Bayesian optimisation.")
    space: DictSpace = None
    points_to_evaluate: Points = None
    utility_kwargs: dict[str, Any] | None = Field(None, description="Arguments of the utility function.")
    random_state: Seed = None
    random_search_steps: int = Field(10, description="Number of random trials at the start.")
    verbose: Literal[0, 1, 2] = Field(0, description="Verbosity of the library.")
    patience: NonNegativeInt = Field(5, description="Number of repeated suggestions after which the search stops.")
    skip_duplicate: bool = Field(True, description="Skip parameters that were evaluated before.")


class BlendSearch(SearchAlgorithm):
    """FLAML's BlendSearch."""

    type: Literal["blendsearch"] = Field("blendsearch", description="FLAML's BlendSearch.")


class BOHBSearch(SearchAlgorithm):
    """BOHB."""

    type: Literal["bohb"] = Field("bohb", description="BOHB.")
    space: DictSpace = None
    bohb_config: dict[str, Any] | None = Field(None, description="Arguments of the library.")
    points_to_evaluate: Points = None
    seed: Seed = None
    max_concurrent: MaxConcurrent = 0


class CFOSearch(SearchAlgorithm):
    """FLAML's CFO."""

    type: Literal["cfo"] = Field("cfo", description="FLAML's CFO.")


class DragonflySearch(SearchAlgorithm):
    """Dragonfly."""

    type: Literal["dragonfly"] = Field("dragonfly", description="Dragonfly.")
    optimizer: Literal["random", "bandit", "genetic"] | None = Field(None, description="Method of the optimizer.")
    domain: Literal["cartesian", "euclidean"] | None = Field(None, description="Domain of the search space.")
    space: ListSpace = None
    points_to_evaluate: Points = None
    evaluated_rewards: Rewards = None
    random_state_seed: Seed = None


class HEBOSearch(SearchAlgorithm):
    """HEBO."""

    type: Literal["hebo"] = Field("hebo", description="HEBO.")
    space: ListSpace = None
    points_to_evaluate: Points = None
    evaluated_rewards: Rewards = None
    random_state_seed: Seed = None
    max_concurrent: MaxConcurrent = 8


class HyperoptSearch(SearchAlgorithm):
    """hyperopt's tree of Parzen estimators."""

    type: Literal["hyperopt"] = Field("hyperopt", description="hyperopt's tree of Parzen estimators.")
    space: ListSpace = None
    points_to_evaluate: Points = None
    n_initial_points: PositiveInt = Field(20, description="Number of random trials at the start.")
    random_state_seed: Seed = None
    gamma: Fraction = Field(0.25, description="Fraction of the trials that count as good.")


class NevergradSearch(SearchAlgorithm):
    """Nevergrad."""

    type: Literal["nevergrad"] = Field("nevergrad", description="Nevergrad.")
    optimizer_kwargs: dict[str, Any] | None = Field(None, description="Arguments of the optimizer.")
    space: ListSpace = None
    points_to_evaluate: Points = None


class OptunaSearch(SearchAlgorithm):
    """Optuna."""

    type: Literal["optuna"] = Field("optuna", description="Optuna.")
    space: DictSpace = None
    points_to_evaluate: Points = None
    seed: Seed = None
    evaluated_rewards: Rewards = None


class SkoptSearch(SearchAlgorithm):
    """scikit-optimize."""

    type: Literal["skopt"] = Field("skopt", description="scikit-optimize.")
    space: DictSpace = None
    points_to_evaluate: Points = None
    evaluated_rewards: Rewards = None
    convert_to_python: bool = Field(True, description="Convert parameters to Python numbers.")


class ZooptSearch(SearchAlgorithm):
    """ZOOpt."""

    type: Literal["zoopt"] = Field("zoopt", description="ZOOpt.")
    algo: Literal["asracos"] = Field("asracos", description="Method of the optimizer.")
    budget: PositiveInt | None = Field(None, description="Number of trials. null: num_samples.")
    dim_dict: dict[str, Any] | None = Field(None, description="Search space in the library's own format.")
    points_to_evaluate: Points = None
    parallel_num: PositiveInt = Field(1, description="Number of parallel trials.")


SEARCH = Choice(
    "search algorithm",
    "trainwright_api.config.hyperopt",
    {
        "random": "search.BasicVariantSearch",
        "variant_generator": "search.BasicVariantSearch",
        "ax": "search.AxSearch",
        "bayesopt": "search.BayesOptSearch",
        "blendsearch": "search.BlendSearch",
        "bohb": "search.BOHBSearch",
        "cfo": "search.CFOSearch",
        "dragonfly": "search.DragonflySearch",
        "hebo": "search.HEBOSearch",
        "hyperopt": "search.HyperoptSearch",
        "nevergrad": "search.NevergradSearch",
        "optuna": "search.OptunaSearch",
        "skopt": "search.SkoptSearch",
        "zoopt": "search.ZooptSearch",
    },
    default="random",
)
