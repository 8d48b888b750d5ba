"""
What people are told: which facts are news (of advice: `advice_news`; of what is wrong with groups and pipelines:
`rounds`, `events`; of silences: `quiet`), how they read (of advice `digest`; of an incident `incident_message`, of many
at once `group_digest`), where they go and lead (`channels`), what of it is queued (`outbox_entries`), and how each gets
there once (`outbox`).
Knows no Slack and no SQL: ports only.
"""
