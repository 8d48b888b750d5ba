import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.internals.TopologyMetadata.Subtopology;
import org.apache.kafka.streams.processor.internals.assignment.ClientState;
import org.apache.kafka.streams.processor.internals.assignment.RackAwareTaskAssignor;

/**
 * Asks the optimiser of Kafka Streams for active tasks (RackAwareTaskAssignor over its Graph): a case per line on
 * standard input, an answer per line on standard output, in order. Cases have the form of the optimiser's vectors.
 */
public final class TaskOracle {
    private record Costs(int traffic, int nonOverlap) {}

    private record Topic(List<List<String>> partitions) {}

    private record Task(String id, List<List<String>> partitions) {}

    private record Client(String processId, String rack) {}

    private record Asked(
        Object id, String strategy, Costs costs, Map<String, Topic> topics, List<Task> tasks, List<Client> clients,
        Map<String, List<String>> initial, int repeat, int warmUp) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Answer(
        Object id, Map<String, List<String>> active, Long activeCost, Double milliseconds, String error) {}

    private final Asked asked;
    private final Cluster cluster;
    private final Map<TaskId, Set<TopicPartition>> sources = new HashMap<>();
    private final Map<TaskId, Set<TopicPartition>> changelogs = new HashMap<>();
    private final Map<Subtopology, Set<TaskId>> subtopologies = new HashMap<>();
    private final Map<ProcessId, Map<String, Optional<String>>> racks = new HashMap<>();

    private TaskOracle(Asked asked) {
        this.asked = asked;
        this.cluster = cluster(asked.topics());
        for (Task task : asked.tasks()) {
            TaskId id = TaskId.parse(task.id());
            Set<TopicPartition> partitions = new HashSet<>();
            task.partitions().forEach(p -> partitions.add(new TopicPartition(p.get(0), Integer.parseInt(p.get(1)))));
            sources.put(id, partitions);
            changelogs.put(id, Set.of());
            subtopologies.computeIfAbsent(new Subtopology(id.subtopology(), null), s -> new HashSet<>()).add(id);
        }
        for (Client client : asked.clients()) {
            racks.put(process(client.processId()), Map.of("consumer", Optional.ofNullable(client.rack())));
        }
    }

    private static ProcessId process(String id) {
        return new ProcessId(UUID.fromString(id));
    }

    /** A broker per rack is enough: replicas of one partition on one rack count once. */
    private static Cluster cluster(Map<String, Topic> topics) {
        Map<String, Node> nodes = new TreeMap<>();
        topics.values().forEach(topic -> topic.partitions().forEach(replicas -> replicas.forEach(
            rack -> nodes.computeIfAbsent(rack, r -> new Node(nodes.size(), "localhost", 9092, r)))));
        List<PartitionInfo> partitions = new ArrayList<>();
        topics.forEach((name, topic) -> {
            for (int number = 0; number < topic.partitions().size(); number++) {
                Node[] replicas = topic.partitions().get(number).stream().map(nodes::get).toArray(Node[]::new);
                partitions.add(new PartitionInfo(name, number, replicas[0], replicas, replicas));
            }
        });
        return new Cluster("oracle", nodes.values(), partitions, Set.of(), Set.of());
    }

    /** One optimisation on objects of its own. */
    private final class Call {
        private final RackAwareTaskAssignor assignor;
        private final SortedSet<TaskId> tasks = new TreeSet<>(sources.keySet());
        private final SortedMap<ProcessId, ClientState> clients = new TreeMap<>();

        Call() {
            AssignmentConfigs configs = new AssignmentConfigs(
                10_000L, 2, 0, 60_000L, List.of(), asked.costs().traffic(), asked.costs().nonOverlap(),
                asked.strategy());
            assignor = new RackAwareTaskAssignor(
                cluster, sources, changelogs, subtopologies, racks, null, configs, Time.SYSTEM);
            if (!assignor.canEnableRackAwareAssignor()) {
                throw new IllegalStateException("a rack is missing");
            }
            asked.clients().forEach(client -> clients.put(
                process(client.processId()), new ClientState(process(client.processId()), Map.of())));
            asked.initial().forEach((client, held) -> held.forEach(
                task -> clients.get(process(client)).assignActive(TaskId.parse(task))));
        }

        long run() {
            return assignor.optimizeActiveTasks(tasks, clients, asked.costs().traffic(), asked.costs().nonOverlap());
        }
    }

    private Answer answer() {
        Call call = new Call();
        long cost = call.run();
        Map<String, List<String>> active = new TreeMap<>();
        call.clients.forEach((client, state) -> active.put(
            client.toString(), state.activeTasks().stream().sorted().map(TaskId::toString).toList()));
        Double alone = Harness.milliseconds(asked.warmUp(), asked.repeat(), () -> new Call()::run);
        return new Answer(asked.id(), active, cost, alone, null);
    }

    public static void main(String[] args) throws IOException {
        Harness.serve(Asked.class, TaskOracle::answered);
    }

    private static Answer answered(Asked asked) {
        try {
            return new TaskOracle(asked).answer();
        } catch (RuntimeException problem) {
            return new Answer(asked.id(), null, null, null, problem.toString());
        }
    }
}
