import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.coordinator.group.api.streams.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.streams.assignor.TopologyDescriber;
import org.apache.kafka.coordinator.group.streams.assignor.AssignmentConfigsImpl;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpecImpl;
import org.apache.kafka.coordinator.group.streams.assignor.MemberMetadataAndStateImpl;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;

/** The sticky assignor of tasks of brokers of Kafka 4.4. */
final class BrokerTasks {
    private BrokerTasks() {}

    /** A call that gives members their tasks. */
    static Supplier<Map<String, BrokerMember>> asking(
        List<BrokerMember> members, int standbys, Map<String, Integer> sizes, Set<String> stateful) {
        Map<String, MemberMetadataAndStateImpl> specs = new HashMap<>();
        members.forEach(member -> specs.put(member.id(), new MemberMetadataAndStateImpl(
            Optional.empty(), Optional.empty(), member.process(), Map.of(), member.active(), member.standby(), Map.of(),
            member.offsets(), Map.of())));
        GroupSpec group = new GroupSpecImpl(specs, AssignmentConfigsImpl.DEFAULT.withNumStandbyReplicas(standbys));
        TopologyDescriber topology = new TopologyDescriber() {
            @Override
            public List<String> subtopologies() {
                return List.copyOf(sizes.keySet());
            }

            @Override
            public int maxNumInputPartitions(String subtopology) {
                return sizes.get(subtopology);
            }

            @Override
            public boolean isStateful(String subtopology) {
                return stateful.contains(subtopology);
            }
        };
        return () -> {
            Map<String, BrokerMember> given = new HashMap<>();
            new StickyTaskAssignor().assign(group, topology).members().forEach((id, tasks) -> given.put(
                id, new BrokerMember(id, null, tasks.activeTasks(), tasks.standbyTasks(), null)));
            return given;
        };
    }
}
