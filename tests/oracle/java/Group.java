/** A group read from a case, ready to be put before an assignor of Kafka as often as need be. */
interface Group {
    /** What a fresh assignor gives, in the form of the lines. */
    Case.Answer answer(Object id, Double milliseconds);

    /** One call of a fresh assignor on input of its own; whatever prepares the call has been done. */
    Runnable call();
}
