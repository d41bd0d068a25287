"""Systems: what answers. Language models, OCR engines, taggers, recorded answers."""

from histeval.systems.base import Reply, Request, System, open_system, system_prefixes
from histeval.systems.progress import Plan, Progress, RunResult
from histeval.systems.run import run_systems

__all__ = [
    "Plan",
    "Progress",
    "Reply",
    "Request",
    "RunResult",
    "System",
    "open_system",
    "run_systems",
    "system_prefixes",
]
