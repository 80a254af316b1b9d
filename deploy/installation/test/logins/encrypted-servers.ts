import { execFile } from "node:child_process";
import { chmod, chown, copyFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { openPorts } from "@toolgate/local-servers/ports";
import { findPrograms } from "@toolgate/local-servers/programs";
import { startServer } from "@toolgate/local-servers/server-process";
import { startOwnPostgres } from "@toolgate/testbed/servers/own-postgres";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { Client } from "pg";
import { writeLogins } from "../../src/logins.ts";

const openssl = (folder: string, command: string) =>
  promisify(execFile)("openssl", command.split(" "), { cwd: folder });

/** Servers that take only encrypted connections, as docs/operators.md describes, with the logins of an installation. */
export interface EncryptedServers extends AsyncDisposable {
  /** The authority of their certificate, which names only localhost. */
  caFile: string;
  /** Another authority of the same name. */
  otherCaFile: string;
  /** The folder with the logins. */
  logins: string;
}

export async function startEncryptedServers(): Promise<EncryptedServers> {
  await using resources = new AsyncDisposableStack();
  const folder = await temporaryFolder();
  await makeCertificates(folder);
  const ports = openPorts(join(folder, "ports.json"));
  const found = await findPrograms(["nats", "redis"]);
  const [natsPort, redisPort] = [await ports.take("nats"), await ports.take("redis")];
  const databaseUrl = await encryptedPostgres(folder, resources);
  const logins = join(folder, "logins");
  await writeLogins(logins, {
    databaseUrl,
    natsUrl: `tls://localhost:${natsPort}`,
    redisUrl: `rediss://localhost:${redisPort}`,
  });
  const tls = `{ cert_file: "${folder}/server.pem", key_file: "${folder}/server.key" }`;
  const configurations = {
    nats: ["jetstream { store_dir: store }", `tls ${tls}`, 'include "logins/nats-users.conf"'],
    redis: [
      "port 0",
      `tls-port ${redisPort}`,
      "tls-auth-clients no",
      ...["tls-cert-file server.pem", "tls-key-file server.key", "tls-ca-cert-file ca.pem"],
      "set-proc-title no",
      "include logins/redis-users.conf",
    ],
  };
  for (const name of ["nats", "redis"] as const) {
    const configFile = join(folder, `${name}.conf`);
    await writeFile(configFile, `${configurations[name].join("\n")}\n`);
    const server = await startServer({
      name,
      ports,
      command: found[name].path,
      cwd: folder,
      identity: configFile,
      pidFile: join(folder, `${name}.pid`),
      logFile: join(folder, `${name}.log`),
      stopSignal: "SIGTERM",
      arguments: (port) => (name === "nats" ? ["-c", configFile, "-a", "127.0.0.1", "-p", `${port}`] : [configFile]),
      ready: isListening,
      urls: () => ({ toolgate: "" }),
    });
    resources.use(server);
  }
  const owned = resources.move();
  return {
    caFile: join(folder, "ca.pem"),
    otherCaFile: join(folder, "other-ca.pem"),
    logins,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function makeCertificates(folder: string): Promise<void> {
  const authority = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=authority";
  await openssl(folder, `${authority} -keyout ca.key -out ca.pem`);
  await openssl(folder, `${authority} -keyout other-ca.key -out other-ca.pem`);
  await openssl(
    folder,
    "req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=server -keyout server.key -out server.csr",
  );
  await writeFile(join(folder, "names"), "subjectAltName=DNS:localhost\n");
  await openssl(
    folder,
    "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
  );
}

/** A cluster that refuses connections without encryption; the address of the owner of its database, who may create roles. */
async function encryptedPostgres(folder: string, resources: AsyncDisposableStack): Promise<string> {
  const { server, cluster, account, superuserUrl } = resources.use(await startOwnPostgres(folder));
  for (const name of ["server.pem", "server.key"]) {
    await copyFile(join(folder, name), join(cluster, name));
    await chown(join(cluster, name), account.uid, account.gid);
    await chmod(join(cluster, name), 0o600);
  }
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  for (const [name, value] of Object.entries({ ssl: "on", ssl_cert_file: "server.pem", ssl_key_file: "server.key" })) {
    await client.query(`alter system set ${name} = '${value}'`);
  }
  await client.end();
  await writeFile(
    join(cluster, "pg_hba.conf"),
    "hostssl all all all scram-sha-256\nhostnossl all postgres all scram-sha-256\n",
  );
  await server.restart();
  const url = new URL(server.url);
  url.hostname = "localhost";
  url.search = "?sslmode=verify-full";
  return url.href;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.end());
  });
}
