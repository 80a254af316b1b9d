import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { Busboy } from "@fastify/busboy";
import { MAX_FILE_BYTES } from "@toolgate/rules/chat-message";
import type { FastifyRequest } from "fastify";
import { chatError, invalidChatRequest } from "../../domain/chat/chat-responses.ts";
import { ParameterReader } from "../../domain/chat/parameters.ts";
import type { ApiResponse } from "../../domain/responses.ts";

/** The fields of a form, and its file, unless there is none or it was refused. */
export interface Form {
  reader: ParameterReader;
  fileId?: string | undefined;
  /** Why the file was not taken. */
  refusal?: ApiResponse | undefined;
}

/** Stores a file while it arrives. Resolves with its id, or why it was refused. */
export type StoreFile = (name: string, chunks: AsyncIterable<Uint8Array>) => Promise<string | ApiResponse>;

const LIMITS = {
  fieldNameSize: 100,
  fieldSize: 256 * 1024,
  fields: 20,
  // One byte more shows that it is too large.
  fileSize: MAX_FILE_BYTES + 1,
  files: 2,
  parts: 22,
  headerPairs: 20,
  headerSize: 8 * 1024,
};
/** A refusal, and no failure of ours: neither side logs it. */
const REFUSED = new ConnectError("refused", Code.InvalidArgument);
const CHUNK_BYTES = 64 * 1024;
const ONE_FILE = chatError(400, "INVALID_FILE", "file: only one is allowed");
const TOO_LARGE = chatError(400, "FILE_TOO_LARGE", "file: at most 20 MB");
const EMPTY = chatError(400, "INVALID_FILE", "file: empty");

/** [CHAT-4] [CHAT-11] Reads a form of any size in bounded memory. `store` undefined: files are discarded. */
export async function readForm(
  request: FastifyRequest,
  contentType: string,
  store: StoreFile | undefined,
): Promise<Form> {
  const fields: Record<string, unknown> = Object.create(null);
  const streams: Readable[] = [];
  const stored: Promise<string | ApiResponse>[] = [];
  let fault: string | undefined;
  let parser: ReturnType<typeof createParser>;
  try {
    parser = createParser(contentType);
  } catch {
    request.raw.resume();
    return invalidForm("body: must be multipart/form-data with a boundary");
  }
  parser.on("field", (name, value, nameTruncated, valueTruncated) => {
    if (nameTruncated || valueTruncated) fault ??= `${name}: too long`;
    // A repeated field becomes a list, which is refused later because it is not a string.
    fields[name] = name in fields ? [fields[name], value] : value;
  });
  parser.on("file", (name, stream, fileName) => {
    stream.on("error", () => {});
    streams.push(stream);
    // A form without a chosen file sends an empty one without a name.
    const isAbsent = fileName === undefined || fileName === "";
    if (isAbsent || !store) return stream.resume();
    if (name !== "file") fault ??= `${name}: must not be a file`;
    if (name !== "file" || stored.length > 0) {
      if (name === "file") stored.push(Promise.resolve(ONE_FILE));
      return stream.resume();
    }
    stored.push(take(stream, (chunks) => store(fileName, chunks)));
  });
  for (const limit of ["fieldsLimit", "filesLimit", "partsLimit"] as const)
    parser.on(limit, () => {
      fault ??= "body: too many fields";
    });
  try {
    await pipeline(request.raw, parser);
  } catch {
    request.raw.resume();
    for (const stream of streams) stream.destroy(new Error("the form ended too early"));
    await Promise.all(stored);
    return invalidForm("body: must be complete multipart/form-data");
  }
  const results = await Promise.all(stored);
  const reader = new ParameterReader(fields, { isText: true });
  reader.check(fault);
  if (reader.has("file")) reader.check("file: must be a file");
  const refusal = results.findLast((result) => typeof result !== "string");
  const [first] = results;
  return { reader, fileId: typeof first === "string" ? first : undefined, refusal };
}

function createParser(contentType: string) {
  return new Busboy({ headers: { "content-type": contentType }, limits: LIMITS });
}

/** Never rejects. Reads the stream to its end in any case, because other fields may follow it. */
async function take(
  stream: Readable & { truncated?: boolean },
  store: (chunks: AsyncIterable<Uint8Array>) => Promise<string | ApiResponse>,
): Promise<string | ApiResponse> {
  let size = 0;
  let refusal: ApiResponse | undefined;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_FILE_BYTES) refusal = TOO_LARGE;
      if (refusal) throw REFUSED;
      for (let at = 0; at < chunk.length; at += CHUNK_BYTES) yield chunk.subarray(at, at + CHUNK_BYTES);
    }
    if (size > 0) return;
    refusal = EMPTY;
    throw REFUSED;
  }
  try {
    const result = await store(chunks());
    return refusal ?? result;
  } catch {
    return refusal ?? invalidChatRequest("file: incomplete");
  } finally {
    stream.resume();
  }
}

function invalidForm(fault: string): Form {
  const reader = new ParameterReader({}, { isText: true });
  reader.check(fault);
  return { reader };
}
