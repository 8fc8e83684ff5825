from __future__ import annotations

from trainwright_trainer.report.pictures import pictures


def test_a_png_stays_sharp_and_descriptions_are_escaped() -> None:
    png, jpeg = "data:image/png;base64,aa", "data:image/jpeg;base64,bb"
    text = "&quot;a&quot; &amp; b"
    assert pictures([('"a" & b', png), ("c", jpeg)]) == (
        f'<div class="pictures"><img src="{png}" alt="{text}" title="{text}" class="pixels">'
        f'<img src="{jpeg}" alt="c" title="c"></div>'
    )
    assert pictures([]) is None
