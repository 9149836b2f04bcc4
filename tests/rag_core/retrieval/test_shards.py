"""What is reckoned of many shards from one that was measured."""

from __future__ import annotations

import argparse

import pytest

from tests.benchmarks.shards import cost, fan_out

TIMES = [1.0] * 99 + [101.0]
FOUND = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]


def test_one_shard_is_as_it_was_measured() -> None:
    alone = fan_out(TIMES, FOUND, 1, 0.5)
    assert (alone["p50_ms"], alone["p95_ms"]) == (1.5, 1.5)
    assert alone["recall_at_10"] == pytest.approx(sum(FOUND) / 10, abs=1e-3)


def test_many_are_as_slow_as_the_slowest_and_find_what_is_first_in_each() -> None:
    many = fan_out(TIMES, FOUND, 512, 0.5)
    assert many["p50_ms"] == 101.5  # of 512 draws one is nearly always among the slowest hundredth
    assert many["recall_at_10"] > 0.98
    some = [fan_out(TIMES, FOUND, shards, 0.5)["recall_at_10"] for shards in (1, 2, 8, 64)]
    assert some == sorted(some)


def test_bytes_of_rows_are_memory_disk_and_servers() -> None:
    options = argparse.Namespace(server_gb=100, share=0.5, server_usd=400, disk_usd=0.1, replicas=2)
    texts = {"postgresql_per_chunk": 3000, "lexical_per_chunk": 400, "original_per_chunk": 600, "embeds_per_s": 100}
    shard = {"memory_per_row": 2000, "disk_per_row": 4000, "dimensions": 400}
    whole = cost(10**9, shard, 4, texts, options)
    assert (whole["memory_gb"], whole["disk_gb"], whole["shards"], whole["servers"]) == (2000, 8000, 40, 80)
    assert whole["usd_month"] == 80 * 400 + 2 * 8000 * 0.1
    assert whole["embed_days"] == pytest.approx(115.74)
    assert cost(10**9, shard, 2, texts, options)["memory_gb"] == 2000 - 800
    assert cost(1, shard, None, texts, options)["servers"] == 2
