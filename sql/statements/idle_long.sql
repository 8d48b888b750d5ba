-- However long this transaction does nothing from now on, the server does not end it; but where the machine at the other
-- end is gone, it notices within a minute. As the last statement before that it also lets go of the snapshot of the one
-- before, which would hold back the vacuum: it has no parameters, so nothing of it stays open either.
SELECT set_config(name, '0', true)
FROM pg_settings
WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout');

SELECT
    set_config('tcp_keepalives_idle', '30', true),
    set_config('tcp_keepalives_interval', '10', true),
    set_config('tcp_keepalives_count', '3', true);
