"""
Templates of `evenkeel runbook`.

`runbook.txt` is the whole runbook, in the order of the steps. `java.txt`, `spring.txt`, `librdkafka.txt` and
`kafka-python.txt` are the settings of each client in a step. `members.txt`, `brokers.txt` and `streams.txt` have a
sentence for each fact, as a block with the name of its measure.

Names from the cluster are made printable; the filters `command` and `command_in_text` make commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from ....assignors.kafka.election import REFUSED
from ....assignors.kafka.protocol_names import (
    BROKER_CLASS,
    BROKER_SETTING,
    CLIENT_SETTING,
    java_class,
)
from ....model.command import command, command_in_text
from ....model.facts import Fact
from ....model.formats import duration
from ....model.text import printable, several
from ..clauses import subjects, whole

if TYPE_CHECKING:
    from jinja2 import Environment, Template

SENTENCES = ("members.txt", "brokers.txt", "streams.txt")


def rendered(name: str, values: Mapping[str, Any], filters: Mapping[str, Any]) -> list[str]:
    """
    The lines of a template.

    Args:
        name: Of the template.
        values: Its values by name.
        filters: Its filters, in addition to those of all templates; always the same ones.
    """
    environment = _environment()
    environment.filters |= filters
    return environment.get_template(name).render(values).splitlines()


def sentence_of(fact: Fact) -> str | None:
    """
    The sentence of a fact; None if there is none for its measure.

    >>> from evenkeel.engine.model.facts import reason
    >>> sentence_of(reason("first_gets_votes", ["sticky"])), sentence_of(reason("unheard_of"))
    ('all members list sticky; as the first entry, it receives their votes', None)
    """
    template = measures().get(fact.measure)
    if template is None:
        return None
    known = {
        "names": fact.subjects,
        "all": subjects(fact),
        "number": None if fact.after is None else whole(fact.after),
        "of": None if fact.bound is None else whole(fact.bound),
        "seconds": None if fact.after is None else duration(fact.after),
    }
    block = template.blocks[fact.measure]
    return "".join(block(template.new_context(known))).strip()


@cache
def measures() -> Mapping[str, Template]:
    """The template with the sentence of each measure."""
    templates = map(_environment().get_template, SENTENCES)
    return {measure: template for template in templates for measure in template.blocks}


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_text),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if isinstance(value, str) else value,
    )
    environment.filters |= {
        "command": command,
        "command_in_text": command_in_text,
        "several": several,
        "java_class": java_class,
    }
    environment.globals |= {
        "BROKER_CLASS": BROKER_CLASS,
        "BROKER_SETTING": BROKER_SETTING,
        "CLIENT_SETTING": CLIENT_SETTING,
        "REFUSED": REFUSED,
    }
    return environment


def _text(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")
