"""Language models, asked through Inspect AI: every provider it knows, by the name it has there.

One document is one request with all its pages. Retries are ours, not those of the client libraries: they are bounded,
follow what the provider asks for, and can be shown. No temperature or other setting is sent unless it was set.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from histeval.datasets.base import Document
from histeval.errors import MissingExtraError, SystemFault
from histeval.runs.secrets import redact, secret_values
from histeval.systems.base import Reply, Request
from histeval.systems.batches import close_gaps, has_batches, listen
from histeval.systems.faults import Fault, classify
from histeval.systems.images import ImageError, PreparedImage, estimated_size, prepare_pages, rule_for
from histeval.systems.model_outputs import read_output, tokens_of
from histeval.systems.model_settings import hidden_values, inspect_schema, shown_settings, split_settings
from histeval.systems.pace import Pace, wait_for
from histeval.systems.prices import load_prices
from histeval.systems.wording import load_wording, placeholders, record_schema
from histeval.tasks.base import Answer

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput

UNEXPECTED_RETRIES = 2
TURNED_DOWN = 10
"""Documents that may be turned down in the same words, none having been taken, before the run stops."""
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
        self._generation, self._own = split_settings(request.settings)
        self._refused: set[str] = set()
        self._probe: asyncio.Future[bool] | None = None
        self.rule = rule_for(self.provider)
        self.price = load_prices(request.prices).find(name)
        self._prices = load_prices(request.prices)
        self._model: Model | None = None
        self._configs: dict[tuple[str, ...], GenerateConfig] = {}
        self._listener = _Listener(self._note)
        self._pace = Pace()
        self._taken = False  # whether any document has been
        self._same, self._last = 0, ""  # how often documents were turned down in which words, before that
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
        shown: dict[str, Any] = shown_settings({**self._generation, **self._own})
        return {**shown, **({"batch": True} if self.request.batch else {})}

    @property
    def secrets(self) -> list[str]:
        """Keys that came in with the settings."""
        return list(hidden_values({**self._generation, **self._own}))

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
            _warn_again()
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

    def _batches_wait(self, batches: int, requests: int) -> None:
        if self.on_wait is not None and batches:
            self.on_wait("", f"{requests} requests in {batches} batch{'' if batches == 1 else 'es'}", 0, 15.0)

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
            await self._pace.enter()
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
                self._pace.leave()
            if output is not None:
                self._taken = True
                self._pace.answered()
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
                if found.kind == "lasting" and not self._taken:
                    self._turned_down(detail)
                # Until the model has taken one document, the request may be at fault and not the document.
                again = found.kind == "passing" or not self._taken
                return Reply(answer, again=again, detail=detail, extra=extra)
            seconds = wait_for(found, retries)
            if self.on_wait is not None:
                self.on_wait(document.id, found.why, retries, seconds)
            if found.why == "rate limit":
                self._pace.slow_down(asked, seconds)
            await asyncio.sleep(seconds)

    def _turned_down(self, detail: str) -> None:
        """Counts what was turned down before anything was taken; where it is always the same, nothing will be.

        Documents under way beside the last one may pass the limit as well and stop the run first; the sentence is the
        same whichever does.
        """
        self._same = self._same + 1 if detail == self._last else 1
        self._last = detail
        if self._same >= TURNED_DOWN:
            raise SystemFault(
                redact(f"the first {TURNED_DOWN} documents were turned down in the same words ({detail})", self._known)
            )

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
        usage = tokens_of(output)
        cost = self.cost(usage, output.model)
        if cost is None and output.usage is not None and output.usage.total_cost:
            cost = float(output.usage.total_cost)  # as the provider states it
        answer = Answer(document.id, repeat=repeat, seconds=round(seconds, 3), cost=cost, usage=usage)
        return read_output(output, answer, extra, self._known)

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
        if self.request.batch and not has_batches(model.api):
            raise SystemFault(
                f"Inspect AI knows no batch interface of {self.provider}, and would ask one by one at the full price; "
                "leave --batch out"
            )
        if self.request.batch:
            close_gaps()
            listen(self._batches_wait, lambda sentence: self._note(f"Inspect AI says: {sentence}"))
        client = getattr(model.api, "client", None)
        if client is not None and isinstance(getattr(client, "max_retries", None), int):
            client.max_retries = 0
        return model


def _warn_again() -> None:
    """Inspect AI warns once in a process; each run must have the warnings that concern it among its notes."""
    with contextlib.suppress(Exception):  # no public interface
        from inspect_ai._util import logger

        logger._warned.clear()


class _Listener(logging.Handler):
    """Keeps the warnings of Inspect AI, which tell of settings that it left out by itself, as notes of the run."""

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._note_it = note

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(Exception):
            self._note_it(f"Inspect AI says: {record.getMessage()}")


def _sentence(fault: Fault, known: tuple[str, ...]) -> str:
    words = redact(fault.words, known)
    return f"{fault.why} ({words})" if words else fault.why


def _plain(text: str) -> str:
    """A message of Inspect AI without its markup, on one line."""
    return " ".join(re.sub(r"\[/?[a-z ]+\]", "", text).removeprefix("ERROR: ").split())[:300]
