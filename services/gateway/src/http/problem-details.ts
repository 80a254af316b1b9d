import { STATUS_CODES } from "node:http";
import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import type { FastifyInstance } from "fastify";
import { ERROR_CODE_HEADER } from "../domain/error-codes.ts";

const PROBLEM_TYPE = "application/problem+json";
const ACCEPTED = /(?:^|,)\s*application\/problem\+json\s*(?:;(?!\s*q=0(?:\.0*)?\s*(?:,|$))[^,]*)?(?:,|$)/i;

/** Clients that accept application/problem+json get errors in that form (RFC 9457), all others the specified bodies. */
export function addProblemDetails(app: FastifyInstance): void {
  app.addHook("onSend", async ({ headers: { accept } }, reply, payload) => {
    if (reply.statusCode < 400 || accept === undefined || !ACCEPTED.test(accept)) return payload;
    reply.header("content-type", PROBLEM_TYPE).removeHeader("content-encoding").removeHeader("content-length");
    return problemOf(reply.statusCode, String(reply.getHeader(ERROR_CODE_HEADER) ?? ""), payload);
  });
}

/** What the specified body says is kept: its text as `detail`, and its other members. */
function problemOf(status: number, code: string, body: unknown): string {
  const { success: _, error, jsonrpc: __, id: ___, code: ____, message, ...members } = parsed(body);
  const inner = isJsonObject(error) ? error : {};
  const detail = [error, inner.message, message].find((text) => typeof text === "string");
  return JSON.stringify({
    type: "about:blank",
    title: STATUS_CODES[status] ?? "Error",
    status,
    detail,
    code,
    ...members,
  });
}

function parsed(body: unknown): JsonObject {
  try {
    const value: unknown = JSON.parse(String(body));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
