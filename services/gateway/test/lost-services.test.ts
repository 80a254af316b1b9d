import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { type RunRequest, RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { generateSecret } from "@toolgate/rules/api-key-secret";
import { expect, test } from "vitest";
import { testServer } from "./test-server.ts";

const KEY = { keyId: "k", admitted: true, limit: 5, remaining: 4, toolListed: true };

/** Calls a tool; key-auth fails with these codes before it answers. */
async function call(codes: Code[]) {
  const [failures, requests] = [[...codes], [] as RunRequest[]];
  let verified = 0;
  const app = await testServer({
    calls: {
      async verify() {
        verified += 1;
        const code = failures.shift();
        if (code !== undefined) throw new ConnectError("no", code);
        return create(VerifyResponseSchema, { key: KEY });
      },
      async run(request) {
        requests.push(request);
        return create(RunResponseSchema, { outcome: { case: "resultJson", value: Buffer.from("{}") } });
      },
    },
  });
  const authorization = `Bearer ${generateSecret()}`;
  const { statusCode } = await app.inject({
    method: "POST",
    url: "/api/v1/tools/echo",
    headers: { authorization },
    payload: '{"args":{}}',
  });
  await app.close();
  return { status: statusCode, verified, requests };
}

test("[ERR-18] a call survives the loss of one key-auth replica: it is verified once more by another", async () => {
  expect(await call([Code.Unavailable])).toMatchObject({ status: 200, verified: 2 });
  expect(await call([Code.Unavailable, Code.Unavailable])).toMatchObject({ status: 500, verified: 2 });
});

test("[ERR-18] an error of key-auth itself is not retried", async () => {
  expect(await call([Code.Internal])).toMatchObject({ status: 500, verified: 1, requests: [] });
});
