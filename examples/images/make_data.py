"""Write scikit-learn's digits as PNG files of 8 × 8 grey pixels, and a table of their paths and digits.

python examples/images/make_data.py [--rows 1797] [--output build/images]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_digits

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "build" / "images"
MOST_ROWS = 1_797


def write(folder: Path, most: int) -> None:
    """Write `digits/*.png` and `digits.csv`, whose paths are relative to its folder."""
    digits = load_digits()
    (folder / "digits").mkdir(parents=True, exist_ok=True)
    rows = []
    for number, (pixels, digit) in enumerate(zip(digits.images[:most], digits.target[:most], strict=True)):
        path = f"digits/{number:04}.png"
        Image.fromarray((pixels * 15).astype(np.uint8)).save(folder / path)
        rows.append({"path": path, "digit": f"digit {digit}"})
    pd.DataFrame(rows).to_csv(folder / "digits.csv", index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=MOST_ROWS, help="the number of images (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="the folder to write to (default: build/images)")
    given = parser.parse_args()
    write(given.output, given.rows)


if __name__ == "__main__":
    main()
