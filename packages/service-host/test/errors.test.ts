import { Code, ConnectError, type ConnectRouter, createClient } from "@connectrpc/connect";
import { LoginRequestSchema, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { isFromHandler, unavailable } from "../src/errors.ts";
import { rpcRig, transportTo } from "./rpc-rig.ts";

const SECRET = "row of user 7";

async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => expect.unreachable("the call must fail"),
    (error) => ConnectError.from(error),
  );
}

async function failing(fail: () => never) {
  const routes = (router: ConnectRouter) =>
    router.service(SessionService, { login: () => fail() }).service(VerifyService, {
      async *verifyCalls() {
        yield {};
        fail();
      },
    });
  const rig = await rpcRig(routes);
  const transport = transportTo(rig.baseUrl);
  const sessions = createClient(SessionService, transport);
  const verify = createClient(VerifyService, transport);
  const stream = async () => {
    for await (const _ of verify.verifyCalls((async function* () {})()));
  };
  return { rig, calls: [() => sessions.login({}), stream] };
}

test("an error for the caller arrives with code, message and details", async () => {
  const detail = { desc: LoginRequestSchema, value: { email: "a@example.com" } };
  const { rig, calls } = await failing(() => {
    throw new ConnectError("no such key", Code.NotFound, undefined, [detail]);
  });
  await using _ = rig;
  for (const call of calls) {
    const failure = await failureOf(call());
    expect([failure.code, failure.rawMessage]).toEqual([Code.NotFound, "no such key"]);
    expect(failure.findDetails(LoginRequestSchema)[0]?.email).toBe("a@example.com");
  }
  expect(rig.entries).toEqual([]);
});

test("an unavailable error of a handler can be told from a service that is down", async () => {
  const { rig, calls } = await failing(() => {
    throw unavailable("done, repeat the call");
  });
  for (const call of calls) {
    const failure = await failureOf(call());
    expect([failure.code, failure.rawMessage]).toEqual([Code.Unavailable, "done, repeat the call"]);
    expect(isFromHandler(failure)).toBe(true);
  }
  await rig[Symbol.asyncDispose]();
  for (const call of calls) {
    const failure = await failureOf(call());
    expect(failure.code).toBe(Code.Unavailable);
    expect(isFromHandler(failure)).toBe(false);
  }
});

test.each([
  ["an error", () => new Error(SECRET)],
  ["an internal error of another service", () => new ConnectError(SECRET, Code.Internal)],
  ["an unknown error of another service", () => new ConnectError(SECRET, Code.Unknown)],
  ["a thrown value that is not an error", () => SECRET],
])("%s is opaque with a request id, which the log explains, also within a stream", async (_name, make) => {
  const { rig, calls } = await failing(() => {
    throw make();
  });
  await using _ = rig;
  for (const [index, call] of calls.entries()) {
    const failure = await failureOf(call());
    expect(failure.code).toBe(Code.Internal);
    expect(failure.message).not.toContain(SECRET);
    const id = /^internal error, request id ([0-9a-z-]+)$/.exec(failure.rawMessage)?.[1];
    expect(rig.entries[index]).toMatchObject({ requestId: id, level: "error" });
    expect(JSON.stringify(rig.entries[index])).toContain(SECRET);
  }
  expect(rig.entries.map((entry) => entry.rpc)).toEqual([
    "toolgate.key_auth.v1.SessionService/Login",
    "toolgate.key_auth.v1.VerifyService/VerifyCalls",
  ]);
});

test("a call that its caller cancelled is not logged as a failure", async () => {
  let begun = false;
  let aborted = false;
  await using rig = await rpcRig((router) =>
    router.service(SessionService, {
      login: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          begun = true;
          signal.addEventListener("abort", () => {
            aborted = true;
            reject(new Error("cut short"));
          });
        }),
    }),
  );
  const sessions = createClient(SessionService, transportTo(rig.baseUrl));
  const late = await failureOf(sessions.login({}, { timeoutMs: 500 }));
  expect(late.code).toBe(Code.DeadlineExceeded);
  // The deadline may have passed before the request arrived.
  if (begun) await eventually(() => aborted);
  const stop = new AbortController();
  begun = false;
  aborted = false;
  const call = failureOf(sessions.login({}, { signal: stop.signal }));
  await eventually(() => begun);
  stop.abort();
  expect((await call).code).toBe(Code.Canceled);
  await eventually(() => aborted);
  expect(rig.entries).toEqual([]);
});
