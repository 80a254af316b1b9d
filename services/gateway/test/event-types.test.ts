import { displayName, EVENT_TYPES, schemaPath } from "@toolgate/event-schemas/catalogue";
import { exampleEvent } from "@toolgate/event-schemas/envelope";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testServer } from "./test-server.ts";

describe("the published event types", () => {
  let app: Awaited<ReturnType<typeof testServer>>;
  beforeAll(async () => {
    app = await testServer({ publicUrl: "https://gate.example/" });
  });
  afterAll(() => app.close());

  const get = (url: string, headers = {}) => app.inject({ method: "GET", url, headers });

  it("[EVT-7] [EVT-8] the list has every type of the catalogue, when it is sent and where its schema is", async () => {
    const response = await get("/webhooks/event-types");
    expect([response.statusCode, response.headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    const { event_types } = response.json();
    expect(event_types).toEqual(
      EVENT_TYPES.map((kind) => ({
        type: displayName(kind),
        description: kind.sent,
        schema: `https://gate.example${schemaPath(kind)}`,
      })),
    );
  });

  it.each(EVENT_TYPES.map((kind) => [kind.type, kind] as const))(
    "[EVT-6] the schema of %s is where the list says",
    async (_type, kind) => {
      const response = await get(schemaPath(kind));
      expect([response.statusCode, response.headers["content-type"]]).toEqual([
        200,
        "application/schema+json; charset=utf-8",
      ]);
      const schema = response.json();
      expect(schema.$id).toBe(`https://gate.example${schemaPath(kind)}`);
      const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
      expect(validate(exampleEvent(kind)), JSON.stringify(validate.errors)).toBe(true);
      expect(validate({ ...exampleEvent(kind), type: "other" })).toBe(false);
    },
  );

  it("[EVT-17] every custom type has the schema of custom events", async () => {
    expect((await get("/webhooks/event-types/custom.order.paid.json")).json().title).toBe("custom.<name>");
  });

  it("[EVT] can be cached; the tag of the response gets 304", async () => {
    for (const url of ["/webhooks/event-types", "/webhooks/event-types/tool.completed.json"]) {
      const first = await get(url);
      expect(first.headers["cache-control"]).toBe("public, max-age=3600");
      const again = await get(url, { "if-none-match": first.headers.etag });
      expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, "", first.headers.etag]);
      expect((await get(url, { "if-none-match": '"other"' })).statusCode).toBe(200);
    }
  });

  it("[EVT-7] [ERR-13] other types are not found, other methods are rejected", async () => {
    for (const file of [
      "tool.completed",
      "chat.message.created.json",
      "custom..json%2f",
      "custom.A.json",
      "__proto__.json",
    ]) {
      expect((await get(`/webhooks/event-types/${file}`)).statusCode, file).toBe(404);
    }
    for (const url of ["/webhooks/event-types", "/webhooks/event-types/tool.completed.json"]) {
      const response = await app.inject({ method: "POST", url });
      expect([response.statusCode, response.headers.allow]).toEqual([405, "GET"]);
    }
  });
});
