"""
Outages of the history database or the configuration: step runs are stored aside, notified once, and recorded later.

The state is in the Airflow variable `evenkeel_outages`, or in a file of that name in AIRFLOW_HOME if Airflow cannot
store it. Tasks on one machine are serialized; two tasks on different machines may both notify at the same moment.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from airflow.sdk import Variable

from evenkeel.dags.connections import bare_settings
from evenkeel.dags.connections import settings as configured
from evenkeel.engine import wiring
from evenkeel.engine.incidents.policy import EVERY_CLUSTER
from evenkeel.engine.messages.channels import receivers_of, with_links
from evenkeel.engine.model.errors import EvenkeelError, NotifierError
from evenkeel.engine.model.files import replacing
from evenkeel.engine.model.logs import logger
from evenkeel.engine.model.message import AlertMessage, severity_of
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.model.states import IncidentKind
from evenkeel.engine.pipeline.outage import Announced, Outage, may_tell, noted, opening, settle
from evenkeel.engine.ports import Notifier, StepRuns
from evenkeel.engine.records import StepRun, record_of, to_json

log = logger(__name__)

VARIABLE = "evenkeel_outages"

Outages = dict[IncidentKind, Outage]


def keep(kind: IncidentKind, run: StepRun, error: str) -> None:
    """Store a step run that cannot be recorded, with the reason; errors are logged, never raised."""
    try:
        _change(lambda known: {**known, kind: noted(known.get(kind), kind, run, error)})
    except Exception:
        log.exception("%s is not recorded", run.step)


def tell() -> None:
    """
    Notify of the stored outage, unless it is over or already notified; needs only a token or webhook of Slack.

    Webhooks are called as well if the configuration can be read; errors of webhooks are logged.

    Raises:
        NotifierError: The notification failed; the next failed task tries again.
    """
    with _alone("telling", wait=False) as alone:
        for outage in _read().values() if alone else ():
            if may_tell(outage, utc_now()) and not _is_over(outage):
                _tell(outage)


def _is_over(outage: Outage) -> bool:
    """Whether the outage is over and its runs are recorded, so that the task failed for another reason."""
    try:
        _settle(wiring.pipeline_history(configured()), outage)
    except Exception as problem:  # noqa: BLE001
        log.warning("%s: %s", outage.kind, problem)
        return False
    return True


def _tell(outage: Outage) -> None:
    kind, now, settings = outage.kind, utc_now(), bare_settings()
    _replace(kind, claimed_at=now)
    message = with_links(opening(outage, now), EVERY_CLUSTER, settings)
    channel = settings.slack_channel
    try:
        delivered = wiring.notifier(settings).send(
            message, channel=channel, key=f"{outage.key} opened"
        )
    except Exception:
        _replace(kind, claimed_at=None)
        raise
    announced = Announced(
        at=now,
        channel=channel,
        message=message.to_json(),
        sent_channel=delivered.channel,
        sent_timestamp=delivered.timestamp,
    )
    _replace(kind, announced=announced)
    # only what people were told has an end that pagers hear of
    if pagers := _page(message, outage):
        _replace(kind, announced=replace(announced, pagers=pagers))


def _page(message: AlertMessage, outage: Outage) -> tuple[str, ...]:
    """Call the webhooks and return those that succeeded; the key of the outage deduplicates repeated calls."""
    try:
        settings = configured()
        _, *pagers = receivers_of(settings, EVERY_CLUSTER, None, severity_of(outage.kind))
        notifier = wiring.notifier(settings)
    except EvenkeelError as problem:
        log.warning("the webhooks are not called: %s", problem)
        return ()
    return tuple(pager for pager in pagers if _is_told(notifier, message, pager, outage))


def _is_told(notifier: Notifier, message: AlertMessage, pager: str, outage: Outage) -> bool:
    try:
        notifier.send(message, channel=pager, key=f"{outage.key} opened {pager}")
    except NotifierError as problem:
        log.warning("%s", problem)
        return False
    return True


def make_up(history: StepRuns) -> None:
    """
    Record the stored runs, now that the configuration is valid and the history database answers.

    An outage that is being notified at this moment is recorded next time, because only a notified outage is resolved.

    Raises:
        HistoryUnreachable: The history database doesn't answer.
    """
    if not _read():
        return
    with _alone("telling", wait=False) as alone:
        for outage in _read().values() if alone else ():
            if outage.announced or may_tell(outage, utc_now()):
                _settle(history, outage)


def _settle(history: StepRuns, outage: Outage) -> None:
    settle(history, outage, utc_now())
    _change(lambda known: _without(known, outage))
    log.info("over: %s since %s", outage.kind, outage.since)


def _without(known: Outages, over: Outage) -> Outages:
    """The remaining state: runs that were stored meanwhile belong to the next outage."""
    left = {kind: outage for kind, outage in known.items() if kind is not over.kind}
    for run in known[over.kind].runs[len(over.runs) :] if over.kind in known else ():
        left[over.kind] = noted(left.get(over.kind), over.kind, run, run.error or over.error)
    return left


def _replace(kind: IncidentKind, **news: Any) -> None:
    """Update a stored outage."""
    _change(lambda known: {**known, kind: replace(known[kind], **news)} if kind in known else known)


def _change(change: Callable[[Outages], Outages]) -> None:
    with _alone("keeping"):
        _write(change(_read()))


@contextmanager
def _alone(what: str, *, wait: bool = True) -> Iterator[bool]:
    """Lock against other tasks of this machine; without waiting, yield whether the lock was free."""
    with _place(f"{VARIABLE}.{what}").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True


def _place(name: str) -> Path:
    return Path(os.environ.get("AIRFLOW_HOME") or "~/airflow").expanduser() / name


def _file() -> Path:
    return _place(f"{VARIABLE}.json")


def _read() -> Outages:
    """The stored state; a file is newer, because it exists only while Airflow cannot store the variable."""
    return {**_understood(_of_airflow()), **_understood(_of_the_file())}


def _of_airflow() -> str:
    try:
        return Variable.get(VARIABLE, default=None) or "{}"
    # without Airflow's own database, or outside of a task, it says so in its own ways
    except Exception as problem:  # noqa: BLE001
        log.warning("the variable %s cannot be read: %s", VARIABLE, problem)
        return "{}"


def _of_the_file() -> str:
    try:
        return _file().read_text(encoding="utf-8")
    except FileNotFoundError:
        return "{}"


def _understood(text: str) -> Outages:
    """Parse a state that another version or a person may have written; unreadable entries are skipped."""
    outages: Outages = {}
    try:
        stored = dict(json.loads(text))
    except (ValueError, TypeError):
        log.exception("the stored outages cannot be read")
        return outages
    for kind, content in stored.items():
        try:
            outages[IncidentKind(kind)] = record_of(Outage, content)
        except (ValueError, KeyError, TypeError, AttributeError):
            log.exception("the stored outage %s cannot be read", kind)
    return outages


def _write(outages: Mapping[IncidentKind, Outage]) -> None:
    text = json.dumps({kind.value: to_json(outage) for kind, outage in outages.items()})
    try:
        if outages:
            Variable.set(
                VARIABLE,
                text,
                description="Step runs that evenkeel could not record; each outage is notified once.",
            )
        else:
            Variable.delete(VARIABLE)
    except Exception as problem:  # noqa: BLE001
        log.warning("the variable %s cannot be written: %s", VARIABLE, problem)
        with replacing(_file()) as partly:
            partly.write_text(text, encoding="utf-8")
    else:
        _file().unlink(missing_ok=True)
