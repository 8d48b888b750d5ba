package io.evenkeel;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberSubscription;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps groups of the new protocol (KIP-848) in their racks, inside the broker. It promises, in this order,
 * <ol>
 * <li>counts as even as subscriptions allow: the least sum of squares. Where all subscribe to the same, they differ
 * by one at most, as those of {@code uniform} do; else they are as even as those of {@code uniform}, or evener;</li>
 * <li>the fewest partitions whose owner's rack holds no replica that such counts allow; where a rack is not known,
 * nothing counts;</li>
 * <li>the fewest moves that such racks allow.</li>
 * </ol>
 * None is approached only: it is a min-cost flow, over classes of partitions (same present owner, same racks, same
 * subscribers) instead of single ones, so its size goes by members and racks. Where subscriptions differ so much
 * that it would be large none the less, each member gets as many as {@code uniform} gives it; and a group of more than
 * 200,000 partitions is left to {@code uniform}, for a broker has more to do.
 *
 * <p>It needs the jars of a Kafka broker (tried with 4.3), Java 17, and nothing else. It does not look at lag, load or
 * leaders.
 */
public class EvenkeelServerAssignor implements ConsumerGroupPartitionAssignor {
    /** What a member asks for as {@code group.remote.assignor}. */
    public static final String NAME = "evenkeel-racks";

    private static final Logger LOG = LoggerFactory.getLogger(EvenkeelServerAssignor.class);

    /** Of members times how far their counts may lie apart: an arc each. */
    private static final int MOST_STEPS = 100_000;

    private static final int MOST_PARTITIONS = 200_000;

    private final UniformAssignor uniform = new UniformAssignor();

    @Override
    public String name() {
        return NAME;
    }

    /**
     * Who gets what.
     *
     * @throws PartitionAssignorException A member subscribes to a topic that is not there, as Kafka's own have it.
     */
    @Override
    public GroupAssignment assign(GroupSpec group, SubscribedTopicDescriber topics) throws PartitionAssignorException {
        try {
            return fits(group, topics)
                ? new Problem(group, topics, uniform).solved()
                : uniform.assign(group, topics);
        } catch (PartitionAssignorException told) {
            throw told;
        } catch (RuntimeException problem) { // an error of ours: the group shall not stand still for it
            LOG.warn("A group gets what uniform gives it: {} failed ({}) in {}", NAME,
                String.valueOf(problem).replaceAll("\\p{C}|\\p{Zl}|\\p{Zp}", " "), problem.getStackTrace());
            return uniform.assign(group, topics);
        }
    }

    private static boolean fits(GroupSpec group, SubscribedTopicDescriber topics) {
        return group.memberIds().stream()
            .flatMap(member -> group.memberSubscription(member).subscribedTopicIds().stream())
            .distinct()
            .mapToLong(topics::numPartitions)
            .sum() <= MOST_PARTITIONS;
    }

    private record Partition(Uuid topic, int number) {}

    private record Given(Map<Uuid, Set<Integer>> partitions) implements MemberAssignment {}

    /** Members that may be exchanged but for what they own: the same rack ("" unknown), the same topics. */
    private record Kind(String rack, Set<Uuid> topics) {}

    /** Partitions that may be exchanged: the same owner (-1 none), racks (empty: unknown) and subscribers. */
    private record Alike(int owner, Pool pool) {}

    private record Pool(Set<String> racks, int subscribers) {}

    /** The group as it would be told without claims that do not hold, which {@code uniform} may stumble over. */
    private record Cleared(GroupSpec of, Map<String, Map<Uuid, Set<Integer>>> held, Map<Partition, Integer> owners)
            implements GroupSpec {
        Cleared(GroupSpec of, List<String> members, Map<Partition, Integer> owners) {
            this(of, new HashMap<>(), owners);
            members.forEach(member -> held.put(member, new HashMap<>()));
            owners.forEach((one, owner) -> held.get(members.get(owner))
                .computeIfAbsent(one.topic, any -> new HashSet<>()).add(one.number));
        }

        @Override
        public Collection<String> memberIds() {
            return of.memberIds();
        }

        @Override
        public SubscriptionType subscriptionType() {
            return of.subscriptionType();
        }

        @Override
        public boolean isPartitionAssigned(Uuid topic, int number) {
            return owners.containsKey(new Partition(topic, number));
        }

        @Override
        public boolean isPartitionAssignable(Uuid topic, int number) {
            return of.isPartitionAssignable(topic, number);
        }

        @Override
        public MemberSubscription memberSubscription(String member) {
            return of.memberSubscription(member);
        }

        @Override
        public MemberAssignment memberAssignment(String member) {
            return new Given(Collections.unmodifiableMap(held.get(member))); // what uniform insists on
        }
    }

