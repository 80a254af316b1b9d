import { type DescribedTool, describedTool } from "@toolgate/api-examples/described-tool";
import { aboutStatus } from "@toolgate/api-examples/responses";
import type { ApiDescription, ToolDescription } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { JsonObject } from "@toolgate/rules/json-object";
import { COMPONENTS, FAILURE_RESPONSES, RESULT_HEADERS } from "./openapi-components.ts";

/** [VER-2] */
const OPENAPI_VERSION = "3.1.0";
const DEFAULT_TITLE = "Tool API";
/** The tools belong to the workspace, which grants nobody more than the use of its keys. */
const DEFAULT_LICENSE = { name: "Proprietary", identifier: "LicenseRef-Proprietary" };
const MAX_SUMMARY_CHARACTERS = 120;

const ABOUT = `Tools that this API key may call. Every response to a valid key carries the state of its limit (calls per clock minute).
Keep keys on servers: the API sends no CORS headers.`;

/** [OAPI-3] [OAPI-4] The OpenAPI description of the tools of one key, without the address of the server. */
export function openApiDocument(tools: readonly ToolDescription[], about?: ApiDescription): JsonObject {
  const described = tools.map((tool) => describedTool(tool, pointerTo));
  const schemas = described.flatMap(({ name, args, result, definitions }): [string, unknown][] => [
    [`${name}.args`, args],
    [`${name}.result`, result],
    ...definitions,
  ]);
  return {
    openapi: OPENAPI_VERSION,
    info: infoOf(about),
    security: [{ apiKey: [] }],
    paths: Object.fromEntries(described.map((tool) => [`/api/v1/tools/${tool.name}`, { post: operation(tool) }])),
    components: componentsOf(schemas),
  };
}

/** Without tools nothing refers to the others, and linters warn about what nobody uses. */
function componentsOf(schemas: [string, unknown][]): JsonObject {
  if (schemas.length === 0) return { securitySchemes: COMPONENTS.securitySchemes };
  return { ...COMPONENTS, schemas: { ...COMPONENTS.schemas, ...Object.fromEntries(schemas) } };
}

function infoOf(about: ApiDescription | undefined): JsonObject {
  const { title = "", description = "", contactName, contactUrl, contactEmail, licenseName, licenseUrl } = about ?? {};
  const contact = present({ name: contactName, url: contactUrl, email: contactEmail });
  const license = licenseName ? { name: licenseName, ...licenseTerms(licenseName, licenseUrl) } : DEFAULT_LICENSE;
  return {
    title: title || DEFAULT_TITLE,
    version: "1",
    description: [description, ABOUT].filter(Boolean).join("\n\n"),
    ...(Object.keys(contact).length > 0 && { contact }),
    license,
  };
}

/** Where a licence's terms are, or an SPDX identifier of its own: linters want one of the two. */
function licenseTerms(name: string, url: string | undefined): JsonObject {
  return url ? { url } : { identifier: `LicenseRef-${name.replace(/[^A-Za-z0-9.]+/g, "-")}` };
}

/** Without the members that are empty. */
function present(members: Record<string, string | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value));
}

/** [OAPI] Adds the server from which the document was requested. */
export function withServer(document: Buffer, baseUrl: string): Buffer {
  const head = `{"servers":${JSON.stringify([{ url: baseUrl }])},`;
  return Buffer.concat([Buffer.from(head), document.subarray("{".length)]);
}

/** Tool names contain no dot, so these names cannot collide with others. */
function pointerTo(tool: string, part: "args" | "result"): string {
  return `#/components/schemas/${tool}.${part}`;
}

function operation({ name, description, effect, args, example }: DescribedTool): JsonObject {
  const needsArguments = Array.isArray(args.required) && args.required.length > 0;
  return {
    operationId: name,
    summary: summaryOf(description) || name,
    description: description === "" ? effect : `${description}\n\n${effect}`,
    parameters: [{ $ref: "#/components/parameters/IdempotencyKey" }],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: {
            type: "object",
            properties: { args: { $ref: pointerTo(name, "args") } },
            ...(needsArguments && { required: ["args"] }),
          },
          ...(example !== undefined && { example: { args: example } }),
        },
      },
    },
    responses: {
      200: {
        description: aboutStatus(200),
        headers: RESULT_HEADERS,
        content: { "application/json": { schema: { $ref: pointerTo(name, "result") } } },
      },
      ...FAILURE_RESPONSES,
    },
  };
}

function summaryOf(description: string): string {
  const [line = ""] = description.split("\n", 1);
  const characters = [...line.trim()];
  if (characters.length <= MAX_SUMMARY_CHARACTERS) return characters.join("");
  return `${characters.slice(0, MAX_SUMMARY_CHARACTERS - 1).join("")}…`;
}
