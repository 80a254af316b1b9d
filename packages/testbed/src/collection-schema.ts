/**
 * The structure that API clients require of a collection in their format v2.1, written from its documentation for the parts that
 * our collections use: https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html
 */
export const COLLECTION_SCHEMA = {
  type: "object",
  required: ["info", "item"],
  properties: {
    info: {
      type: "object",
      required: ["name", "schema"],
      properties: {
        name: { type: "string" },
        description: { type: "string" },
        schema: { const: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
      },
    },
    item: { type: "array", items: { $ref: "#/$defs/item" } },
    variable: { type: "array", items: { $ref: "#/$defs/variable" } },
    auth: { $ref: "#/$defs/auth" },
  },
  additionalProperties: false,
  $defs: {
    item: {
      type: "object",
      required: ["request"],
      properties: {
        name: { type: "string" },
        request: { $ref: "#/$defs/request" },
        response: { type: "array", items: { $ref: "#/$defs/response" } },
      },
      additionalProperties: false,
    },
    request: {
      type: "object",
      properties: {
        method: { enum: ["GET", "POST"] },
        header: { $ref: "#/$defs/headers" },
        url: {
          type: "object",
          properties: {
            raw: { type: "string" },
            protocol: { type: "string" },
            host: { type: "array", items: { type: "string" } },
            port: { type: "string" },
            path: { type: "array", items: { type: "string" } },
          },
          additionalProperties: false,
        },
        body: {
          type: "object",
          properties: {
            mode: { enum: ["raw", "urlencoded", "formdata", "file", "graphql"] },
            raw: { type: "string" },
            options: { type: "object" },
          },
          additionalProperties: false,
        },
        description: { type: "string" },
      },
      additionalProperties: false,
    },
    response: {
      type: "object",
      properties: {
        name: { type: "string" },
        originalRequest: { $ref: "#/$defs/request" },
        status: { type: "string" },
        code: { type: "integer" },
        header: { $ref: "#/$defs/headers" },
        body: { type: "string" },
      },
      additionalProperties: false,
    },
    headers: {
      type: "array",
      items: {
        type: "object",
        required: ["key", "value"],
        properties: { key: { type: "string" }, value: { type: "string" } },
        additionalProperties: false,
      },
    },
    auth: {
      type: "object",
      required: ["type"],
      properties: {
        type: { enum: ["apikey", "basic", "bearer", "noauth", "oauth2"] },
        bearer: {
          type: "array",
          items: {
            type: "object",
            required: ["key"],
            properties: { key: { type: "string" }, type: { type: "string" } },
          },
        },
      },
    },
    variable: {
      type: "object",
      required: ["key"],
      properties: { key: { type: "string" }, value: true, type: { enum: ["string", "boolean", "any", "number"] } },
      additionalProperties: false,
    },
  },
} as const;
