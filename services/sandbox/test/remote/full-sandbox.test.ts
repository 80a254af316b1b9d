import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:http2";
import { createServer } from "node:net";
import { listen } from "@toolgate/service-host/process/listen";
import { expect, test } from "vitest";
import { NO_ISOLATION } from "../../src/isolation/detect.ts";
import { startSandboxServer } from "../../src/server.ts";
import { handler, openPool, resultOf, until } from "../sandbox-harness.ts";
import { spawnAt, TOKEN } from "./sandbox-service.ts";

const urlOf = (port: number) => ({ url: `http://127.0.0.1:${port}` });

async function startServer(maxProcesses?: number) {
  const server = await startSandboxServer({
    host: "127.0.0.1",
    port: 0,
    tokenHashes: [createHash("sha256").update(TOKEN).digest("hex")],
    isolation: NO_ISOLATION,
    ...(maxProcesses !== undefined && { maxProcesses }),
  });
  return Object.assign(server, urlOf(server.port));
}

/** Each workspace needs a process of its own. */
async function runForWorkspaces(addresses: readonly { url: string }[]) {
  await using pool = openPool({}, { spawn: spawnAt(addresses) });
  for (let n = 0; n < 4; n += 1) expect(await resultOf(pool, handler("return 1"), { workspaceId: `w${n}` })).toBe(1);
}

test("[TOOL-2] a sandbox process that is full says so, and processes start at another one", async () => {
  await using full = await startServer(1);
  await using other = await startServer();
  const refusals: unknown[] = [];
  const log = { warn: ({ stderr }: Record<string, unknown>) => refusals.push(stderr) };
  await using first = openPool({}, { spawn: spawnAt([full]), log });
  await until("it is full", () => first.isReady() && refusals.length > 0);
  expect(refusals[0]).toContain("503");
  await runForWorkspaces([full, other]);
});

test("[TOOL-2] processes start at another address while one closes its connections without a word", async () => {
  const silent = createServer((socket) => socket.destroy());
  const port = await listen(silent, "127.0.0.1", 0);
  await using other = await startServer();
  await runForWorkspaces([urlOf(port), other]);
  silent.close();
});

test("[TOOL-2] a sandbox process closes the connection of someone whom it refuses", async () => {
  await using server = await startServer();
  const session = connect(server.url);
  const closed = once(session, "close");
  const stream = session.request({ ":method": "POST", authorization: "Bearer wrong" });
  stream.on("error", () => {});
  const [headers] = await once(stream, "response");
  expect(headers[":status"]).toBe(401);
  await closed;
});
