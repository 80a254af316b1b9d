import { createRouterTransport, type Transport } from "@connectrpc/connect";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { expect, test } from "vitest";
import { createSharedStreams } from "./client.ts";
import { serveSharedStreams } from "./serve.ts";

const RESUME = ChatService.method.resume;

test("[CHAT] a connection ends when its server stops, also after a caller has left before it was open", async () => {
  const drain = new AbortController();
  const served = serveSharedStreams(async function* () {}, drain.signal);
  const opened = Promise.withResolvers<void>();
  let ended = false;
  const transport = createRouterTransport(({ rpc }) => {
    rpc(ChatService.method.sharedStreams, async function* (batches, context) {
      yield* served(batches, context);
      ended = true;
    });
  });
  const stream = async (...call: Parameters<Transport["stream"]>) => {
    await opened.promise;
    return transport.stream(...call);
  };
  await using streams = createSharedStreams({
    method: ChatService.method.sharedStreams,
    addresses: () => ["http://one.example"],
    transportFor: () => ({ unary: transport.unary, stream: stream as Transport["stream"] }),
    reconnect: { minMs: 60_000, maxMs: 60_000 },
    onError: () => {},
  });
  const caller = new AbortController();
  const left = streams.open(RESUME, {}, { principal: "", signal: caller.signal });
  caller.abort();
  opened.resolve();
  expect(await left[Symbol.asyncIterator]().next()).toMatchObject({ done: true });
  const whole = streams.open(RESUME, {}, { principal: "" });
  expect(await whole[Symbol.asyncIterator]().next()).toMatchObject({ done: true });
  drain.abort();
  await expect.poll(() => ended, { timeout: 20_000 }).toBe(true);
});
