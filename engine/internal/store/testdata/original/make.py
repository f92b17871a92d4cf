#!/usr/bin/env python3
"""Make a test database with the Python program clearbox.

    make.py PROGRAM OUT.sql

PROGRAM is the clearbox of a virtual environment. It is started with mock agents and a made-up model
endpoint, driven over REST and MCP until its database holds plans in every situation, killed in the
middle of them, and its database is written to OUT.sql. Everything in there is made up.

Python 3.11, no packages.
"""

import http.server
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

BASE = "/tmp/clearbox-original"  # tests put a folder of their own in its place
KEY = "sk-made-up-literal-key"


class Model(http.server.BaseHTTPRequestHandler):
    """An endpoint that writes one file, then says it is done; asked for a review it has concerns."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.answer({"data": [{"id": "made-up"}]})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = json.dumps(asked["messages"])
        if "VERDICT" in said:
            message = {"content": "VERDICT: concerns\nSUMMARY: 見出し is missing ⚠️\nFINDINGS:\n- docs/Plan.md has no heading"}
        elif asked["messages"][-1]["role"] == "tool":
            message = {"content": "Wrote the plan 📝."}
        else:
            line = "second" if "heading" in said else "first"
            call = json.dumps({"command": f"mkdir -p docs && echo '{line} 行' >> docs/Plan.md && echo x > notes.tmp"})
            message = {"content": None, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": call}}]}
        message["role"] = "assistant"
        self.answer({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}],
                     "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}})

    def answer(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server:
    """A running clearbox."""

    def __init__(self, program):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.command = [program, "--port", str(port), "--db", f"{BASE}/data/clearbox.db", "--workdir", f"{BASE}/data/workspace",
                        "--mock", "--mock-speed", "50", "--max-concurrency", "9"]
        self.start()

    def start(self):
        self.session = None
        self.process = subprocess.Popen(self.command, cwd=BASE, env={"PATH": os.environ["PATH"], "HOME": BASE},
                                        stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        wait("the server answers", self.answers)
        self.rpc("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "make", "version": "1"}})
        self.rpc("notifications/initialized", None)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def restart(self):
        """Kill it and start it anew: the agents at work are lost."""
        self.kill()
        self.start()

    def answers(self):
        try:
            return self.rest("GET", "/api/plans") is not None
        except urllib.error.URLError:
            return False

    def send(self, method, path, body, headers):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json", **headers}, method=method)
        with urllib.request.urlopen(request, timeout=60) as reply:
            self.session = reply.headers.get("Mcp-Session-Id") or self.session
            return reply.read().decode()

    def rest(self, method, path, body=None):
        return json.loads(self.send(method, path, body, {}) or "null")

    def rpc(self, method, params):
        headers = {"Accept": "application/json, text/event-stream"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        body = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            body.update(id=1, params=params)
        text = self.send("POST", "/mcp", body, headers)
        for line in text.splitlines():
            if line.startswith("data:"):
                text = line[5:]
        return json.loads(text)["result"] if text.strip() else None

    def tool(self, name, **args):
        answer = self.rpc("tools/call", {"name": name, "arguments": args})
        if answer.get("isError"):
            raise RuntimeError(f"{name}: {answer['content']}")
        out = answer.get("structuredContent")
        if out is None:
            texts = [json.loads(c["text"]) if c["text"][:1] in "[{0123456789" else c["text"] for c in answer["content"]]
            return texts[0] if len(texts) == 1 else texts
        return out["result"] if set(out) == {"result"} else out

    def node(self, plan, node):
        return self.rest("GET", f"/api/plans/{plan}/nodes/{node}")["node"]

    def until(self, plan, node, status):
        wait(f"step {plan}.{node} is {status}", lambda: self.node(plan, node)["status"] == status)


def wait(what, ok):
    for _ in range(600):
        if ok():
            return
        time.sleep(0.1)
    raise TimeoutError(what)


def folder(name, git=False):
    path = f"{BASE}/{name}"
    os.makedirs(path)
    if git:
        run = ["git", "-C", path, "-c", "user.name=made up", "-c", "user.email=made@up.example"]
        subprocess.run(run + ["init", "-q"], check=True)
        subprocess.run(run + ["commit", "-q", "--allow-empty", "-m", "start"], check=True)
    return path


class Plan:
    """A plan being made: its steps have ids in the order of calls."""

    def __init__(self, server, title, **args):
        self.s, self.id = server, server.tool("create_plan", title=title, **args)

    def step(self, title, after=(), kind=None, agent=None, **args):
        if kind:
            args["kind"] = kind
        if agent:
            args["agent"] = agent
        node = self.s.tool("add_node", plan_id=self.id, title=title, **args)[1]
        for a in after:
            self.s.tool("add_edge", plan_id=self.id, from_node_id=a, to_node_id=node)
        return node

    def below(self, node, title):
        return Plan(self.s, title, parent_plan_id=self.id, parent_node_id=node)

    def want(self, node, ids):
        self.s.rest("PUT", f"/api/plans/{self.id}/nodes/{node}/results-from", {"node_ids": ids})


def profiles(s, endpoint):
    def make(**fields):
        s.rest("POST", "/api/agents", fields)
    make(name="秘书 🤖", harness="openai", base_url=endpoint, model="made-up", api_key=KEY,
         params={"max_turns": 5, "stream": False}, description="Writes plans — cheaply")
    make(name="by-env", harness="openai", base_url="http://127.0.0.1:9/v1", model="made-up", api_key_env="MADE_UP_KEY", max_parallel=2,
         tools={"preset": "readonly", "deny": ["bash"]}, system_append="Be brief.", capability="edit", test_level="light")
    make(name="slow", harness="mock", params={"speed": 0.0001})
    make(name="careful", harness="claude-sdk", model="opus", permission_mode="plan")


def finished(s):
    """A plan that is done, with nested plans, reviews, a rework and a user step."""
    p = Plan(s, "翻訳サービス 🚀 Übersicht", description="Ziel: 翻訳\n\nzweite Zeile", working_directory=folder("app", git=True))
    draft = p.step("Entwurf 設計", description="Write docs/Plan.md", files=["docs/Plan.md"], agent="秘书 🤖")
    mock = p.step("Check it", [draft], files=["src/App.py", "src\\lib/"])
    deploy = p.step("部署 to production", [mock], kind="user", description="Push it, then say so.")
    big = p.step("A big one", [mock], agent="mock")
    p.step("Close", [deploy, big])
    p.want(mock, [draft])
    sub = p.below(big, "Inside: 中")
    a = sub.step("inner a")
    b = sub.step("inner b", [a])
    sub.want(b, [a])
    deep = sub.below(b, "Deeper")
    deep.step("innermost 🐢")
    s.tool("set_plan_review_agent", plan_id=p.id, agent="秘书 🤖")
    s.tool("start_plan", plan_id=p.id)
    s.until(p.id, mock, "done")
    if s.node(p.id, deploy).get("kind") == "user":
        s.rest("POST", f"/api/plans/{p.id}/nodes/{deploy}/complete", {"result": "Deployed 完了 ✅"})
    s.until(p.id, 5, "done")
    wait("the draft is reviewed", lambda: s.node(p.id, draft)["review"])
    s.tool("rework_node", plan_id=p.id, node_id=draft, instructions="Give it a heading.")
    s.until(p.id, draft, "done")
    wait("it is reviewed again", lambda: s.node(p.id, draft)["review"])
    wait("the plan is reviewed", lambda: s.tool("get_reviews", plan_id=p.id)["plan_review"])
    s.tool("review_node", plan_id=p.id, node_id=mock, agent="mock")


def midway(s):
    """A plan in the middle: steps that run, failed, were stopped, wait."""
    p = Plan(s, "Half way", working_directory=folder("api"), max_parallel=8, test_instructions="make test  # 試験")
    first = p.step("First", files=["first.txt"])
    stopped = p.step("Stopped by hand", [first], agent="slow")
    p.step("Waits for the stopped one", [stopped])
    p.step("Runs on and on", [first], agent="slow", files=["slow/"])
    again = p.step("Stopped, then retried", [first], agent="slow")
    big = p.step("Container", [first])
    p.step("Yours", [first], kind="user")
    p.step("Has no key", [first], agent="by-env")
    sub = p.below(big, "In the container")
    one = sub.step("one")
    sub.step("two", [one], agent="slow")
    sub.step("three", [2])
    s.tool("set_plan_agent", plan_id=sub.id, agent="mock")
    s.tool("start_plan", plan_id=p.id)
    for node in (stopped, again):
        s.until(p.id, node, "running")
        s.rest("POST", f"/api/plans/{p.id}/nodes/{node}/stop")
    s.rest("POST", f"/api/plans/{p.id}/nodes/{again}/retry")
    s.until(p.id, 8, "failed")
    s.until(sub.id, 2, "running")
    s.restart()
    for plan, node in ((p.id, 4), (p.id, again), (sub.id, 2)):
        s.until(plan, node, "running")


def observed(s):
    """A plan whose steps someone claims."""
    work = folder("site")
    p = Plan(s, "Site 🌐", description="Someone else does it", working_directory=work)
    page = p.step("Page", files=["index.html"])
    more = p.step("More pages", [page], files=["pages/"])
    p.want(more, [page])
    broken = p.step("Broken")
    p.step("After broken", [broken])
    p.step("Claimed")
    p.step("Nobody's yet")
    s.tool("start_plan", plan_id=p.id, executor="external")

    def claim(node):
        got = s.tool("claim_next_node", agent_name="外部 agent", plan_id=p.id)
        assert got["node_id"] == node, got
    claim(page)
    for kind in ("text", "thinking", "tool_use", "tool_result", "log"):
        s.tool("report_progress", plan_id=p.id, node_id=page, message=f"{kind} 進捗", kind=kind)
    for name in ("index.html", "other.txt"):
        with open(f"{work}/{name}", "w", encoding="utf-8") as f:
            f.write("<h1>頁</h1>\nline\n")
    s.tool("complete_node", plan_id=p.id, node_id=page, result="Made the page 頁")
    claim(more)
    sub = p.below(more, "Pages")
    sub.step("About")
    s.tool("complete_node", plan_id=p.id, node_id=more, result="Split it up")
    claim(broken)
    s.tool("fail_node", plan_id=p.id, node_id=broken, error="no network 🛑")
    claim(5)
    s.tool("report_progress", plan_id=p.id, node_id=5, message="half done")


def others(s):
    """Plans that are not started, stopped or empty, and one that is gone."""
    gone = Plan(s, "To be deleted", working_directory=folder("deleted"))
    gone.step("x")
    s.rest("DELETE", f"/api/plans/{gone.id}")
    p = Plan(s, "Not started", working_directory=folder("later", git=True))
    a = p.step("a", agent="careful")
    p.step("b", [a])
    s.tool("set_plan_agent", plan_id=p.id, agent="by-env")
    s.rest("PATCH", f"/api/plans/{p.id}", {"max_parallel": 2})
    try:
        s.rest("PATCH", f"/api/plans/{p.id}", {"isolate_steps": True})
    except urllib.error.HTTPError:
        pass  # before 0.4
    p = Plan(s, "Stopped half way", working_directory=folder("stopped"))
    p.step("done first")
    big = p.step("container", [1])
    sub = p.below(big, "stopped inside")
    sub.step("slow one", agent="slow")
    s.tool("start_plan", plan_id=p.id)
    s.until(sub.id, 1, "running")
    s.tool("stop_plan", plan_id=p.id)
    Plan(s, "Empty", working_directory=folder("empty"))
    try:
        p = Plan(s, "Without a folder")  # as plans of old could be
        p.step("alone")
        s.tool("start_plan", plan_id=p.id)
        s.until(p.id, 1, "done")
    except RuntimeError:
        pass


PLAIN = [(r"Let me figure out how to approach [^\"]*", "Thinking."),
         (r"I''ll start working on [^\"]*", "Looking around."),
         (r"Finished ''(.*?)''\. \(mock result\)", r"Did \1.")]


def plain(text):
    """Puts words of our own in place of those of the mock agents."""
    for theirs, ours in PLAIN:
        text = re.sub(theirs, ours, text)
    return text


def quoted(value):
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def table(db, name):
    """The definition of a table, from what SQLite tells of it."""
    columns, keys = [], []
    numbered = db.execute("SELECT 1 FROM sqlite_sequence WHERE name = ?", (name,)).fetchone()
    for _, column, kind, required, default, key in db.execute(f"PRAGMA table_info({name})"):
        text = f"{column} {kind}" + (" NOT NULL" if required else "") + (f" DEFAULT {default}" if default else "")
        if key and numbered:
            text += " PRIMARY KEY AUTOINCREMENT"
        elif key:
            keys.append((key, column))
        columns.append(text)
    if keys:
        columns.append("PRIMARY KEY (" + ", ".join(column for _, column in sorted(keys)) + ")")
    return f"CREATE TABLE {name} (\n  " + ",\n  ".join(columns) + ");\n"


def dump(out):
    db = sqlite3.connect(f"{BASE}/data/clearbox.db")
    db.execute("UPDATE agent_profiles SET description = 'made at the first start' WHERE id < 3")
    names = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")]
    with open(out, "w", encoding="utf-8") as f:
        for name in names:
            f.write(table(db, name))
            for row in db.execute(f"SELECT * FROM {name}"):
                f.write(plain(f"INSERT INTO {name} VALUES ({', '.join(map(quoted, row))});\n"))
        f.write("DELETE FROM sqlite_sequence;\n")
        for name, seq in db.execute("SELECT name, seq FROM sqlite_sequence"):
            f.write(f"INSERT INTO sqlite_sequence VALUES ({quoted(name)}, {seq});\n")
    db.close()


def main():
    program, out = sys.argv[1:]
    shutil.rmtree(BASE, ignore_errors=True)
    os.makedirs(f"{BASE}/data")
    endpoint = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    s = Server(program)
    try:
        profiles(s, f"http://127.0.0.1:{endpoint.server_port}/v1")
        for part in (finished, others, midway, observed):
            part(s)
            print(part.__name__, "is there")
    finally:
        s.kill()
    dump(out)
    shutil.rmtree(BASE)


main()
