#!/bin/sh
# The Kafka permissions of evenkeel: it reads no records and changes nothing.
#
#     BOOTSTRAP=broker1:9092 PRINCIPAL=User:evenkeel sh acls.sh --command-config admin.properties
#
# Needs kafka-acls.sh on the PATH. Untried as a script.
set -eu

kafka-acls.sh --bootstrap-server "$BOOTSTRAP" --add --allow-principal "$PRINCIPAL" \
  --operation Describe --cluster --topic '*' --group '*' "$@"

# Optional: retention, compaction, follower fetching, the brokers' assignors, and settings of groups.
# kafka-acls.sh --bootstrap-server "$BOOTSTRAP" --add --allow-principal "$PRINCIPAL" \
#   --operation DescribeConfigs --cluster --topic '*' --group '*' "$@"
