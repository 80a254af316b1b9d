import { setTimeout as sleep } from "node:timers/promises";
import { type BenchInstallation, startInstallation } from "../installation/start-installation.ts";
import { startBenchProcess } from "../machine/child-process.ts";
import { startMeter } from "../machine/meter.ts";
import type { BenchSettings, Part } from "../report.ts";
import type { ReadOrder, ReadResult, StreamRequest } from "./read-order.ts";

/** A workspace may have 100 turns at the same time. */
const WORKSPACES = 4;
const ROUNDS = 200;
const WARM_UPS = 30;
const ANSWERS = 200;
const TOKENS = 300;
const TOKENS_PER_SECOND = 30;
const IDLE_STREAMS = 5_000;
/** Running answers that the idle streams follow. */
const IDLE_ANSWERS = 40;
/** A token now and then keeps the call to the model alive. */
const IDLE_MESSAGE = "1000 tokens at 0.025";
const OPENED_AT_ONCE = 50;
const IDLE_MS = 10_000;

/** In the split topology, so that the gateway is a process of its own. */
export async function measureChat(settings: BenchSettings): Promise<Part> {
  const { signal, log } = settings;
  await using resources = new AsyncDisposableStack();
  const entry = (name: string) => new URL(`./${name}.ts`, import.meta.url);
  const model = resources.use(await startBenchProcess<{ port: number }>(entry("model-server"), { signal }));
  const modelPort = model.ready.port;
  const receiver = { host: `127.0.0.1:${modelPort}`, caFile: "" };
  const dataDir = `${settings.dataDir}/chat`;
  const installation = resources.use(await startInstallation("split", { ...settings, dataDir, receiver }));
  const reader = resources.use(
    await startBenchProcess<object, ReadOrder | { letGo: true }, ReadResult>(entry("reader"), { signal }),
  );
  const chats = await startChats(installation, modelPort);
  const many = (count: number, request: (index: number) => StreamRequest) =>
    Array.from({ length: count }, (_, n) => request(n));
  const firstToken = async (request: () => StreamRequest) => {
    await reader.ask({ requests: many(WARM_UPS, request), concurrency: 1 });
    return (await reader.ask({ requests: many(ROUNDS, request), concurrency: 1 })).first;
  };
  const direct = await firstToken(() => directRequest(modelPort, "3 tokens at 0"));
  const own = await firstToken(() => chats.ask("3 tokens at 0").request);
  const message = `${TOKENS} tokens at ${TOKENS_PER_SECOND}`;
  const streamed = await reader.ask({
    requests: many(ANSWERS, () => chats.ask(message).request),
    concurrency: ANSWERS,
  });
  const followed = many(IDLE_ANSWERS, () => chats.ask(IDLE_MESSAGE).request);
  const first = chats.count() - IDLE_ANSWERS;
  await reader.ask({ requests: followed, concurrency: OPENED_AT_ONCE, hold: true });
  using meter = startMeter(installation.groups);
  const idle = many(IDLE_STREAMS, (n) => chats.resume(first + (n % IDLE_ANSWERS)));
  const { failures } = await reader.ask({ requests: idle, concurrency: OPENED_AT_ONCE, hold: true });
  await sleep(IDLE_MS, undefined, { signal });
  const { memory } = meter.stop();
  await reader.ask({ letGo: true });
  log(
    `chat: first token ${own.p50Ms.toFixed(1)} ms, direct ${direct.p50Ms.toFixed(1)} ms; ${JSON.stringify(failures)}`,
  );
  return {
    title: "Chat",
    text: `Answers of a local model server through the split topology. The peer is the model server itself, called directly.`,
    rows: [
      {
        what: "first token, p50",
        unit: "ms",
        digits: 2,
        toolgate: own.p50Ms,
        peer: direct.p50Ms,
        wanted: "adds < 10 ms",
      },
      {
        what: `${ANSWERS} answers at ${TOKENS_PER_SECOND} tokens/s: a token arrives late by, p99`,
        unit: "ms",
        digits: 1,
        toolgate: streamed.tokens.p99Ms,
        wanted: "< 1,000 ms",
      },
      {
        what: `${IDLE_STREAMS.toLocaleString("en-GB")} idle streams: memory of the gateway`,
        unit: "MiB",
        toolgate: (memory.gateway?.maxBytes ?? Number.NaN) / 2 ** 20,
      },
    ],
  };
}

function directRequest(port: number, message: string): StreamRequest {
  return {
    port,
    path: "/v1/chat/completions",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: message }] }),
  };
}

/** Assistants without tools, whose model is the model server; each message begins a chat of its own. */
async function startChats({ manage, port, addWorkspace, signIn }: BenchInstallation, modelPort: number) {
  const workspaces = Array.from({ length: WORKSPACES }, (_, index) => `chats-${index}`);
  for (const workspace of workspaces) {
    await addWorkspace(workspace);
    const baseUrl = `http://127.0.0.1:${modelPort}/v1`;
    const model = { provider: "MODEL_PROVIDER_OPENAI_COMPATIBLE", baseUrl, model: "m" };
    await manage("chat.v1.ModelService/SaveModel", { workspace, name: "bench", ...model });
    const definition = { instructions: "Answer.", models: ["bench"] };
    await manage("chat.v1.AssistantService/SaveAssistant", { workspace, name: "bench", definition });
    await manage("chat.v1.AssistantService/SetDefaultAssistant", { workspace, name: "bench" });
  }
  const headers = { authorization: `Bearer ${await signIn()}` };
  const request = (path: string, chat: number, parameters: Record<string, string>): StreamRequest => {
    const query = new URLSearchParams({
      tenant: workspaces[chat % WORKSPACES] ?? "",
      chat_id: `bench-${chat}`,
      ...parameters,
    });
    return { port, path: `${path}?${query}`, headers };
  };
  let chats = 0;
  return {
    count: () => chats,
    ask: (message: string) => ({ request: request("/chat/stream", chats++, { message }) }),
    resume: (chat: number) => request("/chat/resume", chat, { last_event_id: "0" }),
  };
}
