import { Code } from "@connectrpc/connect";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { neverSent } from "../src/call.ts";
import { spawnServer } from "./spawn-server.ts";
import { ask, failureOf, responseTo, verifyClient } from "./verify-client.ts";
import { startVerifyServer } from "./verify-server.ts";

const LONG_MS = 120_000;
/** Longer than a process takes to start on a busy machine. */
const START_MS = 300_000;

test("a killed server fails its open calls as unavailable, and calls work again when it is back", async () => {
  await using server = await spawnServer();
  await using client = verifyClient(() => [server.address], { maxWaitMs: START_MS });
  await client.call(ask("up"), { timeoutMs: LONG_MS });
  const open = [...Array(20)].map(() => failureOf(client.call(ask("hang"), { timeoutMs: LONG_MS })));
  await client.call(ask("the open calls have left"), { timeoutMs: LONG_MS });
  server.child.kill("SIGKILL");
  for (const error of await Promise.all(open)) {
    expect([error.code, error.rawMessage, neverSent(error)]).toEqual([Code.Unavailable, "the stream was lost", false]);
  }
  const waiting = client.call(ask("waits"), { timeoutMs: START_MS });
  await using next = await spawnServer(server.port);
  expect((await waiting).key?.workspace).toBe(`${next.child.pid}`);
});

test("a server that freezes while it drains is noticed without waiting for deadlines", async () => {
  await using server = await spawnServer();
  const errors: string[] = [];
  await using client = verifyClient(() => [server.address], { onError: (error) => void errors.push(String(error)) });
  const open = failureOf(client.call(ask("hang"), { timeoutMs: LONG_MS }));
  await client.call(ask("the open call has left"), { timeoutMs: LONG_MS });
  server.child.send("drain");
  // The next streams are refused, so the GOAWAY has arrived.
  await eventually(() => errors.length > 0);
  server.child.kill("SIGSTOP");
  const error = await open;
  expect([error.code, error.rawMessage, neverSent(error)]).toEqual([Code.Unavailable, "the stream was lost", false]);
});

test("a call waits for a stream, and fails as never sent when none comes up", async () => {
  const addresses: string[] = [];
  await using client = verifyClient(() => addresses, { maxInFlight: 2 });
  const error = await failureOf(client.call(ask("t"), { timeoutMs: 100 }));
  expect([error.code, neverSent(error)]).toEqual([Code.DeadlineExceeded, true]);
  const waiting = ["a", "b"].map((tool) => client.call(ask(tool), { timeoutMs: LONG_MS }));
  const third = await failureOf(client.call(ask("c"), { timeoutMs: LONG_MS }));
  expect([third.code, neverSent(third)]).toEqual([Code.ResourceExhausted, true]);
  await using server = await startVerifyServer(async ({ tool }) => responseTo(tool));
  addresses.push(server.address);
  expect((await Promise.all(waiting)).map((response) => response.key?.keyName)).toEqual(["a", "b"]);
  await using impatient = verifyClient(() => [], { maxWaitMs: 100 });
  const tired = await failureOf(impatient.call(ask("t"), { timeoutMs: LONG_MS }));
  expect([tired.code, tired.rawMessage, neverSent(tired)]).toEqual([Code.Unavailable, "no server is reachable", true]);
});

test("a server that is not up yet is no error, one that goes down is", async () => {
  const reported: string[] = [];
  const server = await startVerifyServer(async ({ tool }) => responseTo(tool));
  const { address } = server;
  await using unborn = await startVerifyServer(async ({ tool }) => responseTo(tool));
  const { address: nobody } = unborn;
  await unborn[Symbol.asyncDispose]();
  await using client = verifyClient(() => [address, nobody], { onError: (error) => void reported.push(String(error)) });
  await client.call(ask("t"), { timeoutMs: LONG_MS });
  expect(reported).toEqual([]);
  await server[Symbol.asyncDispose]();
  await eventually(() => reported.length > 0);
  expect(reported.filter((error) => error.includes(nobody))).toEqual([]);
});

