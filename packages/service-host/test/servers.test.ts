import { once } from "node:events";
import { connect } from "node:http2";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { expect, test } from "vitest";
import { SERVICE_TOKEN_HEADER } from "../src/identity/service-token.ts";
import { startOpsServer } from "../src/process/ops-server.ts";
import { createReadiness } from "../src/process/readiness.ts";
import { rpcRig, TOKEN, transportTo } from "./rpc-rig.ts";

/** The frame of a message without fields. */
const EMPTY_MESSAGE = "\0".repeat(5);
/** Calls that do not end are cut after 20 s. */
const SOON_MS = 10_000;

async function opsRig(ready: () => Promise<void>) {
  const metrics = { scrape: async () => "things_total 3\n" };
  const readiness = createReadiness(ready);
  const ops = await startOpsServer({ readiness, host: "127.0.0.1", port: 0, scrape: () => metrics.scrape() });
  const get = async (path: string, method = "GET") => {
    const response = await fetch(`http://127.0.0.1:${ops.port}${path}`, { method });
    return [response.status, await response.text()] as const;
  };
  return { ops, readiness, metrics, get, [Symbol.asyncDispose]: () => ops[Symbol.asyncDispose]() };
}

test("a process that cannot work or drains is alive but not ready, and probes tell the two apart", async () => {
  let reason = "";
  await using rig = await opsRig(async () => {
    if (reason) throw new Error(reason);
  });
  expect(await rig.get("/healthz")).toEqual([200, "ok\n"]);
  expect(await rig.get("/readyz?verbose")).toEqual([200, "ready\n"]);
  reason = "postgres is down";
  expect(await rig.get("/healthz")).toEqual([200, "ok\n"]);
  expect(await rig.get("/readyz")).toEqual([503, "not ready: postgres is down\n"]);
  reason = "";
  rig.readiness.markDraining();
  expect(await rig.get("/healthz")).toEqual([200, "ok\n"]);
  expect(await rig.get("/readyz")).toEqual([503, "draining\n"]);
});

test("a readiness check that hangs makes the process unready", async () => {
  await using rig = await opsRig(() => new Promise(() => {}));
  expect(await rig.get("/readyz")).toEqual([503, "not ready: no response within 2000 ms\n"]);
});

test("metrics are in Prometheus' format, and a failure to read them does no harm", async () => {
  await using rig = await opsRig(async () => {});
  expect(await rig.get("/metrics")).toEqual([200, "things_total 3\n"]);
  rig.metrics.scrape = () => Promise.reject(new Error("cannot measure"));
  expect((await rig.get("/metrics"))[0]).toBe(500);
  expect((await rig.get("/healthz"))[0]).toBe(200);
});

test("the same port speaks gRPC and Connect over h2c", async () => {
  await using rig = await rpcRig((router) => router.service(SessionService, { login: () => ({ token: "s" }) }));
  const overGrpc = createClient(SessionService, transportTo(rig.baseUrl));
  const connect = createConnectTransport({ baseUrl: rig.baseUrl, httpVersion: "2" });
  const overConnect = createClient(SessionService, connect);
  const headers = { [SERVICE_TOKEN_HEADER]: TOKEN };
  expect(await overConnect.login({}, { headers })).toEqual(await overGrpc.login({}));
});

test("streams that no service has opened, and whose callers never end them, do not delay the shutdown", async () => {
  const rig = await rpcRig((router) => {
    router.service(SessionService, { login: () => ({ token: "s" }) });
    router.service(VerifyService, {
      async *verifyCalls() {
        yield {};
      },
    });
  });
  const session = connect(rig.baseUrl).on("error", () => {});
  await once(session, "connect");
  const begin = (path: string, token = "", body = "") => {
    const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc" };
    const stream = session.request({ ...headers, ...(token && { [SERVICE_TOKEN_HEADER]: token }) });
    stream.on("error", () => {}).resume();
    if (body) stream.write(body);
  };
  const [calls, watch] = ["/toolgate.key_auth.v1.VerifyService/VerifyCalls", "/grpc.health.v1.Health/Watch"];
  begin(calls, "", EMPTY_MESSAGE);
  begin(calls, "wrong");
  begin("/toolgate.key_auth.v1.SessionService/Login");
  begin(watch, "", EMPTY_MESSAGE);
  begin(watch);
  begin("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo");
  await new Promise<void>((resolve, reject) => session.ping((error) => (error ? reject(error) : resolve())));
  const before = performance.now();
  await rig[Symbol.asyncDispose]();
  expect(performance.now() - before).toBeLessThan(SOON_MS);
  session.destroy();
});

test("a message over the limit is refused, not read", async () => {
  await using rig = await rpcRig((router) => router.service(SessionService, { login: () => ({}) }));
  const sessionManager = new Http2SessionManager(rig.baseUrl);
  const client = createClient(SessionService, createGrpcTransport({ baseUrl: rig.baseUrl, sessionManager }));
  const headers = { [SERVICE_TOKEN_HEADER]: TOKEN };
  const large = client.login({ email: "x".repeat(5 * 1024 * 1024) }, { headers });
  expect(ConnectError.from(await large.catch((error) => error)).code).toBe(Code.ResourceExhausted);
  // The rest of the message is never read: closing would wait for it.
  sessionManager.abort();
});
