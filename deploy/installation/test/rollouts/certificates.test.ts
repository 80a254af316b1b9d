import { setTimeout as sleep } from "node:timers/promises";
import { type ConnectionOptions, connect } from "node:tls";
import {
  type Authority,
  type CertificateFiles,
  certificateFiles,
  createAuthority,
  type Issued,
} from "@toolgate/testbed/certificates";
import { eventually } from "@toolgate/testbed/eventually";
import { sign } from "@toolgate/webhook-signing/sign";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kindsOf, textOf } from "../chat/client.ts";
import { type ChatFrontDoor, openChat } from "../chat/front-door.ts";
import { createHook, ECHO, hookLog, resultOf, type TestHook } from "../hooks/hooks.ts";

const REPORTED = {
  external_api: true,
  webhook_event: true,
  parameters: { type: "object", properties: { n: { type: "integer" } } },
  handler: "export default async (args) => ({ success: true, n: args.n });",
};
/** Two of those that others call on streams, so that one can be stopped while the other one serves. */
const REPLICAS = { "key-auth": 2, "tool-runner": 2, chat: 2, "inbound-hook": 2 };
const KINDS = ["tools", "hooks", "chats", "management"] as const;
type Kind = (typeof KINDS)[number];
const LOADED = "certificates loaded";
/** More processes than processors start, and each looks at its files every 5 s. */
const PATIENCE = { deadlineMs: 120_000 };
const DEADLINE_MS = 600_000;

let authority: Authority;
let next: Authority;
let first: Issued;
let files: CertificateFiles;
let door: ChatFrontDoor;
let key: { id: string; secret: string };
let hook: TestHook;
const lines: string[] = [];

beforeAll(async () => {
  [authority, next] = await Promise.all([createAuthority(), createAuthority()]);
  first = await authority.issue();
  files = await certificateFiles({ ...first, ca: authority.ca });
  const env = { ...files.env, LOG_LEVEL: "info" };
  door = await openChat("split", { replicas: REPLICAS, env, log: (line) => lines.push(line) });
  const { toolgate } = door;
  await toolgate.saveTool("reported", REPORTED);
  await toolgate.saveTool("echo", ECHO);
  key = await toolgate.createKey({ name: "k", tools: ["reported"], limit: 10_000 });
  hook = await createHook(toolgate, { format: "HOOK_FORMAT_NATIVE" });
}, DEADLINE_MS);
afterAll(() => door?.[Symbol.asyncDispose]());

function callHook(content: string) {
  const body = JSON.stringify({ text: content });
  const headers = { "x-service-signature": sign(hook.secret, Math.floor(Date.now() / 1_000), body) };
  return door.toolgate.request(hook.path, { method: "POST", body, headers });
}

/** The ports of all processes that serve RPCs. */
const rpcPorts = () =>
  Object.values(door.toolgate.rpcUrls)
    .flatMap((urls) => urls.split(","))
    .filter((url) => url !== "")
    .map((url) => Number(new URL(url).port));

/** Whether a server keeps a connection with these certificates open: over TLS 1.3 the server decides last. */
function admits(port: number, options: ConnectionOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, ca: authority.ca + next.ca, ALPNProtocols: ["h2"], ...options });
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

test("a tool call, a chat stream, a hook and a delivery work when all connections between processes are encrypted", async () => {
  const { toolgate } = door;
  const { rpcUrls, receiver } = toolgate;
  expect(
    Object.values(rpcUrls)
      .flatMap((urls) => urls.split(","))
      .every((url) => url === "" || url.startsWith("https:")),
  ).toBe(true);
  await toolgate.createEndpoint(["tool.completed"], "/deliveries");
  expect((await toolgate.call("reported", key.secret, { n: 7 })).body).toMatchObject({ success: true, n: 7 });
  await eventually(() => receiver.requests.some(({ path }) => path === "/deliveries"), PATIENCE);
  const events = await (await door.stream({ chat_id: "encrypted", message: "greet Ada" })).ended;
  expect(kindsOf(events)).toContain("tool_complete");
  expect(textOf(events)).toContain("Hello, Ada");
  expect((await callHook("encrypted")).status).toBe(202);
  const [delivery] = await eventually(async () => {
    const log = await hookLog(toolgate, hook.id);
    return log.length > 0 && log;
  });
  expect(await resultOf(toolgate, delivery?.id ?? "")).toMatchObject({ success: true, text: "encrypted" });
});

