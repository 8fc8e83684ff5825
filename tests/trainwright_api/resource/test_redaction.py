"""Secrets of known shapes are taken out of lines, and nothing else."""

from __future__ import annotations

import pytest

from trainwright_api.resource.redaction import redacted_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password=hunter2 next", "password=(hidden) next"),
        ("DB_PASSWORD: hunter2", "DB_PASSWORD: (hidden)"),
        ('{"aws_secret_access_key": "ab/c+d", "region": "eu"}', '{"aws_secret_access_key": (hidden), "region": "eu"}'),
        ("token='a b' x", "token=(hidden) x"),
        ('secret="cut off', "secret=(hidden)"),
        ("s3 said AKIAIOSFODNN7EXAMPLE is no key", "s3 said (hidden) is no key"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer (hidden)"),
        ("'Authorization': 'Basic dXNlcjpwdw=='", "'Authorization': 'Basic (hidden)'"),
        ("https://me:pw@host/x", "https://(hidden)@host/x"),
        (
            "GET /x?X-Amz-Credential=a%2Fb&X-Amz-Signature=c0ffee&n=1",
            "GET /x?X-Amz-Credential=(hidden)&X-Amz-Signature=(hidden)&n=1",
        ),
        ("eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOlsidHJhaW4iXX0.c2lnbmF0dXJl", "(hidden)"),
        ("hf_abcdefghijklmnopqrstuvwx", "(hidden)"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nx", "(hidden)\nx"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE", "(hidden)"),
    ],
)
def test_a_secret_is_hidden(text, shown):
    assert redacted_text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "epoch 3: loss=0.31 roc_auc=0.742",
        "max_tokens=512",
        "KeyError: 'token'",
        "config.input_features[3].column: 'dep_dely' is not in the data; did you mean 'dep_delay'?",
        "reading s3://bucket/runs@2026/part.parquet",
        "design: a, basic training",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redacted_text(text) == text


def test_a_hidden_text_stays_as_it_is():
    once = redacted_text("password=x https://a:b@c Authorization: Bearer abcdefgh")
    assert redacted_text(once) == once


@pytest.mark.parametrize(
    "piece", ["token", "-----BEGIN PRIVATE KEY-----", "eyJaaaaaaaa.", "://a", "://a:", "token \t", "'a"]
)
def test_no_text_makes_a_pattern_try_everything(piece):
    assert len(redacted_text(piece * (65_536 // len(piece)))) <= 65_536
