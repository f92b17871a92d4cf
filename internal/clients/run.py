"""Starts a server with mock agents and lets every client at it, one suite after
the other. The last line is "clients: N passed, N failed".

usage: run.py BIN CACHE   (BIN has clearbox and its harnesses, CACHE the clients;
see packaging/test-clients.sh)
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from checks import Checks, arguments, contains, equal, rest

HERE = os.path.dirname(os.path.abspath(__file__))


class Server:
    """A server of its own for one run: free port, temporary database."""

    def __init__(self, binary, folder):
        self.log = os.path.join(folder, "server.log")
        env = {**os.environ, "XDG_DATA_HOME": folder}
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [binary, "serve", "--mock", "--mock-speed", "20", "--port", "0", "--db", os.path.join(folder, "clearbox.sqlite"),
                 "--log-format", "json"], stdout=subprocess.PIPE, stderr=log, text=True, env=env)
        self.url = None
        for line in self.process.stdout:
            if line.split()[:1] == ["UI"]:
                self.url = line.split()[1].rstrip("/")
            if line.split()[:1] == ["harnesses"]:
                break
        if self.url is None:
            with open(self.log, encoding="utf-8") as log:
                sys.exit("the server did not start: " + log.read())

    def logged(self):
        with open(self.log, encoding="utf-8") as log:
            return log.read()

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()


def suites(url, cache, folder):
    """The command lines, by the name of the suite."""
    python, npm = os.path.join(cache, "venv", "bin"), os.path.join(cache, "npm")
    # A module finds its packages beside itself, so the script goes to them.
    script = shutil.copy(os.path.join(HERE, "typescript_mcp.mjs"), npm)
    return {
        "python": [os.path.join(python, "python"), os.path.join(HERE, "python_mcp.py"), url],
        "typescript": ["node", script, url, folder],
        "claude": [os.path.join(python, "python"), os.path.join(HERE, "claude_code.py"), url, claude(npm)],
        "rest": [os.path.join(python, "python"), os.path.join(HERE, "rest_api.py"), url, os.path.join(python, "schemathesis")],
    }


def claude(npm):
    """The program: npm may be told not to run the script that puts it in its place."""
    usual = os.path.join(npm, "node_modules", ".bin", "claude")
    if subprocess.run([usual, "--version"], capture_output=True, check=False).returncode == 0:
        return usual
    packages = os.path.join(npm, "node_modules", "@anthropic-ai")
    for name in sorted(os.listdir(packages)):
        program = os.path.join(packages, name, "claude")
        if os.access(program, os.X_OK) and subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0:
            return program
    return usual


def play(name, command):
    """Runs one suite and returns how many of its checks passed and failed."""
    begun = time.monotonic()
    try:
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=280, stdin=subprocess.DEVNULL)
        text, code = out.stdout, out.returncode
    except subprocess.TimeoutExpired as err:
        text, code = (err.stdout or b"").decode() + "\nit took too long", 1
    print(text.rstrip(), f"\n      {name} took {time.monotonic() - begun:.0f} s", flush=True)
    counts = [tuple(map(int, m)) for m in re.findall(r"(?m)^[\w-]+: (\d+) passed, (\d+) failed$", text)]
    passed, failed = sum(p for p, _ in counts), sum(f for _, f in counts)
    if not counts or code != 0 and failed == 0:
        print(f"FAIL  {name}: it ended with code {code}", flush=True)
        failed += 1
    return passed, failed


def afterwards(server):
    """What has to hold when all clients have gone."""
    c = Checks("server")
    with c.check("nothing was answered with a 5xx"):
        with urllib.request.urlopen(server.url + "/metrics", timeout=30) as res:
            told = res.read().decode()
        contains(told, "clearbox_http_requests_total", "clearbox_mcp_tool_calls_total", "process_resident_memory_bytes" if sys.platform == "linux" else "go_goroutines")
        equal(re.findall(r'(?m)^clearbox_http_requests_total\{.*code="5\d\d"\} .*$', told), [], "such answers")
    with c.check("its log has no faults"):
        equal([line for line in server.logged().splitlines() if '"level":"ERROR"' in line or "panic" in line][:3], [], "faults")
    with c.check("it ends when it is asked to"):
        equal(rest(server.url, "/api/shutdown", "POST", {})[0], 200)
        equal(server.process.wait(30), 0, "exit code")
    c.close()
    return c.passed, c.failed


def main():
    binaries, cache = arguments(__doc__, "bin", "cache")
    with tempfile.TemporaryDirectory() as folder:
        server = Server(os.path.join(binaries, "clearbox"), folder)
        try:
            counts = [play(name, command) for name, command in suites(server.url, cache, folder).items()]
            counts.append(afterwards(server))
        finally:
            server.end()
    passed, failed = (sum(c) for c in zip(*counts))
    print(f"clients: {passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
