import { create } from "@bufbuild/protobuf";
import { AttemptSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { createSafeFetch } from "@toolgate/safe-fetch/fetch";
import type { SafeFetchResult } from "@toolgate/safe-fetch/result";
import { startReceiver } from "@toolgate/testbed/servers/receiver";
import { expect, test } from "vitest";
import { runAttempt } from "../src/worker/run-attempt.ts";

const KILOBYTES_64 = 65_536;

test.each([
  ["of 64 KB is read whole", KILOBYTES_64, false],
  ["of one byte more is cut at 64 KB", KILOBYTES_64 + 1, "size"],
  ["of 1 MB is cut at 64 KB", 1_000_000, "size"],
])("[OUT-14] a response %s", async (_what, bytes, truncated) => {
  await using receiver = await startReceiver({ behave: () => ({ body: Buffer.alloc(bytes, "y") }) });
  await using safeFetch = createSafeFetch({ allowList: ["127.0.0.0/8"], applicationHosts: [], schemes: ["http:"] });
  const results: SafeFetchResult[] = [];
  const send: typeof safeFetch.send = async (request) => {
    const result = await safeFetch.send(request);
    results.push(result);
    return result;
  };
  const attempt = create(AttemptSchema, { url: receiver.url, headers: {}, body: Buffer.from("{}"), number: 1 });
  const made = await runAttempt(attempt, { safeFetch: { send }, attemptDeadlineMs: 10_000, now: () => new Date() });
  expect(made).toMatchObject({ responseCode: 200, response: "y".repeat(1_000) });
  const [result] = results;
  if (result?.kind !== "response") throw new Error(`the attempt ended as ${result?.kind}`);
  expect(result.body).toHaveLength(KILOBYTES_64);
  expect(result.truncated).toBe(truncated);
});
