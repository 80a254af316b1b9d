import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { NOT_FOUND } from "../domain/responses.ts";
import { sendResponse } from "./key-api.ts";
import { DOCS_PATH } from "./paths.ts";
import { readStaticFiles, type StaticFile, sendFile } from "./static-files.ts";

const FOLDER = fileURLToPath(new URL("../../../../docs/site/built/", import.meta.url));
/** Files whose names have their hash. */
const HASHED = /^(?:_astro|pagefind\/(?:fragment|index))\//;
const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** The documentation, which needs no login. Without a build of it, its paths answer 404. */
export async function docsRoutes(app: FastifyInstance): Promise<void> {
  const files = await readStaticFiles(FOLDER);
  const missing = files.get("404.html");
  const policy = {
    "content-security-policy": contentSecurityPolicy(files.values()),
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
  };
  app.get(`${DOCS_PATH}*`, (request, reply) => {
    const name = request.url.slice(DOCS_PATH.length).split("?", 1)[0] ?? "";
    const file = files.get(name === "" || name.endsWith("/") ? `${name}index.html` : name);
    if (!file && files.has(`${name}/index.html`)) return reply.redirect(`${DOCS_PATH}${name}/`, 308);
    reply
      .headers(policy)
      .header("cache-control", HASHED.test(name) ? "public, max-age=31536000, immutable" : "no-cache");
    if (file) return sendFile(request, reply, file);
    return missing ? sendFile(request, reply.code(404), missing) : sendResponse(reply, NOT_FOUND);
  });
  app.get(DOCS_PATH.slice(0, -1), (_, reply) => reply.redirect(DOCS_PATH, 308));
}

/** Of this origin only. The theme's own inline scripts are allowed by their hash; its code samples are coloured by inline styles. */
function contentSecurityPolicy(files: Iterable<StaticFile>): string {
  const scripts = new Set<string>();
  for (const { type, body } of files) {
    if (!type.startsWith("text/html")) continue;
    for (const [, script = ""] of body.toString().matchAll(INLINE_SCRIPT)) scripts.add(`'sha256-${sha256(script)}'`);
  }
  return [
    "default-src 'none'",
    // The search is a program in WebAssembly, with its index beside it.
    `script-src 'self' 'wasm-unsafe-eval' ${[...scripts].join(" ")}`.trimEnd(),
    "style-src 'self' 'unsafe-inline'",
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
