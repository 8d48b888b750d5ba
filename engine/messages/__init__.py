"""
Messages: which facts need one (`advice_news`; `notifications` and `events` for incidents; `silence_messages`), their
text (`digest` for advice, `incident_message`, `group_digest`), their channels and links (`channels`), the queue
(`outbox_entries`), and delivery exactly once (`outbox`).

This package imports ports, never Slack or SQL.
"""
