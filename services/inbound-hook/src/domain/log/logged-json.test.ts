import { createRedactor } from "@toolgate/redaction/redactor";
import { expect, it } from "vitest";
import { loggedJson, MAX_LOGGED_BYTES } from "./logged-json.ts";

const redact = createRedactor();

it("[IN-12] arguments and results are logged without secrets and without the server's own names", () => {
  const json = JSON.stringify({ id: 1, api_key: "k", deep: [{ Password: "p" }], _webhook: {} });
  expect(loggedJson(json, redact)).toBe('{"id":1,"api_key":"[entfernt]","deep":[{"Password":"[entfernt]"}]}');
});

it.each([
  ["x".repeat(MAX_LOGGED_BYTES - 2), false],
  ["x".repeat(MAX_LOGGED_BYTES - 1), true],
  ["ü".repeat(MAX_LOGGED_BYTES / 2 - 1), false],
  ["ü".repeat(MAX_LOGGED_BYTES / 2), true],
])("[IN-12] JSON of up to 64 KB is logged as it is, longer JSON as its length", (text, tooLong) => {
  const json = JSON.stringify(text);
  const logged = loggedJson(json, redact);
  expect(logged).toBe(tooLong ? `{"truncated":true,"characters":${json.length}}` : json);
});
