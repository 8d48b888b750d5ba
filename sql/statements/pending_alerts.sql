-- The pending alerts, oldest first. standing_channel, standing_timestamp: current location of the message that an
-- alert answers or replaces; null without such a message, or if it was not delivered.
SELECT
    a.*,
    standing.sent_channel AS standing_channel,
    standing.sent_timestamp AS standing_timestamp
FROM alert AS a
LEFT JOIN LATERAL (
    SELECT
        s.sent_channel,
        s.sent_timestamp
    FROM alert AS s
    WHERE
        (s.key = coalesce(a.replaces, a.answers) OR s.replaces = coalesce(a.replaces, a.answers))
        AND s.channel = a.channel
        AND s.state = 'sent'
    ORDER BY s.alert_id DESC
    LIMIT 1
) AS standing ON true
WHERE a.state = 'pending'
ORDER BY a.alert_id;
