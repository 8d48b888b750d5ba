"""The rules as they are asked: what is known of one group, worked out once."""

from __future__ import annotations

import fnmatch
import hashlib
import json
from typing import Any

from pydantic import BaseModel

from .rules import Rule

UNSHAPING = {"owner", "mention", "channel", "incidents", "client_version"}
"""Keys of a rule that say who hears of a result and when, not what it is, or that no stored result depends on."""

NESTED = ("policy", "incidents")
"""Keys of a rule that are merged key by key in their turn."""


class RuleBook:
    """
    Some rules, and what was worked out of them so far.

    A cluster has thousands of groups and few kinds of them: groups to which the same rules apply share one `Rule`.
    What was asked so far changes nothing in what a book says: it makes no two settings differ, and it stays behind
    when they are pickled.
    """

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        """Open a book of these rules."""
        self.rules = rules
        self._of_group: dict[tuple[str, str], Rule] = {}
        self._merged: dict[tuple[int, ...], Rule] = {}
        self._versions: dict[tuple[float, ...], str] = {}

    def of(self, cluster: str, group: str) -> Rule:
        """The rules that match a group as one, later over earlier."""
        known = self._of_group.get((cluster, group))
        if known is None:
            fits = tuple(
                number
                for number, rule in enumerate(self.rules)
                if fnmatch.fnmatchcase(cluster, rule.clusters)
                and fnmatch.fnmatchcase(group, rule.groups)
            )
            if fits not in self._merged:
                self._merged[fits] = _merge([self.rules[n] for n in fits])
            known = self._of_group[cluster, group] = self._merged[fits]
        return known

    def version(self, *, lookback: int, max_failed_share: float) -> str:
        """Hash of these rules and of what else shapes results."""
        key = (lookback, max_failed_share)
        if key not in self._versions:
            shaping = {"lookback": lookback, "max_failed_share": max_failed_share}
            text = json.dumps(
                shaping | {"rules": [_shaping(rule) for rule in self.rules]},
                sort_keys=True,
                default=str,
            )
            self._versions[key] = hashlib.sha256(text.encode()).hexdigest()[:12]
        return self._versions[key]

    def __eq__(self, other: object) -> bool:
        """Every book is as good as another: settings that hold one are told apart by their rules."""
        return isinstance(other, RuleBook)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """The rules are what a copy needs."""
        return RuleBook, (self.rules,)


def _given(model: BaseModel) -> dict[str, Any]:
    """The keys that were written down, without the defaults."""
    return {key: getattr(model, key) for key in model.model_fields_set}


def _merge(rules: list[Rule]) -> Rule:
    """These rules as one, later over earlier, key by key, those of nested tables too."""
    merged: dict[str, Any] = {}
    for rule in rules:
        known = _given(rule)
        for key in NESTED:
            below, above = merged.get(key), known.get(key)
            if below is not None and above is not None:
                known[key] = below.model_copy(update=_given(above))
        merged |= known
    return Rule(**merged)


def _shaping(rule: Rule) -> dict[str, Any]:
    """
    What of a rule shapes results.

    The order of a table says which pattern counts, so tables are pairs in that order.
    """
    said = rule.model_dump(exclude=UNSHAPING)
    return {k: list(v.items()) if isinstance(v, dict) else v for k, v in said.items()}
