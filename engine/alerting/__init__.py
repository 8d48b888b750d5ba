"""
What people are told: which facts are news (of advice: `advice_news`; of what is wrong with pipelines: `policy`, with
groups: `rounds`, `group_news`), how they read (`digest`, `incident`, `group_incident`, `group_digest`, `text`), where
they go (`channels`, `postings`, `queueing`), and how each gets there once (`outbox`). Knows no Slack and no SQL: ports
only.
"""
