// The server whose CPU time is compared: serves `Verify` as unary calls and on a call stream.
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { serveCalls } from "@toolgate/call-stream/serve";
import { VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { replyToParent } from "../machine/child-process.ts";
import { verify } from "./verify.ts";

const verifyCalls = serveCalls({ method: VerifyService.method.verify, handler: verify, onError: console.error });
const server = createServer(
  connectNodeAdapter({
    routes: (router) =>
      router.service(VerifyService, {
        verify: (request, { signal }) => verify(request, { signal, caller: "bench" }),
        verifyCalls: (batches, { signal }) => verifyCalls(batches, { signal, caller: "bench" }),
      }),
  }),
);
server.listen(0, "127.0.0.1", () =>
  replyToParent({ port: (server.address() as AddressInfo).port }, async () => process.cpuUsage()),
);
