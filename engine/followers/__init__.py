"""
What runs inside the consumers: assignors that follow a stored plan, and the plan itself.

Nothing here needs the rest of evenkeel: this folder may be copied into an application, under any name.
The rule is in docs/reference/plan-format.md.
"""
