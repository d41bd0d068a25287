"""Where an interrupted fine-tuning goes on: weights, moments and random states, without pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from histeval.errors import OutputError, UsageError
from histeval.systems.taggers.network import library


class Checkpoint:
    """A checkpoint in a folder, under a name that says what is being trained; another training's is not touched."""

    def __init__(self, folder: Path | str, name: str) -> None:
        self._path = Path(folder) / f"{name}.safetensors"

    def exists(self) -> bool:
        """Whether there is one to go on from."""
        return self._path.is_file()

    def save(self, model: Any, optimizer: Any, state: dict[str, Any], best: dict[str, Any]) -> None:
        """Write everything the next step depends on, whole or not at all."""
        from safetensors.torch import save

        torch = library()
        tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
        tensors |= {f"best.{name}": value for name, value in best.items()}
        for number, moments in enumerate(self._moments(optimizer)):
            tensors |= {f"moment.{number}.{name}": torch.as_tensor(value) for name, value in moments.items()}
        tensors["random.cpu"] = torch.get_rng_state()
        if torch.cuda.is_available():
            tensors["random.cuda"] = torch.cuda.get_rng_state()
        copies = {name: value.detach().cpu().clone().contiguous() for name, value in tensors.items()}
        data = save(copies, metadata={"state": json.dumps(state)})
        part = self._path.with_suffix(".part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(data)
            os.replace(part, self._path)
        except OSError as fault:
            raise OutputError(f"the checkpoint {self._path} could not be written: {fault.strerror or fault}") from None

    def load(self, model: Any, optimizer: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Put everything back; gives the state and the best weights so far. Raises UsageError for a damaged one."""
        from safetensors import SafetensorError, safe_open

        torch = library()
        try:
            with safe_open(str(self._path), framework="pt") as file:
                state = json.loads((file.metadata() or {})["state"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
            model.load_state_dict({n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")})
            parameters = [value for group in optimizer.param_groups for value in group["params"]]
            for name, value in tensors.items():
                if name.startswith("moment."):
                    _, number, key = name.split(".")
                    parameter = parameters[int(number)]
                    placed = value if key == "step" else value.to(parameter.device)
                    optimizer.state[parameter][key] = placed
            torch.set_rng_state(tensors["random.cpu"])
            if torch.cuda.is_available() and "random.cuda" in tensors:
                torch.cuda.set_rng_state(tensors["random.cuda"])
        except (SafetensorError, OSError, KeyError, ValueError, IndexError, RuntimeError) as fault:
            reason = " ".join(str(fault).split())[:200]
            raise UsageError(f"the checkpoint {self._path} cannot be read: {reason}; remove it to begin anew") from None
        best = {name.removeprefix("best."): value for name, value in tensors.items() if name.startswith("best.")}
        return state, best

    def remove(self) -> None:
        """Remove it, once the training is done."""
        self._path.unlink(missing_ok=True)

    @staticmethod
    def _moments(optimizer: Any) -> list[dict[str, Any]]:
        parameters = [value for group in optimizer.param_groups for value in group["params"]]
        return [dict(optimizer.state.get(value, {})) for value in parameters]
