-- The alerts still to be delivered, oldest first.
-- thread: the timestamp of the sent message that opened the same incident in the same channel, if there is one.
select
    a.alert_id,
    a.key,
    a.cluster,
    a.kind,
    a.channel,
    a.message,
    a.attempts,
    a.created_at,
    (
        select opening.sent_timestamp
        from alert as opening
        where opening.incident_id = a.incident_id
            and opening.alert_id < a.alert_id
            and opening.channel = a.channel
            and opening.state = 'sent'
        order by opening.alert_id
        limit 1
    ) as thread
from alert as a
where a.state = 'pending'
order by a.alert_id;
