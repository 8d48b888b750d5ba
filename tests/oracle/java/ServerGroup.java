import io.evenkeel.EvenkeelServerAssignor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberSubscription;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;

/**
 * A KIP-848 group as its coordinator sees it, and Kafka's server-side assignors.
 *
 * Everything here is immutable, and has to be: the assignors keep maps that say so as they are, and copy what they
 * change.
 */
final class ServerGroup implements Group<GroupAssignment>, GroupSpec, SubscribedTopicDescriber {
    /** Kafka's, and ours. */
    static final Map<String, Supplier<ConsumerGroupPartitionAssignor>> ASSIGNORS = Map.of(
        "uniform", UniformAssignor::new,
        "range-server", RangeAssignor::new,
        "racks-server", EvenkeelServerAssignor::new);

    private record Member(
        Optional<String> rackId,
        Optional<String> instanceId,
        Set<Uuid> subscribedTopicIds,
        Map<Uuid, Set<Integer>> partitions) implements MemberSubscription, MemberAssignment {}

    private final String strategy;
    private final SubscriptionType type;
    private final Map<String, Uuid> ids = new HashMap<>();
    private final Map<Uuid, String> names = new HashMap<>();
    private final Map<Uuid, Case.Topic> topics = new HashMap<>();
    private final Map<String, Member> members = new HashMap<>();
    private final Map<Uuid, Set<Integer>> assigned = new HashMap<>();

    ServerGroup(Case asked) {
        strategy = asked.strategy();
        type = asked.homogeneous() ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        asked.topics().forEach((name, topic) -> {
            UUID id = UUID.fromString(topic.id());
            Uuid same = new Uuid(id.getMostSignificantBits(), id.getLeastSignificantBits());
            ids.put(name, same);
            names.put(same, name);
            topics.put(same, topic);
        });
        asked.members().forEach(member -> members.put(member.id(), read(member)));
        for (Member member : members.values()) {
            member.partitions().forEach(
                (topic, numbers) -> assigned.computeIfAbsent(topic, t -> new LinkedHashSet<>()).addAll(numbers));
        }
    }

    /** Topics that do not exist never reach an assignor: the coordinator has no id for them. */
    private Member read(Case.Member member) {
        Set<Uuid> subscribed = new LinkedHashSet<>();
        member.topics().stream().filter(ids::containsKey).map(ids::get).forEach(subscribed::add);
        Map<Uuid, Set<Integer>> target = new LinkedHashMap<>();
        for (Case.Pair pair : member.owns()) {
            if (ids.containsKey(pair.topic())) {
                target.computeIfAbsent(ids.get(pair.topic()), t -> new LinkedHashSet<>()).add(pair.partition());
            }
        }
        return new Member(
            Optional.ofNullable(member.rack()).filter(rack -> !rack.isEmpty()),
            Optional.ofNullable(member.instanceId()),
            Collections.unmodifiableSet(subscribed),
            Collections.unmodifiableMap(target));
    }

    @Override
    public Supplier<GroupAssignment> call() {
        ConsumerGroupPartitionAssignor asked = ASSIGNORS.get(strategy).get();
        return () -> asked.assign(this, this);
    }

    @Override
    public Case.Answer answer(Object id, GroupAssignment given, Double milliseconds) {
        Map<String, List<Case.Pair>> lists = new HashMap<>();
        given.members().forEach((member, target) -> {
            List<Case.Pair> pairs = new ArrayList<>();
            target.partitions().forEach(
                (topic, numbers) -> numbers.forEach(n -> pairs.add(new Case.Pair(names.get(topic), n))));
            lists.put(member, pairs);
        });
        return new Case.Answer(id, lists, null, milliseconds, null);
    }

    @Override
    public Collection<String> memberIds() {
        return members.keySet();
    }

    @Override
    public SubscriptionType subscriptionType() {
        return type;
    }

    @Override
    public boolean isPartitionAssigned(Uuid topic, int partition) {
        Set<Integer> numbers = assigned.get(topic);
        return numbers != null && numbers.contains(partition);
    }

    @Override
    public boolean isPartitionAssignable(Uuid topic, int partition) {
        return true; // share groups alone restrict it
    }

    @Override
    public MemberSubscription memberSubscription(String member) {
        return members.get(member);
    }

    @Override
    public MemberAssignment memberAssignment(String member) {
        return members.get(member);
    }

    @Override
    public int numPartitions(Uuid topic) {
        return topics.containsKey(topic) ? topics.get(topic).partitions().size() : -1;
    }

    @Override
    public Set<String> racksForPartition(Uuid topic, int partition) {
        return new LinkedHashSet<>(topics.get(topic).partitions().get(partition));
    }
}
