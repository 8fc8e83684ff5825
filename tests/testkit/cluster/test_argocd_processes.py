"""Argo CD as the tests build it."""

from __future__ import annotations

import subprocess

import pytest
from testkit.cluster import golang
from testkit.cluster.argocd_lua import LUA
from testkit.cluster.argocd_processes import ARGOCD, MODULE, program


def test_the_lua_engine_of_the_fast_tests_is_that_of_argo_cd() -> None:
    name = "github.com/yuin/gopher-lua"
    assert golang.pin(LUA.module, name) == golang.pin(ARGOCD, name)


@pytest.mark.slow
def test_the_program_tells_the_pinned_version() -> None:
    command = [str(program().folder() / "argocd"), "version", "--client", "--short"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.split()[1].partition("+")[0] == golang.pin(ARGOCD, MODULE), "after the plus is the commit"
