import type { FetchMethod } from "@toolgate/safe-fetch/request-rules";
import { fillInSecrets, secretNamesIn } from "../../domain/api-calls/workspace-values.ts";
import { removeSecrets } from "../../domain/calls/remove-secrets.ts";
import { ToolError } from "../errors.ts";
import { type RunScope, remainingMs } from "../run.ts";
import { mayBeSentTo, type Secret } from "../workspace/workspace-values.ts";
import { object, text } from "./arguments.ts";
import type { HostCallContext, HostDependencies } from "./host-call.ts";
import { type OutgoingCall, READING_METHODS, sendCall } from "./outgoing-call.ts";
import { skipNote, skipsWrite } from "./skip-write.ts";

const FETCH_METHODS: readonly FetchMethod[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** ctx.fetch. Secrets are filled in and removed from the response here, so that they never enter the sandbox. */
export async function fetchForTool(deps: HostDependencies, [url, init]: unknown[], context: HostCallContext) {
  const { scope, entry, signal } = context;
  const template = outgoingCall(text(url, "url"), object(init ?? {}, "init"));
  entry.target = `${template.method} ${URL.parse(template.url)?.host ?? ""}`;
  const call = await withSecrets(deps, template, scope);
  if (!READING_METHODS.has(call.method) && skipsWrite(context, "fetch", call)) {
    return { status: 200, body: null, ...skipNote(scope) };
  }
  const { workspaceId } = scope;
  const response = await sendCall(deps, call, { workspaceId, timeoutMs: remainingMs(scope), signal });
  return removeSecrets(response, scope.usedSecrets);
}

async function withSecrets(deps: HostDependencies, call: OutgoingCall, scope: RunScope): Promise<OutgoingCall> {
  const secrets = new Map<string, Secret>();
  for (const name of secretNamesIn([call.url, ...Object.values(call.headers)].join("\n"))) {
    secrets.set(name, await deps.values.secret(name, scope));
  }
  if (secrets.size === 0) return call;
  const secretText = (name: string) => secrets.get(name)?.value ?? "";
  const headers: Record<string, string> = {};
  for (const [name, template] of Object.entries(call.headers)) headers[name] = fillInSecrets(template, secretText);
  const url = fillInSecrets(call.url, (name) => encodeURIComponent(secretText(name)));
  mayBeSentTo(url, [...secrets.values()]);
  return { ...call, url, headers };
}

function outgoingCall(url: string, init: Record<string, unknown>): OutgoingCall {
  const wanted = init.method === undefined ? "GET" : text(init.method, "method").toUpperCase();
  const method = FETCH_METHODS.find((offered) => offered === wanted);
  if (!method) throw new ToolError("INVALID_ARGUMENT", `method must be one of ${FETCH_METHODS.join(", ")}`);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(object(init.headers ?? {}, "headers"))) headers[name] = text(value, name);
  const { body } = init;
  if (body === undefined || body === null) return { url, method, headers, body: undefined };
  if (typeof body === "string") return { url, method, headers, body };
  return { url, method, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}
