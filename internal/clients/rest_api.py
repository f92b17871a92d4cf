"""Holds a server against its own description of its REST API: valid OpenAPI, and
generated requests get answers that the description has, none of them a 5xx."""

import os
import re
import subprocess
import sys
import tempfile

from checks import Checks, arguments, contains, equal, rest
from openapi_spec_validator import OpenAPIV31SpecValidator

# What generated requests must not do: end the server, wait for ever, run agents
# in a folder of their choice, or have the server call addresses that they made up.
LEFT_OUT = "^(shutdown|stream|start_plan|test_.*agent|retry_.*|rework.*|.*settings.*|.*goal.*|approve.*|review.*|judge.*)$"
# With numbers that are given: what would remove the things that have them.
REMOVING = "^(shutdown|stream|start_plan|test_.*agent|.*settings.*|.*goal.*|approve.*|delete_.*|remove_node|reset_plan)$"

# Names for what is there, so that requests come further than to 404.
THERE = """
[parameters]
"path.plan_id" = 1
"path.node_id" = 1
"path.agent_id" = 2
"path.run" = 1
"path.from" = 1
"path.to" = 2
"""


def schemathesis(program, url, left_out, how, *more):
    """Runs it, and returns what it said when it found something, else None. The
    bounds are numbers, not times, so a slow machine tests as much."""
    with tempfile.TemporaryDirectory() as folder:  # it leaves files where it runs
        out = subprocess.run(
            [program, *more, "run", url + "/api/openapi.json", "--phases", how, "--max-examples", "8",
             "--seed", "7", "--workers", "2", "--request-timeout", "20", "--continue-on-failure", "--no-color",
             "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
             "--exclude-operation-id-regex", left_out],
            capture_output=True, text=True, timeout=250, check=False, cwd=folder, env={**os.environ, "PYTHONUTF8": "1", "COLUMNS": "120"})
    counts = [line.strip() for line in out.stdout.splitlines() if " generated, " in line]
    print("      schemathesis:", "; ".join(counts), flush=True)
    if sum(int(n) for n in re.findall(r"(\d+) generated, ", out.stdout)) < 100:
        return "hardly a request was generated: " + out.stdout[-3000:] + out.stderr[-1000:]
    return None if out.returncode == 0 else out.stdout[-6000:] + out.stderr[-1000:]


def main():
    url, program = arguments("rest_api.py URL SCHEMATHESIS", "url", "schemathesis")
    c = Checks("rest-api")
    with c.check("the description is valid OpenAPI 3.1"):
        doc = rest(url, "/api/openapi.json")[1]
        contains(doc["openapi"], "3.1")
        faults = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in OpenAPIV31SpecValidator(doc).iter_errors()]
        equal(faults, [], "what is wrong with it")
        assert len(doc["paths"]) >= 25, f"{len(doc['paths'])} paths"
    with c.check("generated requests get answers as described"):
        fault = schemathesis(program, url, LEFT_OUT, "fuzzing")
        assert fault is None, fault
    with tempfile.TemporaryDirectory() as folder:
        with c.check("so do those that name what is there"):
            status, made = rest(url, "/api/plans", "POST", {
                "title": "There", "working_directory": folder, "edges": [["a", "b"]],
                "nodes": [{"key": "a", "title": "A", "files": ["a.txt"]}, {"key": "b", "title": "B"}, {"key": "u", "title": "U", "kind": "user"}]})
            equal(status, 200, str(made))
            there = THERE.replace('plan_id" = 1', f'plan_id" = {made["plan_id"]}')
            config = os.path.join(folder, "schemathesis.toml")
            with open(config, "w", encoding="utf-8") as f:
                f.write(there)
            fault = schemathesis(program, url, REMOVING, "coverage", "--config-file", config)
            assert fault is None, fault
    with c.check("the server is there, and its database whole"):
        equal(rest(url, "/api/health")[1]["app"], "clearbox")
        for plan in rest(url, "/api/plans")[1]:
            equal(rest(url, f"/api/plans/{plan['id']}")[0], 200, f"plan {plan['id']}")
    return c.close()


if __name__ == "__main__":
    sys.exit(main())
