import type { Bench } from "../bench.ts";
import type { BenchProcess } from "../bench-process.ts";
import { type Groups, startMeter, sum } from "../meter.ts";
import { figure, table, withRatio } from "../table.ts";
import type { ReadOrder, ReadResult, StreamRequest } from "./read-order.ts";

/** A way to get an answer of the model server: asks in a chat of its own, named by the number. */
type Subject = { name: string; groups: Groups; ask(number: number, message: string): StreamRequest };

/** A workspace may have 100 turns at the same time. */
const WORKSPACES = 4;
const WARM_UPS = 20;
const FIRST_TOKENS = 100;
const STREAMS = 200;
const TOKENS_PER_SECOND = 30;

/** Answers through Toolgate, beside a relay written by hand that stores nothing. */
export async function measureChat(bench: Bench): Promise<string> {
  const { start, modelPort, windowMs, log } = bench;
  const reader: BenchProcess<object, ReadOrder, ReadResult> = await start("chat/reader.ts");
  const relay = await start<{ port: number }>("peers/sse-relay.ts", { modelPort });
  const subjects: Subject[] = [
    {
      name: "relay",
      groups: { relay: [relay.pid] },
      ask: (_, message) => ({ port: relay.ready.port, path: `/?${new URLSearchParams({ message })}`, headers: {} }),
    },
    await toolgateSubject(bench),
  ];
  let chats = 0;
  const read = (subject: Subject, count: number, message: string, concurrency: number) =>
    reader.ask({ requests: Array.from({ length: count }, () => subject.ask(chats++, message)), concurrency });
  const rows = [];
  const tokens = Math.round((2 * windowMs * TOKENS_PER_SECOND) / 1000);
  for (const subject of subjects) {
    const { name, groups } = subject;
    await read(subject, WARM_UPS, "3 tokens at 0", 1);
    const { first } = await read(subject, FIRST_TOKENS, "3 tokens at 0", 1);
    const stop = startMeter(groups);
    const streams = await read(subject, STREAMS, `${tokens} tokens at ${TOKENS_PER_SECOND}`, STREAMS);
    const cpuUs = (sum(Object.values(stop())) * 1000) / streams.tokens.count;
    const failed = sum(Object.values(streams.failures));
    log(`chat: ${name}, first token ${figure(first.p50Ms, 1)} ms, later ones ${figure(streams.tokens.p50Ms, 1)} ms`);
    if (failed > 0) log(JSON.stringify(streams.failures));
    rows.push({ name, first, lag: streams.tokens, cpuUs, failed });
  }
  const [peer] = rows;
  if (!peer) throw new Error("nothing was measured");
  return [
    `The first token of ${FIRST_TOKENS} answers, one after the other:`,
    table(rows, {
      "": ({ name }) => name,
      "p50 ms": ({ first }) => figure(first.p50Ms, 1),
      "p99 ms": ({ first }) => figure(first.p99Ms, 1),
      "added p50 ms": ({ first }) => figure(first.p50Ms - peer.first.p50Ms, 1),
    }),
    `${STREAMS} answers at the same time, ${TOKENS_PER_SECOND} tokens a second each; how late a token arrives after the model has sent it:`,
    table(rows, {
      "": ({ name }) => name,
      "p50 ms": ({ lag }) => withRatio(lag.p50Ms, peer.lag.p50Ms, 1),
      "p99 ms": ({ lag }) => withRatio(lag.p99Ms, peer.lag.p99Ms, 1),
      "CPU µs/token": ({ cpuUs }) => withRatio(cpuUs, peer.cpuUs),
      "missing tokens": ({ lag }) => figure(STREAMS * tokens - lag.count),
      failed: ({ failed }) => figure(failed),
    }),
  ].join("\n\n");
}

/** Assistants without tools, whose model is the model server. In the split topology the gateway is a process of its own. */
async function toolgateSubject({ split, modelPort }: Bench): Promise<Subject> {
  const { manage, port, groups, addWorkspace, signIn } = split;
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
  return {
    name: "Toolgate, split",
    groups,
    ask(number, message) {
      const query = { tenant: workspaces[number % WORKSPACES] ?? "", chat_id: `bench-${number}`, message };
      return { port, path: `/chat/stream?${new URLSearchParams(query)}`, headers };
    },
  };
}
