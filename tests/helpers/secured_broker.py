"""One real broker with every kind of listener and with access rules, for tests of security."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from kafka.admin import KafkaAdminClient

from tests.helpers.certificates import Authority
from tests.helpers.tokens import CLIENT_ID, CLIENT_SECRET
from tests.stage.kafka.brokers import START_TIMEOUT_SECONDS, KafkaCluster
from tests.stage.kafka.jars import resolve_jars
from tests.stage.process import find_java, free_ports, wait_until

NODE = 1
READER, READER_PASSWORD = "reader", "a-recognizable-passw0rd"
NOBODY, NOBODY_PASSWORD = "nobody", "nobody-s-passw0rd"
"""A user who may log in, and has no right to anything."""

_MODULES = {
    "plain": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "scram-sha-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "scram-sha-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "oauthbearer": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
}

_SETTINGS = """
listeners=PLAINTEXT://127.0.0.1:{plain},CONTROLLER://127.0.0.1:{controller},TLS://127.0.0.1:{tls},\
MUTUAL://127.0.0.1:{mutual},LOGIN://127.0.0.1:{login},BARE://127.0.0.1:{bare}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},TLS://127.0.0.1:{tls},MUTUAL://127.0.0.1:{mutual},\
LOGIN://127.0.0.1:{login},BARE://127.0.0.1:{bare}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,TLS:SSL,MUTUAL:SSL,LOGIN:SASL_SSL,\
BARE:SASL_PLAINTEXT
ssl.keystore.type=PEM
ssl.keystore.location={keystore}
ssl.truststore.type=PEM
ssl.truststore.location={ca}
listener.name.mutual.ssl.client.auth=required
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
share.coordinator.state.topic.replication.factor=1
"""

Properties = dict[str, str]
"""librdkafka names and values."""

Right = tuple[ResourceType, str, AclOperation]


class SecuredBroker(KafkaCluster):
    """
    Node 1 alone, who is asked for a login or a certificate by the port.

    Who says nothing of himself (PLAINTEXT, and TLS without a certificate) may do everything; READER
    and NOBODY log in by password or token, and have the rights they are granted. Its certificate is
    good for 127.0.0.1 and not for localhost.
    """

    def __init__(self, directory: Path, *, home: Path) -> None:
        super().__init__(directory, home=home, throw_away=True)
        self.authority = Authority(directory / "certificates")
        names = ("tls", "mutual", "login", "bare")
        self._ports = dict(zip(names, free_ports(len(names)), strict=True))

    @property
    def bootstrap(self) -> str:
        """The PLAINTEXT address."""
        assert self._identity, "the cluster was never started"
        return f"127.0.0.1:{self._identity.ports[NODE]}"

    def address(self, listener: str, host: str = "127.0.0.1") -> str:
        """Where ``tls``, ``mutual``, ``login`` (SASL_SSL) or ``bare`` (SASL_PLAINTEXT) listens."""
        return f"{host}:{self._ports[listener]}"

    def start(self, timeout: float = START_TIMEOUT_SECONDS) -> None:
        """Start the node and return when the group coordinators answer."""
        self._java, _ = find_java()
        self._jars = self._jars or resolve_jars()
        self._identity = self._settle_identity()
        self._write_properties(NODE)
        self._format()
        try:
            self.launch(NODE)
            self._await_brokers(timeout)
        except BaseException:
            self.stop()
            raise

    def _write_properties(self, node_id: int) -> None:
        super()._write_properties(node_id)
        assert self._identity
        certificate, key = self.authority.issue("broker", address="127.0.0.1")
        keystore = self.authority.folder / "keystore.pem"
        keystore.write_text(key.read_text() + certificate.read_text())
        settings = _SETTINGS.format(
            plain=self._identity.ports[NODE],
            controller=self._identity.controller_port,
            keystore=keystore,
            ca=self.authority.ca,
            **self._ports,
        )
        with self._properties_path(node_id).open("a") as file:
            file.write(settings + "\n".join(_logins("login")) + "\n" + "\n".join(_logins("bare")))

    def _format(self) -> None:
        assert self._identity
        users = {READER: READER_PASSWORD, NOBODY: NOBODY_PASSWORD}
        scram = [
            word
            for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
            for name, password in users.items()
            for word in ("--add-scram", f"{mechanism}=[name={name},password={password}]")
        ]
        properties = str(self._properties_path(NODE))
        arguments = ("format", "-t", self._identity.cluster_id, "-c", properties, *scram)
        self.tool("kafka.tools.StorageTool", *arguments)

    def grant(self, rights: list[Right], who: str = f"User:{READER}") -> None:
        """Allow somebody some operations on resources by name, ``*`` for all; the broker knows of it at the end."""
        bindings = [
            AclBinding(
                kind, name, ResourcePatternType.LITERAL, who, "*", what, AclPermissionType.ALLOW
            )
            for kind, name, what in rights
        ]
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 1})
        for future in admin.create_acls(bindings, request_timeout=30).values():
            future.result()
        # the controller has taken them; what the broker goes by follows
        every = AclBindingFilter(
            ResourceType.ANY,
            None,
            ResourcePatternType.ANY,
            who,
            None,
            AclOperation.ANY,
            AclPermissionType.ANY,
        )
        wait_until(
            lambda: set(bindings) <= set(admin.describe_acls(every, request_timeout=30).result()),
            60,
            "the rights to be in force",
            interval=0.1,
        )

    def trusting(self, protocol: str = "SSL") -> Properties:
        """TLS that trusts this broker's authority."""
        return {"security.protocol": protocol, "ssl.ca.location": str(self.authority.ca)}

    def by_password(
        self, mechanism: str, user: str = READER, password: str = READER_PASSWORD
    ) -> Properties:
        """A login over TLS."""
        return self.trusting("SASL_SSL") | {
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": password,
        }

    def by_token(self, url: str, secret: str = CLIENT_SECRET) -> Properties:
        """A login by a token of the client credentials grant."""
        return self.trusting("SASL_SSL") | {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.token.endpoint.url": url,
            "sasl.oauthbearer.client.id": CLIENT_ID,
            "sasl.oauthbearer.client.secret": secret,
        }

    def admin(self) -> closing[KafkaAdminClient]:
        """A client that may do everything; use it as a context."""
        return closing(KafkaAdminClient(bootstrap_servers=[self.bootstrap]))


def _logins(listener: str) -> list[str]:
    """The settings of one listener that takes every mechanism."""
    prefix = f"listener.name.{listener}"
    users = f'user_{READER}="{READER_PASSWORD}" user_{NOBODY}="{NOBODY_PASSWORD}"'
    options = {"plain": f" {users}", "oauthbearer": ' unsecuredLoginStringClaim_sub="broker"'}
    jaas = [
        f"{prefix}.{mechanism}.sasl.jaas.config={module} required{options.get(mechanism, '')};"
        for mechanism, module in _MODULES.items()
    ]
    return [f"{prefix}.sasl.enabled.mechanisms={','.join(m.upper() for m in _MODULES)}", *jaas]
