"""Language models, asked through Inspect AI: every provider it knows, by the name it has there.

One document is one request with all its pages. Retries are ours, not those of the client libraries: they are bounded,
follow what the provider asks for, and can be shown. No temperature or other setting is sent unless it was set.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from histeval.datasets.base import Document
from histeval.errors import MissingExtraError, SystemFault, UsageError
from histeval.runs.secrets import is_secret_name, redact, secret_values
from histeval.systems.base import Reply, Request
from histeval.systems.faults import Fault, classify
from histeval.systems.images import ImageError, PreparedImage, estimated_size, prepare_pages, rule_for
from histeval.systems.prices import load_prices
from histeval.systems.wording import load_wording, placeholders, record_schema
from histeval.tasks.base import Answer

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput

OURS = ("base_url", "api_key", "model_args", "max_image_side", "structured")
"""Settings that are no generation settings of Inspect AI. `structured` false leaves the schema out of the request."""

_RUNNER = ("max_connections", "max_retries", "timeout", "attempt_timeout", "adaptive_connections", "batch", "cache")
_WAITS = (1.0, 60.0, 300.0)
"""Seconds: the first wait, the longest of our own, and the longest a provider may ask for."""
UNEXPECTED_RETRIES = 2
SCHEMA_MAYBE = ("provider error 400", "provider error 422")
"""What a provider may answer to a schema it does not take."""
TOKENS_OF_ANSWER = 1000
"""Assumed length of an answer where a cost is estimated before any answer is there and max_tokens is not set."""

Wait = Callable[[str, str, int, float], None]
"""Told before each wait: document, why, number of the retry, seconds."""


def open_system(name: str, request: Request) -> LanguageModel:
    """A language model by its name in Inspect AI, such as `openai/gpt-4.1` or `ollama/llama3.2-vision`.

    Raises MissingExtraError without Inspect AI and UsageError for an unknown setting; the key is looked for when the
    first document is asked, so that a dry run needs none.
    """
    try:
        version("inspect-ai")
    except PackageNotFoundError as fault:
        raise MissingExtraError(
            "asking language models needs Inspect AI: python -m pip install 'histeval[models]'"
        ) from fault
    return LanguageModel(name, request)


class LanguageModel:
    """A language model as a system."""

    concurrency = 10

    def __init__(self, name: str, request: Request) -> None:
        self.name = name
        self.request = request
        self.provider = name.partition("/")[0]
        self.notes: list[str] = []
        self.on_wait: Wait | None = None
        self.prompt = load_wording(
            request.task, "prompt", request.prompt, dataset_prompt=request.dataset.description.prompt
        )
        self.role = load_wording(request.task, "role", request.role)
        self.schema = record_schema(request.task, request.dataset.context)
        self._values = placeholders(request.dataset.context, self.schema)
        self._generation, self._own = _split_settings(request.settings)
        self._refused: set[str] = set()
        self._probe: asyncio.Future[bool] | None = None
        self.rule = rule_for(self.provider)
        self.price = load_prices(request.prices).find(name)
        self._prices = load_prices(request.prices)
        self._model: Model | None = None
        self._configs: dict[tuple[str, ...], GenerateConfig] = {}
        self._listener = _Listener(self._note)
        self._active, self._allowed, self._slowed = 0, 1e9, 0.0  # requests out, how many may be, last slowed down
        self._gate = 0.0  # time before which nothing is sent, since the provider asked for a pause
        if request.batch:
            self.concurrency = max(self.concurrency, 2000)
        if self.structured:
            inspect_schema(self.schema)

    @property
    def structured(self) -> bool:
        """Whether the schema is sent along."""
        return self.schema is not None and self._own.get("structured", True) is not False

    @property
    def settings(self) -> dict[str, Any]:
        """What two commands must agree on to be one run; keys are left out."""
        shown: dict[str, Any] = _shown({**self._generation, **self._own})
        return {**shown, **({"batch": True} if self.request.batch else {})}

    @property
    def secrets(self) -> list[str]:
        """Keys that came in with the settings."""
        return list(_hidden({**self._generation, **self._own}))

    @property
    def about(self) -> dict[str, Any]:
        """What run.json keeps beside the settings."""
        packages = {}
        for package in ("inspect-ai", "openai", "anthropic", "google-genai", "mistralai"):
            try:
                packages[package] = version(package)
            except PackageNotFoundError:
                continue
        return {
            "versions": packages,
            "images": self.rule.describe(),
            "structured": self.structured and "response_schema" not in self._refused,
            "refused_settings": sorted(self._refused),
            "price": self.price.describe() if self.price else None,
            "asked": {"role": self.role.text, "prompt": self.prompt.fill(self._values)},
        }

    def open(self) -> None:
        """Make the client; raises SystemFault where there is no key or no such provider."""
        if self._model is None:
            logging.getLogger("inspect_ai").addHandler(self._listener)
            try:
                self._model = self._make_model()
            except SystemFault:
                logging.getLogger("inspect_ai").removeHandler(self._listener)
                raise

    async def aclose(self) -> None:
        """Close the client's connections."""
        logging.getLogger("inspect_ai").removeHandler(self._listener)
        if self._model is not None:
            await self._model.api.aclose()
            self._model = None

    def _note(self, sentence: str) -> None:
        cleaned = " ".join(redact(sentence, self._known).split())[:500]
        if cleaned not in self.notes:
            self.notes.append(cleaned)

    def cost(self, usage: Mapping[str, int], returned: str | None = None) -> float | None:
        """Cost in US dollars of an answer with this usage; None where the price is not known."""
        if self.price is None and returned:
            self.price = self._prices.find(returned)
        return self.price.cost(usage, batch=bool(self.request.batch)) if self.price else None

    def estimate(self, document: Document) -> dict[str, int]:
        """Tokens this document will take, roughly: an image takes its pixels / 750 (at most 1600), text its
        characters / 4, an answer `max_tokens` or 1000."""
        tokens = (len(self.role.text) + len(self.prompt.fill(self._values)) + len(document.text or "")) // 4
        for path in document.images:
            width, height = estimated_size(path)
            tokens += min(1600, max(85, width * height // 750))
        return {"input_tokens": tokens, "output_tokens": int(self._generation.get("max_tokens") or TOKENS_OF_ANSWER)}

    def pages(self, document: Document) -> list[PreparedImage]:
        """The pages of a document as they are sent."""
        side = self._own.get("max_image_side")
        return prepare_pages(document.images, self.rule, int(side) if side else None)

    def messages(self, document: Document, pages: list[PreparedImage]) -> list[ChatMessage]:
        """What is sent: the role, then prompt and pages in natural order."""
        from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText

        text = self.prompt.fill({**self._values, "text": document.text or ""})
        if document.text and not pages and "$text" not in self.prompt.text and "${text}" not in self.prompt.text:
            text = f"{text}\n\n{document.text}"
        user = ChatMessageUser(content=[ContentText(text=text), *(ContentImage(image=page.data_uri) for page in pages)])
        return [ChatMessageSystem(content=self.role.text), user] if self.role.text else [user]

    def _compose(self, document: Document) -> tuple[list[dict[str, Any]], list[ChatMessage]]:
        """What is kept of the pages, and what is sent; the pages themselves are let go of here."""
        pages = self.pages(document)
        return [page.describe() for page in pages], self.messages(document, pages)

    async def answer(self, document: Document, repeat: int = 0) -> Reply:
        """Ask about one document; see `System`."""
        self.open()
        try:
            pages, messages = await asyncio.to_thread(self._compose, document)
        except ImageError as fault:
            # repaired and asked again, it may be answered
            return Reply(Answer(document.id, error="missing", repeat=repeat), again=True, detail=str(fault))
        extra: dict[str, Any] = {"images": pages} if pages else {}
        start = time.monotonic()
        retries = unexpected = 0
        while True:
            await self._enter()
            sent = self._sent()
            asked = time.monotonic()
            output: ModelOutput | None = None
            try:
                output = await self._generate(messages, sent)
            except Exception as fault:
                found = classify(fault, sent)
                if found.kind == "lasting" and "response_schema" in sent and found.why in SCHEMA_MAYBE:
                    found, output = await self._without_schema(found, messages, sent)
            finally:
                self._active -= 1
            if output is not None:
                self._allowed += 0.2 / self._allowed
                extra.update({"retries": retries} if retries else {})
                return self._reply(document, repeat, output, time.monotonic() - asked, extra)
            if found.kind == "stop":
                raise SystemFault(_sentence(found, self._known))
            if found.kind == "setting":
                self._refuse(found.setting, found.words)
                continue
            retries += 1
            unexpected += found.unexpected
            enough = retries > self.request.retries or unexpected > UNEXPECTED_RETRIES
            if found.kind == "lasting" or enough:
                extra.update({"retries": retries - 1} if retries > 1 else {})
                answer = Answer(
                    document.id, error="provider_error", repeat=repeat, seconds=round(time.monotonic() - start, 3)
                )
                detail = f"{found.why}: {found.words}" if found.why else found.words
                return Reply(answer, again=found.kind == "passing", detail=detail, extra=extra)
            seconds = self._wait_for(found, retries)
            if self.on_wait is not None:
                self.on_wait(document.id, found.why, retries, seconds)
            if found.why == "rate limit":
                self._slow_down(asked, seconds)
            await asyncio.sleep(seconds)

    async def _enter(self) -> None:
        """Wait until a request may go out: not while the provider asked for a pause, nor beside too many others."""
        while True:
            left = self._gate - time.monotonic()
            if left > 0:
                await asyncio.sleep(left + random.uniform(0, 0.1) * min(1.0, left))
            elif self._active >= self._allowed:
                await asyncio.sleep(0.02)
            else:
                self._active += 1
                return

    def _slow_down(self, asked: float, seconds: float) -> None:
        """After a rate limit: a pause for all, and half as many requests at once; answers let more out."""
        now = time.monotonic()
        self._gate = max(self._gate, now + seconds)
        if asked > self._slowed:  # requests that were out together count once
            self._slowed = now
            self._allowed = max(1.0, min(self._allowed, self._active + 1) / 2)

    def _wait_for(self, fault: Fault, retry: int) -> float:
        first, longest, most = _WAITS
        if fault.wait is not None:
            return min(fault.wait, most)
        return float(min(longest, first * 2 ** (retry - 1)) * random.uniform(0.5, 1.0))

    def _sent(self) -> list[str]:
        """Names of the settings that are sent and could be left out; another document may have had one refused."""
        names = [key for key in self._generation if key not in self._refused]
        return [*names, "response_schema"] if self.structured and "response_schema" not in self._refused else names

    async def _generate(self, messages: list[ChatMessage], sent: list[str]) -> ModelOutput:
        assert self._model is not None
        config = self._config(sent)
        if self.request.batch:
            return await self._model.generate(messages, config=config)
        async with asyncio.timeout(self.request.timeout):
            return await self._model.generate(messages, config=config)

    def _config(self, sent: list[str]) -> GenerateConfig:
        """What Inspect AI is told with these settings, made once for all documents."""
        from inspect_ai.model import GenerateConfig

        key = tuple(sent)
        if key not in self._configs:
            config: dict[str, Any] = {name: value for name, value in self._generation.items() if name in sent}
            if "response_schema" in sent:
                config["response_schema"] = inspect_schema(self.schema)
            # Pages are sent once: writing them to a provider's cache would cost more and save nothing.
            config.setdefault("cache_prompt", False)
            # The connections are counted by whoever runs us; Inspect's own count must not be in the way.
            config.update(max_retries=0, max_connections=100_000)
            if self.request.batch:
                config["batch"] = self.request.batch
            self._configs[key] = GenerateConfig(**config)
        return self._configs[key]

    async def _without_schema(
        self, found: Fault, messages: list[ChatMessage], sent: list[str]
    ) -> tuple[Fault, ModelOutput | None]:
        """Some providers refuse a schema without naming it. One document finds out for all whether that was it: it is
        asked without, and if that is taken, the schema is put aside for the rest of the run."""
        again = Fault("setting", found.words, setting="response_schema")
        if self._probe is not None:
            return (again if await self._probe else found), None
        self._probe = asyncio.get_running_loop().create_future()
        taken = False
        try:
            output = await self._generate(messages, [name for name in sent if name != "response_schema"])
            taken = True
        except Exception as fault:
            second = classify(fault, sent)
            return (found if second.kind == "setting" else second), None
        finally:
            self._probe.set_result(taken)
        self._refuse("response_schema", found.words)
        return again, output

    def _refuse(self, setting: str, words: str) -> None:
        if setting not in self._refused:
            self._refused.add(setting)
            name = "the answer schema" if setting == "response_schema" else f"the setting {setting}"
            self._note(f"{self.name} was asked without {name}, which it refused: {words}")

    @property
    def _known(self) -> tuple[str, ...]:
        return secret_values(more=self.secrets)

    def _reply(self, document: Document, repeat: int, output: ModelOutput, seconds: float, extra: Any) -> Reply:
        usage = _usage(output)
        cost = self.cost(usage, output.model)
        if cost is None and output.usage is not None and output.usage.total_cost:
            cost = float(output.usage.total_cost)  # as the provider states it
        if output.error:
            # The provider turned the request down, and Inspect AI made an answer of its words.
            refused = bool(output.choices) and output.choices[0].stop_reason == "content_filter"
            error = "refused" if refused else "provider_error"
            answer = Answer(document.id, error=error, repeat=repeat, seconds=round(seconds, 3), cost=cost, usage=usage)
            return Reply(answer, detail=redact(str(output.error), self._known)[:300], extra=extra)
        if output.choices and output.choices[0].stop_details is not None:
            details = output.choices[0].stop_details.model_dump(exclude_none=True)
            extra = {**extra, "stop_details": details}
        answer = Answer(
            document.id,
            text=output.completion if output.choices else "",
            repeat=repeat,
            finish=output.choices[0].stop_reason if output.choices else None,
            seconds=round(seconds, 3),
            cost=cost,
            usage=usage,
        )
        return Reply(answer, model=output.model or None, extra=extra)

    def _make_model(self) -> Model:
        from inspect_ai.model import get_model

        arguments = dict(self._own.get("model_args") or {})
        address = self._own.get("base_url") or os.environ.get("OPENAI_BASE_URL", "")
        if self.provider == "openai" and address and "api.openai.com" not in address:
            # Servers that only speak OpenAI's format speak chat completions; few know the newer interface.
            arguments.setdefault("responses_api", False)
        try:
            model = get_model(
                self.name,
                base_url=self._own.get("base_url"),
                api_key=self._own.get("api_key"),
                memoize=False,
                **arguments,
            )
        except Exception as fault:
            if isinstance(fault, TypeError) and arguments:
                words = f"its model_args are wrong: {fault}"
            else:
                words = _plain(str(fault)) or type(fault).__name__
            raise SystemFault(redact(f"cannot be asked: {words}", self._known)) from None
        client = getattr(model.api, "client", None)
        if client is not None and isinstance(getattr(client, "max_retries", None), int):
            client.max_retries = 0
        return model


def _shown(value: Any) -> Any:
    """Settings without what their names say is a key, however deep it lies (extra_headers, say)."""
    if isinstance(value, Mapping):
        return {str(key): _shown(item) for key, item in value.items() if not is_secret_name(str(key))}
    return [_shown(item) for item in value] if isinstance(value, (list, tuple)) else value


def _hidden(value: Any) -> Iterator[str]:
    """The keys that `_shown` leaves out."""
    for key, item in value.items() if isinstance(value, Mapping) else ():
        if is_secret_name(str(key)):
            yield str(item)
            yield str(item).rpartition(" ")[2]  # of "Bearer KEY"
        else:
            yield from _hidden(item)


class _Listener(logging.Handler):
    """Keeps the warnings of Inspect AI, which tell of settings that it left out by itself, as notes of the run."""

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._note_it = note

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(Exception):
            self._note_it(f"Inspect AI says: {record.getMessage()}")


def _split_settings(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Generation settings of Inspect AI, and ours; raises UsageError for what is neither."""
    from inspect_ai.model import GenerateConfig

    known = set(GenerateConfig.model_fields) - set(_RUNNER) - {"response_schema", "system_message"}
    generation, own = {}, {}
    for key, value in settings.items():
        if value is None:
            continue
        if key in OURS:
            own[key] = value
        elif key in known:
            generation[key] = value
        else:
            import difflib

            near = difflib.get_close_matches(key, [*known, *OURS], n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"{key!r} is no setting of a language model{hint}")
    if not isinstance(own.get("model_args", {}), Mapping):
        raise UsageError("model_args is a table of names and values")
    try:
        GenerateConfig(**generation)
    except ValueError as fault:
        lines = [line.strip() for line in str(fault).splitlines()]
        name = lines[1] if len(lines) > 1 else ""
        what = lines[2].split(" [")[0] if len(lines) > 2 else str(fault)
        raise UsageError(f"the setting {name} is wrong: {what}") from fault
    return generation, own


def inspect_schema(schema: Mapping[str, Any] | None) -> Any:
    from inspect_ai.model import ResponseSchema
    from inspect_ai.util import JSONSchema

    definitions = (schema or {}).get("$defs") or {}
    return ResponseSchema(name="record", json_schema=JSONSchema.model_validate(_inline(schema, definitions)))


def _inline(schema: Any, definitions: Mapping[str, Any], depth: int = 0) -> Any:
    """A schema with its references replaced by what they refer to, since not every provider follows them."""
    if isinstance(schema, Mapping) and depth < 50:
        target = schema.get("$ref")
        if isinstance(target, str) and target.startswith("#/$defs/"):
            return _inline(definitions.get(target.removeprefix("#/$defs/"), {}), definitions, depth + 1)
        return {key: _inline(value, definitions, depth + 1) for key, value in schema.items() if key != "$defs"}
    if isinstance(schema, list):
        return [_inline(item, definitions, depth + 1) for item in schema]
    return schema


def _usage(output: ModelOutput) -> dict[str, int]:
    """Tokens as reported: `input_tokens` with cached ones, `output_tokens` with reasoning; nothing where all is 0."""
    usage = output.usage
    if usage is None:
        return {}
    cached, written = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    counts = {
        "input_tokens": usage.input_tokens + cached + written,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "cached_tokens": cached,
        "cache_write_tokens": written,
        "reasoning_tokens": usage.reasoning_tokens or 0,
    }
    if not any(counts.values()):
        return {}
    always = ("input_tokens", "output_tokens")
    return {key: int(value) for key, value in counts.items() if value or key in always}


def _sentence(fault: Fault, known: tuple[str, ...]) -> str:
    words = redact(fault.words, known)
    return f"{fault.why} ({words})" if words else fault.why


def _plain(text: str) -> str:
    """A message of Inspect AI without its markup, on one line."""
    return " ".join(re.sub(r"\[/?[a-z ]+\]", "", text).removeprefix("ERROR: ").split())[:300]