    /** One group, as integers: members by the order of their ids. */
    private static final class Problem {
        private final SubscribedTopicDescriber topics;
        private final List<String> members;
        private final List<Kind> kinds = new ArrayList<>();
        private final int[] kindOf;
        /** The fewest and the most that a member gets in whatever is most even. */
        private final int[] fewest;
        private final int[] most;
        private final Map<Alike, List<Partition>> partitions = new LinkedHashMap<>();
        private int count;

        Problem(GroupSpec group, SubscribedTopicDescriber topics, UniformAssignor uniform) {
            this.topics = topics;
            members = group.memberIds().stream().sorted().toList();
            kindOf = new int[members.size()];
            fewest = new int[members.size()];
            most = new int[members.size()];
            Map<Kind, Integer> known = new HashMap<>();
            for (int member = 0; member < members.size(); member++) {
                MemberSubscription told = group.memberSubscription(members.get(member));
                Kind kind = new Kind(told.rackId().orElse(""), Set.copyOf(told.subscribedTopicIds()));
                kindOf[member] = known.computeIfAbsent(kind, any -> known.size());
                if (kindOf[member] == kinds.size()) {
                    kinds.add(kind);
                }
            }
            Map<Partition, Integer> owners = owners(group);
            collect(owners);
            bound(new Cleared(group, members, owners), uniform);
        }

        /** Partition to its owner, of those that may stay with it; of two that claim one the first has it. */
        private Map<Partition, Integer> owners(GroupSpec group) {
            Map<Partition, Integer> owners = new HashMap<>();
            for (int member = 0; member < members.size(); member++) {
                int owner = member;
                group.memberAssignment(members.get(member)).partitions().forEach((topic, numbers) -> {
                    if (kinds.get(kindOf[owner]).topics.contains(topic)) {
                        numbers.forEach(number -> owners.putIfAbsent(new Partition(topic, number), owner));
                    }
                });
            }
            return owners;
        }

        private Set<String> racks(Uuid topic, int number) {
            return topics.racksForPartition(topic, number).stream()
                .filter(rack -> rack != null && !rack.isEmpty())
                .collect(Collectors.toUnmodifiableSet());
        }

        /** Sorts partitions into classes; owners of partitions that are no more are forgotten. */
        private void collect(Map<Partition, Integer> owners) {
            Map<Uuid, List<Integer>> subscribers = new TreeMap<>();
            for (int kind = 0; kind < kinds.size(); kind++) {
                for (Uuid topic : kinds.get(kind).topics) {
                    subscribers.computeIfAbsent(topic, any -> new ArrayList<>()).add(kind);
                }
            }
            Map<List<Integer>, Integer> known = new HashMap<>();
            subscribers.forEach((topic, of) -> {
                int size = topics.numPartitions(topic);
                if (size < 0) {
                    throw new PartitionAssignorException("Members subscribe to topic " + topic + ", which is no more.");
                }
                int which = known.computeIfAbsent(of, any -> known.size());
                for (int number = 0; number < size; number++) {
                    Partition one = new Partition(topic, number);
                    Pool pool = new Pool(racks(topic, number), which);
                    Alike alike = new Alike(owners.getOrDefault(one, -1), pool);
                    partitions.computeIfAbsent(alike, any -> new ArrayList<>()).add(one);
                }
                count += size;
            });
            owners.keySet().removeIf(one -> one.number < 0 || one.number >= topics.numPartitions(one.topic));
        }

        /**
         * What is most even has no lower minimum and no higher maximum than any other, so those of {@code uniform}
         * bound it (Harvey, Ladner, Lovasz and Tamir, Semi-matchings for bipartite graphs and load balancing, 2006).
         */
        private void bound(GroupSpec group, UniformAssignor uniform) {
            if (members.isEmpty() || group.subscriptionType() == SubscriptionType.HOMOGENEOUS) {
                Arrays.fill(fewest, count / Math.max(members.size(), 1));
                Arrays.fill(most, count / Math.max(members.size(), 1) + 1);
                return;
            }
            Map<String, MemberAssignment> even = uniform.assign(group, topics).members();
            for (int member = 0; member < members.size(); member++) {
                MemberAssignment own = even.get(members.get(member));
                int size = own == null ? 0 : own.partitions().values().stream().mapToInt(Set::size).sum();
                fewest[member] = size;
                most[member] = size;
            }
            int least = Arrays.stream(fewest).min().orElse(0);
            int highest = Arrays.stream(most).max().orElse(0);
            if ((long) members.size() * (highest - least) <= MOST_STEPS) {
                Arrays.fill(fewest, least);
                Arrays.fill(most, highest);
            }
        }

