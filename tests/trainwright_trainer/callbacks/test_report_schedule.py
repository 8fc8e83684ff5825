from __future__ import annotations

from trainwright_trainer.callbacks.report_schedule import EVERY_SECONDS, GAP_SECONDS, Reach, ReportSchedule


def test_at_the_start_and_then_every_5_seconds():
    schedule = ReportSchedule(100.0)
    assert schedule.rest(100.0) == 0
    schedule.sent(100.5)
    assert schedule.rest(101.5) == EVERY_SECONDS - 1
    assert schedule.rest(106.0) < 0


def test_soon_after_a_checkpoint_however_many_come():
    schedule = ReportSchedule(100.0)
    schedule.sent(100.0)
    assert schedule.hurry()
    assert not schedule.hurry()
    assert schedule.rest(100.0) == GAP_SECONDS
    schedule.sent(101.0)
    assert schedule.rest(101.0) == EVERY_SECONDS
    assert schedule.hurry()


def test_one_notice_when_the_operator_is_lost_and_one_when_it_is_found():
    reach = Reach()
    assert reach.found() is None
    lines = [reach.lost("refused"), reach.lost("refused"), reach.found(), reach.found(), reach.lost("it hangs")]
    assert lines == [
        "progress reports do not reach the operator: refused",
        None,
        "progress reports reach the operator again",
        None,
        "progress reports do not reach the operator: it hangs",
    ]
