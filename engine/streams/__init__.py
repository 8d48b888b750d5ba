"""
Kafka Streams: tasks placed on clients, near their data, without moving more than that is worth.

Read it in this order; what stands above does not know what stands below:

1. `settings`       strategies, costs and the other settings, in Kafka's names
   `model`          tasks, clients and answers as integers
   `java`           Java's hashes of tasks and clients, and its priority queue
2. `racks`          cross-rack partitions, tasks x racks, and why racks may play no part
3. `assign_tasks`   tasks assigned and balanced over the clients' threads
   `actives`        the rack optimizer of active tasks
   `standbys`       copies on the least loaded clients, apart by client tags, or by racks taken for one
   `standby_racks`  copies swapped towards their data
   `task_movements` lags: what runs elsewhere for now, and what warms up; its loops in `task_movement_kernels`
4. `place`          the whole: one rebalance
   `simulate`       rebalances until nothing moves
   `sticky_tasks`   the same by Kafka's public sticky assignor; its racks in `sticky_racks`, over `cycle_cancelling`,
                    Kafka's own way to the least cost
   `sticky_tasks_server`  by the broker's sticky assignor, to members
5. `stores`         of a live application, which tasks have stores, and their changelogs
   `live`           the application behind a group of a snapshot, and what it has now
   `store_copies`   whether one rack has all copies of a store
   `compare`        that beside what each strategy would give it
   `separate_copies`  stores that would be lost with one rack, and the setting that brings their copies apart
   `after_change`   the group behind it after a change: tasks given, an instance gone, new or back
   `threads`        tasks of a client over its threads, so that groups and applications compare
"""
