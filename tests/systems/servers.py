"""Small model servers on loopback for tests: they speak what two providers speak, check every image, and misbehave
on demand. They know a document by its images and answer what a table says."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from PIL import Image


@dataclass(frozen=True)
class Fault:
    """How a request goes wrong: a status with headers and words, or one of the other `kind`s."""

    kind: str = "status"
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    words: str = "the server is unwell"
    code: str | None = None
    seconds: float = 0.0


Script = Callable[[str, int, int], Fault | None]
"""Gives the fault of a request: document, number of the attempt for this document (from 1), and of the request."""


class ModelServer:
    """A server that answers for a table of documents.

    `answers` is what it says by document, `pages` the files of each document in order. `usage` gives tokens by
    document. After use, `problems` says what was wrong with requests, `served` how often each document was answered,
    `asked` how often it was asked.
    """

    def __init__(
        self,
        answers: Mapping[str, str],
        pages: Mapping[str, Sequence[Path]],
        *,
        script: Script | None = None,
        latency: float = 0.0,
        usage: Mapping[str, tuple[int, int]] | None = None,
        model: str = "replayed-model-2025",
        key: str = "",
    ) -> None:
        self.answers, self.script, self.latency, self.usage, self.model = answers, script, latency, usage or {}, model
        self.key = key
        self.order: dict[str, tuple[str, ...]] = {}
        self._known: dict[str, list[str]] = {}
        for document, files in pages.items():
            hashes = tuple(hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files)
            self.order[document] = hashes
            for value in hashes:
                self._known.setdefault(value, []).append(document)
        self.problems: list[str] = []
        self.asked: Counter[str] = Counter()
        self.served: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.keep_bodies = False
        self.refuse: dict[str, str] = {}
        """Settings that get a status 400 when they are sent, with the words for it."""
        self._lock = threading.Lock()
        self._requests = 0
        self.active = 0
        self.most_active = 0
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments: Any) -> None:
                pass

            def do_POST(self) -> None:
                owner._handle(self)

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # clients that are killed break their connections

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers.get("content-length", 0))))
        with self._lock:
            self._requests += 1
            number = self._requests
            self.active += 1
            self.most_active = max(self.most_active, self.active)
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
        try:
            images, texts = read_request(body)
            document = self._identify(images, texts)
            with self._lock:
                self.asked[document] += 1
                attempt = self.asked[document]
                if self.keep_bodies:
                    self.bodies.append(body)
            given = handler.headers.get("authorization", "").removeprefix("Bearer ") or handler.headers.get("x-api-key")
            if self.key and given != self.key:
                return self._send(handler, 401, error_body(401, f"Incorrect API key provided: {given}"))
            time.sleep(self.latency)
            for setting, words in self.refuse.items():
                if setting in body:
                    return self._send(handler, 400, error_body(400, words))
            fault = self.script(document, attempt, number) if self.script else None
            if fault is None:
                with self._lock:
                    self.served[document] += 1
                return self._answer(handler, body, self.answers.get(document, "{}"), document)
            self._misbehave(handler, body, fault, document)
        finally:
            with self._lock:
                self.active -= 1

    def _identify(self, images: list[bytes], texts: list[str]) -> str:
        """Which document this is; what is wrong with its images becomes a problem."""
        hashes = []
        for data in images:
            try:
                with Image.open(io.BytesIO(data)) as image:
                    image.load()
            except Exception as fault:
                self._problem(f"an image does not decode: {fault}")
            hashes.append(hashlib.sha256(data).hexdigest())
        if not hashes:
            for document in self.answers:
                if any(document in text for text in texts):
                    return document
            self._problem("a request without images")
            return "?"
        candidates = self._known.get(hashes[0], [])
        for document in candidates:
            if self.order[document] == tuple(hashes):
                return document
        self._problem(f"images of {candidates or 'no known document'} in another order or number ({len(hashes)})")
        return candidates[0] if candidates else "?"

    def _problem(self, words: str) -> None:
        with self._lock:
            self.problems.append(words)

    def _misbehave(self, handler: BaseHTTPRequestHandler, body: dict[str, Any], fault: Fault, document: str) -> None:
        text = self.answers.get(document, "{}")
        if fault.kind == "status":
            self._send(handler, fault.status, error_body(fault.status, fault.words, fault.code), fault.headers)
        elif fault.kind == "drop":
            handler.close_connection = True
            handler.connection.close()
        elif fault.kind == "drip":  # one byte at a time, for longer than anybody waits
            data = json.dumps(reply(body, text, self.model, (1, 1))).encode()
            handler.send_response(200)
            handler.send_header("content-type", "application/json")
            handler.send_header("content-length", str(len(data)))
            handler.end_headers()
            try:
                for at in range(len(data)):
                    handler.wfile.write(data[at : at + 1])
                    handler.wfile.flush()
                    time.sleep(fault.seconds)
            except OSError:
                pass
            handler.close_connection = True
        elif fault.kind == "half":  # the body ends before its announced length
            data = json.dumps(reply(body, text, self.model, (1, 1))).encode()
            handler.send_response(200)
            handler.send_header("content-type", "application/json")
            handler.send_header("content-length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data[: len(data) // 2])
            handler.wfile.flush()
            handler.close_connection = True
            handler.connection.close()
        elif fault.kind == "broken":  # complete, but no JSON
            data = json.dumps(reply(body, text, self.model, (1, 1)))[:-25].encode()
            self._send_bytes(handler, 200, data)
        else:
            finishes = {"cut": "length", "content_filter": "content_filter"}
            words = {
                "cut": text[: len(text) // 2],
                "prose": "This letter speaks of barges on the Rhine and of prices of coal.",
                "refusal": "I'm sorry, but I can't help with identifying people.",
                "wrong_shape": json.dumps({"barges": [1, 2, 3]}),
                "empty": "",
                "content_filter": "",
            }[fault.kind]
            with self._lock:
                self.served[document] += 1
            self._answer(handler, body, words, document, finishes.get(fault.kind, "stop"))

    def _answer(
        self, handler: BaseHTTPRequestHandler, body: dict[str, Any], text: str, document: str, finish: str = "stop"
    ) -> None:
        tokens = self.usage.get(document, (1000, 50))
        value = reply(body, text, self.model, tokens, finish)
        if body.get("stream"):
            return self._stream(handler, value)
        return self._send(handler, 200, value)

    def _stream(self, handler: BaseHTTPRequestHandler, message: dict[str, Any]) -> None:
        """An Anthropic message as server-sent events."""
        text = message["content"][0]["text"]
        start = {**message, "content": [], "stop_reason": None}
        events = [
            {"type": "message_start", "message": start},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
                "usage": message["usage"],
            },
            {"type": "message_stop"},
        ]
        data = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
        self._send_bytes(handler, 200, data, kind="text/event-stream")

    def _send(
        self, handler: BaseHTTPRequestHandler, status: int, value: Any, headers: Mapping[str, str] | None = None
    ) -> None:
        self._send_bytes(handler, status, json.dumps(value).encode(), headers)

    def _send_bytes(
        self,
        handler: BaseHTTPRequestHandler,
        status: int,
        data: bytes,
        headers: Mapping[str, str] | None = None,
        kind: str = "application/json",
    ) -> None:
        try:
            handler.send_response(status)
            handler.send_header("content-type", kind)
            handler.send_header("content-length", str(len(data)))
            for name, value in (headers or {}).items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(data)
            handler.wfile.flush()
        except OSError:
            handler.close_connection = True


def read_request(body: dict[str, Any]) -> tuple[list[bytes], list[str]]:
    """Images and texts of a request, in order, whichever of the two formats it is in."""
    images: list[bytes] = []
    texts: list[str] = []
    for message in body["messages"]:
        content = message["content"]
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part["type"] == "text":
                texts.append(part["text"])
            elif part["type"] == "image_url":
                images.append(base64.b64decode(part["image_url"]["url"].partition("base64,")[2], validate=True))
            elif part["type"] == "image":
                images.append(base64.b64decode(part["source"]["data"], validate=True))
    return images, texts


def reply(body: dict[str, Any], text: str, model: str, tokens: tuple[int, int], finish: str = "stop") -> dict[str, Any]:
    """A complete answer in the format of the request."""
    if is_anthropic(body):
        reasons = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [{"type": "text", "text": text}],
            "stop_reason": reasons[finish],
            "stop_sequence": None,
            "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
        }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1764000000,
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
    }


def is_anthropic(body: dict[str, Any]) -> bool:
    parts = [
        part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]
    ]
    return "system" in body or any(part["type"] == "image" for part in parts)


def error_body(status: int, words: str, code: str | None = None) -> dict[str, Any]:
    kinds = {401: "authentication_error", 429: "rate_limit_error", 404: "not_found_error"}
    return {"type": "error", "error": {"message": words, "type": kinds.get(status, "api_error"), "code": code}}
