"""Counts checks and says how they went, one line each."""

import contextlib
import json
import sys
import traceback
import urllib.error
import urllib.request


class Checks:
    """What a suite has checked. Its last line is "N passed, N failed"."""

    def __init__(self, suite):
        self.suite, self.passed, self.failed = suite, 0, 0

    def _note(self, name, fault=None):
        if fault is None:
            self.passed += 1
            print(f"ok    {self.suite}: {name}", flush=True)
        else:
            self.failed += 1
            print(f"FAIL  {self.suite}: {name}: {fault}", flush=True)

    @contextlib.contextmanager
    def check(self, name):
        """One check: whatever is raised in it is its failure."""
        try:
            yield
        except AssertionError as err:
            self._note(name, err or traceback.extract_tb(err.__traceback__)[-1].line)
        except Exception as err:  # noqa: BLE001 - a client may raise anything
            self._note(name, f"{type(err).__name__}: {err}")
        else:
            self._note(name)

    def close(self):
        """Prints the sum and returns the exit code."""
        print(f"{self.suite}: {self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0


def equal(got, want, what="value"):
    assert got == want, f"{what} is {got!r}, want {want!r}"


def contains(text, *parts):
    for part in parts:
        assert part in text, f"{text[:1000]!r} does not say {part!r}"


def rest(url, path, method="GET", body=None):
    """Asks a server over REST; returns the status and the decoded answer."""
    data = None if body is None else json.dumps(body).encode()
    req = urllib.request.Request(url + path, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(req, timeout=30) as res:
            return res.status, json.load(res)
    except urllib.error.HTTPError as err:
        return err.code, json.load(err)


def arguments(usage, *names):
    """The arguments of a script, or its usage and exit code 2."""
    if len(sys.argv) != len(names) + 1:
        print("usage:", usage, file=sys.stderr)
        sys.exit(2)
    return sys.argv[1:]
