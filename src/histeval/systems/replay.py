"""A small server on loopback that speaks the OpenAI chat completions format and gives recorded answers.

It stands in for a model where the whole way is to be shown without one (`histeval demo`). It knows a document by its
first image, or by its text where it has none.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import sys
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from histeval.datasets.base import Dataset
from histeval.systems.images import ImageError, prepare_pages, rule_for
from histeval.tasks.base import Answer

MAX_BODY = 256 * 2**20
PATH = "/v1/chat/completions"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away in the middle of an answer."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class ReplayServer:
    """Serves recorded answers while it is open.

        with ReplayServer(dataset, answers) as server:
            run_systems(..., systems=["openai-api/replay/model"], settings={"base_url": server.url, "api_key": "none"})

    `answers` are recorded answers by document. `url` is the base address for a client. `asked` counts requests.
    """

    def __init__(self, dataset: Dataset, answers: Mapping[str, Answer], *, model: str = "recorded") -> None:
        self.model = model
        self.asked = 0
        self._texts = {name: _text(answer) for name, answer in answers.items()}
        self._usage = {name: answer.usage for name, answer in answers.items()}
        self._by_image: dict[str, str] = {}
        self._by_text: dict[str, str] = {}
        for name in answers:
            document = dataset.documents.get(name)
            if document is None:
                continue
            try:
                pages = prepare_pages(document.images, rule_for("general"))
            except ImageError:
                continue
            if pages:
                self._by_image[hashlib.sha256(pages[0].data).hexdigest()] = name
            elif document.text:
                self._by_text[document.text] = name
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

            def do_POST(self) -> None:
                owner._handle(self)

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """The base address, such as `http://127.0.0.1:40001/v1`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ReplayServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked += 1
        try:
            length = int(handler.headers.get("content-length", 0))
            if handler.path != PATH or not 0 < length <= MAX_BODY:
                _send(handler, 404, {"error": {"message": f"only {PATH} is served", "type": "not_found"}})
                return
            body = json.loads(handler.rfile.read(length))
            name = self._document(body)
        except (ValueError, KeyError, TypeError, AttributeError):
            _send(handler, 400, {"error": {"message": "not a request for a chat completion", "type": "invalid"}})
            return
        if name is None:
            words = "there is no recorded answer for this document"
            _send(handler, 400, {"error": {"message": words, "type": "invalid_request_error"}})
            return
        usage = self._usage[name]
        tokens = (usage.get("input_tokens", 0), usage.get("output_tokens", 0))
        message = {"role": "assistant", "content": self._texts[name]}
        _send(handler, 200, {
            "id": f"replay-{self.asked}", "object": "chat.completion", "created": 0, "model": self.model,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
        })  # fmt: skip

    def _document(self, body: Mapping[str, Any]) -> str | None:
        texts = []
        for message in body["messages"]:
            content = message["content"]
            parts: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for part in parts:
                if part["type"] == "image_url":
                    data = part["image_url"]["url"].partition("base64,")[2]
                    try:
                        digest = hashlib.sha256(base64.b64decode(data, validate=True)).hexdigest()
                    except binascii.Error:
                        return None
                    return self._by_image.get(digest)
                if part["type"] == "text":
                    texts.append(part["text"])
        found = [text for text in self._by_text if any(text in said for said in texts)]
        return self._by_text[max(found, key=len)] if found else None  # the longest, since one may stand inside another


def _text(answer: Answer) -> str:
    """What the model would say: the text, else the record as JSON, else nothing."""
    if answer.text is not None:
        return answer.text
    return "" if answer.record is None else json.dumps(answer.record, ensure_ascii=False)


def _send(handler: BaseHTTPRequestHandler, status: int, value: Any) -> None:
    data = json.dumps(value).encode("utf-8")
    handler.send_response(status)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)
