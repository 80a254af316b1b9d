import { type Generator, measureWindow, type Window } from "../calls/measure-calls.ts";
import type { Variant } from "../calls/variants.ts";

const INTERFACES = ["rest", "mcp-2025", "mcp-2026"] as const;
/** How the same tool is called: by REST, and by MCP with the protocols of 2025 and of 2026. */
export type Interface = (typeof INTERFACES)[number];

export type McpFigures = { concurrency: number; windows: Record<Interface, Window[]> }[];

type McpSettings = {
  /** Toolgate, called by REST. */
  rest: Variant;
  generator: Generator;
  rounds: number;
  /** Measuring time of each interface in one round. */
  seconds: number;
  signal: AbortSignal;
  log: (line: string) => void;
};

const CONCURRENCIES = [1, 64] as const;
const FIRST_WARM_UP_MS = 2_000;
const WARM_UP_MS = 500;
const TOOLS_PATH = "/api/v1/tools/";
const ENVELOPE_OF_2026 = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Calls the same tool by REST and by MCP, in turns, so that noise on the machine affects them alike. */
export async function measureMcp(settings: McpSettings): Promise<McpFigures> {
  const { rest, rounds, seconds, log } = settings;
  const variants = variantsOf(rest);
  const measureMs = (seconds * 1000) / CONCURRENCIES.length;
  for (const name of INTERFACES) {
    const mode = { kind: "closed" as const, concurrency: 64 };
    await measureWindow(variants[name], { mode, warmUpMs: 0, measureMs: FIRST_WARM_UP_MS }, settings);
  }
  const figures: McpFigures = CONCURRENCIES.map((concurrency) => {
    return { concurrency, windows: { rest: [], "mcp-2025": [], "mcp-2026": [] } };
  });
  for (let round = 1; round <= rounds; round += 1) {
    for (const { concurrency, windows } of figures) {
      const shown: string[] = [];
      for (const name of INTERFACES) {
        const mode = { kind: "closed" as const, concurrency };
        const window = await measureWindow(variants[name], { mode, warmUpMs: WARM_UP_MS, measureMs }, settings);
        windows[name].push(window);
        shown.push(`${name} ${window.load.perSecond.toFixed(0)}/s`);
      }
      log(`MCP, round ${round}, ${concurrency} connections: ${shown.join(", ")}`);
    }
  }
  return figures;
}

/** The calls of each interface, as an official client sends them. */
function variantsOf(rest: Variant): Record<Interface, Variant> {
  const { target } = rest;
  if (!("path" in target)) throw new Error("MCP calls tools");
  const tool = target.path.slice(TOOLS_PATH.length);
  const params = { name: tool, arguments: JSON.parse(target.body).args };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call" };
  const calledBy = (headers: string[], body: object): Variant => {
    const accept = "accept: application/json, text/event-stream";
    return { ...rest, target: { ...target, path: "/mcp", body: JSON.stringify(body), headers: [accept, ...headers] } };
  };
  return {
    rest,
    "mcp-2025": calledBy(["mcp-protocol-version: 2025-11-25"], { ...message, params }),
    "mcp-2026": calledBy(["mcp-protocol-version: 2026-07-28", "mcp-method: tools/call", `mcp-name: ${tool}`], {
      ...message,
      params: { ...params, _meta: ENVELOPE_OF_2026 },
    }),
  };
}