test("a failed lookup is reported, and the known addresses are kept", async () => {
  const reported: unknown[] = [];
  let failing = false;
  await using server = await startVerifyServer(async ({ tool }) => responseTo(tool));
  await using client = verifyClient(
    () => {
      if (failing) throw new Error("no such name");
      return [server.address];
    },
    { onError: (error) => void reported.push(error) },
  );
  await client.call(ask("t"), { timeoutMs: LONG_MS });
  failing = true;
  await eventually(() => reported.length > 1);
  expect((await client.call(ask("u"), { timeoutMs: LONG_MS })).key?.keyName).toBe("u");
});

test.each<[string, () => Promise<string[]>]>([
  ["fails", () => Promise.reject(new Error("no such name"))],
  ["does not answer", () => new Promise(() => undefined)],
])("streams that end are opened again while the lookup of addresses %s", async (_, lookUp) => {
  const reported: string[] = [];
  let lookups = 0;
  await using server = await startVerifyServer(async ({ tool }) => responseTo(tool), { limits: { maxAgeMs: 700 } });
  const resolver = () => {
    lookups += 1;
    return lookups === 1 ? [server.address] : lookUp();
  };
  const onError = (error: unknown) => void reported.push(String(error));
  await using client = verifyClient(resolver, { lookEveryMs: 15_000, onError });
  for (let streams = 1; streams <= 3; streams += 1) {
    await eventually(() => server.opened() === streams);
    expect((await client.call(ask("t"), { timeoutMs: LONG_MS })).key?.keyName).toBe("t");
  }
  expect(lookups).toBeGreaterThan(1);
  expect(reported.filter((error) => error.includes("takes too long"))).toEqual([]);
});

test("a lookup that takes too long is reported, and tried again", async () => {
  const reported: string[] = [];
  let lookups = 0;
  await using server = await startVerifyServer(async ({ tool }) => responseTo(tool));
  const resolver = () => {
    lookups += 1;
    return lookups === 1 ? new Promise<never>(() => undefined) : [server.address];
  };
  await using client = verifyClient(resolver, { onError: (error) => void reported.push(String(error)) });
  expect((await client.call(ask("t"), { timeoutMs: LONG_MS })).key?.keyName).toBe("t");
  expect(reported).toEqual([expect.stringContaining("the lookup of the servers takes too long")]);
});

test("a stream that ends at once is opened again every 500 ms", async () => {
  await using server = await startVerifyServer(async ({ tool }) => responseTo(tool), { limits: { maxAgeMs: 0 } });
  await using _client = verifyClient(() => [server.address]);
  const begunMs = performance.now();
  await eventually(() => server.opened() === 4);
  expect(performance.now() - begunMs).toBeGreaterThan(3 * 490);
});

test("an address to which no transport can be made is reported once, and the others are used", async () => {
  const reported: string[] = [];
  await using server = await startVerifyServer(async ({ tool }) => responseTo(tool));
  await using client = verifyClient(() => ["no address", server.address], {
    onError: (error) => void reported.push(`${error}`),
  });
  expect((await client.call(ask("t"), { timeoutMs: LONG_MS })).key?.keyName).toBe("t");
  expect(reported).toEqual([expect.stringContaining("call stream to no address: ")]);
});

test("a closed client fails its open calls and takes no more", async () => {
  let hasBegun = false;
  await using server = await startVerifyServer(() => {
    hasBegun = true;
    return new Promise(() => undefined);
  });
  const client = verifyClient(() => [server.address]);
  const open = failureOf(client.call(ask("open"), { timeoutMs: LONG_MS }));
  await eventually(() => hasBegun);
  await client[Symbol.asyncDispose]();
  expect([(await open).code, neverSent(await open)]).toEqual([Code.Unavailable, false]);
  const late = await failureOf(client.call(ask("late"), { timeoutMs: LONG_MS }));
  expect([late.code, neverSent(late)]).toEqual([Code.Unavailable, true]);
});
