import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One line of input: a group, and what is asked of it. Field names are those of the lines, in camel case.
 *
 * With {@code repeat} the assignor is also timed: so many calls, after {@code warmUp} ones that do not count. With
 * {@code others} a call takes these groups in turn after the first, and its time is that of one of them on average.
 */
record Case(
    Object id,
    String strategy,
    Map<String, Topic> topics,
    List<Member> members,
    String subscriptionType,
    int repeat,
    int warmUp,
    List<Case> others) {

    Case {
        others = Objects.requireNonNullElse(others, List.of());
    }

    /** The racks of each partition's replicas: null is a broker without a rack, an empty list means unknown. Its lags, if known. */
    record Topic(String id, List<List<String>> partitions, List<Long> lags) {}

    record Member(
        String id,
        List<String> topics,
        String instanceId,
        String rack,
        List<Pair> owned,
        Integer generation,
        UserData userData) {

        List<Pair> owns() {
            return Objects.requireNonNullElse(owned, List.of());
        }
    }

    /** The content of a strategy's own blob. */
    record UserData(List<Pair> owned, Integer generation) {}

    /** A partition as the lines write it: {@code ["orders", 0]}. */
    @JsonFormat(shape = JsonFormat.Shape.ARRAY)
    @JsonPropertyOrder({"topic", "partition"})
    record Pair(String topic, int partition) {}

    /** A partition that its present owner must give up first: {@code ["orders", 0, "to-member"]}. */
    @JsonFormat(shape = JsonFormat.Shape.ARRAY)
    @JsonPropertyOrder({"topic", "partition", "to"})
    record Transfer(String topic, int partition, String to) {}

    /** One line of output; what is null is left out. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Answer(
        @JsonInclude(JsonInclude.Include.ALWAYS) Object id,
        Map<String, List<Pair>> assignment,
        List<Transfer> transferring,
        Double milliseconds,
        String error) {

        static Answer failed(Object id, Throwable problem) {
            String message = problem.getMessage();
            String name = problem.getClass().getName();
            return new Answer(id, null, null, null, message == null ? name : name + ": " + message);
        }
    }

    /** Whether all members name the same topics, existing or not; a broker knows, so a line need not say. */
    boolean homogeneous() {
        if (subscriptionType != null) {
            return subscriptionType.equals("homogeneous");
        }
        return members.stream().map(member -> new HashSet<>(member.topics())).distinct().count() <= 1;
    }
}
