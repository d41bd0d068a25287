"""A loopback server of OpenAI's batch interface: files, batches, output and error files; it misbehaves on demand."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from systems.servers import ModelServer, error_body, read_request, reply


class BatchServer(ModelServer):
    """Knows documents by their images, as `ModelServer`.

    `kinds` says by document how its first request in a batch goes: "refused" (status 400 in the error file), "expired"
    (an error without response), "lost" (nothing comes back). `uploads` holds statuses that uploads are answered with
    before one is taken; `endings` those that batches end with, without any results, before one is completed.
    """

    def __init__(self, answers: Mapping[str, str], pages: Mapping[str, tuple[Path, ...]], *, key: str) -> None:
        super().__init__(answers, pages, key=key)
        self.kinds: dict[str, str] = {}
        self.uploads: list[int] = []
        self.endings: list[str] = []
        self.sizes: list[int] = []
        self.in_batches: Counter[str] = Counter()
        self.single = 0
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, dict[str, Any]] = {}
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments: Any) -> None:
                pass

            def do_GET(self) -> None:
                file = re.fullmatch(r"/v1/files/(\S+)/content", self.path)
                if file:
                    owner._send_bytes(self, 200, owner._files[file[1]], kind="application/octet-stream")
                else:
                    owner._send(self, 200, owner._look(self.path.rpartition("/")[2]))

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("content-length", 0)))
                if self.headers.get("authorization") != f"Bearer {owner.key}":
                    owner._send(self, 401, error_body(401, "Incorrect API key provided"))
                elif self.path == "/v1/files":
                    owner._upload(self, data)
                elif self.path == "/v1/batches":
                    owner._send(self, 200, owner._create(json.loads(data)))
                else:
                    owner.single += 1
                    owner._send(self, 400, error_body(400, "this model is asked in batches only"))

        self._server.server_close()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def _upload(self, handler: BaseHTTPRequestHandler, data: bytes) -> None:
        if self.uploads:
            status = self.uploads.pop(0)
            return self._send(handler, status, error_body(status, "the store of files is unwell"))
        return self._send(handler, 200, self._store(data[data.index(b'{"custom_id"') : data.rindex(b"}\n") + 2]))

    def _store(self, content: bytes) -> dict[str, Any]:
        name = f"file-{len(self._files)}"
        self._files[name] = content
        about = {"object": "file", "created_at": 1, "filename": "batch.jsonl", "purpose": "batch"}
        return {"id": name, "bytes": len(content), "status": "processed", **about}

    def _create(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        name = f"batch_{len(self._batches)}"
        requests = [json.loads(line) for line in self._files[asked["input_file_id"]].decode().splitlines()]
        self.sizes.append(len(requests))
        self._batches[name] = {
            "id": name, "object": "batch", "endpoint": asked["endpoint"], "input_file_id": asked["input_file_id"],
            "completion_window": "24h", "created_at": 1, "status": "validating", "looked": 0, "requests": requests,
        }  # fmt: skip
        return self._shown(name)

    def _look(self, name: str) -> dict[str, Any]:
        """The batch is at work at the first look and has ended at the second."""
        batch = self._batches[name]
        batch["looked"] += 1
        if batch["looked"] == 1:
            batch["status"] = "in_progress"
        elif batch["looked"] == 2 and self.endings:
            batch["status"] = self.endings.pop(0)
        elif batch["looked"] == 2:
            batch["status"] = "completed"
            good, bad = [], []
            for request in batch["requests"]:
                fault, line = self._line(request)
                if line is not None:
                    (bad if fault else good).append(json.dumps(line))
            for key, lines in (("output_file_id", good), ("error_file_id", bad)):
                if lines:
                    batch[key] = self._store("\n".join(lines).encode())["id"]
        return self._shown(name)

    def _shown(self, name: str) -> dict[str, Any]:
        return {key: value for key, value in self._batches[name].items() if key not in ("requests", "looked")}

    def _line(self, request: Mapping[str, Any]) -> tuple[bool, dict[str, Any] | None]:
        document = self._identify(*read_request(request["body"]))
        self.in_batches[document] += 1
        kind = self.kinds.get(document, "")
        line: dict[str, Any] = {"id": "one", "custom_id": request["custom_id"], "response": None, "error": None}
        if self.in_batches[document] > 1 and kind != "refused":
            kind = ""
        if kind == "lost":
            return True, None
        if kind == "expired":
            return True, {**line, "error": {"code": "batch_expired", "message": "it was not reached in time"}}
        if kind == "refused":
            body = error_body(400, "the image is too small to read")
            return True, {**line, "response": {"status_code": 400, "request_id": "r", "body": body}}
        self.served[document] += 1
        body = reply(request["body"], self.answers[document], self.model, (1000, 50))
        return False, {**line, "response": {"status_code": 200, "request_id": "r", "body": body}}
