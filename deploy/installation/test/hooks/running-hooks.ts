import { sign } from "@toolgate/webhook-signing/sign";
import {
  type CallResponse,
  type RunningToolgate,
  runToolgate,
  type Setup,
  type TopologyKind,
} from "../running-toolgate.ts";
import { createHook, type TestHook } from "./hooks.ts";

export type { TestHook } from "./hooks.ts";

/** An installation whose tool `echo` is released for hooks. */
export interface RunningHooks extends AsyncDisposable {
  toolgate: RunningToolgate;
  createHook(hook?: Record<string, unknown>): Promise<TestHook>;
  /** A call in the native format, signed now unless `at` says when. */
  call(
    hook: TestHook,
    body: string,
    options?: { at?: number; headers?: Record<string, string> },
  ): Promise<CallResponse>;
}

export async function runHooks(kind: TopologyKind, setup: Setup = {}): Promise<RunningHooks> {
  const toolgate = await runToolgate(kind, setup);
  const handler = "export default async (args) => ({ args });";
  const parameters = { type: "object", properties: { text: { type: "string" } } };
  await toolgate.saveTool("echo", { inbound_hook: true, parameters, handler });
  return {
    toolgate,
    createHook: (hook) => createHook(toolgate, { format: "HOOK_FORMAT_NATIVE", ...hook }),
    call({ path, secret }, body, { at = Math.floor(Date.now() / 1000), headers } = {}) {
      const signed = { "x-service-signature": sign(secret, at, body), ...headers };
      return toolgate.request(path, { method: "POST", body, headers: signed });
    },
    [Symbol.asyncDispose]: () => toolgate[Symbol.asyncDispose](),
  };
}
