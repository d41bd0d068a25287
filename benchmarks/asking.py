"""How fast documents are asked: `run_systems` against Inspect AI alone, on a loopback server that answers at leisure.

    python benchmarks/asking.py --data PATH [--documents 1000] [--latency 0.1] [--connections 50] [--rounds 3]

PATH is the folder of the published data; every document carries the image of letter05. Each measurement is a process
of its own, the two kinds take turns, and each is warmed up by some documents that are not counted. Also measured:
the peak memory of `run_systems` for half of the documents and for all of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODEL = "openai-api/local/benchmark"
ANSWER = json.dumps({"metadata": {"send_date": ["1926-03-29"], "sender_persons": [], "receiver_persons": []}})


async def serve(latency: float) -> None:
    """A server with as little work as possible: it reads a request, waits, and gives the same answer."""
    message = {"role": "assistant", "content": ANSWER}
    body = json.dumps({
        "id": "1", "object": "chat.completion", "created": 0, "model": "benchmark",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050},
    }).encode()  # fmt: skip
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                length = 0
                for line in request.split(b"\r\n"):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.partition(b":")[2])
                while length > 0:
                    length -= len(await reader.read(min(length, 1 << 20)))
                await asyncio.sleep(latency)
                writer.write(head + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(client, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


def ours(image: Path, documents: int, connections: int) -> dict[str, float]:
    """Seconds for the documents through `run_systems`, writing a run folder as always."""
    from histeval.datasets.base import Dataset, Document
    from histeval.systems.run import run_systems
    from histeval.tasks import get_task
    from histeval.tasks.truth import LetterTruth

    task = get_task("letters")
    truth = LetterTruth({"send_date": ("1926-03-29",)})

    def dataset(number: int) -> Dataset:
        items = {f"letter{i:05}": Document(f"letter{i:05}", truth, str(i), images=(image,)) for i in range(number)}
        return Dataset("letters", "benchmark", image.parent, task.default_description(), items, {}, "0" * 64)

    with tempfile.TemporaryDirectory() as folder:
        options = {"systems": [MODEL], "max_connections": connections}
        run_systems(task, dataset(connections), out=Path(folder) / "warm", **options)
        start, busy = time.perf_counter(), time.process_time()
        (result,) = run_systems(task, dataset(documents), out=Path(folder) / "run", **options)
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
        assert result.complete
    return {"seconds": seconds, "busy": busy, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def inspect_alone(image: Path, documents: int, connections: int) -> dict[str, float]:
    """Seconds for the same requests through Inspect AI's `generate`, at most so many at once; nothing is kept."""
    import base64

    from inspect_ai.model import (
        ChatMessageSystem,
        ChatMessageUser,
        ContentImage,
        ContentText,
        GenerateConfig,
        get_model,
    )

    from histeval.datasets.base import Dataset
    from histeval.systems.base import Request
    from histeval.systems.model_settings import inspect_schema
    from histeval.systems.models import LanguageModel
    from histeval.tasks import get_task

    task = get_task("letters")
    dataset = Dataset("letters", "benchmark", image.parent, task.default_description(), {}, {}, "0" * 64)
    words = LanguageModel(MODEL, Request(task, dataset))
    prompt = words.prompt.fill(words._values)

    async def ask(number: int) -> float:
        model = get_model(MODEL, memoize=False)
        config = GenerateConfig(response_schema=inspect_schema(words.schema), max_connections=connections)
        gate = asyncio.Semaphore(connections)

        async def one() -> None:
            async with gate:
                data = base64.b64encode(await asyncio.to_thread(image.read_bytes)).decode()
                content = [ContentText(text=prompt), ContentImage(image=f"data:image/jpeg;base64,{data}")]
                messages = [ChatMessageSystem(content=words.role.text), ChatMessageUser(content=content)]
                await model.generate(messages, config=config)

        start = time.perf_counter()
        await asyncio.gather(*(asyncio.create_task(one()) for _ in range(number)))
        seconds = time.perf_counter() - start
        await model.api.aclose()
        return seconds

    asyncio.run(ask(connections))
    busy = time.process_time()
    seconds = asyncio.run(ask(documents))
    return {
        "seconds": seconds,
        "busy": time.process_time() - busy,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def measure(kind: str, image: Path, documents: int, connections: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", kind, "--image", str(image)]
    command += ["--documents", str(documents), "--connections", str(connections)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=os.environ.get("HISTEVAL_DATA"))
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--latency", type=float, default=0.1)
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--measure", choices=["ours", "inspect"], help=argparse.SUPPRESS)
    parser.add_argument("--image", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.latency))
        return
    if options.measure:
        function = ours if options.measure == "ours" else inspect_alone
        print(json.dumps(function(options.image, options.documents, options.connections)))
        return
    if options.data is None:
        parser.error("--data names the folder of the published data")
    image = Path(options.data) / "rise" / "benchmarks" / "business_letters" / "images" / "letter05_p1.jpg"
    command = [sys.executable, __file__, "--serve", "--latency", str(options.latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        os.environ["LOCAL_BASE_URL"] = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        os.environ["LOCAL_API_KEY"] = "none-needed"
        try:
            rates: dict[str, list[float]] = {"ours": [], "inspect": []}
            memory = 0.0
            for number in range(options.rounds):
                for kind in ("ours", "inspect") if number % 2 == 0 else ("inspect", "ours"):
                    found = measure(kind, image, options.documents, options.connections)
                    rates[kind].append(options.documents / found["seconds"])
                    memory = max(memory, found["memory"]) if kind == "ours" else memory
                    work = 1000 * found["busy"] / options.documents
                    print(
                        f"{kind}: {rates[kind][-1]:.1f} documents a second, {work:.1f} ms of processor time each, "
                        f"{found['memory']:.0f} MB at most"
                    )
            small = measure("ours", image, options.documents // 2, options.connections)["memory"]
        finally:
            server.terminate()
    own, alone = (statistics.median(rates[kind]) for kind in ("ours", "inspect"))
    print(f"histeval {own:.1f}, Inspect AI alone {alone:.1f} documents a second: ratio {own / alone:.2f}")
    print(
        f"peak memory: {small:.0f} MB for {options.documents // 2}, {memory:.0f} MB for {options.documents} documents"
    )


if __name__ == "__main__":
    main()
