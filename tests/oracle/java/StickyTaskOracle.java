import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment.AssignedTask;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsState;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.assignment.TaskAssignor.TaskAssignment;
import org.apache.kafka.streams.processor.assignment.TaskInfo;
import org.apache.kafka.streams.processor.assignment.TaskTopicPartition;
import org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor;
import org.apache.kafka.streams.processor.internals.assignment.DefaultKafkaStreamsState;
import org.apache.kafka.streams.processor.internals.assignment.DefaultTaskInfo;
import org.apache.kafka.streams.processor.internals.assignment.DefaultTaskTopicPartition;

/**
 * Asks Kafka's two sticky assignors of tasks, the public one of Kafka Streams and the broker's: a case per line on
 * standard input, an answer per line on standard output, in order.
 *
 * A case is one that `evenkeel assign` reads. An answer of the public class says besides in which order it dealt
 * standbys: that of a set of objects without a hash of their own, which no input decides.
 */
public final class StickyTaskOracle {
    private record Costs(Integer traffic, Integer nonOverlap) {}

    private record Topic(List<List<String>> partitions) {}

    private record Task(
        String id, List<List<String>> partitions, List<List<String>> changelogPartitions, boolean stateful) {}

    private record Client(
        String processId, int threads, String rack, Map<String, String> tags, List<String> previousActive,
        List<String> previousStandby) {}

    private record Member(
        String id, String processId, List<String> previousActive, List<String> previousStandby,
        Map<String, Long> taskOffsets) {}

    private record Config(int numStandbyReplicas, List<String> rackAwareAssignmentTags) {}

    private record Asked(
        Object id, String strategy, Costs costs, Map<String, Topic> topics, List<Task> tasks, List<Client> clients,
        List<Member> members, Config config, int repeat, int warmUp) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Given(List<String> active, List<String> standby) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Answer(
        Object id, Map<String, List<String>> active, Map<String, List<String>> standby, Map<String, Given> members,
        List<String> standbyOrder, Double milliseconds, String error) {}

    private static Answer answered(Asked asked) {
        try {
            return asked.strategy().equals("sticky-tasks-server") ? broker(asked) : client(asked);
        } catch (RuntimeException problem) {
            return new Answer(asked.id(), null, null, null, null, null, problem.toString());
        }
    }

    // ---- the broker's

    private static Answer broker(Asked asked) {
        Map<String, Integer> sizes = new LinkedHashMap<>();
        Set<String> stateful = new HashSet<>();
        for (Task task : asked.tasks()) {
            String subtopology = subtopology(task.id());
            sizes.merge(subtopology, partition(task.id()) + 1, Math::max);
            if (task.stateful()) {
                stateful.add(subtopology);
            }
        }
        List<BrokerMember> members = asked.members().stream().map(member -> new BrokerMember(
            member.id(), member.processId(), numbers(member.previousActive()), numbers(member.previousStandby()),
            offsets(member.taskOffsets()))).toList();
        Supplier<Map<String, BrokerMember>> ask =
            BrokerTasks.asking(members, asked.config().numStandbyReplicas(), sizes, stateful);
        Map<String, Given> given = new TreeMap<>();
        ask.get().forEach((member, tasks) -> given.put(member, new Given(names(tasks.active()), names(tasks.standby()))));
        return new Answer(asked.id(), null, null, given, null, milliseconds(asked, ask), null);
    }

    private static String subtopology(String task) {
        return task.substring(0, task.lastIndexOf('_'));
    }

    private static int partition(String task) {
        return Integer.parseInt(task.substring(task.lastIndexOf('_') + 1));
    }

    private static Map<String, Set<Integer>> numbers(List<String> tasks) {
        Map<String, Set<Integer>> found = new HashMap<>();
        tasks.forEach(task -> found.computeIfAbsent(subtopology(task), s -> new HashSet<>()).add(partition(task)));
        return found;
    }

    private static Map<String, Map<Integer, Long>> offsets(Map<String, Long> told) {
        Map<String, Map<Integer, Long>> found = new HashMap<>();
        if (told != null) {
            told.forEach((task, offset) -> found.computeIfAbsent(subtopology(task), s -> new HashMap<>())
                .put(partition(task), offset));
        }
        return found;
    }

    private static List<String> names(Map<String, Set<Integer>> tasks) {
        return tasks.entrySet().stream()
            .flatMap(entry -> entry.getValue().stream().map(number -> entry.getKey() + "_" + number))
            .sorted()
            .toList();
    }

    // ---- the client's

