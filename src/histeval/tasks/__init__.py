"""Tasks: what is asked, the record an answer must give, and the scoring."""

from histeval.tasks.registry import get_task, task_names

__all__ = ["get_task", "task_names"]
