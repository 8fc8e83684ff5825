"""Lua as Argo CD runs it: the same interpreter, without the libraries that Argo CD removes."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testkit.cluster.errors import ClusterError
from testkit.cluster.program import Program

LUA = Program("gopher-lua", Path(__file__).parent / "lua", ("glua",), "github.com/yuin/gopher-lua/cmd/glua")

_PROGRAM = """\
local format, concat, out = string.format, table.concat, print
local function written(value)
  if type(value) ~= "table" then
    return type(value) == "string" and format("%q", value) or tostring(value)
  end
  local parts = {}
  for key, each in pairs(value) do
    parts[#parts + 1] = format("%q:", tostring(key)) .. written(each)
  end
  return "{" .. concat(parts, ",") .. "}"
end
string, math, io, os, coroutine, debug, print = nil
"""


def answer(script: str, obj: Mapping[str, Any]) -> dict[str, Any]:
    """The table that a script of Argo CD's returns for an object."""
    program = f"{_PROGRAM}obj = {_literal(obj)}\nlocal function asked()\n{script}\nend\nout(written(asked()))\n"
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(program)
        file.flush()
        ended = subprocess.run([str(LUA.path()), file.name], capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise ClusterError(f"{ended.stderr}{ended.stdout}".strip())
    return dict(json.loads(ended.stdout))


def _literal(value: Any) -> str:
    """The value as Lua writes it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"[{json.dumps(key)}] = {_literal(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ", ".join(map(_literal, value)) + "}"
    return json.dumps(value)
