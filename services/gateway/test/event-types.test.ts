import { createRouterTransport } from "@connectrpc/connect";
import { EVENT_TYPES, schemaPath } from "@toolgate/event-schemas/catalogue";
import { exampleEvent } from "@toolgate/event-schemas/envelope";
import { createLogger } from "@toolgate/service-host/logger";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHttpServer } from "../src/http/server.ts";

describe("the published event types", () => {
  let app: Awaited<ReturnType<typeof createHttpServer>>;
  beforeAll(async () => {
    const nothing = createRouterTransport(() => {});
    const log = createLogger({ service: "test", level: "silent" });
    const unused = () => Promise.reject(new Error("needs no key"));
    app = await createHttpServer({
      calls: { verifyKey: unused, runTool: unused, usage: { add: async () => {} } as never, log, now: Date.now },
      peers: { transport: () => nothing },
      trustedProxies: [],
      publicUrl: "https://gate.example/",
      requestTimeoutMs: 30_000,
      log,
    });
  });
  afterAll(() => app.close());

  const get = (url: string, headers = {}) => app.inject({ method: "GET", url, headers });

  it("[EVT-7] [EVT-8] the list names every type of the catalogue, when it is sent, and where its schema is", async () => {
    const answer = await get("/webhooks/event-types");
    expect([answer.statusCode, answer.headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    const { event_types } = answer.json();
    expect(event_types).toEqual(
      EVENT_TYPES.map((kind) => ({
        type: kind.type === "custom" ? "custom.<name>" : kind.type,
        description: kind.sent,
        schema: `https://gate.example${schemaPath(kind)}`,
      })),
    );
  });

  it.each(EVENT_TYPES.map((kind) => [kind.type, kind] as const))(
    "[EVT-6] the schema of %s is where the list says",
    async (_type, kind) => {
      const answer = await get(schemaPath(kind));
      expect([answer.statusCode, answer.headers["content-type"]]).toEqual([
        200,
        "application/schema+json; charset=utf-8",
      ]);
      const schema = answer.json();
      expect(schema.$id).toBe(`https://gate.example${schemaPath(kind)}`);
      const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
      expect(validate(exampleEvent(kind)), JSON.stringify(validate.errors)).toBe(true);
      expect(validate({ ...exampleEvent(kind), type: "other" })).toBe(false);
    },
  );

  it("[EVT-17] every custom type leads to the schema of custom events", async () => {
    expect((await get("/webhooks/event-types/custom.order.paid.json")).json().title).toBe("custom.<name>");
  });

  it("[EVT] is cacheable and answers 304 to the tag that it gave", async () => {
    for (const url of ["/webhooks/event-types", "/webhooks/event-types/tool.completed.json"]) {
      const first = await get(url);
      expect(first.headers["cache-control"]).toBe("public, max-age=3600");
      const again = await get(url, { "if-none-match": first.headers.etag });
      expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, "", first.headers.etag]);
      expect((await get(url, { "if-none-match": '"other"' })).statusCode).toBe(200);
    }
  });

  it("[EVT-7] [ERR-13] what is not in the catalogue is not found, other methods are refused", async () => {
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
      const answer = await app.inject({ method: "POST", url });
      expect([answer.statusCode, answer.headers.allow]).toEqual([405, "GET"]);
    }
  });
});
