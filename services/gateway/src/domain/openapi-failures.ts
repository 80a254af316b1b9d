import {
  type ApiResponse,
  IDEMPOTENCY_KEY_IN_USE,
  IDEMPOTENCY_KEY_REUSED,
  INTERNAL_ERROR,
  invalidParameters,
  limitReached,
  TOOL_FAILED,
  TOOL_UNAVAILABLE,
  UNAUTHENTICATED,
} from "./responses.ts";

const LIMIT_HEADERS = {
  "X-RateLimit-Limit": { description: "Calls per clock minute.", schema: { type: "integer" } },
  "X-RateLimit-Remaining": { description: "Calls left in this minute.", schema: { type: "integer" } },
  "X-RateLimit-Reset": { description: "Unix time at which the minute ends.", schema: { type: "integer" } },
  RateLimit: { description: "The state of the limit as the IETF draft writes it.", schema: { type: "string" } },
  "RateLimit-Policy": { description: "The limit as the IETF draft writes it.", schema: { type: "string" } },
};

const HEADERS = {
  ...LIMIT_HEADERS,
  "Idempotency-Replayed": {
    description: "true: the answer of an earlier call with the same Idempotency-Key. The tool did not run again.",
    schema: { type: "string", const: "true" },
  },
  "Retry-After": { description: "Seconds until the next minute.", schema: { type: "integer", minimum: 1 } },
  "WWW-Authenticate": { description: "Bearer", schema: { type: "string", const: "Bearer" } },
};

/** [LIMIT-3] */
export const LIMIT_HEADER_REFERENCES = references("headers", Object.keys(LIMIT_HEADERS));

const EXAMPLE_VIOLATION = { field: "name", rule: "required", message: "is required" };
const EXAMPLE_RETRY_SECONDS = 30;
const LIMITED = Object.keys(LIMIT_HEADERS);
const REPLAYED = [...LIMITED, "Idempotency-Replayed"];

const RESPONSES = {
  InvalidCall: response("The arguments are not valid, or the tool failed.", "InvalidCall", REPLAYED, {
    arguments: invalidParameters([EXAMPLE_VIOLATION]),
    tool: TOOL_FAILED,
  }),
  Unauthenticated: response(
    "The key is missing, unknown, revoked or expired, or not for calls from this address.",
    "Failure",
    ["WWW-Authenticate"],
    { key: UNAUTHENTICATED },
  ),
  Unavailable: response("The tool is not available to this key. The answer does not say why.", "Failure", LIMITED, {
    tool: TOOL_UNAVAILABLE,
  }),
  InProgress: response("The first call with this Idempotency-Key still runs.", "Failure", LIMITED, {
    running: IDEMPOTENCY_KEY_IN_USE,
  }),
  Mismatch: response("This Idempotency-Key came with another body before.", "Failure", LIMITED, {
    other: IDEMPOTENCY_KEY_REUSED,
  }),
  LimitReached: response("The calls of this minute are used up.", "LimitReached", [...LIMITED, "Retry-After"], {
    limit: limitReached(EXAMPLE_RETRY_SECONDS),
  }),
  InternalError: response("An unexpected error.", "Failure", REPLAYED, { error: INTERNAL_ERROR }),
};

/** The error answers of every tool. */
export const FAILURE_RESPONSES = {
  400: { $ref: "#/components/responses/InvalidCall" },
  401: { $ref: "#/components/responses/Unauthenticated" },
  403: { $ref: "#/components/responses/Unavailable" },
  409: { $ref: "#/components/responses/InProgress" },
  422: { $ref: "#/components/responses/Mismatch" },
  429: { $ref: "#/components/responses/LimitReached" },
  500: { $ref: "#/components/responses/InternalError" },
};

const FAILURE = { success: { type: "boolean", const: false }, error: { type: "string" } };
const VIOLATION = {
  type: "object",
  required: ["field", "rule", "message"],
  properties: { field: { type: "string" }, rule: { type: "string" }, message: { type: "string" } },
};

/** What the documents of all keys have in common. */
export const FAILURE_COMPONENTS = {
  securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "An API key, svc_live_…" } },
  parameters: {
    IdempotencyKey: {
      name: "Idempotency-Key",
      in: "header",
      required: false,
      description: "Makes repeating the call safe: within 24 hours the same key and body get the first call's answer.",
      schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
    },
  },
  headers: HEADERS,
  responses: RESPONSES,
  schemas: {
    Failure: { type: "object", required: ["success", "error"], properties: FAILURE },
    InvalidCall: {
      type: "object",
      required: ["success", "error"],
      properties: { ...FAILURE, details: { type: "array", items: { $ref: "#/components/schemas/Violation" } } },
    },
    LimitReached: {
      type: "object",
      required: ["success", "error", "retry_after"],
      properties: { ...FAILURE, retry_after: { type: "integer", minimum: 1 } },
    },
    Violation: VIOLATION,
  },
};

function response(description: string, schema: string, headers: string[], responses: Record<string, ApiResponse>) {
  const examples = Object.entries(responses).map(([name, { body }]) => [
    name,
    { value: JSON.parse(body.toString("utf8")) },
  ]);
  return {
    description,
    headers: references("headers", headers),
    content: {
      "application/json": {
        schema: { $ref: `#/components/schemas/${schema}` },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

function references(kind: string, names: string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/${kind}/${name}` }]));
}
