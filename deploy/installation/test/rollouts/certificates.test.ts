import { type ConnectionOptions, connect } from "node:tls";
import { type CertificateFiles, certificateFiles, createAuthority } from "@toolgate/testbed/certificates";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { PROCESSES } from "./cluster.ts";
import { countDamage, NO_DAMAGE } from "./damage.ts";
import { openRig, THIS } from "./rig.ts";
import { startWork } from "./work.ts";

const LOADED = "certificates loaded";
const NAMES = "DNS:*.rollouts.test";

test("all calls between processes are encrypted; authority and certificates are replaced under load, and no call fails", async () => {
  const [authority, next] = await Promise.all([createAuthority(), createAuthority()]);
  const [first, second] = await Promise.all([authority, next].map((issuer) => issuer.issue({ names: NAMES })));
  if (!first || !second) throw new Error("no certificates");
  const files = await certificateFiles({ ...first, ca: authority.ca });
  const lines: string[] = [];
  const env = { ...files.env, LOG_LEVEL: "info" };
  await using rig = await openRig({ env, log: (line) => lines.push(line) });
  const { cluster } = rig;
  await using work = startWork(rig);
  await work.load.served();

  const pods = PROCESSES.flatMap((name) => cluster.pods(name));
  const servers = pods.filter(({ rpcPort }) => rpcPort !== 0);
  const admitted = (options: ConnectionOptions) =>
    Promise.all(
      servers.map(({ ip: host, rpcPort: port, process }) => {
        const servername = `${process}.rollouts.test`;
        return admits({ host, port, servername, ca: authority.ca + next.ca, ...options });
      }),
    );
  const count = () => lines.filter((line) => line.includes(LOADED)).length;
  async function replace(content: Parameters<CertificateFiles["write"]>[0]) {
    const before = count();
    await files.write(content);
    await eventually(() => count() === before + pods.length);
  }
  const all = servers.map(() => true);
  // As in docs/operators.md: both authorities, then the certificates, then only the new authority.
  await replace({ ca: authority.ca + next.ca });
  expect(await admitted(second)).toEqual(all);
  await replace(second);
  expect(await admitted({ ...first, ca: next.ca })).toEqual(all);
  await replace({ ca: next.ca });
  expect(await admitted({ ...second, ca: next.ca })).toEqual(all);
  expect(await admitted({ ...first, ca: next.ca })).toEqual(all.map(() => false));
  expect(await admitted({ ca: next.ca })).toEqual(all.map(() => false));
  await work.load.served();
  // New connections in both directions.
  for (const process of PROCESSES) await cluster.roll(process, THIS);
  await work.load.served();
  expect(await countDamage(rig, work)).toEqual(NO_DAMAGE);
  expect(lines.filter((line) => line.includes("cannot be used"))).toEqual([]);
}, 1_200_000);

/** Whether a server keeps a connection with these certificates open: over TLS 1.3 the server decides last. */
function admits(options: ConnectionOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ ALPNProtocols: ["h2"], ...options });
    const decide = (isAdmitted: boolean) => {
      socket.destroy();
      resolve(isAdmitted);
    };
    // The server's settings are the first that it sends, to those whom it has admitted.
    socket.on("data", () => decide(true));
    socket.on("error", () => decide(false));
    socket.on("close", () => decide(false));
  });
}
