import type { FetchMethod } from "@toolgate/safe-fetch/request-rules";
import { renderApiCall } from "../domain/api-calls/api-call.ts";
import { type ApiBody, namesIn, templateTexts } from "../domain/api-calls/template.ts";
import { workspaceValueOf } from "../domain/api-calls/workspace-values.ts";
import { removeSecrets } from "../domain/calls/remove-secrets.ts";
import { READING_METHODS, type SendDependencies, sendCall } from "./outgoing-call.ts";
import type { RunScope } from "./run-scope.ts";
import { withheld } from "./withheld.ts";
import { mayLeaveTo, type Secret } from "./workspace-values.ts";

/** A declarative call: its status and its body, parsed when it is JSON. [CHAT-10] Test mode sends no writing call. */
export async function runApiCall(
  deps: SendDependencies,
  tool: string,
  api: ApiBody,
  args: Record<string, unknown>,
  scope: RunScope,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<string> {
  const { values, secrets } = await workspaceValues(deps, api, scope);
  const call = { ...renderApiCall(api, { ...args, ...values }), method: api.method as FetchMethod };
  mayLeaveTo(call.url, secrets);
  if (!READING_METHODS.has(call.method) && withheld(scope, { tool, name: "api", detail: call })) {
    return JSON.stringify({ success: true, [scope.dryRun ? "dry_run" : "test_mode"]: true });
  }
  const response = await sendCall(deps.safeFetch, call, timeoutMs, signal);
  const shown = removeSecrets(response, scope.usedSecrets) as typeof response;
  return JSON.stringify({ success: shown.status >= 200 && shown.status < 300, ...shown });
}

/** Under the names that the placeholders have; arguments of callers cannot stand in for them. */
async function workspaceValues(deps: SendDependencies, api: ApiBody, scope: RunScope) {
  const values: Record<string, string> = {};
  const secrets: Secret[] = [];
  for (const placeholder of templateTexts(api).flatMap(({ text }) => namesIn(text))) {
    const named = workspaceValueOf(placeholder);
    if (!named) continue;
    if (named.kind === "variable") values[placeholder] = await deps.values.variable(named.name, scope);
    else {
      const secret = await deps.values.secret(named.name, scope);
      values[placeholder] = secret.value;
      secrets.push(secret);
    }
  }
  return { values, secrets };
}
