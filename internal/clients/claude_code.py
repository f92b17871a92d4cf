"""The real Claude Code program plans at /mcp/observe and does its own steps; its
model follows a script, so nothing is spent."""

import json
import os
import subprocess
import sys
import tempfile

from checks import Checks, arguments, contains, equal, rest
from scripted_model import Call, Model, tool_results

SERVER = "mcp__clearbox__"


def plan(folder, *more_edges):
    return Call(SERVER + "submit_plan", title="Tidy the notes", working_directory=folder,
                nodes=[{"key": "write", "title": "Write the notes", "files": ["notes.txt"]},
                       {"key": "check", "title": "Check the notes", "results_from": ["write"]}],
                edges=[["write", "check"], *more_edges])


def script(folder):
    """Plans wrongly, then rightly; claims, works, reports and completes each step
    until nothing is left."""
    def next_move(body):
        if not any(t["name"].startswith(SERVER) for t in body.get("tools") or []):
            return ["Notes"]  # the program asks its model for a title now and then
        done = tool_results(body)
        if not done:
            return ["I lay out the work first.", plan(folder, ["check", "write"])]
        failed, text = done[-1]
        if failed and "would create a cycle" in text:
            return ["The order was wrong.", plan(folder)]
        if failed:
            return [f"A tool failed: {text}"]
        answer = answered(text)
        if answer is None:
            return ["All steps are done."]
        if "node_id" in answer:
            return work(folder, answer)
        plan_id = next(answered(t)["plan_id"] for bad, t in done if not bad and '"nodes"' in t)
        return [Call(SERVER + "claim_next_node", agent_name="claude", plan_id=plan_id)]
    return next_move


def answered(text):
    """The value in what a tool answered: the program may show it in its wrapping."""
    try:
        got = json.loads(text)
    except ValueError:
        return text
    return got["result"] if isinstance(got, dict) and set(got) == {"result"} else got


def work(folder, claim):
    here = {"plan_id": claim["plan_id"], "node_id": claim["node_id"]}
    moves = [Call(SERVER + "report_progress", message="at it", **here),
             Call(SERVER + "complete_node", result=f"did {claim['title']}", run=claim["run"], **here)]
    if claim["node_id"] == 1:
        moves.insert(0, Call("Write", file_path=os.path.join(folder, "notes.txt"), content="tidy\n"))
    return moves


def run(program, url, model, home, folder):
    """Runs the program once, as a person would from a script."""
    config = os.path.join(home, "mcp.json")
    with open(config, "w", encoding="utf-8") as f:
        json.dump({"mcpServers": {"clearbox": {"type": "http", "url": url + "/mcp/observe"}}}, f)
    env = {"PATH": os.environ["PATH"], "HOME": home, "CLAUDE_CONFIG_DIR": os.path.join(home, "claude"), "LANG": "C.UTF-8",
           "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_MAX_RETRIES": "1", "ENABLE_TOOL_SEARCH": "false",
           "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1"}
    return subprocess.run(
        [program, "-p", "--output-format", "json", "--setting-sources", "", "--strict-mcp-config", "--mcp-config", config,
         "--permission-mode", "acceptEdits", "--allowedTools", "mcp__clearbox", "--max-turns", "30"],
        input="Tidy the notes, and track your work in Clearbox.", cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)


def main():
    url, program = arguments("claude_code.py URL PROGRAM", "url", "program")
    c = Checks("claude-code")
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as folder, Model(script(folder)) as model:
        with c.check("the program ends well"):
            out = run(program, url, model, home, folder)
            equal(model.faults, [], "faults of the script")
            equal(out.returncode, 0, f"exit code ({out.stdout[-500:]} {out.stderr[-500:]})")
            contains(json.loads(out.stdout)["result"], "All steps are done.")
        asked = [b for b in model.requests if any(t["name"].startswith(SERVER) for t in b.get("tools") or [])]
        with c.check("it saw the tools, their parameters and the instructions"):
            tools = {t["name"]: t for t in asked[0]["tools"]}
            contains(json.dumps([asked[0]["system"], asked[0]["messages"]]), "one claim at a time", "/#/plan/")
            contains(json.dumps(tools[SERVER + "submit_plan"]["input_schema"]), "results_from", "working_directory")
            assert SERVER + "start_plan" not in tools
        with c.check("the faulty plan was refused with the reason"):
            refused = [t for bad, t in tool_results(asked[-1]) if bad]
            equal(len(refused), 1, "refused calls")
            contains(refused[0], "nothing was created", "would create a cycle")
        with c.check("its plan is there, done, with what it reported"):
            mine = [p for p in rest(url, "/api/plans")[1] if p["working_directory"] == folder]
            equal([p["status"] for p in mine], ["done"], "the plans")
            nodes = rest(url, f"/api/plans/{mine[0]['id']}")[1]["nodes"]
            equal([(n["result"], n["agent_kind"], n["agent_name"]) for n in nodes],
                  [("did Write the notes", "external", "claude"), ("did Check the notes", "external", "claude")], "the steps")
            told = rest(url, f"/api/plans/{mine[0]['id']}/nodes/1")[1]["events"]
            contains(json.dumps(told), "at it")
        with c.check("it worked in the folder of the plan"):
            with open(os.path.join(folder, "notes.txt"), encoding="utf-8") as f:
                equal(f.read(), "tidy\n", "notes.txt")
    return c.close()


if __name__ == "__main__":
    sys.exit(main())
