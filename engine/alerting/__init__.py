"""
What people are told: which facts are news (`policy`), how they read (`digest`, `incident`,
`text`), and how each gets there once (`outbox`). Knows no Slack and no SQL: ports only.
"""
