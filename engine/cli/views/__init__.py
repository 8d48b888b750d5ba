"""What several verbs show: tables, names of members, the scoreboard, elections and pictures."""
