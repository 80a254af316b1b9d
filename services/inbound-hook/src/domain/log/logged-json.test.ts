import { createRedactor } from "@toolgate/redaction/redactor";
import { expect, it } from "vitest";
import { loggedError, loggedJson, loggedText, MAX_LOGGED_BYTES } from "./logged-json.ts";

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

it("[IN-63] a reply is cut at 64 KB, between characters", () => {
  expect(loggedText("a".repeat(70_000))).toBe("a".repeat(MAX_LOGGED_BYTES));
  for (const character of ["ü", "€", "😀"]) {
    const cut = loggedText(`a${character.repeat(70_000)}`);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(MAX_LOGGED_BYTES);
    expect(Buffer.byteLength(cut)).toBeGreaterThan(MAX_LOGGED_BYTES - 4);
    expect(cut).toMatch(new RegExp(`^a(${character})+$`, "u"));
  }
});

it("[IN-12] what Postgres cannot store is left out or replaced", () => {
  expect(loggedText("a\u0000b\ud800")).toBe("ab\ufffd");
  expect(loggedError(`a\u0000${"x".repeat(3_000)}`)).toHaveLength(1_999);
});
