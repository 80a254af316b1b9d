import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { identityEnv, testPublicKeys, testServiceKeys } from "@toolgate/testbed/service-identity";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { testRemote } from "@toolgate/testbed/transports";
import { expect, test } from "vitest";
import { readAll } from "../src/env.ts";
import { readIdentity } from "../src/identity/service-keys.ts";
import { readHostConfig } from "../src/process/host-config.ts";
import { readPeerUrls } from "../src/rpc/peers.ts";

const IDENTITY = { KEY_AUTH_URL: "http://127.0.0.1:9", ...identityEnv("outbound-webhook") };

const CERTIFICATES = { TLS_CERT_FILE: "/none", TLS_KEY_FILE: "/none", TLS_CA_FILE: "/none" };

interface Launched extends AsyncDisposable {
  process: ChildProcess;
  entries: Record<string, unknown>[];
  output: () => string;
  exited: Promise<[code: number | null, signal: string | null]>;
  /** Waits for the log entry with this message. */
  entry(msg: string): Promise<Record<string, unknown>>;
}

function launched(env: Record<string, string> = {}): Launched {
  const script = fileURLToPath(new URL("./launched-service.ts", import.meta.url));
  const complete = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    ...IDENTITY,
    CALL_MS: "0",
    ...env,
  };
  const child = spawn(process.execPath, [script], { env: complete, stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "close") as Launched["exited"];
  let [text, errors] = ["", ""];
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const entries = () =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return {
    process: child,
    get entries() {
      return entries();
    },
    output: () => text + errors,
    exited,
    entry: (msg) => eventually(() => entries().find((entry) => entry.msg === msg) ?? false),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function listening(): Promise<AsyncDisposable & { port: number }> {
  const server = createServer().listen(0, "localhost");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const messages = (entries: Record<string, unknown>[]) => entries.map((entry) => entry.msg);

test("starts, logs its ports, and ends with 0 after SIGTERM, even when the signal comes twice", async () => {
  await using service = launched();
  const { rpcPort, opsPort } = await service.entry("started");
  expect((await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status).toBe(200);
  const client = createClient(SessionService, testRemote(`http://127.0.0.1:${rpcPort}`, "outbound-webhook"));
  expect((await client.login({})).token).toBe("finished");
  service.process.kill("SIGTERM");
  service.process.kill("SIGTERM");
  expect(await service.exited).toEqual([0, null]);
  expect(messages(service.entries)).toEqual(["starting", "started", "called", "draining", "disposed", "stopped"]);
});

// The call lasts as long as a slow management call.
test("a call that is open at SIGINT gets its response, and probes get theirs meanwhile", async () => {
  await using service = launched({ CALL_MS: "6000" });
  const { rpcPort, opsPort } = await service.entry("started");
  const client = createClient(SessionService, testRemote(`http://127.0.0.1:${rpcPort}`, "outbound-webhook"));
  const call = client.login({});
  await service.entry("called");
  service.process.kill("SIGINT");
  await service.entry("draining");
  service.process.kill("SIGINT");
  expect((await fetch(`http://127.0.0.1:${opsPort}/healthz`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status).toBe(503);
  expect((await call).token).toBe("finished");
  expect(await service.exited).toEqual([0, null]);
});

test.each([
  ["a failure to start that leaves something open", { FAULT: "start" }, "[removed]@db.example"],
  [
    "settings of the host and of the service in one message",
    { CALL_MS: "soon", SERVICE_KEY: "" },
    "configuration: CALL_MS must be a whole number from 0 to 10000; SERVICE_KEY is missing",
  ],
  [
    "certificates that cannot be read",
    { ...CERTIFICATES, KEY_AUTH_URL: "https://127.0.0.1:9" },
    "certificates: the file in TLS_CERT_FILE cannot be read: ENOENT",
  ],
])("%s gives one fatal line and exit code 1", async (_name, env, said) => {
  await using service = launched(env);
  expect(await service.exited).toEqual([1, null]);
  const fatal = service.entries.filter((entry) => entry.level === "fatal");
  expect(fatal.length).toBe(1);
  expect(JSON.stringify(fatal)).toContain(said);
  expect(service.output()).not.toContain("hunter2");
});

test.each([
  ["no key", { SERVICE_KEY: "" }, "SERVICE_KEY is missing"],
  [
    "a public key of a service that does not exist",
    { SERVICE_PUBLIC_KEYS: `somebody:${testServiceKeys().chat.publicKey}` },
    "SERVICE_PUBLIC_KEYS must be <service>:",
  ],
  [
    "one public key for two services",
    { SERVICE_PUBLIC_KEYS: `${testPublicKeys()},gateway:${testServiceKeys().chat.publicKey}` },
    "SERVICE_PUBLIC_KEYS has one key for chat and gateway",
  ],
  [
    "a key that the others do not know",
    { SERVICE_KEY: testServiceKeys().chat.serviceKey },
    "SERVICE_PUBLIC_KEYS does not have the public key of outbound-webhook's SERVICE_KEY",
  ],
  [
    "certificates without their authorities",
    { TLS_CERT_FILE: "/none", TLS_KEY_FILE: "/none" },
    "TLS_CA_FILE must be set too: TLS_CERT_FILE, TLS_KEY_FILE, TLS_CA_FILE are used together",
  ],
  [
    "a URL of another process without encryption beside certificates",
    CERTIFICATES,
    "KEY_AUTH_URL must be https URLs, because TLS_CERT_FILE is set",
  ],
  [
    "an encrypted URL of another process without certificates",
    { KEY_AUTH_URL: "https://127.0.0.1:9" },
    "KEY_AUTH_URL must be http URLs, unless TLS_CERT_FILE, TLS_KEY_FILE, TLS_CA_FILE are set",
  ],
])("%s is refused in one sentence", (_name, env, said) => {
  const all = { ...IDENTITY, ...env };
  const name = "outbound-webhook";
  const read = () =>
    readAll<unknown[]>(all, [
      readHostConfig,
      (given) => readPeerUrls(given, name),
      (given) => readIdentity(given, name),
    ]);
  expect(read).toThrow(said);
});

test("a process is not ready until its RPC port is open, and ends when that is taken", async () => {
  await using taken = await listening();
  const free = await listening();
  await free[Symbol.asyncDispose]();
  const gate = join(await temporaryFolder(), "gate");
  execFileSync("mkfifo", [gate]);
  const ports = { BIND_HOST: "localhost", OPS_PORT: `${free.port}`, RPC_PORT: `${taken.port}` };
  await using service = launched({ ...ports, GATE: gate, UV_THREADPOOL_SIZE: "1" });
  const probe = async (path: string) => (await fetch(`http://localhost:${free.port}${path}`)).status;
  await eventually(async () => (await probe("/healthz")) === 200);
  expect(await probe("/readyz")).toBe(503);
  await using _writer = await open(gate, "r+");
  expect(await service.exited).toEqual([1, null]);
  expect(service.output()).toContain("on localhost is taken");
});

test("a signal during a start that hangs ends it with 0", async () => {
  await using service = launched({ FAULT: "hang" });
  await service.entry("starting");
  service.process.kill("SIGTERM");
  expect(await service.exited).toEqual([0, null]);
  expect(messages(service.entries)).toEqual(["starting", "start cancelled", "stopped"]);
});

test("a drain that fails still closes everything, and gives exit code 1", async () => {
  await using service = launched({ FAULT: "drain" });
  await service.entry("started");
  service.process.kill("SIGTERM");
  expect(await service.exited).toEqual([1, null]);
  // A fatal line may overtake one that is being written.
  const expected = ["starting", "started", "draining", "disposed", "failed", "stopped"];
  expect(messages(service.entries).toSorted()).toEqual(expected.toSorted());
});

test("a crash is logged before it ends the process", async () => {
  await using service = launched({ FAULT: "crash" });
  const [code] = await service.exited;
  expect(code).not.toBe(0);
  expect(JSON.stringify(service.entries.find((entry) => entry.msg === "crashed"))).toContain("nobody waits for this");
});
