from __future__ import annotations

from trainwright_operator.server.expiring_cache import ExpiringCache


def test_a_value_expires() -> None:
    now = [0.0]
    cache: ExpiringCache[str, int] = ExpiringCache(lambda: now[0], seconds=60)
    cache.put("a", 1)
    now[0] = 59
    assert cache.get("a") == 1
    now[0] = 60
    assert cache.get("a") is None


def test_the_oldest_value_goes_first() -> None:
    cache: ExpiringCache[str, int] = ExpiringCache(lambda: 0.0, seconds=60, most=2)
    for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        cache.put(key, value)
    assert (cache.get("a"), cache.get("b"), cache.get("c"), len(cache)) == (3, None, 4, 2)
