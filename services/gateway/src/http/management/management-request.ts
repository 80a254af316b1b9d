import { type DescMethodUnary, fromJsonString, type Message } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import { compressionNegotiate } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import type { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { Access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import { isJsonObject, ownValue } from "@toolgate/rules/json-object";
import { accessOf } from "@toolgate/service-host/access";
import type { FastifyRequest } from "fastify";
import { impossibleDay } from "../../domain/impossible-day.ts";
import { hasMoreValuesThan } from "../../domain/json-values.ts";
import { containsNul } from "../../domain/text.ts";
import { MAX_BYTES_READ_FIRST, readBytes, saysAtMost } from "../request-bytes.ts";
import { loginOfRequest, memberRoleOf } from "../sessions/login-of-request.ts";

/** A management request of somebody who may make it. */
interface ManagementRequest {
  message: Message;
  /** Both are empty for RPCs that need no login. `principal`: as key-auth has signed it. */
  workspaceId: string;
  principal: string;
}

const MAX_BYTES = 2 * 1024 * 1024;
/** Of requests that need no login, such as a login itself: passwords and tokens in any spelling. */
const MAX_PUBLIC_BYTES = MAX_BYTES_READ_FIRST;
/** Each becomes messages, which takes about a microsecond here and as long again in the service. */
const MAX_VALUES = 50_000;
const ENCODINGS = [compressionGzip, compressionBrotli];

/**
 * Reads a request and finds out who calls. A large or compressed body is read only for a valid login, because strangers can
 * send many. Rejects with the error for the caller, whose request may still be arriving then.
 */
export async function readRequest(
  sessions: Client<typeof SessionService>,
  method: DescMethodUnary,
  request: FastifyRequest,
): Promise<ManagementRequest> {
  if (accessOf(method) === Access.PUBLIC) {
    const message = messageOf(method.input, await readText(request, MAX_PUBLIC_BYTES));
    return { message, workspaceId: "", principal: "" };
  }
  const token = tokenOf(request);
  if (!saysAtMost(request, MAX_BYTES_READ_FIRST)) await sessions.getSession({ token });
  const text = await readText(request, MAX_BYTES);
  const json = parsed(text);
  // The message would silently have it as another day.
  const field = impossibleDay(method.input, json);
  if (field) throw invalid(`${field}: its month does not have this day`);
  const { role, workspaceId, principal } = await sessions.authorize({ token, workspace: workspaceIn(json) });
  if (!memberRoleOf(role)) throw new ConnectError("your role does not permit this", Code.PermissionDenied);
  return { message: messageOf(method.input, text), workspaceId, principal };
}

function tokenOf(request: FastifyRequest): string {
  const login = loginOfRequest(request);
  if (login.kind === "none") throw new ConnectError("login required", Code.Unauthenticated);
  if (login.kind === "without-csrf-token") {
    throw new ConnectError("X-CSRF-Token missing or wrong", Code.PermissionDenied);
  }
  return login.token;
}

/** Reads and decompresses a body of at most `maxBytes`, from which messages can be made without blocking others for long. */
async function readText(request: FastifyRequest, maxBytes: number): Promise<string> {
  const encoding = request.headers["content-encoding"] ?? null;
  const { request: compression, error } = compressionNegotiate(ENCODINGS, encoding, null, "accept-encoding");
  if (error) throw error;
  const { bytes: sent, fault } = await readBytes(request.raw, maxBytes);
  if (fault === "too-large") {
    throw new ConnectError(`the request is larger than ${maxBytes} bytes`, Code.ResourceExhausted);
  }
  if (fault) throw new ConnectError("the request ended too early", Code.Canceled);
  const bytes = compression ? await compression.decompress(sent, maxBytes) : sent;
  if (hasMoreValuesThan(bytes, MAX_VALUES)) throw invalid(`the request has more than ${MAX_VALUES} JSON values`);
  return new TextDecoder().decode(bytes);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(`not JSON: ${(error as SyntaxError).message}`);
  }
}

/** The workspace that a request names. What else is wrong with the request is found when it becomes a message. */
function workspaceIn(request: unknown): string {
  const workspace = isJsonObject(request) ? ownValue(request, "workspace") : undefined;
  if (typeof workspace !== "string" || workspace === "") throw invalid("workspace: missing");
  if (containsNul(workspace) || !workspace.isWellFormed()) throw invalid("workspace: not valid text");
  return workspace;
}

/** A misspelled field could be a restriction, so it is not ignored. */
function messageOf(schema: DescMethodUnary["input"], text: string): Message {
  let message: Message;
  try {
    message = fromJsonString(schema, text, { ignoreUnknownFields: false });
  } catch (error) {
    throw ConnectError.from(error, Code.InvalidArgument);
  }
  if (containsNul(message)) throw invalid("NUL is not allowed in text");
  return message;
}

function invalid(message: string): ConnectError {
  return new ConnectError(message, Code.InvalidArgument);
}
