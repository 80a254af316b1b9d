import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { loginTo, type Management } from "@toolgate/local/demo/management";
import { freePort } from "@toolgate/local-servers/ports";
import { findPrograms, type ServerName } from "@toolgate/local-servers/programs";
import { eventually } from "@toolgate/testbed/eventually";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { afterAll, beforeAll, expect, test } from "vitest";
import { interpolate, readCompose } from "./compose-file.ts";

const START = fileURLToPath(new URL("../../src/start-main.ts", import.meta.url));
const compose = readCompose(new URL("../../../compose.yaml", import.meta.url));
const PATIENCE = { deadlineMs: 120_000, everyMs: 200 };
const ACCOUNT = { workspace: "acme", email: "ada@example.com", password: "a good password" };
const TOKEN = "a-token-of-tests-with-enough-characters";
/** What is in deploy/.env. */
const DOT_ENV = {
  POSTGRES_PASSWORD: "replaced-below",
  SEALING_KEYS: `1:${Buffer.alloc(32, 5).toString("base64")}`,
  SANDBOX_TOKEN: TOKEN,
  SANDBOX_TOKEN_HASH: createHash("sha256").update(TOKEN).digest("hex"),
  // The machine of the tests may forbid what the sandbox's profile allows.
  SANDBOX_DANGEROUSLY_WEAK_ISOLATION: "true",
};

const resources = new AsyncDisposableStack();
const log: string[] = [];
/** What is different outside of containers: addresses, ports and folders. */
let moved: [from: string, to: string][];
let ports: Record<"nats" | "redis" | "gateway" | "ops" | "sandbox" | "sandboxOps" | "monitoring", number>;

const outside = (text: string) =>
  moved.reduce((rest, [from, to]) => rest.replaceAll(from, to), interpolate(text, DOT_ENV));

/** The environment of a container, for a process of this machine. */
function environmentOf(name: string, own: Record<string, string> = {}): Record<string, string> {
  const entries = Object.entries(compose.services[name]?.environment ?? {}).map(([key, value]) => [
    key,
    outside(value),
  ]);
  return { PATH: process.env.PATH ?? "", ...Object.fromEntries(entries), ...own };
}

/** Starts a server or a program that stays; it is killed at the end. */
function start(command: string, args: readonly string[], env: Record<string, string>): void {
  const child: ChildProcess = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  for (const output of [child.stdout, child.stderr]) output?.on("data", (data) => log.push(String(data)));
  resources.defer(async () => {
    const ended = once(child, "exit");
    if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL")) await ended;
  });
}

/** Runs a program that ends, with its arguments in the file or others. */
async function run(name: string, args: readonly string[], input = ""): Promise<string> {
  const running = promisify(execFile)(process.execPath, [START, ...args], { env: environmentOf(name) });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

beforeAll(async () => {
  const folder = await temporaryFolder();
  const database = resources.use(await testDatabase());
  ports = await freePorts(["nats", "redis", "gateway", "ops", "sandbox", "sandboxOps", "monitoring"]);
  const { nats, redis, gateway, ops, sandbox, sandboxOps, monitoring } = ports;
  for (const name of ["logins", "nats", "redis", "chat-files"]) await mkdir(join(folder, name));
  moved = [
    ["postgres://toolgate:replaced-below@postgres:5432/toolgate", database.url],
    ["nats://nats:4222", `nats://127.0.0.1:${nats}`],
    ["redis://redis:6379", `redis://127.0.0.1:${redis}`],
    ["http://sandbox:7006", `http://127.0.0.1:${sandbox}`],
    ["http://toolgate:7100", `http://127.0.0.1:${ops}`],
    // Debian's nats-server does not know it.
    [", sync_interval: 1s", ""],
    ["port: 4222", `port: ${nats}`],
    ["127.0.0.1:8222", `127.0.0.1:${monitoring}`],
    ["dir /redis", `dir ${folder}/redis\nport ${redis}`],
    ['store_dir: "/nats"', `store_dir: "${folder}/nats"`],
    ["/chat-files", `${folder}/chat-files`],
  ];
  await run("logins", ["logins", join(folder, "logins")]);
  moved.push(["/logins", join(folder, "logins")]);
  await startServers(folder);
  await run("migrations", ["migrations"]);
  const sandboxPorts = { BIND_HOST: "127.0.0.1", RPC_PORT: `${sandbox}`, OPS_PORT: `${sandboxOps}` };
  start(process.execPath, [START, "sandbox"], environmentOf("sandbox", sandboxPorts));
  await answers(sandboxOps, "/readyz");
  const own = { BIND_HOST: "127.0.0.1", HTTP_HOST: "127.0.0.1", PORT: `${gateway}`, OPS_PORT: `${ops}` };
  start(process.execPath, [START, "toolgate"], environmentOf("toolgate", own));
  await answers(ops, "/readyz");
});
afterAll(() => resources.disposeAsync());

/** The configurations in the file, read by the real servers. */
async function startServers(folder: string): Promise<void> {
  const names: ServerName[] = ["nats", "redis"];
  const found = await findPrograms(names);
  for (const name of names) {
    const file = join(folder, `${name}.conf`);
    await writeFile(file, outside(compose.configs[name]?.content ?? ""));
    const args = name === "nats" ? ["--config", file] : [file];
    start(found[name].path, args, { PATH: process.env.PATH ?? "" });
  }
  await answers(ports.monitoring, "/healthz");
}

async function answers(port: number, path: string): Promise<void> {
  await eventually(async () => (await fetch(`http://127.0.0.1:${port}${path}`)).ok, PATIENCE).catch((error) => {
    throw new Error(`${path} at ${port}: ${error.message}\n${log.slice(-20).join("")}`);
  });
}

async function freePorts<Name extends string>(names: readonly Name[]): Promise<Record<Name, number>> {
  const taken = new Set<number>();
  while (taken.size < names.length) taken.add(await freePort());
  return Object.fromEntries([...taken].map((port, index) => [names[index], port])) as Record<Name, number>;
}

test("the commands of docs/compose.md make a workspace whose tool runs in the sandbox, and the doctor finds nothing", async () => {
  const { workspace, email, password } = ACCOUNT;
  await run("admin", ["admin", "workspace", "create", workspace]);
  await run("admin", ["admin", "user", "create", email], `${password}\n`);
  await run("admin", ["admin", "role", "set", email, workspace, "admin"]);
  const baseUrl = `http://127.0.0.1:${ports.gateway}`;
  const manage = (await loginTo(baseUrl, ACCOUNT)) as Management;
  const handler = "export default async ({ text }) => ({ text });";
  const parameters = { type: "object", properties: { text: { type: "string" } } };
  const definition = { description: "Echoes.", external_api: true, parameters, handler };
  await manage("tool_runner.v1.ToolService/SaveTool", { name: "echo", definition, confirmExposure: true });
  const key = { name: "k", tools: ["echo"] };
  const { secret } = await manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", key);
  const response = await fetch(`${baseUrl}/api/v1/tools/echo`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ args: { text: "through the sandbox" } }),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("through the sandbox")]);
  // It ends with exit code 1 as long as it finds something.
  const report = await eventually(() => run("admin", ["admin", "doctor"]), PATIENCE);
  expect(report).toContain("No problems found");
});
