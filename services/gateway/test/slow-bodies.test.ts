import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { create } from "@bufbuild/protobuf";
import { type KeyVerdict, VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { generateSecret } from "@toolgate/rules/api-key-secret";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { listen, testServer } from "./test-server.ts";

const VALID = { keyId: "k", admitted: true, limit: 60, remaining: 59, toolListed: true };

/** Calls a tool with a body that takes this long; `later` is the verdict on the key after it. */
async function callSlowly(tookMs: number, later: Partial<KeyVerdict> | Error | undefined) {
  const seen = { verified: [] as boolean[], granted: [] as string[], statuses: [] as number[] };
  let nowMs = Date.now();
  await using app = await testServer({
    calls: {
      now: () => nowMs,
      async verify({ count }) {
        seen.verified.push(count);
        if (count) return create(VerifyResponseSchema, { key: { ...VALID, grant: "first" } });
        if (later instanceof Error) throw later;
        return create(VerifyResponseSchema, later && { key: { ...VALID, ...(later as typeof VALID) } });
      },
      async run({ caller }) {
        if (caller.case === "key") seen.granted.push(caller.value.grant);
        return create(RunResponseSchema, { outcome: { case: "resultJson", value: Buffer.from("{}") } });
      },
      usage: { add: async ({ status }) => void seen.statuses.push(status), async [Symbol.asyncDispose]() {} },
    },
  });
  const port = await listen(app);
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const head = `POST /api/v1/tools/x HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer ${generateSecret()}\r\n`;
  socket.write(`${head}content-length: 2\r\n\r\n{`);
  await eventually(() => expect(seen.verified).toEqual([true]));
  nowMs += tookMs;
  socket.write("}");
  const response = await text(socket);
  return { ...seen, response };
}

test("a grant that could expire on its way is renewed once the body has come, without counting the call again", async () => {
  expect(await callSlowly(19_000, undefined)).toMatchObject({ verified: [true], granted: ["first"], statuses: [200] });
  const renewed = await callSlowly(21_000, { grant: "second" });
  expect(renewed).toMatchObject({ verified: [true, false], granted: ["second"], statuses: [200] });
  expect(renewed.response).toMatch(/^HTTP\/1.1 200 .*x-ratelimit-limit: 60/is);
});

test("[KEY-21] [LIMIT-3] a key that was revoked while its body came runs nothing, and the response does not show its limit", async () => {
  const refused = await callSlowly(21_000, undefined);
  expect(refused).toMatchObject({ granted: [], statuses: [401] });
  expect(refused.response).toMatch(/^HTTP\/1.1 401 /);
  expect(refused.response).not.toMatch(/x-ratelimit/i);
  expect(await callSlowly(21_000, { workspaceLocked: true })).toMatchObject({ granted: [], statuses: [403] });
  expect(await callSlowly(21_000, new Error("down"))).toMatchObject({ granted: [], statuses: [500] });
});
