"""`histeval tasks`: what can be measured, and by which rules."""

from __future__ import annotations

from typing import Literal


def tasks(task: str | None = None, /, *, format: Literal["table", "json"] = "table") -> None:
    """Tasks, metrics, protocols and their rules.

    Parameters
    ----------
    task
        Show only this task, by its name or its alias.
    format
        A table for people or JSON for programs.
    """
    from histeval.cli.show import console, print_json, rules_table
    from histeval.tasks import get_task, task_names
    from histeval.tasks.base import PROTOCOLS, Rule
    from histeval.tasks.description import Context

    for name in [get_task(task).name] if task else task_names():
        found = get_task(name)
        scorer = found.scorer(Context(found.default_description()), found.protocol())
        if format == "json":
            print_json(
                {
                    "task": found.name,
                    "alias": found.alias,
                    "title": found.title,
                    "summary": found.summary,
                    "metrics": [metric.name for metric in scorer.metrics],
                    "headline": list(scorer.headline),
                    "columns": list(scorer.columns),
                    "protocols": {p: found.protocol(p).long for p in PROTOCOLS},
                    "rules": {
                        rule.name: {
                            "help": rule.help,
                            "values": list(rule.choices) or [rule.kind],
                            **{p: Rule.write(getattr(rule, p)) for p in PROTOCOLS},
                        }
                        for rule in found.rules
                    },
                }
            )
            continue
        out = console()
        out.print(f"[bold]{found.name}[/] (alias {found.alias}): {found.title}")
        out.print(f"  {found.summary}")
        names = [metric.name for metric in scorer.metrics]
        out.print(f"  metrics: {', '.join(names[:12])}{' ...' if len(names) > 12 else ''}", markup=False)
        out.print(rules_table(found))
