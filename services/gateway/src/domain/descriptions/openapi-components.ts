import { LIMIT_HEADERS as ABOUT, aboutStatus, RETRY_AFTER } from "@toolgate/api-examples/responses";
import {
  type ApiResponse,
  IDEMPOTENCY_KEY_IN_USE,
  IDEMPOTENCY_KEY_REUSED,
  INTERNAL_ERROR,
  invalidParameters,
  limitReached,
  SERVER_BUSY,
  TOOL_FAILED,
  TOOL_UNAVAILABLE,
  UNAUTHENTICATED,
} from "../responses.ts";

const integer = { type: "integer" };
const text = { type: "string" };

/** [LIMIT-3] */
const LIMIT_HEADERS = {
  "X-RateLimit-Limit": { description: ABOUT["X-RateLimit-Limit"], schema: integer },
  "X-RateLimit-Remaining": { description: ABOUT["X-RateLimit-Remaining"], schema: integer },
  "X-RateLimit-Reset": { description: ABOUT["X-RateLimit-Reset"], schema: integer },
  RateLimit: { description: ABOUT.RateLimit, schema: text },
  "RateLimit-Policy": { description: ABOUT["RateLimit-Policy"], schema: text },
};
const HEADERS = {
  ...LIMIT_HEADERS,
  "Idempotency-Replayed": {
    description: "true: the response of an earlier call with the same Idempotency-Key. The tool did not run again.",
    schema: { ...text, const: "true" },
  },
  "Retry-After": { description: RETRY_AFTER, schema: { ...integer, minimum: 1 } },
  "WWW-Authenticate": { description: "Bearer", schema: { ...text, const: "Bearer" } },
};
type HeaderName = keyof typeof HEADERS;

const LIMITED = Object.keys(LIMIT_HEADERS) as HeaderName[];
const REPLAYED: HeaderName[] = [...LIMITED, "Idempotency-Replayed"];

/** `success` is always false; generators of clients fail on a boolean that is a constant. */
const FAILURE = { success: { type: "boolean" }, error: text };
const SCHEMAS = {
  Failure: object(["success", "error"], FAILURE),
  InvalidCall: object(["success", "error"], {
    ...FAILURE,
    details: { type: "array", items: { $ref: "#/components/schemas/Violation" } },
  }),
  LimitReached: object(["success", "error", "retry_after"], { ...FAILURE, retry_after: { ...integer, minimum: 1 } }),
  Violation: object(["field", "rule", "message"], { field: text, rule: text, message: text }),
};

const INVALID_ARGUMENTS = invalidParameters([{ field: "name", rule: "required", message: "is required" }]);

/** The error responses of every tool. A schema of the same name describes the body, otherwise `Failure` does. */
const FAILURES: readonly { name: string; headers: HeaderName[]; examples: ApiResponse[] }[] = [
  {
    name: "InvalidCall",
    headers: REPLAYED,
    examples: [INVALID_ARGUMENTS, TOOL_FAILED],
  },
  {
    name: "Unauthenticated",
    headers: ["WWW-Authenticate"],
    examples: [UNAUTHENTICATED],
  },
  {
    name: "Unavailable",
    headers: LIMITED,
    examples: [TOOL_UNAVAILABLE],
  },
  {
    name: "InProgress",
    headers: LIMITED,
    examples: [IDEMPOTENCY_KEY_IN_USE],
  },
  {
    name: "Mismatch",
    headers: LIMITED,
    examples: [IDEMPOTENCY_KEY_REUSED],
  },
  {
    name: "LimitReached",
    headers: [...LIMITED, "Retry-After"],
    examples: [limitReached(30), SERVER_BUSY],
  },
  { name: "InternalError", headers: REPLAYED, examples: [INTERNAL_ERROR] },
];

const RESPONSES = FAILURES.map(({ name, headers, examples }) => {
  const bodies = examples.map(({ body }, index) => [`example${index + 1}`, { value: JSON.parse(body.toString()) }]);
  const schema = { $ref: `#/components/schemas/${Object.hasOwn(SCHEMAS, name) ? name : "Failure"}` };
  const content = { "application/json": { schema, examples: Object.fromEntries(bodies) } };
  return [
    name,
    { description: aboutStatus(examples[0]?.status ?? 0), headers: headerReferences(headers), content },
  ] as const;
});

/** References to the error responses, by status. */
export const FAILURE_RESPONSES = Object.fromEntries(
  FAILURES.map(({ name, examples }) => [examples[0]?.status, { $ref: `#/components/responses/${name}` }]),
);

/** The headers of a tool's result. */
export const RESULT_HEADERS = headerReferences(REPLAYED);

/** What the documents of all keys have in common. */
export const COMPONENTS = {
  securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "An API key, svc_live_…" } },
  parameters: {
    IdempotencyKey: {
      name: "Idempotency-Key",
      in: "header",
      required: false,
      description: "Makes a repeat safe: for 24 hours the same key and body get the response of the first call.",
      schema: { ...text, minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
    },
  },
  headers: HEADERS,
  responses: Object.fromEntries(RESPONSES),
  schemas: SCHEMAS,
};

function object(required: string[], properties: object) {
  return { type: "object", required, properties };
}

function headerReferences(names: HeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
