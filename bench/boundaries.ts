import { measureSandboxHop } from "./src/boundaries/sandbox-hop.ts";
import { measureSignedTexts } from "./src/boundaries/signed-texts.ts";

// `node bench/boundaries.ts`: what the boundaries between workspaces and between services cost a call.

for (const costs of [await measureSandboxHop(), await measureSignedTexts()])
  for (const { name, wallUs, ownCpuUs, otherCpuUs } of costs)
    console.log(`${name}: ${wallUs.toFixed(1)} µs, CPU ${ownCpuUs.toFixed(1)} here and ${otherCpuUs.toFixed(1)} there`);
