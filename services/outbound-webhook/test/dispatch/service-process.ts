import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { eventually } from "@toolgate/testbed/eventually";
import { identityEnv } from "@toolgate/testbed/service-identity";
import type { OutboundRig } from "../outbound-rig.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const STARTED_WITHIN_MS = 60_000;

/** The service in a process of its own, to be killed, on the servers of the rig. Resolves once it has started. */
export async function spawnService(
  rig: OutboundRig,
  roles: string,
  natsUrl = rig.config.natsUrl,
): Promise<ChildProcess & Disposable> {
  const { core, targetCaFile } = rig.config;
  const withDatabase = roles !== "worker" && {
    DATABASE_URL: core?.databaseUrl,
    SEALING_KEYS: `1:${Buffer.alloc(32, 7).toString("base64")}`,
  };
  const child = spawn(process.execPath, [MAIN], {
    env: {
      NODE_ENV: "test",
      NATS_URL: natsUrl,
      ROLES: roles,
      ALLOWED_TARGETS: "127.0.0.1",
      TARGET_CA_FILE: targetCaFile,
      // Nobody calls it: no email is sent.
      KEY_AUTH_URL: "http://127.0.0.1:9",
      ...identityEnv("outbound-webhook"),
      ...withDatabase,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout?.on("data", (chunk) => {
    output += chunk;
  });
  try {
    await eventually(
      () => {
        if (child.exitCode !== null) throw new Error(output);
        return output.includes('"started"');
      },
      { deadlineMs: STARTED_WITHIN_MS },
    );
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return Object.assign(child, { [Symbol.dispose]: () => void child.kill("SIGKILL") });
}
