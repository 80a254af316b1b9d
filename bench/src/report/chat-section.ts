import type { ChatFigures } from "../chat/measure-chat.ts";
import { ANSWERS, IDLE_STREAMS, TOKENS_PER_SECOND } from "../chat/measures.ts";
import { LABELS, type SubjectName } from "../chat/subjects.ts";
import { byName, figure, latencyColumns, mebibytes, table } from "./table.ts";
import { below, type Target } from "./target.ts";

export function renderChat({
  firstToken,
  resume,
  resumedEvents,
  streaming,
  idle,
  langGraphMissing,
}: ChatFigures): string {
  const missing = (rows: readonly { name: SubjectName }[]) =>
    langGraphMissing === undefined || rows.some(({ name }) => name === "langgraph")
      ? ""
      : `\n| ${LABELS.langgraph} | not measured: ${langGraphMissing} |`;
  const idleParts = idle.flatMap(({ name, result, usage }) =>
    Object.entries(usage.memory)
      .filter(([part]) => ["relay", "langgraph", "gateway", "chat"].includes(part))
      .map(([part, memory]) => ({ label: `${LABELS[name]}: ${part}`, streams: result.streams, memory })),
  );
  return [
    "## Chats",
    "From a request to the first token, one request after the other:",
    table(firstToken, {
      "": ({ name }) => LABELS[name],
      requests: ({ result }) => figure(result.streams),
      ...latencyColumns(({ result }) => result.first, 2),
    }) + missing(firstToken),
    `Resume of a whole answer (of Toolgate: ${figure(resumedEvents)} events), from the request to the last token and to the end of the response:`,
    table(resume, {
      "": ({ name }) => LABELS[name],
      requests: ({ result }) => figure(result.streams),
      tokens: ({ result }) => figure(result.tokens.count / result.streams),
      "last token: p50 ms": ({ result }) => figure(result.last.p50Ms, 1),
      "last token: p99 ms": ({ result }) => figure(result.last.p99Ms, 1),
      "end: p50 ms": ({ result }) => figure(result.took.p50Ms, 1),
      "end: p99 ms": ({ result }) => figure(result.took.p99Ms, 1),
    }) + missing(resume),
    `Many answers at the same time, ${TOKENS_PER_SECOND} tokens a second each. How late a token arrives after the model server sent it (Toolgate stores tokens before it sends them, several together):`,
    table(streaming, {
      "": ({ name }) => LABELS[name],
      answers: ({ answers }) => figure(answers),
      tokens: ({ result }) => figure(result.tokens.count),
      "failed answers": ({ result }) => byName(result.failures, figure) || "0",
      missing: ({ result, wantedTokens }) => figure(wantedTokens - result.tokens.count),
      ...latencyColumns(({ result }) => result.tokens),
      "longest answer, s": ({ result }) => figure(result.took.maxMs / 1000, 2),
      "CPU seconds": ({ usage }) => byName(usage.cpuMs, (ms) => figure(ms / 1000, 1)),
    }) + missing(streaming),
    `${figure(IDLE_STREAMS)} streams on which nothing but heartbeats is sent, memory in MiB:`,
    table(idleParts, {
      "": ({ label }) => label,
      streams: ({ streams }) => figure(streams),
      before: ({ memory }) => mebibytes(memory.beforeBytes),
      "at most": ({ memory }) => mebibytes(memory.maxBytes),
      "in the end": ({ memory }) => mebibytes(memory.afterBytes),
    }) + missing(idle),
  ].join("\n\n");
}

export function chatTargets({ firstToken, resume, resumedEvents, streaming, idle }: ChatFigures): Target[] {
  const firstOf = (name: string) => firstToken.find((one) => one.name === name)?.result.first.p50Ms ?? Number.NaN;
  const toolgate = streaming.find(({ name }) => name === "toolgate");
  const resumed = resume.find(({ name }) => name === "toolgate")?.result.took.p99Ms ?? Number.NaN;
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
    below(`Resume of an answer of ${figure(resumedEvents)} events: p99`, resumed, 50, 1),
    below(streams, isWhole ? toolgate.result.tokens.p99Ms : Number.NaN, 1_000, 1),
  ];
}
