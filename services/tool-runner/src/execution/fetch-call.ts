import type { FetchMethod } from "@toolgate/safe-fetch/request-rules";
import { fillInSecrets, secretNamesIn } from "../domain/api-calls/workspace-values.ts";
import { removeSecrets } from "../domain/calls/remove-secrets.ts";
import { record, text } from "./host-arguments.ts";
import type { HostCallEntry } from "./host-call-log.ts";
import { type OutgoingCall, READING_METHODS, type SendDependencies, sendCall } from "./outgoing-call.ts";
import { type RunScope, ToolError } from "./run-scope.ts";
import { withheld } from "./withheld.ts";
import { mayLeaveTo, type Secret } from "./workspace-values.ts";

const FETCH_METHODS: readonly FetchMethod[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** ctx.fetch: secrets are put into URL and headers here, and taken out of the answer, so that the sandbox has neither. */
export async function fetchForTool(
  deps: SendDependencies,
  [url, init]: unknown[],
  { tool, scope, entry, signal }: { tool: string; scope: RunScope; entry: HostCallEntry; signal: AbortSignal },
): Promise<unknown> {
  const asked = outgoingCall(text(url, "url"), record(init ?? {}, "init"));
  entry.target = `${asked.method} ${hostOf(asked.url)}`;
  const call = await withSecrets(deps, asked, scope);
  if (!READING_METHODS.has(call.method) && withheld(scope, { tool, name: "fetch", detail: call })) {
    entry.recorded = scope.dryRun !== undefined;
    return { status: 200, body: null, [scope.dryRun ? "dry_run" : "test_mode"]: true };
  }
  const remainingMs = Math.max(1, scope.deadline - performance.now());
  return removeSecrets(await sendCall(deps.safeFetch, call, remainingMs, signal), scope.usedSecrets);
}

async function withSecrets(deps: SendDependencies, call: OutgoingCall, scope: RunScope): Promise<OutgoingCall> {
  const names = secretNamesIn([call.url, ...Object.values(call.headers)].join("\n"));
  if (names.length === 0) return call;
  const secrets = new Map<string, Secret>();
  for (const name of names) secrets.set(name, await deps.values.secret(name, scope));
  const secretText = (name: string) => secrets.get(name)?.value ?? "";
  const headers: Record<string, string> = {};
  for (const [name, template] of Object.entries(call.headers)) headers[name] = fillInSecrets(template, secretText);
  const url = fillInSecrets(call.url, (name) => encodeURIComponent(secretText(name)));
  mayLeaveTo(url, [...secrets.values()]);
  return { ...call, url, headers };
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

function outgoingCall(url: string, init: Record<string, unknown>): OutgoingCall {
  const wanted = init.method === undefined ? "GET" : text(init.method, "method").toUpperCase();
  const method = FETCH_METHODS.find((offered) => offered === wanted);
  if (!method) throw new ToolError("INVALID_ARGUMENT", "this method is not offered");
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(record(init.headers ?? {}, "headers"))) headers[name] = text(value, name);
  const { body } = init;
  if (body === undefined || body === null) return { url, method, headers, body: undefined };
  if (typeof body === "string") return { url, method, headers, body };
  return { url, method, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}
