from __future__ import annotations

import math
import re

from trainwright_trainer.report.classifiers import calibration, roc
from trainwright_trainer.report.data import Calibration, RocCurve


def test_roc_runs_from_corner_to_corner() -> None:
    made = roc("late", RocCurve([0.0, 0.2, 1.0], [0.0, 0.7, 1.0], 0.75))
    assert 'd="M48 278L103.6 100.2L326 24"' in made
    assert ">false positive rate</text>" in made
    assert ">a guess</text>" in made


def test_calibration_leaves_out_empty_bins() -> None:
    made = calibration("late", Calibration([0.1, math.nan, 0.9], [0.2, math.nan, 0.8], [10, 0, 30]))
    assert made.count('class="dot validation"') == 2
    assert "nan" not in made
    assert made.count('class="bar"') == 2


def test_bars_stand_below_what_their_bin_predicts() -> None:
    made = calibration("late", Calibration([0.55, 1.0], [0.5, 1.0], [10, 30]))
    assert re.findall(r'<rect x="([\d.]+)"', made) == ["188", "299.2"]


def test_calibration_without_rows_is_still_a_figure() -> None:
    assert "<svg" in calibration("late", Calibration([math.nan] * 10, [math.nan] * 10, [0] * 10))
