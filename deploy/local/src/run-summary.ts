import { join } from "node:path";
import { writeKept } from "@toolgate/local-servers/kept-file";
import type { DemoHook } from "./demo/hook.ts";

/** What is needed for a first call. */
export type RunSummary = {
  readonly baseUrl: string;
  readonly workspace: string;
  readonly admin: { readonly email: string; readonly password: string };
  readonly apiKey: string;
  readonly example: { readonly tool: string; readonly args: Record<string, unknown> };
  readonly hook?: DemoHook;
  /** The servers it uses, for operator commands. */
  readonly servers: { readonly databaseUrl: string; readonly natsUrl: string; readonly redisUrl: string };
};

/** Writes `run.json` for programs; only its owner may read it. */
export async function writeRunFile(dataDir: string, report: RunSummary): Promise<string> {
  const file = join(dataDir, "run.json");
  const content = {
    base_url: report.baseUrl,
    workspace: report.workspace,
    admin: report.admin,
    api_key: report.apiKey,
    example: report.example,
    ...(report.hook && {
      hook: {
        url: hookUrl(report, report.hook),
        secret: report.hook.secret,
        tool: report.hook.tool,
        body: report.hook.body,
      },
    }),
    servers: {
      database_url: report.servers.databaseUrl,
      nats_url: report.servers.natsUrl,
      redis_url: report.servers.redisUrl,
    },
  };
  await writeKept(file, content);
  return file;
}

/** The call of `report.example`, to be pasted into a shell. */
export function curlLine({ baseUrl, apiKey, example }: RunSummary): string {
  const body = JSON.stringify({ args: example.args });
  const url = `${baseUrl}/api/v1/tools/${encodeURIComponent(example.tool)}`;
  const headers = [`Authorization: Bearer ${apiKey}`, "Content-Type: application/json"];
  return `curl -i ${quote(url)} ${headers.map((header) => `-H ${quote(header)}`).join(" ")} -d ${quote(body)}`;
}

/** A signed call of the demo's hook, to be pasted into a shell; it needs openssl. */
export function hookLine(report: RunSummary, hook: DemoHook): string {
  const signature = `$(printf '%s' "$T.$BODY" | openssl dgst -sha256 -hmac ${quote(hook.secret)} -r | cut -d' ' -f1)`;
  const call = `curl -i ${quote(hookUrl(report, hook))} -H 'Content-Type: application/json'`;
  return `BODY=${quote(JSON.stringify(hook.body))}; T=$(date +%s); ${call} -H "X-Service-Signature: t=$T,v1=${signature}" -d "$BODY"`;
}

function hookUrl({ baseUrl }: RunSummary, { path }: DemoHook): string {
  return `${baseUrl}${path}`;
}

/** The text that `make run` prints once calls are served. */
export function banner(report: RunSummary, runFile: string, topology: string): string {
  return [
    "",
    `Toolgate runs at ${report.baseUrl} (workspace ${report.workspace}, topology ${topology}). Ctrl-C stops it.`,
    "",
    `  admin login   ${report.admin.email}   ${report.admin.password}`,
    `  API key       ${report.apiKey}`,
    `  also in       ${runFile}`,
    "",
    "Call a tool; its webhook shows up here a moment later:",
    "",
    curlLine(report),
    "",
    ...(report.hook
      ? [
          `Send a signed call to an incoming hook, which runs ${report.hook.tool}:`,
          "",
          hookLine(report, report.hook),
          "",
        ]
      : []),
  ].join("\n");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
