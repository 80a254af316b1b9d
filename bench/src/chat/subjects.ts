import { type BenchInstallation, MAIN_WORKSPACE } from "../installation/start-installation.ts";
import type { Groups } from "../machine/meter.ts";
import type { StreamRequest } from "./read-order.ts";

export type SubjectName = "direct" | "relay" | "langgraph" | "toolgate";

/** One of the compared ways to get an answer of the model server. */
export type Subject = {
  name: SubjectName;
  groups: Groups;
  /** Asks in a chat of its own, named by the number. */
  ask(number: number, message: string): StreamRequest;
  /** Reads the whole answer of this chat again, or follows it. */
  resume?(number: number): Promise<StreamRequest>;
  stop?(number: number): StreamRequest;
};

export type ResumableSubject = Subject & Required<Pick<Subject, "resume">>;

export const LABELS: Record<SubjectName, string> = {
  direct: "the model server itself",
  relay: "plain `node:http` relay",
  langgraph: "LangGraph server",
  toolgate: "Toolgate, split",
};

/** A workspace may have 100 turns at the same time. */
const WORKSPACES = 4;
const ASSISTANT = "bench";

export function directSubject(port: number): Subject {
  return {
    name: "direct",
    groups: {},
    ask: (_, message) => ({
      port,
      path: "/v1/chat/completions",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: message }] }),
    }),
  };
}

export function relaySubject({ pid, ready }: { pid: number; ready: { port: number } }): Subject {
  return {
    name: "relay",
    groups: { relay: { pids: [pid], take: "these" } },
    ask: (_, message) => ({ port: ready.port, path: `/?${new URLSearchParams({ message })}`, headers: {} }),
  };
}

/** Assistants without tools, whose model is the model server. */
export async function toolgateSubject(installation: BenchInstallation, modelPort: number): Promise<ResumableSubject> {
  const { manage, port, groups, addWorkspace, signIn } = installation;
  const workspaces = Array.from({ length: WORKSPACES }, (_, index) => `${MAIN_WORKSPACE}-${index}`);
  for (const workspace of workspaces) {
    await addWorkspace(workspace);
    const model = {
      provider: "MODEL_PROVIDER_OPENAI_COMPATIBLE",
      baseUrl: `http://127.0.0.1:${modelPort}/v1`,
      model: "m",
    };
    await manage("chat.v1.ModelService/SaveModel", { workspace, name: "bench", ...model });
    const definition = { instructions: "Answer.", models: ["bench"] };
    await manage("chat.v1.AssistantService/SaveAssistant", { workspace, name: ASSISTANT, definition });
    await manage("chat.v1.AssistantService/SetDefaultAssistant", { workspace, name: ASSISTANT });
  }
  const headers = { authorization: `Bearer ${await signIn()}` };
  const chatOf = (number: number) => ({ tenant: workspaces[number % WORKSPACES] ?? "", chat_id: `bench-${number}` });
  const request = (path: string, number: number, parameters: Record<string, string>): StreamRequest => {
    const query = new URLSearchParams({ ...chatOf(number), ...parameters });
    return { port, path: `${path}?${query}`, headers };
  };
  return {
    name: "toolgate",
    groups,
    ask: (number, message) => request("/chat/stream", number, { message }),
    resume: async (number) => request("/chat/resume", number, { last_event_id: "0" }),
    stop: (number) => ({
      port,
      path: "/chat/stop",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(chatOf(number)),
    }),
  };
}
