import { describe } from "vitest";
import { directCall } from "../src/direct.ts";
import { conformance } from "./conformance.ts";
import { verifyClient } from "./verify-client.ts";
import { startVerifyServer } from "./verify-server.ts";

describe("a direct call", () => {
  conformance(async (handler, { onError = () => undefined, ...limits } = {}) => ({
    call: directCall(handler, { rpc: "test", caller: "gateway", onError, ...limits }),
    [Symbol.asyncDispose]: async () => undefined,
  }));
});

describe("a call on a stream", () => {
  conformance(async (handler, { onError = () => undefined, ...limits } = {}) => {
    const server = await startVerifyServer(handler, { onError });
    const client = verifyClient(() => [server.address], limits);
    return {
      call: client.call,
      [Symbol.asyncDispose]: async () => {
        await client[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  });
});
