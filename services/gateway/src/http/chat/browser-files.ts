import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { entityTag } from "../../domain/entity-tag.ts";
import { sendDocument } from "../key-api.ts";
import { CHAT_FILES } from "../paths.ts";

const HEADERS = {
  // Pages of any site load them as modules, and they contain nobody's data.
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
  "x-content-type-options": "nosniff",
};

/** The widget and the client for chats, as modules for browsers. */
export async function browserFileRoutes(app: FastifyInstance): Promise<void> {
  for (const [path, name] of Object.entries(CHAT_FILES)) {
    const body = await readFile(fileURLToPath(import.meta.resolve(`@toolgate/chat-widget/built/${name}`)));
    const document = { body, tag: entityTag(body), type: "text/javascript", cacheControl: "public, max-age=300" };
    app.get(path, (request, reply) => sendDocument(request, reply.headers(HEADERS), document));
  }
}
