import { once } from "node:events";
import { type ClientHttp2Stream, connect } from "node:http2";
import type { ConnectRouter } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { SERVICE_TOKEN_HEADER } from "../src/identity/service-token.ts";
import { rpcRig, TOKEN } from "./rpc-rig.ts";

const STREAM = "/toolgate.key_auth.v1.VerifyService/VerifyCalls";
const UNARY = "/toolgate.key_auth.v1.SessionService/Login";
const WATCH = "/grpc.health.v1.Health/Watch";
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const EMPTY_MESSAGE = Buffer.alloc(5);
/** Calls that do not end are cut after 20 s. */
const SOON_MS = 10_000;

const routes = (router: ConnectRouter) => {
  router.service(SessionService, { login: () => ({ token: "" }) });
  router.service(VerifyService, {
    async *verifyCalls() {
      yield {};
    },
  });
};

/** A server, and callers on one connection that never end their half of a stream. */
async function rigWithCallers() {
  const rig = await rpcRig(routes);
  const session = connect(rig.baseUrl);
  session.on("error", () => {});
  async function begin(path: string, token = "", body = EMPTY_MESSAGE): Promise<ClientHttp2Stream> {
    const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc" };
    const stream = session.request({ ...headers, ...(token && { [SERVICE_TOKEN_HEADER]: token }) });
    stream.on("error", () => {}).resume();
    await once(stream, "ready");
    if (body.length > 0) stream.write(body);
    return stream;
  }
  return { rig, session, begin };
}

test.each([
  ["a call stream without a token", STREAM, "", EMPTY_MESSAGE],
  ["a call stream with a wrong token, and no message", STREAM, "wrong", Buffer.alloc(0)],
  ["a call without a token whose request never comes", UNARY, "", Buffer.alloc(0)],
  ["a health check that watches", WATCH, "", EMPTY_MESSAGE],
  ["a health check whose request never comes", WATCH, "", Buffer.alloc(0)],
  ["an idle reflection stream", REFLECTION, "", Buffer.alloc(0)],
])("%s does not delay the shutdown", async (_, path, token, body) => {
  const { rig, session, begin } = await rigWithCallers();
  await begin(path, token, body);
  await new Promise<void>((resolve, reject) => session.ping((error) => (error ? reject(error) : resolve())));
  const before = performance.now();
  await rig[Symbol.asyncDispose]();
  expect(performance.now() - before).toBeLessThan(SOON_MS);
  session.destroy();
});

test.each([
  ["was refused", ""],
  ["has its response", TOKEN],
])("a stream that %s is closed, although its caller does not end it", async (_, token) => {
  const { rig, session, begin } = await rigWithCallers();
  await using _rig = rig;
  const stream = await begin(STREAM, token);
  const trailers = once(stream, "trailers");
  const [received] = await trailers;
  expect(received["grpc-status"]).toBe(token ? "0" : "16");
  await eventually(() => expect(stream.closed).toBe(true));
  expect(stream.rstCode).toBe(0);
  session.destroy();
});
