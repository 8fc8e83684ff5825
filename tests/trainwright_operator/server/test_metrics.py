"""The metrics that Prometheus scrapes."""

from __future__ import annotations

from trainwright_operator.server.metrics import Metrics


def test_all_that_was_configured_is_read_by_prometheus(talk, place):
    metrics = place.metrics
    metrics.leading(True)
    metrics.queued(3)
    metrics.passed(0.004)
    metrics.failed("Conflict")
    metrics.jobs({"Running": 2, "Failed": 1})
    metrics.retried("crash")
    metrics.requested("GET", "pods", 200, 0.1)
    metrics.requested("PATCH", "trainingjobs/status", 409)
    metrics.requested("GET", "pods", 0)

    async def conversation(session):
        async with session.get("/metrics") as response:
            return response.headers["Content-Type"], (await response.text()).splitlines()

    kind, lines = talk(conversation)
    assert kind.startswith("text/plain; version=0.0.4")
    assert {
        "trainwright_leader 1.0",
        "trainwright_queue_depth 3.0",
        'trainwright_pass_seconds_bucket{le="0.005"} 1.0',
        'trainwright_pass_seconds_bucket{le="0.0025"} 0.0',
        'trainwright_pass_errors_total{reason="Conflict"} 1.0',
        'trainwright_jobs{phase="Running"} 2.0',
        'trainwright_jobs{phase="Complete"} 0.0',
        'trainwright_retries_total{class="crash"} 1.0',
        'trainwright_retries_total{class="preempted"} 0.0',
        'trainwright_api_requests_total{method="GET",resource="pods",status="200"} 1.0',
        'trainwright_api_errors_total{method="PATCH",resource="trainingjobs/status",status="409"} 1.0',
        'trainwright_api_errors_total{method="GET",resource="pods",status="0"} 1.0',
    } <= set(lines)
    assert not any(line.startswith("trainwright_api_errors_total") and 'status="200"' in line for line in lines)
    assert any(line.startswith("process_resident_memory_bytes") for line in lines)


def test_a_phase_that_nobody_is_in_any_more_has_none():
    metrics = Metrics()
    metrics.jobs({"Running": 2})
    metrics.jobs({"Complete": 2})
    assert metrics.registry.get_sample_value("trainwright_jobs", {"phase": "Running"}) == 0
    assert metrics.registry.get_sample_value("trainwright_jobs", {"phase": "Complete"}) == 2


def test_two_operators_in_one_process_count_apart():
    one, other = Metrics(), Metrics()
    one.queued(1)
    assert other.registry.get_sample_value("trainwright_queue_depth") == 0
