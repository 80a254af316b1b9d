// LangGraph's own server, with all state in memory: a graph of one node that streams an answer of the model server.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { childArgument, replyToParent } from "../machine/child-process.ts";

export type LangGraphArgument = { folder: string; modelPort: number; workers: number };

/** What is used of the package, because it is installed only when it is measured. */
type Server = { startServer(options: object): Promise<{ host: string }> };

const GRAPH = `
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
const model = new ChatOpenAI({ model: "m", apiKey: "none", configuration: { baseURL: process.env.MODEL_URL } });
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge("__start__", "answer")
  .compile();
`;

const { folder, modelPort, workers } = childArgument<LangGraphArgument>();
process.env.LOG_LEVEL = "error";
process.env.MODEL_URL = `http://127.0.0.1:${modelPort}/v1`;
await writeFile(join(folder, "graph.mjs"), GRAPH);
// What an earlier run has saved.
await rm(join(folder, ".langgraph_api"), { recursive: true, force: true });
const entry = join(folder, "node_modules/@langchain/langgraph-api/dist/server.mjs");
const { startServer } = (await import(pathToFileURL(entry).href)) as Server;
const graphs = { answer: "./graph.mjs:graph" };
const { host } = await startServer({ port: 0, host: "127.0.0.1", nWorkers: workers, cwd: folder, graphs });
replyToParent({ port: Number(host.split(":").at(-1)) }, async () => ({}));
