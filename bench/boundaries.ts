import { fileURLToPath } from "node:url";
import { listenForStop } from "@toolgate/local/stopping";
import { measureProcessTls } from "./src/boundaries/process-tls.ts";
import { measureSandboxHop } from "./src/boundaries/sandbox-hop.ts";
import { measureSignedTexts } from "./src/boundaries/signed-texts.ts";
import { openWorkFolder } from "./src/installation/work-folder.ts";

// `node bench/boundaries.ts`: what the boundaries between workspaces and between services cost a call.

const { stop: signal } = listenForStop(process, () => performance.now());
for (const costs of [await measureSandboxHop(), await measureSignedTexts()])
  for (const { name, wallUs, ownCpuUs, otherCpuUs } of costs)
    console.log(`${name}: ${wallUs.toFixed(1)} µs, CPU ${ownCpuUs.toFixed(1)} here and ${otherCpuUs.toFixed(1)} there`);
await using folder = await openWorkFolder(fileURLToPath(new URL("../.data/bench", import.meta.url)));
for (const { load, plainUs, tlsUs, plainP50Ms, tlsP50Ms } of await measureProcessTls(folder.path, signal))
  console.log(
    `${load}: µs of CPU per call ${plainUs.toFixed(0)} without TLS, ${tlsUs.toFixed(0)} with it (${(tlsUs / plainUs).toFixed(2)} times); ` +
      `p50 ${plainP50Ms.toFixed(2)} and ${tlsP50Ms.toFixed(2)} ms`,
  );
