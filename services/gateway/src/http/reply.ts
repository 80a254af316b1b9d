import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { FastifyReply } from "fastify";
import type { Answer } from "../domain/answers.ts";
import { LIMIT_FIELDS, rateLimitFields } from "../domain/rate-limit-fields.ts";

/** Sends an answer of the tool API. */
export function sendAnswer(reply: FastifyReply, { status, body, headers = {} }: Answer): FastifyReply {
  return reply.code(status).headers(headers).header("content-type", "application/json; charset=utf-8").send(body);
}

/** [LIMIT-3] Headers of every answer to a call with a valid key. */
export function setLimitHeaders(reply: FastifyReply, key: KeyVerdict, nowMs: number): void {
  reply.headers(rateLimitFields(key, nowMs));
}

/** For the answer to a key that has ceased to be valid meanwhile. */
export function dropLimitHeaders(reply: FastifyReply): void {
  for (const name of LIMIT_FIELDS) reply.removeHeader(name);
}
