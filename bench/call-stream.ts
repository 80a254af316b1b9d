// CPU per call, client and server together: unary gRPC calls against the same calls on a call stream and against the
// direct call of the single topology. Client and server are two processes. Run with: node bench/call-stream.ts
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { connectNodeAdapter, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { Call, CallHandler } from "@toolgate/call-stream/call";
import { createCallStream } from "@toolgate/call-stream/client";
import { directCall } from "@toolgate/call-stream/direct";
import { serveCalls } from "@toolgate/call-stream/serve";
import { streamTransport } from "@toolgate/call-stream/transport";
import type { VerifyRequest, VerifyResponse } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { VerifyRequestSchema, VerifyResponseSchema, VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";

const RUN_MS = 1_200;
const WARM_UP_MS = 500;
const TIMEOUT_MS = 5_000;

type Cost = { perSecond: number; cpuUs: number; clientUs: number; meanMs: number };

const handler: CallHandler<VerifyRequest, VerifyResponse> = async (request) =>
  create(VerifyResponseSchema, {
    key: {
      keyId: "key_01JZX5T0T4Q2",
      keyName: "Partner",
      workspaceId: "ws_01JZX5T0T4Q2",
      workspace: "acme",
      workspaceEpoch: 7n,
      admitted: true,
      limit: 60,
      remaining: 59,
      resetAt: 1_790_000_000n,
      toolListed: request.tool !== "",
    },
  });

function serve(): void {
  const verifyCalls = serveCalls({ method: VerifyService.method.verify, handler, onError: console.error });
  const server = createServer(
    connectNodeAdapter({
      routes: (router) =>
        router.service(VerifyService, { verify: (request, { signal }) => handler(request, { signal }), verifyCalls }),
    }),
  );
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.on("message", () => process.send?.(process.cpuUsage()));
  process.on("disconnect", () => process.exit());
}

async function loop(call: () => Promise<unknown>, concurrency: number, forMs: number): Promise<number> {
  const endMs = performance.now() + forMs;
  let done = 0;
  const worker = async () => {
    while (performance.now() < endMs) {
      await call();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return done;
}

async function measure(
  call: () => Promise<unknown>,
  concurrency: number,
  serverCpuUs: () => Promise<number>,
): Promise<Cost> {
  await loop(call, concurrency, WARM_UP_MS);
  const server = await serverCpuUs();
  const client = process.cpuUsage();
  const startMs = performance.now();
  const calls = await loop(call, concurrency, RUN_MS);
  const tookMs = performance.now() - startMs;
  const { user, system } = process.cpuUsage(client);
  const serverUs = (await serverCpuUs()) - server;
  return {
    perSecond: (calls / tookMs) * 1000,
    cpuUs: (user + system + serverUs) / calls,
    clientUs: (user + system) / calls,
    meanMs: (tookMs * concurrency) / calls,
  };
}

async function main(): Promise<void> {
  const child = fork(import.meta.filename, ["--serve"]);
  const [port] = (await once(child, "message")) as [number];
  const address = `http://127.0.0.1:${port}`;
  const serverCpuUs = async () => {
    child.send("cpu");
    const [usage] = (await once(child, "message")) as [NodeJS.CpuUsage];
    return usage.user + usage.system;
  };
  const request = create(VerifyRequestSchema, { secretHash: new Uint8Array(32).fill(7), count: true, tool: "invoice" });
  const sessionManager = new Http2SessionManager(address);
  const unary = createClient(VerifyService, createGrpcTransport({ baseUrl: address, sessionManager }));
  await using stream = createCallStream({
    method: VerifyService.method.verify,
    streamMethod: VerifyService.method.verifyCalls,
    addresses: () => [address],
    transportFor: (base) => streamTransport(base),
    reconnect: { minMs: 50, maxMs: 2_000 },
    onError: console.error,
  });
  const onStream = (call: Call<VerifyRequest, VerifyResponse>) => () => call(request, { timeoutMs: TIMEOUT_MS });
  const subjects: [string, () => Promise<unknown>][] = [
    ["unary gRPC", () => unary.verify(request, { timeoutMs: TIMEOUT_MS })],
    ["call stream", onStream(stream.call)],
    ["direct call", onStream(directCall(handler, { rpc: "bench", onError: console.error }))],
  ];
  // The busy round goes first: it leaves both processes with compiled code for the quiet one.
  for (const concurrency of [64, 1]) {
    const rows: Record<string, Record<string, string>> = {};
    let base = 0;
    for (const [name, call] of subjects) {
      const cost = await measure(call, concurrency, serverCpuUs);
      base ||= cost.cpuUs;
      rows[name] = {
        "calls/s": cost.perSecond.toFixed(0),
        "CPU µs/call": cost.cpuUs.toFixed(1),
        "of it client": cost.clientUs.toFixed(1),
        "mean ms": cost.meanMs.toFixed(3),
        "of unary": `1/${(base / cost.cpuUs).toFixed(1)}`,
      };
    }
    console.log(`concurrency ${concurrency}`);
    console.table(rows);
  }
  sessionManager.abort();
  child.disconnect();
}

if (process.argv.includes("--serve")) serve();
else await main();
