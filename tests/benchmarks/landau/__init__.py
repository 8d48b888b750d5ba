"""
Landau's sequences: how many members a group needs, and how much moves, while arrivals walk at random.

Rates of 200 partitions change with every measurement by up to a *delta*, and no member may get more than it can take.
Who assigns chooses the number of members as well. Two figures count, over all measurements: the mean number of members,
and the mean R-score, the rate that moves over what a member can take.

`sequences` makes the rates, `heuristics` has the published yardsticks, `priced` is ours, `results` shows both.

Source: Landau, Saurabh, Andrade and Barbosa, "Multi-Objective Optimization of Consumer Group Autoscaling in Message
Broker Systems", arXiv 2402.06085; the generator and the results are in landaudiogo/kafka-consumer-group-autoscaler and
landaudiogo/thesis_data on GitHub. The code here is our own.
"""
