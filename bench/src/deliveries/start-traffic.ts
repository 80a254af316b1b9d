import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeLoopbackCertificate } from "@toolgate/local-servers/certificate";
import type { BenchInstallation } from "../installation/start-installation.ts";
import { startBenchProcess } from "../machine/child-process.ts";
import type { KernelUnits } from "../machine/process-table.ts";
import type {
  Published,
  PublisherArgument,
  PublisherOrder,
  ReceiverAnswer,
  ReceiverArgument,
  ReceiverOrder,
} from "./messages.ts";
import type { Traffic } from "./traffic.ts";

export type StartedReceiver = { process: Traffic["receiver"]; host: string; url: string; caFile: string };

/** The customers' side; its certificate's authority is written to a file for the installation to trust. */
export async function startReceiver(
  resources: AsyncDisposableStack,
  { dataDir, signal }: { dataDir: string; signal: AbortSignal },
): Promise<StartedReceiver> {
  const { key, cert, ca } = await makeLoopbackCertificate(new Date());
  const caFile = join(dataDir, "receiver-ca.pem");
  await writeFile(caFile, ca);
  const argument: ReceiverArgument = { key, cert };
  const entry = new URL("./receiver.ts", import.meta.url);
  const started = await startBenchProcess<{ port: number }, ReceiverOrder, ReceiverAnswer>(entry, { argument, signal });
  const host = `127.0.0.1:${started.ready.port}`;
  return { process: resources.use(started), host, url: `https://${host}`, caFile };
}

export async function startTraffic(
  resources: AsyncDisposableStack,
  installation: BenchInstallation,
  receiver: Traffic["receiver"],
  { units, signal }: { units: KernelUnits; signal: AbortSignal },
): Promise<Traffic> {
  const argument: PublisherArgument = { natsUrl: installation.servers.natsUrl };
  const entry = new URL("./publisher.ts", import.meta.url);
  const publisher = resources.use(
    await startBenchProcess<object, PublisherOrder, Published>(entry, { argument, signal }),
  );
  const groups = {
    ...installation.groups,
    publisher: { pids: [publisher.pid], take: "both" as const },
    receiver: { pids: [receiver.pid], take: "both" as const },
  };
  return { publisher, receiver, groups, units, signal };
}
