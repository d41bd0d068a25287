"""Slow twins, written from the definitions alone."""

from __future__ import annotations

from collections.abc import Sequence


def levenshtein(a: Sequence[object], b: Sequence[object]) -> int:
    table = [[i + j if not i or not j else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i][j] = min(
                table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (0 if a[i - 1] == b[j - 1] else 1)
            )
    return table[-1][-1]


def longest_common_subsequence(a: Sequence[object], b: Sequence[object]) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i][j] = table[i - 1][j - 1] + 1 if a[i - 1] == b[j - 1] else max(table[i - 1][j], table[i][j - 1])
    return table[-1][-1]
