import { expect, test } from "vitest";
import { entityTag, tagMatches } from "./entity-tag.ts";

test("[OAPI] equal bytes have equal tags, different bytes have different ones", () => {
  expect(entityTag(Buffer.from("a"))).toBe(entityTag(Buffer.from("a")));
  expect(entityTag(Buffer.from("a"))).not.toBe(entityTag(Buffer.from("b")));
  expect(entityTag(Buffer.from("a"))).toMatch(/^"[\w-]{27}"$/);
});

test("[OAPI] If-None-Match may list several tags, also weak ones, or *", () => {
  for (const header of ['"x"', 'W/"x"', '"a", "x"', ' "a" ,W/"x"', "*"]) expect(tagMatches(header, '"x"')).toBe(true);
  for (const header of [undefined, "", '"y"', "x"]) expect(tagMatches(header, '"x"')).toBe(false);
});
