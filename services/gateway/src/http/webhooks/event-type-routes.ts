import { displayName, EVENT_TYPES, EVENT_TYPES_PATH, eventTypeOf, schemaPath } from "@toolgate/event-schemas/catalogue";
import { eventSchema } from "@toolgate/event-schemas/envelope";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../../context.ts";
import { baseUrlOf } from "../../domain/addresses.ts";
import { entityTag } from "../../domain/entity-tag.ts";
import { NOT_FOUND } from "../../domain/responses.ts";
import { sendDocument, sendResponse } from "../key-api.ts";

const CACHE_CONTROL = "public, max-age=3600";
const SCHEMA_FILE = /^(.+)\.json$/;

/** [EVT-7] [WVER] For the authors of receivers: the event types that webhooks send, and a JSON Schema of each. */
export function eventTypeRoutes(context: Context) {
  return async (app: FastifyInstance): Promise<void> => {
    const rootUrl = (request: FastifyRequest) => baseUrlOf(context.publicUrl, request).replace(/\/$/, "");
    app.get(EVENT_TYPES_PATH, (request, reply) =>
      send(request, reply, "application/json", catalogue(rootUrl(request))),
    );
    app.get(`${EVENT_TYPES_PATH}/:file`, (request, reply) => {
      const [, type] = SCHEMA_FILE.exec((request.params as { file: string }).file) ?? [];
      const kind = type === undefined ? undefined : eventTypeOf(type);
      if (!kind) return sendResponse(reply, NOT_FOUND);
      const schema = eventSchema(kind, `${rootUrl(request)}${schemaPath(kind)}`);
      return send(request, reply, "application/schema+json", schema);
    });
  };
}

function catalogue(rootUrl: string): object {
  return {
    event_types: EVENT_TYPES.map((kind) => ({
      type: displayName(kind),
      description: kind.sent,
      schema: `${rootUrl}${schemaPath(kind)}`,
    })),
  };
}

function send(request: FastifyRequest, reply: FastifyReply, type: string, document: object): FastifyReply {
  const body = Buffer.from(JSON.stringify(document));
  return sendDocument(request, reply, { body, tag: entityTag(body), type, cacheControl: CACHE_CONTROL });
}
