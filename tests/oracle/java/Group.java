import java.util.function.Supplier;

/**
 * A group read from a case, ready to be put before an assignor of Kafka as often as need be.
 *
 * @param <R> what the assignor gives
 */
interface Group<R> {
    /** One call of a fresh assignor on input of its own; whatever prepares the call has been done. */
    Supplier<R> call();

    /** What the assignor gave, in the form of the lines. */
    Case.Answer answer(Object id, R given, Double milliseconds);
}
