-- Disables the idle timeout of this transaction; a lost client is detected within a minute. As the last statement
-- before the idle time it also releases the snapshot of the previous statement, which would hold back vacuum. It has
-- no parameters, so that no portal of it stays open.
SELECT set_config(name, '0', true)
FROM pg_settings
WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout');

SELECT
    set_config('tcp_keepalives_idle', '30', true),
    set_config('tcp_keepalives_interval', '10', true),
    set_config('tcp_keepalives_count', '3', true);
