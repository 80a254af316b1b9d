import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { createCallStream } from "@toolgate/call-stream/client";
import { directCall } from "@toolgate/call-stream/direct";
import { streamTransport } from "@toolgate/call-stream/transport";
import { VerifyRequestSchema, VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { startBenchProcess } from "../machine/child-process.ts";
import { verify } from "./verify.ts";

type CallCost = { name: string; perSecond: number; cpuUs: number; clientUs: number; meanMs: number };
export type CallCosts = { concurrency: number; rows: CallCost[] };

type Send = () => Promise<unknown>;

const RUN_MS = 1_200;
const WARM_UP_MS = 500;
const TIMEOUT_MS = 5_000;
// The busy round goes first, so that the code of both processes is compiled before the quiet one.
const CONCURRENCIES = [64, 1];

/**
 * CPU per call of client (this process) and server together: for unary gRPC calls, for the same calls on a call stream,
 * and for the direct call of the single topology.
 */
export async function measureCallStream(signal: AbortSignal): Promise<CallCosts[]> {
  const entry = new URL("./server.ts", import.meta.url);
  await using server = await startBenchProcess<{ port: number }, object, NodeJS.CpuUsage>(entry, { signal });
  const address = `http://127.0.0.1:${server.ready.port}`;
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
  const direct = directCall(verify, { rpc: "bench", caller: "bench", onError: console.error });
  const subjects: Record<string, Send> = {
    "unary gRPC": () => unary.verify(request, { timeoutMs: TIMEOUT_MS }),
    "call stream": () => stream.call(request, { timeoutMs: TIMEOUT_MS }),
    "direct call": () => direct(request, { timeoutMs: TIMEOUT_MS }),
  };
  const serverCpuUs = async () => sumUs(await server.ask({}));
  const costs: CallCosts[] = [];
  for (const concurrency of CONCURRENCIES) {
    const rows: CallCost[] = [];
    for (const [name, send] of Object.entries(subjects)) {
      rows.push({ name, ...(await measure(send, concurrency, serverCpuUs)) });
    }
    costs.push({ concurrency, rows });
  }
  sessionManager.abort();
  return costs;
}

async function measure(send: Send, concurrency: number, serverCpuUs: () => Promise<number>) {
  await loop(send, concurrency, WARM_UP_MS);
  const serverBefore = await serverCpuUs();
  const clientBefore = process.cpuUsage();
  const startMs = performance.now();
  const calls = await loop(send, concurrency, RUN_MS);
  const tookMs = performance.now() - startMs;
  const clientUs = sumUs(process.cpuUsage(clientBefore));
  const serverUs = (await serverCpuUs()) - serverBefore;
  return {
    perSecond: (calls / tookMs) * 1000,
    cpuUs: (clientUs + serverUs) / calls,
    clientUs: clientUs / calls,
    meanMs: (tookMs * concurrency) / calls,
  };
}

async function loop(send: Send, concurrency: number, forMs: number): Promise<number> {
  const endMs = performance.now() + forMs;
  let done = 0;
  const worker = async () => {
    for (; performance.now() < endMs; done += 1) await send();
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return done;
}

const sumUs = ({ user, system }: NodeJS.CpuUsage) => user + system;
