import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { SERVER_USERS, serverUserOf } from "@toolgate/service-registry/server-users";
import { NEED_VARIABLES, SERVICE_NAMES, type ServiceName, serviceEntry } from "@toolgate/service-registry/services";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { runToolgate } from "../running-toolgate.ts";

/** Twelve processes are started. */
const DEADLINE_MS = 300_000;
const ROLES = {
  chat: { api: 1, worker: 1 },
  "inbound-hook": { receiver: 1, runner: 1 },
  "outbound-webhook": { manager: 1, "fan-out": 1, dispatcher: 1, worker: 1 },
};
/** The names of processes without a role are those of their services. */
const SERVICE_OF: Record<string, ServiceName> = {
  ...Object.fromEntries(SERVICE_NAMES.map((name) => [name, name])),
  ...Object.fromEntries(
    Object.entries(ROLES).flatMap(([service, roles]) =>
      Object.keys(roles).map((role) => [role, service as ServiceName]),
    ),
  ),
};

/** Everything that opens a door. SMTP_URL is set for all, so that a process that must not have it can be seen to lack it. */
const SECRETS = ["SERVICE_KEY", "DATABASE_URL", "REDIS_URL", "NATS_URL", "SEALING_KEYS", "SMTP_URL"];
/** As the table of processes and the settings in docs/operators.md say. */
const EXPECTED: Record<string, string[]> = {
  gateway: ["SERVICE_KEY", "NATS_URL"],
  "key-auth": ["SERVICE_KEY", "DATABASE_URL", "REDIS_URL", "NATS_URL", "SEALING_KEYS"],
  "tool-runner": SECRETS,
  api: ["SERVICE_KEY", "DATABASE_URL", "NATS_URL", "SEALING_KEYS"],
  worker: ["NATS_URL"],
  receiver: ["SERVICE_KEY", "DATABASE_URL", "REDIS_URL", "NATS_URL", "SEALING_KEYS"],
  runner: ["SERVICE_KEY", "DATABASE_URL", "NATS_URL", "SMTP_URL"],
  manager: ["SERVICE_KEY", "DATABASE_URL", "NATS_URL", "SEALING_KEYS"],
  "fan-out": ["DATABASE_URL", "NATS_URL", "SEALING_KEYS"],
  dispatcher: ["SERVICE_KEY", "DATABASE_URL", "NATS_URL", "SEALING_KEYS", "SMTP_URL"],
};
/** What a sandbox process is given that opens no door. */
const PLAIN = ["NODE_COMPILE_CACHE", "NODE_ENV", "LOG_LEVEL", "BIND_HOST", "RPC_PORT", "OPS_PORT"];
const CHAT_WORKER = ["SERVICE_KEY", "DATABASE_URL", "NATS_URL", "SEALING_KEYS"];

async function environmentOf(pid: number): Promise<Record<string, string>> {
  const text = await readFile(`/proc/${pid}/environ`, "utf8");
  return Object.fromEntries(
    text
      .split("\0")
      .filter((entry) => entry.includes("="))
      .map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}

async function childrenOf(parent: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid="]);
  const rows = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  return rows.flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []));
}

const hasProc = await readFile("/proc/self/environ").then(
  () => true,
  () => false,
);

test.runIf(hasProc)(
  "every process of the split topology has the secrets of its role, its own logins, and no other",
  async () => {
    const env = { SMTP_URL: "smtp://127.0.0.1:1", MAIL_FROM: "toolgate@example.test" };
    await using toolgate = await runToolgate("split", { roles: ROLES, env });
    const { nats, redis } = toolgate;
    const passwords = [nats, redis].flatMap((server) =>
      Object.entries(server.urls).map(([user, url]) => [user, decodeURIComponent(new URL(url).password)] as const),
    );
    const processes = toolgate.processes();
    expect(processes).toHaveLength(4 + Object.values(ROLES).flatMap((roles) => Object.keys(roles)).length);
    const pidOf = (wanted: string) => processes.find(({ name }) => name === wanted)?.pid ?? 0;
    expect(await childrenOf(pidOf("tool-runner"))).toEqual([]);
    const sandbox = await environmentOf(pidOf("sandbox"));
    expect(Object.keys(sandbox).filter((name) => !PLAIN.includes(name) && !name.startsWith("NODE_CHANNEL"))).toEqual([
      "SANDBOX_TOKEN_HASH",
    ]);
    const token = (await environmentOf(pidOf("tool-runner"))).SANDBOX_TOKEN ?? "";
    expect(createHash("sha256").update(token).digest("hex")).toBe(sandbox.SANDBOX_TOKEN_HASH);
    // A child that is just being started has the environment of its parent for a moment.
    await eventually(async () => {
      const children = await childrenOf(pidOf("sandbox"));
      expect(children.length).toBeGreaterThan(0);
      for (const pid of children) expect(await environmentOf(pid)).toEqual({});
    });
    const workers: string[][] = [];
    for (const { name, pid } of processes) {
      if (name === "sandbox") continue;
      const environment = await environmentOf(pid);
      expect("SANDBOX_TOKEN" in environment, name).toBe(name === "tool-runner");
      const secrets = SECRETS.filter((secret) => environment[secret]);
      if (name === "worker") workers.push(secrets);
      else expect(secrets, name).toEqual(SECRETS.filter((secret) => EXPECTED[name]?.includes(secret)));
      const service = environment.CHAT_FILES && name === "worker" ? undefined : SERVICE_OF[name];
      const text = JSON.stringify(environment);
      const known = passwords.filter(([, password]) => text.includes(password)).map(([user]) => user);
      const serviceKeys = Object.values(toolgate.serviceKeys).filter((key) => text.includes(key));
      const ownKey = toolgate.serviceKeys[service ?? "chat"];
      expect(serviceKeys, name).toEqual(secrets.includes("SERVICE_KEY") ? [ownKey] : []);
      const user = new URL(environment.NATS_URL ?? "").username;
      if (environment.DATABASE_URL) {
        const role = new URL(environment.DATABASE_URL).username;
        const schema = serviceEntry(SERVICE_OF[name] ?? "chat").schema;
        expect(role, name).toBe(
          `${new URL(toolgate.databaseUrl).pathname.slice(1)}_${name === "worker" ? "chat" : schema}`,
        );
      }
      if (service && name !== "worker") expect(user, name).toBe(serverUserOf(service, name).name);
      expect(SERVER_USERS.map((one) => one.name)).toContain(user);
      expect(new Set(known), name).toEqual(new Set([user]));
    }
    expect(workers.toSorted((a, b) => a.length - b.length)).toEqual([
      SECRETS.filter((secret) => EXPECTED.worker?.includes(secret)),
      SECRETS.filter((secret) => CHAT_WORKER.includes(secret)),
    ]);
  },
  DEADLINE_MS,
);

test("the registry and this test agree on what each role needs", () => {
  for (const [service, roles] of Object.entries(ROLES)) {
    for (const role of Object.keys(roles)) {
      const needs = serviceEntry(service as ServiceName).roles?.[role]?.needs ?? [];
      const expected = service === "chat" && role === "worker" ? CHAT_WORKER : (EXPECTED[role] ?? []);
      const variables = needs.flatMap((need) => NEED_VARIABLES[need]).filter((name) => SECRETS.includes(name));
      expect(expected, `${service} ${role}`).toEqual(expect.arrayContaining(variables));
    }
  }
});
