import java.io.IOException;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Asks Kafka's own assignors: a case per line on standard input, an answer per line on standard output, in order.
 *
 * What an assignor throws is its answer. The process ends with its input.
 */
public final class Oracle {
    private Oracle() {}

    public static void main(String[] args) throws IOException {
        Harness.serve(Case.class, Oracle::answer);
    }

    private static Case.Answer answer(Case asked) {
        try {
            return ServerGroup.ASSIGNORS.containsKey(asked.strategy()) ? answer(ServerGroup::new, asked) : answer(ClientGroup::new, asked);
        } catch (RuntimeException problem) {
            return Case.Answer.failed(asked.id(), problem);
        }
    }

    private static <R> Case.Answer answer(Function<Case, Group<R>> read, Case asked) {
        List<Group<R>> groups = Stream.concat(Stream.of(asked), asked.others().stream()).map(read).toList();
        Harness.Timed<R> timed = Harness.timed(
            asked.warmUp(), asked.repeat(), () -> Harness.inTurn(groups.stream().map(Group::call).toList()));
        Double each = timed.milliseconds() == null ? null : timed.milliseconds() / groups.size();
        return groups.get(0).answer(asked.id(), timed.given(), each);
    }
}
