import io.evenkeel.EvenkeelFairAssignor;
import io.evenkeel.EvenkeelLagAwareAssignor;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** A group of the classic protocol as its leader sees it, Kafka's client-side assignors and ours. */
final class ClientGroup implements Group<GroupAssignment> {
    private static final int NO_GENERATION = -1;

    private final String strategy;
    private final Cluster cluster;
    private final List<Case.Member> members;
    private final Map<String, List<TopicPartition>> owned = new HashMap<>();
    private final Map<String, ByteBuffer> blobs = new HashMap<>();
    private final Map<TopicPartition, Long> lags = new HashMap<>();

    ClientGroup(Case asked) {
        strategy = asked.strategy();
        assignor(); // an unknown name is told before any work is done
        cluster = cluster(asked.topics());
        members = asked.members();
        asked.topics().forEach((name, topic) -> {
            for (int number = 0; topic.lags() != null && number < topic.lags().size(); number++) {
                lags.put(new TopicPartition(name, number), topic.lags().get(number));
            }
        });
        for (Case.Member member : members) {
            List<TopicPartition> partitions = new ArrayList<>();
            member.owns().forEach(p -> partitions.add(new TopicPartition(p.topic(), p.partition())));
            owned.put(member.id(), partitions);
            blobs.put(member.id(), blob(member.userData()));
        }
    }

    private ConsumerPartitionAssignor assignor() {
        return switch (strategy) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            case "cooperative-sticky" -> new CooperativeStickyAssignor();
            case "fair" -> new EvenkeelFairAssignor();
            case "lag-aware" -> new EvenkeelLagAwareAssignor() {
                @Override
                protected Map<TopicPartition, Long> lags(Set<TopicPartition> partitions) {
                    return lags;
                }
            };
            default -> throw new IllegalArgumentException("no assignor is asked for by " + strategy);
        };
    }

    @Override
    public Supplier<GroupAssignment> call() {
        return call(assignor());
    }

    private Supplier<GroupAssignment> call(ConsumerPartitionAssignor assignor) {
        GroupSubscription subscriptions = new GroupSubscription(subscriptions());
        return () -> assignor.assign(cluster, subscriptions);
    }

    @Override
    public Case.Answer answer(Object id, GroupAssignment given, Double milliseconds) {
        Map<String, List<Case.Pair>> lists = lists(given);
        boolean waits = strategy.equals("cooperative-sticky");
        return new Case.Answer(id, lists, waits ? transferring(lists) : null, milliseconds, null);
    }

    /** Kafka's class does not always tell what it withholds: it is what the same plan holds beyond what was given. */
    private List<Case.Transfer> transferring(Map<String, List<Case.Pair>> given) {
        List<Case.Transfer> transferring = new ArrayList<>();
        lists(call(new WithoutWaiting()).get()).forEach((member, planned) -> {
            Map<Case.Pair, Integer> left = new HashMap<>();
            given.get(member).forEach(pair -> left.merge(pair, 1, Integer::sum));
            for (Case.Pair pair : planned) {
                if (left.merge(pair, -1, Integer::sum) < 0) {
                    transferring.add(new Case.Transfer(pair.topic(), pair.partition(), member));
                }
            }
        });
        return transferring;
    }

    private static Map<String, List<Case.Pair>> lists(GroupAssignment given) {
        Map<String, List<Case.Pair>> lists = new HashMap<>();
        given.groupAssignment().forEach((member, assignment) -> {
            List<Case.Pair> pairs = new ArrayList<>();
            assignment.partitions().forEach(p -> pairs.add(new Case.Pair(p.topic(), p.partition())));
            lists.put(member, pairs);
        });
        return lists;
    }

    /** Made anew for each call: assignors read the blobs on, and may change the lists. */
    private Map<String, Subscription> subscriptions() {
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (Case.Member member : members) {
            ByteBuffer blob = blobs.get(member.id());
            Subscription subscription = new Subscription(
                member.topics(),
                blob == null ? null : blob.duplicate(),
                new ArrayList<>(owned.get(member.id())),
                Objects.requireNonNullElse(member.generation(), NO_GENERATION),
                Optional.ofNullable(member.rack()));
            subscription.setGroupInstanceId(Optional.ofNullable(member.instanceId()));
            subscriptions.put(member.id(), subscription);
        }
        return subscriptions;
    }

    /** What the leader's metadata would say. One broker stands for each rack; assignors look at racks alone. */
    private static Cluster cluster(Map<String, Case.Topic> topics) {
        Map<String, Node> brokers = new HashMap<>();
        List<PartitionInfo> partitions = new ArrayList<>();
        topics.forEach((name, topic) -> {
            for (int number = 0; number < topic.partitions().size(); number++) {
                Node[] replicas = topic.partitions().get(number).stream()
                    .map(rack -> brokers.computeIfAbsent(rack, r -> new Node(brokers.size(), "broker", 9092, r)))
                    .toArray(Node[]::new);
                Node leader = replicas.length == 0 ? null : replicas[0];
                partitions.add(new PartitionInfo(name, number, leader, replicas, replicas));
            }
        });
        return new Cluster("oracle", brokers.values(), partitions, Set.of(), Set.of());
    }

    /** The strategy's own bytes: partitions by topic (not cooperative-sticky), then the generation if there is one. */
    private ByteBuffer blob(Case.UserData data) {
        if (data == null) {
            return null;
        }
        List<List<Case.Pair>> runs = new ArrayList<>();
        for (Case.Pair pair : Objects.requireNonNullElse(data.owned(), List.<Case.Pair>of())) {
            List<Case.Pair> last = runs.isEmpty() ? List.of() : runs.get(runs.size() - 1);
            if (last.isEmpty() || !last.get(0).topic().equals(pair.topic())) {
                runs.add(last = new ArrayList<>());
            }
            last.add(pair);
        }
        int size = 2 * Integer.BYTES;
        for (List<Case.Pair> run : runs) {
            size += Short.BYTES + utf8(run.get(0).topic()).length + Integer.BYTES * (1 + run.size());
        }
        ByteBuffer blob = ByteBuffer.allocate(size);
        if (!strategy.equals("cooperative-sticky")) {
            blob.putInt(runs.size());
            for (List<Case.Pair> run : runs) {
                byte[] name = utf8(run.get(0).topic());
                blob.putShort((short) name.length).put(name).putInt(run.size());
                run.forEach(pair -> blob.putInt(pair.partition()));
            }
        }
        if (data.generation() != null) {
            blob.putInt(data.generation());
        }
        return blob.flip();
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Cooperative-sticky's plan as it stands before partitions that must be given up first are taken out. */
    private static final class WithoutWaiting extends AbstractStickyAssignor {
        private final Reader reader = new Reader();

        @Override
        public String name() {
            return "cooperative-sticky without waiting";
        }

        @Override
        protected MemberData memberData(Subscription subscription) {
            return reader.memberData(subscription);
        }

        private static final class Reader extends CooperativeStickyAssignor {
            @Override
            protected MemberData memberData(Subscription subscription) {
                return super.memberData(subscription);
            }
        }
    }
}