test(
  "authority and certificates of running processes are replaced under load, and no call fails",
  async () => {
    const { toolgate } = door;
    const { processes, manage } = toolgate;
    const ended = { tools: 0, hooks: 0, chats: 0, management: 0 };
    const failures: string[] = [];
    const load = new AbortController();
    async function repeat(kind: Kind, attempt: (n: number) => Promise<unknown>, everyMs: number) {
      for (let n = 1; !load.signal.aborted; n += 1) {
        const outcome = await attempt(n).catch((error: unknown) => String(error));
        if (outcome !== true) failures.push(`${kind} ${n}: ${JSON.stringify(outcome)}`);
        ended[kind] += 1;
        await sleep(everyMs);
      }
    }
    const running = [
      ...[1, 2, 3].map(() =>
        repeat(
          "tools",
          async () => {
            const { status, text: body } = await toolgate.call("reported", key.secret, { n: 1 });
            return status === 200 || [status, body];
          },
          20,
        ),
      ),
      repeat("hooks", async (n) => (await callHook(`${n}`)).status === 202, 200),
      repeat("management", async () => Boolean(await manage("key_auth.v1.KeyService/ListKeys", {})), 200),
      repeat(
        "chats",
        async (n) => {
          const stream = await door.stream({ chat_id: `load-${n}`, message: "greet Ada" });
          return textOf(await stream.ended).includes("Hello, Ada") || stream.status;
        },
        500,
      ),
    ];
    /** Waits until further attempts of each kind have ended. */
    async function served() {
      const before = { ...ended };
      await eventually(() => KINDS.every((kind) => ended[kind] > before[kind] + 5), PATIENCE);
    }
    const all = processes().length;
    async function replace(content: Parameters<CertificateFiles["write"]>[0]) {
      const before = lines.filter((line) => line.includes(LOADED)).length;
      await files.write(content);
      await eventually(() => lines.filter((line) => line.includes(LOADED)).length === before + all, PATIENCE);
    }
    const second = await next.issue();
    // As in docs/operators.md: both authorities, then the certificates, then only the new authority.
    await replace({ ca: authority.ca + next.ca });
    for (const port of rpcPorts()) expect(await admits(port, second)).toBe(true);
    await replace(second);
    for (const port of rpcPorts()) expect(await admits(port, { ...first, ca: next.ca })).toBe(true);
    await replace({ ca: next.ca });
    for (const port of rpcPorts()) {
      expect(await admits(port, { ...second, ca: next.ca })).toBe(true);
      expect(await admits(port, { ...first, ca: next.ca })).toBe(false);
    }
    await served();
    expect(failures).toEqual([]);
    // New connections in both directions: one process of each service after the other starts again. Calls that are not on
    // streams take turns between all processes, so some meet one that is down.
    for (const name of Object.keys(REPLICAS)) {
      const chosen = processes().find((process) => process.name === name);
      const again = `${name} runs again`;
      const before = lines.filter((line) => line === again).length;
      process.kill(chosen?.pid ?? 0, "SIGTERM");
      await eventually(() => lines.filter((line) => line === again).length > before, PATIENCE);
    }
    await served();
    const onStreams = failures.filter((failure) => /^(tools|hooks)/.test(failure));
    failures.length = 0;
    await served();
    load.abort();
    await Promise.all(running);
    expect([...onStreams, ...failures]).toEqual([]);
    expect(lines.filter((line) => line.includes("cannot be used"))).toEqual([]);
  },
  DEADLINE_MS,
);
