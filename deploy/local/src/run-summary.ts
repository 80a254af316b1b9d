import { join } from "node:path";
import { saveJson } from "@toolgate/local-servers/saved-json";
import type { DemoChat } from "./demo/chat.ts";
import type { DemoHook } from "./demo/hook.ts";

/** What is needed for a first call. */
export type RunSummary = {
  readonly baseUrl: string;
  readonly workspace: string;
  readonly admin: { readonly email: string; readonly password: string };
  readonly apiKey: string;
  readonly example: { readonly tool: string; readonly args: Record<string, unknown> };
  readonly hook: DemoHook;
  readonly chat: DemoChat;
  /** Where each service serves its RPCs, in the split topology. */
  readonly rpcUrls?: Readonly<Record<string, string | undefined>> | undefined;
  /** The servers it uses, for operator commands. */
  readonly servers: { readonly databaseUrl: string; readonly natsUrl: string; readonly redisUrl: string };
};

/** Writes `run.json` for programs; only its owner may read it. */
export async function writeRunFile(dataDir: string, summary: RunSummary): Promise<string> {
  const file = join(dataDir, "run.json");
  const content = {
    base_url: summary.baseUrl,
    console_url: `${summary.baseUrl}/manage/`,
    workspace: summary.workspace,
    admin: summary.admin,
    api_key: summary.apiKey,
    example: summary.example,
    hook: {
      url: hookUrl(summary, summary.hook),
      secret: summary.hook.secret,
      tool: summary.hook.tool,
      body: summary.hook.body,
    },
    chat: { url: `${summary.baseUrl}/chat/stream`, assistant: summary.chat.assistant, message: summary.chat.message },
    servers: {
      database_url: summary.servers.databaseUrl,
      nats_url: summary.servers.natsUrl,
      redis_url: summary.servers.redisUrl,
    },
    ...(summary.rpcUrls && { rpc_urls: summary.rpcUrls }),
  };
  await saveJson(file, content);
  return file;
}

/** The call in `summary.example` as a shell command. */
export function curlLine({ baseUrl, apiKey, example }: RunSummary): string {
  const body = JSON.stringify({ args: example.args });
  const url = `${baseUrl}/api/v1/tools/${encodeURIComponent(example.tool)}`;
  const headers = [`Authorization: Bearer ${apiKey}`, "Content-Type: application/json"];
  return `curl -i ${quote(url)} ${headers.map((header) => `-H ${quote(header)}`).join(" ")} -d ${quote(body)}`;
}

/** A signed call of the demo's hook, to be pasted into a shell; it needs openssl. */
export function hookLine(summary: RunSummary, hook: DemoHook): string {
  const signature = `$(printf '%s' "$T.$BODY" | openssl dgst -sha256 -hmac ${quote(hook.secret)} -r | cut -d' ' -f1)`;
  const call = `curl -i ${quote(hookUrl(summary, hook))} -H 'Content-Type: application/json'`;
  return `BODY=${quote(JSON.stringify(hook.body))}; T=$(date +%s); ${call} -H "X-Service-Signature: t=$T,v1=${signature}" -d "$BODY"`;
}

/** Logs in for a JWT and asks the demo's assistant, whose answer is streamed; to be pasted into a shell. */
export function chatLine({ baseUrl, workspace, admin }: RunSummary, { message }: DemoChat): string {
  const login = JSON.stringify({ email: admin.email, password: admin.password, tokenKind: "TOKEN_KIND_JWT" });
  const url = `${baseUrl}/toolgate.key_auth.v1.SessionService/Login`;
  const signIn = `curl -s ${quote(url)} -H 'Content-Type: application/json' -d ${quote(login)}`;
  const token = `$(${signIn} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`;
  const fields = [quote(`tenant=${workspace}`), '"chat_id=demo-$(date +%s)"', quote(`message=${message}`)];
  const data = fields.map((field) => `--data-urlencode ${field}`).join(" ");
  return `TOKEN=${token}; curl -N -G ${quote(`${baseUrl}/chat/stream`)} -H "Authorization: Bearer $TOKEN" ${data}`;
}

function hookUrl({ baseUrl }: RunSummary, { path }: DemoHook): string {
  return `${baseUrl}${path}`;
}

/** The text that `make run` prints once calls are served. */
export function banner(summary: RunSummary, runFile: string, topology: string): string {
  return [
    "",
    `Toolgate runs at ${summary.baseUrl} (workspace ${summary.workspace}, topology ${topology}). Ctrl-C stops it.`,
    "",
    `  console       ${summary.baseUrl}/manage/`,
    `  admin login   ${summary.admin.email}   ${summary.admin.password}`,
    `  API key       ${summary.apiKey}`,
    `  also in       ${runFile}`,
    ...Object.entries(summary.rpcUrls ?? {}).flatMap(([service, urls]) =>
      urls ? [`  RPCs          ${service} ${urls}`] : [],
    ),
    "",
    "Call a tool; its webhook shows up here a moment later:",
    "",
    curlLine(summary),
    "",
    `Send a signed call to an incoming hook, which runs ${summary.hook.tool}; its webhook shows up here too:`,
    "",
    hookLine(summary, summary.hook),
    "",
    "Ask the assistant, which calls a tool and streams its answer:",
    "",
    chatLine(summary, summary.chat),
    "",
  ].join("\n");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
