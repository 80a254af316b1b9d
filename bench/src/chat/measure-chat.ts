import type { BenchInstallation } from "../installation/start-installation.ts";
import { startBenchProcess } from "../machine/child-process.ts";
import { addLangGraph } from "./measure-langgraph.ts";
import { ANSWERS, type ChatRows, chatMeasures, type Measured, RESUMED_TOKENS, type Reader } from "./measures.ts";
import { directSubject, relaySubject, toolgateSubject } from "./subjects.ts";

export type ChatFigures = ChatRows & {
  /** Of the answer that is read again through Toolgate. */
  resumedEvents: number;
  /** Why LangGraph's server is not in all of them, if so. */
  langGraphMissing?: string;
};

type ChatSettings = {
  installation: BenchInstallation;
  modelPort: number;
  signal: AbortSignal;
  log: (line: string) => void;
};

const ROUNDS = 200;
/** So slow that no two tokens are stored as one event. */
const RESUMED_PER_SECOND = 9;

/** Compares answers through Toolgate with the model server itself, a relay written by hand and LangGraph's server. */
export async function measureChat({ installation, modelPort, signal, log }: ChatSettings): Promise<ChatFigures> {
  const entry = (path: string) => new URL(path, import.meta.url);
  await using resources = new AsyncDisposableStack();
  const reader: Reader = resources.use(await startBenchProcess(entry("./reader.ts"), { signal }));
  const relay = relaySubject(
    resources.use(
      await startBenchProcess<{ port: number }>(entry("../peers/sse-relay.ts"), { argument: { modelPort }, signal }),
    ),
  );
  const toolgate = await toolgateSubject(installation, modelPort);
  const measures = chatMeasures(reader, signal, log);
  // First, so that the memory is that of these streams.
  const idle = [await measures.idle(relay), await measures.idle(toolgate)];
  const firstToken: Measured[] = [];
  for (const subject of [directSubject(modelPort), relay, toolgate]) {
    firstToken.push(await measures.firstToken(subject, ROUNDS));
  }
  const resumed = await measures.resume(toolgate, `${RESUMED_TOKENS} tokens at ${RESUMED_PER_SECOND}`, ROUNDS);
  const { rows } = await installation.servers.pool.query(
    "select last_event_id::int as events from chat.chat where chat_id = $1",
    [`bench-${resumed.chat}`],
  );
  const streaming = [await measures.streaming(relay, ANSWERS), await measures.streaming(toolgate, ANSWERS)];
  const figures = { firstToken, resume: [resumed], resumedEvents: rows[0].events as number, streaming, idle };
  const langGraphMissing = await addLangGraph(figures, measures, { modelPort, signal, log });
  return langGraphMissing === undefined ? figures : { ...figures, langGraphMissing };
}
