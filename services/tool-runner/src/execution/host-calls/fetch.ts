import type { FetchMethod } from "@toolgate/safe-fetch/request-rules";
import { fillIn, namesIn } from "../../domain/api-calls/template.ts";
import { removeSecrets } from "../../domain/calls/remove-secrets.ts";
import { ToolError } from "../errors.ts";
import { type RunScope, remainingMs } from "../run.ts";
import { mayBeSentTo } from "../workspace/workspace-values.ts";
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
  const placeholders = [call.url, ...Object.values(call.headers)].flatMap(namesIn);
  const secrets = await deps.values.secretsIn(placeholders, scope);
  const headers: Record<string, string> = {};
  for (const [name, template] of Object.entries(call.headers)) {
    headers[name] = fillIn(template, (placeholder) => secrets.get(placeholder)?.value);
  }
  const url = fillIn(call.url, (placeholder) => {
    const secret = secrets.get(placeholder);
    return secret && encodeURIComponent(secret.value);
  });
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
