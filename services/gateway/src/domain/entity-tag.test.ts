import { expect, test } from "vitest";
import { tagMatches } from "./entity-tag.ts";

test("[OAPI] If-None-Match may list several tags, also weak ones, or *", () => {
  for (const header of ['"x"', 'W/"x"', '"a", "x"', ' "a" ,W/"x"', "*"]) expect(tagMatches(header, '"x"')).toBe(true);
  for (const header of [undefined, "", '"y"', "x"]) expect(tagMatches(header, '"x"')).toBe(false);
});
