"""`evenkeel alerts`: what would be sent and where, without sending it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from ...model.text import printable, several
from ..command_end import complain
from ..options import AsJson, ClusterName, Group, epilog, option

if TYPE_CHECKING:
    from ...pipeline.preview import Preview

EPILOG = epilog(
    [
        "evenkeel alerts                              # messages waiting, and those of the newest snapshots",
        "evenkeel alerts --from cluster.recording",
        "evenkeel alerts --from lake --cluster eu --group 'orders-*' --json",
    ],
    [0, 1, 2, 4, 5],
    "Sends and stores nothing. Without --from it shows the messages that wait in the history database, and those that "
    "the newest snapshot of each cluster would add. With --from it goes through all snapshots with the current "
    "configuration, as if no incident were known before the first. A digest is shown if it names a group of --group. "
    "For messages about advice, see `evenkeel backtest`.",
)


def alerts(
    stored: Annotated[
        str | None,
        option(
            "--from FILE|DIR|lake",
            "Preview from a recording, a lake folder, or `lake` for the configured lake.",
        ),
    ] = None,
    cluster: ClusterName = None,
    group: Group = "*",
    as_json: AsJson = False,
) -> None:
    """Preview the messages that evenkeel would send."""
    from ... import wiring
    from ...pipeline.preview import walked
    from .. import sources
    from ..views.tables import emit, tell

    if stored is None:
        previews = _waiting(cluster)
    else:
        source = sources.stored_source(stored, cluster)
        sources.select_ever(source, group)
        history = wiring.scratch_history()
        previews = walked(source.lake, history, source.settings, source.cluster)
    meant = (each for each in previews if each.is_about(group))
    if as_json:
        emit(map(to_json, meant))
        return
    number = 0
    for number, each in enumerate(meant, 1):  # noqa: B007 counted
        tell([*_lines(each), ""])
    complain(
        f"{several(number, 'message')}, none of them sent." if number else "nothing would be sent."
    )


def _waiting(cluster: str | None) -> Iterator[Preview]:
    """What waits in the history, and what the newest snapshots add."""
    from ... import wiring
    from ...pipeline import preview
    from ..silence_options import history_at

    settings, history = history_at()
    if cluster is not None:
        settings.cluster(cluster)
    waiting = history.pending_alerts()
    yield from preview.pending(settings, [a for a in waiting if cluster in (None, a.cluster)])
    lake = wiring.lake(settings)
    for name in [cluster] if cluster else sorted(settings.clusters):
        yield from preview.newest(lake, settings, history.incident_watch(name), history.silences)


def to_json(preview: Preview) -> dict[str, Any]:
    """A message as one object."""
    from ...messages.length import plain_text

    posting = preview.posting
    return {
        "at": preview.at,
        "cluster": preview.cluster,
        "channel": posting.channel,
        "kind": posting.message.kind,
        "severity": posting.message.severity,
        "groups": preview.groups,
        "owners": preview.owners,
        "mention": posting.message.mention,
        "key": posting.key,
        "answers": posting.answers,
        "replaces": posting.replaces,
        "broadcast": posting.broadcast,
        "waits": preview.waits,
        "title": posting.message.title,
        "text": plain_text(posting.message),
    }


def _lines(preview: Preview) -> list[str]:
    """Where it goes and how, then the message, indented."""
    from ...messages.length import plain_text
    from ...messages.wording import moment

    posting = preview.posting
    place = "a new message"
    if posting.replaces is not None:
        place = f"in place of '{posting.replaces}'"
    elif posting.answers is not None:
        shown = ", shown in the channel" if posting.broadcast else ""
        place = f"in the thread of '{posting.answers}'{shown}"
    parts = [moment(preview.at), posting.channel, posting.message.kind, place]
    parts += [f"for {', '.join(preview.owners)}"] if preview.owners else []
    parts += ["waits in the outbox"] if preview.waits else []
    text = plain_text(posting.message).splitlines()
    return ["; ".join(parts), *(f"    {printable(line)}" for line in text)]
