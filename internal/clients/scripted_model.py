"""A model that follows a script: answers the Anthropic Messages API on loopback.

The script is a function: it gets the request and returns what the model says
next, as a list of texts and calls. It keeps no state; a request that is sent
again gets the same answer.
"""

import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Call:
    """The model calls a tool."""

    def __init__(self, tool, **arguments):
        self.tool, self.arguments = tool, arguments


class Model:
    """Serves a script until it is closed. requests has the bodies that came."""

    def __init__(self, script):
        self.script, self.requests, self.faults = script, [], []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def tool_results(body):
    """What the tools that the model has called answered, in order: pairs of
    whether it was an error, and the text."""
    found = []
    for message in body["messages"]:
        if message["role"] != "user" or isinstance(message["content"], str):
            continue
        for part in message["content"]:
            if part["type"] == "tool_result":
                content = part.get("content") or ""
                if not isinstance(content, str):
                    content = "".join(c.get("text", "") for c in content)
                found.append((bool(part.get("is_error")), content))
    return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self._answer(200, {})

    def do_GET(self):
        self._answer(404, _error("not_found_error", "Not found"))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path = self.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            return self._answer(200, {"input_tokens": 100})
        if path != "/v1/messages":
            return self._answer(404, _error("not_found_error", "Not found"))
        model = self.server.model
        model.requests.append(body)
        try:
            said = model.script(body)
        except Exception as err:  # noqa: BLE001 - told to the client, and kept for the test
            model.faults.append(f"{type(err).__name__}: {err}")
            return self._answer(400, _error("invalid_request_error", f"the script failed: {err}"))
        message = _message(body, said)
        if body.get("stream"):
            return self._stream(message)
        self._answer(200, message)

    def _answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, message):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in _events(message):
            data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")


def _message(body, said):
    content = []
    for part in said:
        if isinstance(part, Call):
            content.append({"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:20]}", "name": part.tool, "input": part.arguments})
        else:
            content.append({"type": "text", "text": part})
    calls = any(c["type"] == "tool_use" for c in content)
    return {"id": f"msg_{uuid.uuid4().hex[:20]}", "type": "message", "role": "assistant", "model": body["model"], "content": content,
            "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}}


def _events(message):
    """The events in which a message comes as a stream."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for i, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": i, "content_block": empty}
        yield {"type": "content_block_delta", "index": i, "delta": delta}
        yield {"type": "content_block_stop", "index": i}
    yield {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _error(kind, text):
    return {"type": "error", "error": {"type": kind, "message": text}}
