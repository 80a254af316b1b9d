import { LIMIT_HEADERS, OUTCOMES } from "@toolgate/api-examples/responses";
import { expect, test } from "vitest";
import * as responses from "../responses.ts";

test("[BLD-24] [ERR-1] [ERR-3] [ERR-11] [ERR-15] [ERR-18] the outcomes that callers are told are the responses that exist", () => {
  const sent = [
    responses.invalidParameters([]),
    responses.TOOL_FAILED,
    responses.UNAUTHENTICATED,
    responses.TOOL_UNAVAILABLE,
    responses.METHOD_NOT_ALLOWED,
    responses.IDEMPOTENCY_KEY_IN_USE,
    responses.IDEMPOTENCY_KEY_REUSED,
    responses.limitReached(1),
    responses.SERVER_BUSY,
    responses.INTERNAL_ERROR,
  ].map(({ status, body }) => ({ status, error: JSON.parse(body.toString()).error }));
  expect(OUTCOMES.slice(1).map(({ status, error }) => ({ status, error }))).toEqual(sent);
});

test("[BLD-25] the limit's headers that callers are told are those that are sent", () => {
  const told = Object.keys(LIMIT_HEADERS).map((name) => name.toLowerCase());
  expect(told.sort()).toEqual([...responses.LIMIT_FIELDS].sort());
});
