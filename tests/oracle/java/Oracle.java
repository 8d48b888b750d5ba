import java.io.IOException;

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
            return ServerGroup.ASSIGNORS.containsKey(asked.strategy()) ? answer(new ServerGroup(asked), asked) : answer(new ClientGroup(asked), asked);
        } catch (RuntimeException problem) {
            return Case.Answer.failed(asked.id(), problem);
        }
    }

    private static <R> Case.Answer answer(Group<R> group, Case asked) {
        Harness.Timed<R> timed = Harness.timed(asked.warmUp(), asked.repeat(), group::call);
        return group.answer(asked.id(), timed.given(), timed.milliseconds());
    }
}
