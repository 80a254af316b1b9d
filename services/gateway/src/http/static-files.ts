import { glob, readFile } from "node:fs/promises";
import type { FastifyReply, FastifyRequest } from "fastify";

/** A built file as it is sent: `compressed` with brotli, where the build made that. */
export interface StaticFile {
  type: string;
  body: Buffer;
  compressed: Buffer | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  json: "application/json",
  png: "image/png",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};
const UNKNOWN_TYPE = "application/octet-stream";

/** What has been built in this folder, by path below it, such as "index.html"; empty when nothing has. */
export async function readStaticFiles(folder: string): Promise<ReadonlyMap<string, StaticFile>> {
  const files = new Map<string, StaticFile>();
  for await (const name of glob("**/*.*", { cwd: folder })) {
    if (name.endsWith(".br")) continue;
    const type = TYPES[name.split(".").at(-1) ?? ""] ?? UNKNOWN_TYPE;
    const compressed = await readFile(`${folder}${name}.br`).catch(() => undefined);
    files.set(name, { type, body: await readFile(folder + name), compressed });
  }
  return files;
}

export function sendFile(request: FastifyRequest, reply: FastifyReply, file: StaticFile): FastifyReply {
  reply.headers({ "content-type": file.type, "x-content-type-options": "nosniff", vary: "accept-encoding" });
  const takesBrotli = /\bbr\b/.test(String(request.headers["accept-encoding"] ?? ""));
  if (!file.compressed || !takesBrotli) return reply.send(file.body);
  return reply.header("content-encoding", "br").send(file.compressed);
}
