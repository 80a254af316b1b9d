import { join } from "node:path";
import { writeKept } from "@toolgate/local-servers/kept-file";

/** What is needed for a first call. */
export type RunSummary = {
  readonly baseUrl: string;
  readonly workspace: string;
  readonly admin: { readonly email: string; readonly password: string };
  readonly apiKey: string;
  readonly example: { readonly tool: string; readonly args: Record<string, unknown> };
  /** The servers it uses, for operator commands. */
  readonly servers: { readonly databaseUrl: string; readonly natsUrl: string; readonly redisUrl: string };
};

/** Writes `run.json` for programs; only its owner may read it. */
export async function writeRunFile(dataDir: string, summary: RunSummary): Promise<string> {
  const file = join(dataDir, "run.json");
  const content = {
    base_url: summary.baseUrl,
    workspace: summary.workspace,
    admin: summary.admin,
    api_key: summary.apiKey,
    example: summary.example,
    servers: {
      database_url: summary.servers.databaseUrl,
      nats_url: summary.servers.natsUrl,
      redis_url: summary.servers.redisUrl,
    },
  };
  await writeKept(file, content);
  return file;
}

/** The call in `summary.example` as a shell command. */
export function curlLine({ baseUrl, apiKey, example }: RunSummary): string {
  const body = JSON.stringify({ args: example.args });
  const url = `${baseUrl}/api/v1/tools/${encodeURIComponent(example.tool)}`;
  const headers = [`Authorization: Bearer ${apiKey}`, "Content-Type: application/json"];
  return `curl -i ${quote(url)} ${headers.map((header) => `-H ${quote(header)}`).join(" ")} -d ${quote(body)}`;
}

/** The text that `make run` prints once calls are served. */
export function banner(summary: RunSummary, runFile: string, topology: string): string {
  return [
    "",
    `Toolgate runs at ${summary.baseUrl} (workspace ${summary.workspace}, topology ${topology}). Ctrl-C stops it.`,
    "",
    `  admin login   ${summary.admin.email}   ${summary.admin.password}`,
    `  API key       ${summary.apiKey}`,
    `  also in       ${runFile}`,
    "",
    "Call a tool; its webhook shows up here a moment later:",
    "",
    curlLine(summary),
    "",
  ].join("\n");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
