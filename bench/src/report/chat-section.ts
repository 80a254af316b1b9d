import { ANSWERS, type ChatFigures, IDLE_STREAMS, TOKENS_PER_SECOND } from "../chat/measure-chat.ts";
import { LABELS } from "../chat/subjects.ts";
import { byName, figure, latencyColumns, mebibytes, table } from "./table.ts";
import { below, type Target } from "./target.ts";

export function renderChat({ firstToken, resume, streaming, idle }: ChatFigures): string {
  const idleParts = idle.flatMap(({ name, result, usage }) =>
    Object.entries(usage.memory)
      .filter(([part]) => ["relay", "gateway", "chat"].includes(part))
      .map(([part, memory]) => ({ label: `${LABELS[name]}: ${part}`, streams: result.streams, memory })),
  );
  return [
    "## Chats",
    "From a request to the first token, one request after the other:",
    table(firstToken, {
      "": ({ name }) => LABELS[name],
      requests: ({ result }) => figure(result.streams),
      ...latencyColumns(({ result }) => result.first, 2),
    }),
    `Resume of a whole answer of ${figure(resume.events)} events, from the request to the end of the response: p50 ${figure(resume.took.p50Ms, 1)} ms, p99 ${figure(resume.took.p99Ms, 1)} ms, ${figure(resume.took.count)} requests.`,
    `${ANSWERS} answers at the same time, ${TOKENS_PER_SECOND} tokens a second each. How late a token arrives after the model server sent it (Toolgate stores tokens before it sends them, several together):`,
    table(streaming, {
      "": ({ name }) => LABELS[name],
      tokens: ({ result }) => figure(result.tokens.count),
      "failed answers": ({ result }) => byName(result.failures, figure) || "0",
      missing: ({ result, wantedTokens }) => figure(wantedTokens - result.tokens.count),
      ...latencyColumns(({ result }) => result.tokens),
      "longest answer, s": ({ result }) => figure(result.took.maxMs / 1000, 2),
      "CPU seconds": ({ usage }) => byName(usage.cpuMs, (ms) => figure(ms / 1000, 1)),
    }),
    `${figure(IDLE_STREAMS)} streams on which nothing but heartbeats is sent, memory in MiB:`,
    table(idleParts, {
      "": ({ label }) => label,
      streams: ({ streams }) => figure(streams),
      before: ({ memory }) => mebibytes(memory.beforeBytes),
      "at most": ({ memory }) => mebibytes(memory.maxBytes),
      "in the end": ({ memory }) => mebibytes(memory.afterBytes),
    }),
  ].join("\n\n");
}

export function chatTargets({ firstToken, resume, streaming, idle }: ChatFigures): Target[] {
  const firstOf = (name: string) => firstToken.find((one) => one.name === name)?.result.first.p50Ms ?? Number.NaN;
  const toolgate = streaming.find(({ name }) => name === "toolgate");
  const isWhole = toolgate && toolgate.result.tokens.count === toolgate.wantedTokens;
  const gateway = idle.find(({ name, result }) => name === "toolgate" && result.streams === IDLE_STREAMS);
  const bytes = gateway?.usage.memory.gateway?.maxBytes ?? Number.NaN;
  const memory = `Memory of one gateway process with ${figure(IDLE_STREAMS)} idle streams`;
  const streams = `${ANSWERS} answers at ${TOKENS_PER_SECOND} tokens/s: a token arrives late by, p99`;
  return [
    below(
      "First token: added to calling the model server directly, p50",
      firstOf("toolgate") - firstOf("direct"),
      10,
      2,
    ),
    { what: memory, measured: bytes / 1e6, sign: "≤", wanted: 400, show: (value) => `${figure(value)} MB` },
    below(`Resume of an answer of ${figure(resume.events)} events: p99`, resume.took.p99Ms, 50, 1),
    below(streams, isWhole ? toolgate.result.tokens.p99Ms : Number.NaN, 1_000, 1),
  ];
}