        GroupAssignment solved() {
            List<Map<Uuid, Set<Integer>>> given = new ArrayList<>();
            members.forEach(member -> given.add(new HashMap<>()));
            if (count > 0) {
                new Racks(this).give(given);
            }
            Map<String, MemberAssignment> assignment = new HashMap<>();
            for (int member = 0; member < members.size(); member++) {
                assignment.put(members.get(member), new Given(given.get(member)));
            }
            return new GroupAssignment(assignment);
        }
    }

    /**
     * The flow: from a class of partitions to its owner, or over a pool and a kind of members to another.
     *
     * <p>A partition that crosses racks costs more than all moves together; each further partition of a member costs
     * more than the one before, by more than all racks together.
     */
    private static final class Racks {
        private final Problem of;
        private final long crossing;
        private final long step;
        private final Flow flow;
        private final int source = 0;
        private final int sink = 1;
        private final int[] memberNodes;
        private final Map<Pool, Integer> poolNodes = new LinkedHashMap<>();
        private final int[] kindNodes;
        private final Map<Alike, Integer> staying = new HashMap<>();
        private final Map<Pool, int[]> toKinds = new HashMap<>();
        private final int[] toMembers;

        Racks(Problem of) {
            this.of = of;
            crossing = of.count + 1L;
            step = (of.count + 1L) * (crossing + 1);
            flow = new Flow();
            flow.node();
            flow.node();
            memberNodes = new int[of.members.size()];
            toMembers = new int[of.members.size()];
            kindNodes = of.kinds.stream().mapToInt(kind -> flow.node()).toArray();
            for (int member = 0; member < memberNodes.length; member++) {
                memberNodes[member] = flow.node();
                flow.arc(memberNodes[member], sink, of.fewest[member], 0);
                for (int more = of.fewest[member]; more < of.most[member]; more++) {
                    flow.arc(memberNodes[member], sink, 1, step * (more - of.fewest[member] + 1));
                }
                int kind = kindNodes[of.kindOf[member]];
                toMembers[member] = flow.arc(kind, memberNodes[member], of.most[member], 0);
            }
            of.partitions.forEach(this::add);
            if (flow.send(source, sink) < of.count) {
                throw new IllegalStateException("there is no room for all partitions");
            }
        }

        private void add(Alike alike, List<Partition> partitions) {
            int from = flow.node();
            int size = partitions.size();
            flow.arc(source, from, size, 0);
            int pool = poolNodes.computeIfAbsent(alike.pool, any -> pool(any, partitions.get(0).topic));
            flow.arc(from, pool, size, 0);
            if (alike.owner >= 0) {
                long cost = cost(alike.pool, of.kinds.get(of.kindOf[alike.owner]));
                staying.put(alike, flow.arc(from, memberNodes[alike.owner], size, cost));
            }
        }

        private int pool(Pool pool, Uuid topic) {
            int node = flow.node();
            int[] arcs = new int[of.kinds.size()];
            Arrays.fill(arcs, -1);
            for (int kind = 0; kind < arcs.length; kind++) {
                if (of.kinds.get(kind).topics.contains(topic)) {
                    arcs[kind] = flow.arc(node, kindNodes[kind], of.count, cost(pool, of.kinds.get(kind)) + 1);
                }
            }
            toKinds.put(pool, arcs);
            return node;
        }

        private long cost(Pool pool, Kind kind) {
            boolean known = !pool.racks.isEmpty() && !kind.rack.isEmpty();
            return known && !pool.racks.contains(kind.rack) ? crossing : 0;
        }

        /** Who gets which partitions: the lowest numbers stay, what leaves is dealt out in the order of members. */
        void give(List<Map<Uuid, Set<Integer>>> given) {
            Map<Pool, ArrayDeque<Partition>> leaving = new LinkedHashMap<>();
            of.partitions.forEach((alike, partitions) -> {
                int stay = staying.containsKey(alike) ? flow.sent(staying.get(alike)) : 0;
                partitions.subList(0, stay).forEach(one -> give(given, alike.owner, one));
                leaving.computeIfAbsent(alike.pool, any -> new ArrayDeque<>())
                    .addAll(partitions.subList(stay, partitions.size()));
            });
            List<ArrayDeque<Partition>> coming = new ArrayList<>();
            of.kinds.forEach(kind -> coming.add(new ArrayDeque<>()));
            leaving.forEach((pool, partitions) -> {
                int[] arcs = toKinds.get(pool);
                for (int kind = 0; kind < arcs.length; kind++) {
                    for (int left = arcs[kind] < 0 ? 0 : flow.sent(arcs[kind]); left > 0; left--) {
                        coming.get(kind).add(partitions.remove());
                    }
                }
            });
            for (int member = 0; member < memberNodes.length; member++) {
                for (int left = flow.sent(toMembers[member]); left > 0; left--) {
                    give(given, member, coming.get(of.kindOf[member]).remove());
                }
            }
        }

        private static void give(List<Map<Uuid, Set<Integer>>> given, int member, Partition one) {
            given.get(member).computeIfAbsent(one.topic, any -> new HashSet<>()).add(one.number);
        }
    }

