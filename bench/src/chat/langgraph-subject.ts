import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startBenchProcess } from "../machine/child-process.ts";
import type { LangGraphArgument } from "../peers/langgraph.ts";
import type { ResumableSubject } from "./subjects.ts";

const PACKAGES = ["@langchain/langgraph-api@1.5.1", "@langchain/langgraph@1.4.18", "@langchain/openai@1.6.0"];
const FOLDER = fileURLToPath(new URL("../../../.data/bench-peers/langgraph-api-1.5.1", import.meta.url));
const INSTALL_WITHIN_MS = 180_000;

type Control = { signal: AbortSignal; log: (line: string) => void };

/** Installs the server, which is not a package of this project. Returns why it cannot be measured, if so. */
export async function installLangGraph({ signal, log }: Control): Promise<string | undefined> {
  if (existsSync(FOLDER)) return undefined;
  const unfinished = `${FOLDER}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await writeFile(`${unfinished}/package.json`, '{ "private": true }\n');
  const flags = ["--ignore-scripts", "--save-exact", "--no-audit", "--no-fund", "--fetch-retries=0"];
  log(`installing ${PACKAGES.join(" ")}`);
  try {
    const limits = { cwd: unfinished, timeout: INSTALL_WITHIN_MS, signal };
    await promisify(execFile)("npm", ["install", ...flags, ...PACKAGES], limits);
  } catch (error) {
    signal.throwIfAborted();
    log(`not installed: ${(error as Error).message}`);
    return "its packages could not be installed";
  }
  await rename(unfinished, FOLDER);
  return undefined;
}

/** A server of its own, whose threads and runs are gone when it is disposed of. */
export async function startLangGraph(modelPort: number, workers: number, signal: AbortSignal) {
  const argument: LangGraphArgument = { folder: FOLDER, modelPort, workers };
  const entry = new URL("../peers/langgraph.ts", import.meta.url);
  const server = await startBenchProcess<{ port: number }>(entry, { argument, signal });
  const subject = langGraphSubject(server.pid, server.ready.port);
  return { subject, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

function langGraphSubject(pid: number, port: number): ResumableSubject {
  const runs = new Map<number, Promise<string>>();
  const pathOf = (number: number) => `/threads/00000000-0000-4000-8000-${String(number).padStart(12, "0")}/runs`;
  async function findRun(number: number): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${port}${pathOf(number)}`);
    const [run] = (await response.json()) as { run_id: string }[];
    if (run === undefined) throw new Error(`LangGraph has no run of thread ${number}`);
    return run.run_id;
  }
  return {
    name: "langgraph",
    groups: { langgraph: { pids: [pid], take: "these" } },
    ask: (number, message) => ({
      port,
      path: `${pathOf(number)}/stream`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        assistant_id: "answer",
        if_not_exists: "create",
        stream_mode: ["messages-tuple"],
        stream_resumable: true,
        input: { messages: [{ role: "user", content: message }] },
      }),
    }),
    resume: async (number) => {
      const run = runs.get(number) ?? findRun(number);
      runs.set(number, run);
      return { port, path: `${pathOf(number)}/${await run}/stream`, headers: { "last-event-id": "-1" } };
    },
  };
}