    private record Application(
        AssignmentConfigs assignmentConfigs, Map<TaskId, TaskInfo> allTasks,
        Map<ProcessId, KafkaStreamsState> clients) implements ApplicationState {
        @Override
        public Map<ProcessId, KafkaStreamsState> kafkaStreamsStates(boolean computeTaskLags) {
            return clients;
        }
    }

    private static Answer client(Asked asked) {
        Application application = application(asked);
        Supplier<TaskAssignment> ask = () -> new StickyTaskAssignor().assign(application);
        List<String> order = application.allTasks().values().stream()
            .filter(task -> task.topicPartitions().stream().anyMatch(TaskTopicPartition::isChangelog))
            .collect(Collectors.toSet()).stream()
            .map(task -> task.id().toString())
            .toList();
        Map<String, List<String>> active = new TreeMap<>();
        Map<String, List<String>> standby = new TreeMap<>();
        ask.get().assignment().forEach(one -> {
            String process = one.processId().toString();
            active.put(process, held(one.tasks(), AssignedTask.Type.ACTIVE));
            standby.put(process, held(one.tasks(), AssignedTask.Type.STANDBY));
        });
        return new Answer(asked.id(), active, standby, null, order, milliseconds(asked, ask), null);
    }

    private static List<String> held(Map<TaskId, AssignedTask> tasks, AssignedTask.Type type) {
        return tasks.values().stream().filter(task -> task.type() == type).map(AssignedTask::id).sorted()
            .map(TaskId::toString).toList();
    }

    private static Application application(Asked asked) {
        Map<TaskId, TaskInfo> tasks = new HashMap<>();
        asked.tasks().forEach(task -> tasks.put(TaskId.parse(task.id()), info(asked, task)));
        Map<ProcessId, KafkaStreamsState> clients = new HashMap<>();
        asked.clients().forEach(client -> {
            ProcessId id = new ProcessId(UUID.fromString(client.processId()));
            clients.put(id, new DefaultKafkaStreamsState(
                id, client.threads(), client.tags(), ids(client.previousActive()), ids(client.previousStandby()),
                new TreeMap<>(), Optional.empty(), Optional.empty(), Optional.ofNullable(client.rack())));
        });
        AssignmentConfigs configs = new AssignmentConfigs(
            10_000L, 2, asked.config().numStandbyReplicas(), 600_000L, asked.config().rackAwareAssignmentTags(),
            optional(asked.costs().traffic()), optional(asked.costs().nonOverlap()),
            asked.strategy().equals("sticky-tasks") ? "none" : asked.strategy());
        return new Application(configs, tasks, clients);
    }

    private static OptionalInt optional(Integer value) {
        return value == null ? OptionalInt.empty() : OptionalInt.of(value);
    }

    private static TreeSet<TaskId> ids(List<String> tasks) {
        return tasks.stream().map(TaskId::parse).collect(Collectors.toCollection(TreeSet::new));
    }

    private static TaskInfo info(Asked asked, Task task) {
        Set<TaskTopicPartition> partitions = new HashSet<>();
        task.partitions().forEach(pair -> partitions.add(partition(asked, task, pair)));
        task.changelogPartitions().forEach(pair -> partitions.add(partition(asked, task, pair)));
        Set<String> stores = task.stateful() ? Set.of("store") : Set.of();
        return new DefaultTaskInfo(TaskId.parse(task.id()), task.stateful(), stores, partitions);
    }

    /** With the racks of those replicas whose broker has one, as Kafka's leader looks them up. */
    private static TaskTopicPartition partition(Asked asked, Task task, List<String> pair) {
        int number = Integer.parseInt(pair.get(1));
        DefaultTaskTopicPartition partition = new DefaultTaskTopicPartition(
            new TopicPartition(pair.get(0), number), task.partitions().contains(pair),
            task.changelogPartitions().contains(pair), () -> {});
        Topic topic = asked.topics().get(pair.get(0));
        List<String> racks = topic == null ? List.of() : topic.partitions().get(number);
        if (!racks.isEmpty()) {
            partition.annotateWithRackIds(racks.stream().filter(rack -> rack != null).collect(Collectors.toSet()));
        }
        return partition;
    }

    // ---- both

    /** Of calls of the assignor alone; null unless asked for. */
    private static Double milliseconds(Asked asked, Supplier<?> ask) {
        return Harness.milliseconds(asked.warmUp(), asked.repeat(), () -> ask);
    }

    public static void main(String[] args) throws IOException {
        Harness.serve(Asked.class, StickyTaskOracle::answered);
    }
}
