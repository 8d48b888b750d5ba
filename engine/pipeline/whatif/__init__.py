"""
What would become of a group whose members, partitions, racks or capacities were others.

`changes` (what changes, as values, and what the group then has), `lost_racks` (what racks that are lost leave of
partitions), `changed_group` (the group after them, measured as far as what is known now goes), `condition` (what is the
matter with it then, by the rules of every diagnosis), `plan_followers` (the plan that a group follows, asked like a
strategy), `outcome` (what strategies would make of it, by the judge and forecast of today), `sizes` (how many members
it needs, and how many have something to do), `day` (whether fewer keep up with the peak of a
day), `answer` (all of it side by side, and what was assumed for it); `tasks` (the same of applications of Kafka
Streams), `rack_end` (the end of a rack as changes).
"""

from .answer import WhatIfAnswer, answer
from .changed_group import SeenGroup, SupposedLoad, seen_of, suppose
from .changes import (
    Can,
    Change,
    Grows,
    HasThreads,
    Joins,
    Leaves,
    Stands,
    WithoutRack,
    last_by_name,
    new_names,
)
from .day import DAY, PastDay, RememberedDays, day_of, sizes_for_a_day
from .outcome import WhatIfOutcome, outcomes
from .plan_followers import following_of
from .rack_end import end_of_rack, members_in, outcome_running, racks_of, why_not
from .sizes import Sizes, sizes_of
from .tasks import TaskAnswer, TaskOutcome, answer_of_tasks, arriving, by_instances

__all__ = [
    "DAY",
    "Can",
    "Change",
    "Grows",
    "HasThreads",
    "Joins",
    "Leaves",
    "PastDay",
    "RememberedDays",
    "SeenGroup",
    "Sizes",
    "Stands",
    "SupposedLoad",
    "TaskAnswer",
    "TaskOutcome",
    "WhatIfAnswer",
    "WhatIfOutcome",
    "WithoutRack",
    "answer",
    "answer_of_tasks",
    "arriving",
    "by_instances",
    "day_of",
    "end_of_rack",
    "following_of",
    "last_by_name",
    "members_in",
    "new_names",
    "outcome_running",
    "outcomes",
    "racks_of",
    "seen_of",
    "sizes_for_a_day",
    "sizes_of",
    "suppose",
    "why_not",
]
