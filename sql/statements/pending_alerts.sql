-- The alerts still to be delivered, oldest first.
-- thread: the timestamp of the sent message that opened the same incident in the same channel, if there is one.
SELECT
    a.*,
    (
        SELECT opening.sent_timestamp
        FROM alert AS opening
        WHERE opening.incident_id = a.incident_id
            AND opening.alert_id < a.alert_id
            AND opening.channel = a.channel
            AND opening.state = 'sent'
        ORDER BY opening.alert_id
        LIMIT 1
    ) AS thread
FROM alert AS a
WHERE a.state = 'pending'
ORDER BY a.alert_id;
