import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { SignedPullService } from "@toolgate/gen/toolgate/outbound_webhook/v1/signed_pull_pb";
import { expect, test } from "vitest";
import { testServer } from "./test-server.ts";

test("[WMGMT] [LIMIT-8] a pull of a workspace that has used up its share gets a 429 with a time to come back", async () => {
  const busy = () => {
    throw new ConnectError("try again", Code.ResourceExhausted, { "retry-after": "7" });
  };
  const outbound = createRouterTransport((router) => {
    router.service(SignedPullService, { pullSigned: busy, acknowledgeSigned: busy });
  });
  await using app = await testServer({ transports: { "outbound-webhook": outbound } });
  for (const action of ["pull", "acknowledge"]) {
    const response = await app.inject({
      method: "POST",
      url: `/api/v1/webhooks/endpoints/1/${action}`,
      payload: "{}",
    });
    expect([response.statusCode, response.headers["retry-after"]]).toEqual([429, "7"]);
    expect(response.headers["x-error-code"]).toBe("RESOURCE_EXHAUSTED");
  }
});
