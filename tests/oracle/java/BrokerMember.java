import java.util.Map;
import java.util.Set;

/** A member of a KIP-1071 group with its tasks, by sub-topology; of a new assignment it has no process and no offsets. */
record BrokerMember(
    String id, String process, Map<String, Set<Integer>> active, Map<String, Set<Integer>> standby,
    Map<String, Map<Integer, Long>> offsets) {}
