import type { DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionNegotiate } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { isJsonObject, ownValue } from "@toolgate/rules/json-object";
import type { FastifyRequest } from "fastify";
import { impossibleDay } from "../../domain/impossible-day.ts";
import { hasMoreValuesThan } from "../../domain/json-values.ts";
import { containsNul } from "../../domain/text.ts";
import { readBytes } from "../request-bytes.ts";

/** Each becomes messages, which takes about a microsecond here and as long again in the service. */
const MAX_VALUES = 50_000;
const ENCODINGS = [compressionGzip, compressionBrotli];

/** Reads and decompresses a body of at most `maxBytes`, from which messages can be made without blocking others for long. */
export async function readJson(request: FastifyRequest, maxBytes: number): Promise<Uint8Array> {
  const encoding = request.headers["content-encoding"] ?? null;
  const { request: compression, error } = compressionNegotiate(ENCODINGS, encoding, null, "accept-encoding");
  if (error) throw error;
  const { bytes: sent, fault } = await readBytes(request.raw, maxBytes);
  if (fault === "too-large") {
    throw new ConnectError(`the request is larger than ${maxBytes} bytes`, Code.ResourceExhausted);
  }
  if (fault) throw new ConnectError("the request ended too early", Code.Canceled);
  const bytes = compression ? await compression.decompress(sent, maxBytes) : sent;
  if (hasMoreValuesThan(bytes, MAX_VALUES)) {
    throw new ConnectError(`the request has more than ${MAX_VALUES} JSON values`, Code.InvalidArgument);
  }
  return bytes;
}

/** A request as JSON. Throws for a day that its month does not have, which the message would silently have as another day. */
export function parseRequest(message: DescMessage, bytes: Uint8Array): unknown {
  const request = parsed(new TextDecoder().decode(bytes));
  const field = impossibleDay(message, request);
  if (field) throw new ConnectError(`${field}: its month does not have this day`, Code.InvalidArgument);
  return request;
}

/** The workspace that a request names. What else is wrong with the request is found when it becomes a message. */
export function workspaceIn(request: unknown): string {
  const workspace = isJsonObject(request) ? ownValue(request, "workspace") : undefined;
  if (typeof workspace !== "string" || workspace === "") {
    throw new ConnectError("workspace: missing", Code.InvalidArgument);
  }
  if (containsNul(workspace) || !workspace.isWellFormed()) {
    throw new ConnectError("workspace: not valid text", Code.InvalidArgument);
  }
  return workspace;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConnectError(`not JSON: ${(error as SyntaxError).message}`, Code.InvalidArgument);
  }
}
