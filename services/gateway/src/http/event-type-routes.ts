import { EVENT_TYPES, EVENT_TYPES_PATH, eventTypeOf, schemaPath } from "@toolgate/event-schemas/catalogue";
import { eventSchema } from "@toolgate/event-schemas/envelope";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { NOT_FOUND } from "../domain/answers.ts";
import { baseUrlOf } from "../domain/base-url.ts";
import { entityTag, tagMatches } from "../domain/entity-tag.ts";
import { onlyMethod } from "./only-method.ts";
import { sendAnswer } from "./reply.ts";
import type { ToolCallDependencies } from "./tool-call.ts";

const CACHE_CONTROL = "public, max-age=3600";
const SCHEMA_FILE = /^(.+)\.json$/;

/** [EVT-7] [WVER] What webhooks send, for whoever writes receivers: the catalogue, and a JSON Schema of each type. */
export function eventTypeRoutes({ calls, publicUrl }: { calls: ToolCallDependencies; publicUrl: string }) {
  return async (app: FastifyInstance): Promise<void> => {
    const placeOf = (request: FastifyRequest) => baseUrlOf(publicUrl, request).replace(/\/$/, "");
    onlyMethod(app, calls, {
      method: "GET",
      url: EVENT_TYPES_PATH,
      handler: (request, reply) => send(request, reply, "application/json", catalogue(placeOf(request))),
    });
    onlyMethod(app, calls, {
      method: "GET",
      url: `${EVENT_TYPES_PATH}/:file`,
      handler: (request, reply) => {
        const [, type] = SCHEMA_FILE.exec((request.params as { file: string }).file) ?? [];
        const kind = type === undefined ? undefined : eventTypeOf(type);
        if (!kind) return sendAnswer(reply, NOT_FOUND);
        const schema = eventSchema(kind, `${placeOf(request)}${schemaPath(kind)}`);
        return send(request, reply, "application/schema+json", schema);
      },
    });
  };
}

function catalogue(place: string): object {
  return {
    event_types: EVENT_TYPES.map((kind) => ({
      type: kind.type === "custom" ? "custom.<name>" : kind.type,
      description: kind.sent,
      schema: `${place}${schemaPath(kind)}`,
    })),
  };
}

function send(request: FastifyRequest, reply: FastifyReply, contentType: string, document: object): FastifyReply {
  const body = Buffer.from(JSON.stringify(document));
  const tag = entityTag(body);
  reply.headers({ "cache-control": CACHE_CONTROL, etag: tag });
  if (tagMatches(request.headers["if-none-match"], tag)) return reply.code(304).send();
  return reply.header("content-type", `${contentType}; charset=utf-8`).send(body);
}
