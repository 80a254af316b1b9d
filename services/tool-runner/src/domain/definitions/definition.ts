import type { JsonObject } from "@toolgate/rules/json-object";
import type { ApiBody } from "../api-calls/template.ts";

/** A shared tool is part of the platform; its name is that of a host function. */
type Body = { kind: "handler"; code: string } | ApiBody | { kind: "query"; query: string } | { kind: "shared" };

/** A tool as it runs. Flags are true only where the saved value is exactly true; `async` where it is truthy. */
export type Definition = {
  description: string;
  parameters: JsonObject | undefined;
  externalApi: boolean;
  externalApiWrite: boolean;
  publicApi: boolean;
  inboundHook: boolean;
  inboundHookWrite: boolean;
  webhookEvent: boolean;
  async: boolean;
  timeoutMs: number;
  maxResultBytes: number;
  body: Body;
};

export const MAX_TIMEOUT_MS = 60_000;
export const DEFAULT_TIMEOUT_MS = 30_000;
export const MAX_RESULT_BYTES = 1024 * 1024;

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Names of tools and of prepared queries. */
export function isToolName(name: unknown): name is string {
  return typeof name === "string" && NAME.test(name);
}

/** What is wrong with a saved definition, and where: `parameters.properties.a.type`. */
export type DefinitionViolation = { path: string; message: string };

/** Reports a violation. Returns undefined, so that a reader can return its result. */
export type Report = (path: string, message: string) => undefined;
