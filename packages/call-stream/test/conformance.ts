import { getEventListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { create, equals } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { VerifyRequest, VerifyResponse } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { VerifyRequestSchema, VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { type Call, neverSent } from "../src/call.ts";
import { ask, failureOf, responseTo } from "./verify-client.ts";
import type { VerifyHandler } from "./verify-server.ts";

type Subject = AsyncDisposable & { readonly call: Call<VerifyRequest, VerifyResponse> };
type SubjectOptions = { readonly maxInFlight?: number; readonly onError?: (error: unknown) => void };
type OpenSubject = (handler: VerifyHandler, options?: SubjectOptions) => Promise<Subject>;

const LONG_MS = 120_000;
const SHORT_MS = 60;
const MAX_SHORT_MS = 6_000;

/** A call that ends at its deadline, after it was sent. A busy machine may need longer to send it, so it gets more time. */
async function timedOut({ call }: Subject, tool: string): Promise<ConnectError> {
  for (let timeoutMs = SHORT_MS; ; timeoutMs *= 10) {
    const error = await failureOf(call(ask(tool), { timeoutMs }));
    if (!neverSent(error) || timeoutMs >= MAX_SHORT_MS) return error;
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** What every call guarantees, direct or over a stream. */
export function conformance(open: OpenSubject): void {
  results(open);
  failures(open);
  cancellation(open);
  load(open);
}

function results(open: OpenSubject): void {
  test("the handler gets the request and the caller gets the response, field by field", async () => {
    const request = create(VerifyRequestSchema, { secretHash: new Uint8Array(32).fill(255), count: true, tool: "Ω" });
    const response = create(VerifyResponseSchema, {
      key: { keyId: "k", workspaceEpoch: 2n ** 63n, limit: 60, tools: ["a", "b"] },
    });
    let seen: VerifyRequest | undefined;
    await using subject = await open(async (received) => {
      seen = received;
      return response;
    });
    const got = await subject.call(request, { timeoutMs: LONG_MS });
    expect(equals(VerifyResponseSchema, got, response)).toBe(true);
    expect(seen && equals(VerifyRequestSchema, seen, request)).toBe(true);
  });
}

function failures(open: OpenSubject): void {
  test("a ConnectError keeps its code and message and loses cause and metadata", async () => {
    const thrown = new ConnectError("no such key", Code.NotFound, { secret: "s3cret" }, undefined, new Error("cause"));
    await using subject = await open(() => Promise.reject(thrown));
    const error = await failureOf(subject.call(ask("t"), { timeoutMs: LONG_MS }));
    expect([error.code, error.rawMessage]).toEqual([Code.NotFound, "no such key"]);
    expect([error.cause, [...error.metadata.keys()], neverSent(error)]).toEqual([undefined, [], false]);
  });

  test("anything else that is thrown is opaque to the caller and reported on the handler's side", async () => {
    const reported: unknown[] = [];
    const thrown = new Error("password=hunter2");
    const onError = (error: unknown) => void reported.push(error);
    await using subject = await open(() => Promise.reject(thrown), { onError });
    const error = await failureOf(subject.call(ask("t"), { timeoutMs: LONG_MS }));
    expect([error.code, error.rawMessage, error.cause]).toEqual([Code.Internal, "internal error", undefined]);
    expect(reported).toEqual([thrown]);
  });
}

function cancellation(open: OpenSubject): void {
  test("a deadline fails the call", async () => {
    let runs = 0;
    await using subject = await open(() => {
      runs += 1;
      return never();
    });
    const error = await timedOut(subject, "t");
    expect([error.code, neverSent(error)]).toEqual([Code.DeadlineExceeded, false]);
    // One: a call that says that it was never sent did not reach the handler.
    await eventually(() => runs === 1);
  });

  test("a cancelled call fails immediately, and what its handler returns later reaches no other call", async () => {
    const held = new Map<string, () => void>();
    const handler: VerifyHandler = ({ tool }) =>
      new Promise((resolve) => held.set(tool, () => resolve(responseTo(tool))));
    await using subject = await open(handler);
    const caller = new AbortController();
    const cancelled = failureOf(subject.call(ask("cancelled"), { timeoutMs: LONG_MS, signal: caller.signal }));
    const kept = subject.call(ask("kept"), { timeoutMs: LONG_MS });
    await eventually(() => held.size === 2);
    caller.abort();
    const error = await cancelled;
    expect([error.code, neverSent(error)]).toEqual([Code.Canceled, false]);
    for (const release of held.values()) release();
    expect((await kept).key?.keyName).toBe("kept");
  });

  test("a call without time or with an aborted signal never reaches the handler", async () => {
    let runs = 0;
    await using subject = await open(async ({ tool }) => {
      runs += 1;
      return responseTo(tool);
    });
    for (const timeoutMs of [0, -1, Number.NaN]) {
      const error = await failureOf(subject.call(ask("t"), { timeoutMs }));
      expect([error.code, neverSent(error)]).toEqual([Code.DeadlineExceeded, true]);
    }
    const gone = await failureOf(subject.call(ask("t"), { timeoutMs: LONG_MS, signal: AbortSignal.abort() }));
    expect([gone.code, neverSent(gone)]).toEqual([Code.Canceled, true]);
    await subject.call(ask("last"), { timeoutMs: LONG_MS });
    expect(runs).toBe(1);
  });

  test("a call may have more time than a timer can wait", async () => {
    await using subject = await open(async ({ tool }) => {
      await delay(SHORT_MS);
      return responseTo(tool);
    });
    for (const timeoutMs of [2 ** 31, Number.POSITIVE_INFINITY])
      expect((await subject.call(ask("t"), { timeoutMs })).key?.keyName).toBe("t");
  });

  test("a settled call leaves no listener on the caller's signal", async () => {
    await using subject = await open(async ({ tool }) => responseTo(tool));
    const { signal } = new AbortController();
    const call = subject.call(ask("t"), { timeoutMs: LONG_MS, signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await call;
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
}

function load(open: OpenSubject): void {
  test("a call above the limit is refused immediately, and the next one is taken when another has ended", async () => {
    const held: (() => void)[] = [];
    const handler: VerifyHandler = ({ tool }) => new Promise((resolve) => held.push(() => resolve(responseTo(tool))));
    await using subject = await open(handler, { maxInFlight: 8 });
    const calls = [...Array(8).keys()].map((i) => subject.call(ask(`${i}`), { timeoutMs: LONG_MS }));
    const error = await failureOf(subject.call(ask("ninth"), { timeoutMs: LONG_MS }));
    expect([error.code, neverSent(error)]).toEqual([Code.ResourceExhausted, true]);
    await eventually(() => held.length === 8);
    held[3]?.();
    await calls[3];
    const next = subject.call(ask("next"), { timeoutMs: LONG_MS });
    await eventually(() => held.length === 9);
    for (const release of held) release();
    expect((await next).key?.keyName).toBe("next");
    await Promise.all(calls);
  });

  test("3,000 simultaneous calls, some failing and some cancelled, each end with their own outcome", async () => {
    await using subject = await open(async ({ tool }) => {
      const number = Number(tool);
      if (number % 3 === 0) await new Promise(setImmediate);
      if (number % 7 === 0) throw new ConnectError(tool, Code.Aborted);
      if (number % 11 === 0) await never();
      return responseTo(tool);
    });
    const caller = new AbortController();
    const outcomes = [...Array(3000).keys()].map((i) =>
      subject.call(ask(`${i}`), { timeoutMs: LONG_MS, signal: caller.signal }).then(
        (response) => response.key?.keyName,
        (error: unknown) => (error instanceof ConnectError ? `${Code[error.code]}` : "?"),
      ),
    );
    await Promise.all(outcomes.filter((_, i) => i % 7 === 0 || i % 11 !== 0));
    caller.abort();
    const expected = (i: number) => (i % 7 === 0 ? "Aborted" : i % 11 === 0 ? "Canceled" : `${i}`);
    expect(await Promise.all(outcomes)).toEqual([...Array(3000).keys()].map(expected));
  });
}