    /**
     * A min-cost flow: all paths of the same cost are filled at once, the cheapest first (primal-dual).
     *
     * <p>Arc {@code a} and its way back {@code a ^ 1} lie side by side. Costs are 0 or above.
     */
    static final class Flow {
        private static final long FAR = Long.MAX_VALUE / 4;

        private int nodes;
        private int arcs;
        private int[] head = new int[64];
        private int[] next = new int[256];
        private int[] to = new int[256];
        private int[] room = new int[256];
        private long[] cost = new long[256];
        private long[] price;
        private long[] distance;
        private int[] level;
        private int[] at;

        int node() {
            if (nodes == head.length) {
                head = Arrays.copyOf(head, 2 * nodes);
            }
            head[nodes] = -1;
            return nodes++;
        }

        /** An arc of so much room; its name. */
        int arc(int from, int target, int most, long each) {
            if (arcs + 2 > to.length) {
                next = Arrays.copyOf(next, 2 * arcs);
                to = Arrays.copyOf(to, 2 * arcs);
                room = Arrays.copyOf(room, 2 * arcs);
                cost = Arrays.copyOf(cost, 2 * arcs);
            }
            add(from, target, most, each);
            add(target, from, 0, -each);
            return arcs - 2;
        }

        private void add(int from, int target, int most, long each) {
            to[arcs] = target;
            room[arcs] = most;
            cost[arcs] = each;
            next[arcs] = head[from];
            head[from] = arcs++;
        }

        int sent(int arc) {
            return room[arc ^ 1];
        }

        /** Sends as much as there is room for, at the least cost; how much that was. */
        int send(int source, int sink) {
            price = new long[nodes];
            level = new int[nodes];
            int sent = 0;
            while (reprice(source, sink)) {
                while (levels(source, sink)) {
                    at = Arrays.copyOf(head, nodes);
                    for (int more = path(source, sink); more > 0; more = path(source, sink)) {
                        sent += more;
                    }
                }
            }
            return sent;
        }

        /** Makes what lies on a cheapest path cost nothing (Dijkstra, Johnson); whether there is such a path. */
        private boolean reprice(int source, int sink) {
            distance = new long[nodes];
            Arrays.fill(distance, FAR);
            distance[source] = 0;
            PriorityQueue<long[]> open = new PriorityQueue<>(Comparator.comparingLong((long[] one) -> one[0]));
            open.add(new long[] {0, source});
            while (!open.isEmpty()) {
                long[] nearest = open.remove();
                int node = (int) nearest[1];
                if (nearest[0] > distance[node]) {
                    continue;
                }
                for (int arc = head[node]; arc >= 0; arc = next[arc]) {
                    long far = nearest[0] + cost[arc] + price[node] - price[to[arc]];
                    if (room[arc] > 0 && far < distance[to[arc]]) {
                        distance[to[arc]] = far;
                        open.add(new long[] {far, to[arc]});
                    }
                }
            }
            for (int node = 0; node < nodes; node++) {
                price[node] += Math.min(distance[node], distance[sink]);
            }
            return distance[sink] < FAR;
        }

        /** How many arcs each node is away, over those that cost nothing: no way goes round in circles. */
        private boolean levels(int source, int sink) {
            Arrays.fill(level, -1);
            level[source] = 0;
            ArrayDeque<Integer> open = new ArrayDeque<>(List.of(source));
            while (!open.isEmpty() && level[sink] < 0) {
                int node = open.remove();
                for (int arc = head[node]; arc >= 0; arc = next[arc]) {
                    if (level[to[arc]] < 0 && free(node, arc)) {
                        level[to[arc]] = level[node] + 1;
                        open.add(to[arc]);
                    }
                }
            }
            return level[sink] >= 0;
        }

        private boolean free(int node, int arc) {
            return room[arc] > 0 && cost[arc] + price[node] - price[to[arc]] == 0;
        }

        /** Fills one path of those arcs; by how much. */
        private int path(int source, int sink) {
            ArrayDeque<Integer> way = new ArrayDeque<>();
            int node = source;
            while (node != sink) {
                int arc = at[node];
                if (arc >= 0 && level[to[arc]] == level[node] + 1 && free(node, arc)) {
                    way.push(arc);
                    node = to[arc];
                } else if (arc >= 0) {
                    at[node] = next[arc];
                } else if (way.isEmpty()) {
                    return 0;
                } else { // a dead end: nobody goes there again
                    level[node] = -1;
                    node = to[way.pop() ^ 1];
                }
            }
            int most = way.stream().mapToInt(arc -> room[arc]).min().orElse(0);
            way.forEach(arc -> {
                room[arc] -= most;
                room[arc ^ 1] += most;
            });
            return most;
        }
    }
}
