"""
What people are told: which facts are news (of advice: `advice_news`; of what is wrong with groups and pipelines:
`rounds`, `group_news`; what that is of a pipeline: `policy`), how they read (`digest`; of incidents
`incident_message`, `group_incident`, `pipeline_incident`, `group_digest`; `text`), where
they go (`channels`, `postings`, `queueing`), and how each gets there once (`outbox`). Knows no Slack and no SQL: ports
only.
"""
