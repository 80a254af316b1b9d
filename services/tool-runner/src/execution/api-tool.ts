import type { FetchMethod } from "@toolgate/safe-fetch/request-rules";
import { renderApiCall } from "../domain/api-calls/api-call.ts";
import { type ApiBody, namesIn, templateTexts } from "../domain/api-calls/template.ts";
import { workspaceValueOf } from "../domain/api-calls/workspace-values.ts";
import { removeSecrets } from "../domain/calls/remove-secrets.ts";
import type { HostDependencies } from "./host-calls/host-call.ts";
import { READING_METHODS, sendCall } from "./host-calls/outgoing-call.ts";
import { skipNote, skipsWrite } from "./host-calls/skip-write.ts";
import type { Run } from "./run.ts";
import { mayBeSentTo } from "./workspace/workspace-values.ts";

/** Makes the call of a declarative tool. [CHAT-10] Test mode sends no call that writes. */
export async function runApiTool(
  deps: HostDependencies,
  { tool, scope, signal }: Run,
  api: ApiBody,
  args: Record<string, unknown>,
  timeoutMs: number,
) {
  const endsAtMs = performance.now() + timeoutMs;
  const placeholders = templateTexts(api).flatMap(({ text }) => namesIn(text));
  const secrets = await deps.values.secretsIn(placeholders, scope);
  // By placeholder, so that a caller's argument cannot replace a secret or a variable.
  const values: Record<string, unknown> = { ...args };
  for (const [placeholder, { value }] of secrets) values[placeholder] = value;
  for (const placeholder of placeholders) {
    const named = workspaceValueOf(placeholder);
    if (named?.kind === "variable") values[placeholder] = await deps.values.variable(named.name, scope);
  }
  const call = { ...renderApiCall(api, values), method: api.method as FetchMethod };
  mayBeSentTo(call.url, [...secrets.values()]);
  if (!READING_METHODS.has(call.method) && skipsWrite({ tool: tool.name, scope }, "api", call)) {
    return { success: true, ...skipNote(scope) };
  }
  const { workspaceId } = scope;
  const sent = await sendCall(deps, call, { workspaceId, timeoutMs: endsAtMs - performance.now(), signal });
  const response = removeSecrets(sent, scope.usedSecrets);
  return { success: response.status >= 200 && response.status < 300, ...response };
}
