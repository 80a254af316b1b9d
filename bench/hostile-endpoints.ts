// Prints how long deliveries to healthy endpoints take while other endpoints of their workspace hang, drip, flood or send
// 100 MB. With --profile the services write CPU profiles to .data/bench-profile.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { listenForStop } from "@toolgate/local/stopping";
import { startHostileServer } from "./src/deliveries/hostile/hostile-server.ts";
import { measureHostile } from "./src/deliveries/hostile/measure-hostile.ts";
import { startReceiver, startTraffic } from "./src/deliveries/traffic.ts";
import { startInstallation } from "./src/installation/start-installation.ts";
import { openWorkFolder } from "./src/installation/work-folder.ts";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const { stop: signal } = listenForStop(process, () => performance.now());
const log = (line: string) => void process.stderr.write(`${line}\n`);
const profileDir = process.argv.includes("--profile") ? file("../.data/bench-profile") : undefined;
if (profileDir) await mkdir(profileDir, { recursive: true });
await using folder = await openWorkFolder(file("../.data/bench"));
await using resources = new AsyncDisposableStack();
const receiver = await startReceiver(resources, { dataDir: folder.path, signal });
const { url: hostileUrl } = await startHostileServer(resources, receiver.certificate);
const dataDir = join(folder.path, "hostile");
const targets = { host: "127.0.0.1", caFile: receiver.caFile };
const installation = resources.use(
  await startInstallation("single", { dataDir, receiver: targets, profileDir, log, signal }),
);
const traffic = await startTraffic(resources, installation, receiver.process, { signal });
await measureHostile({ installation, traffic, receiverUrl: receiver.url, hostileUrl, log });
