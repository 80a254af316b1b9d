import { expect, it } from "vitest";
import { containsMarker } from "./marker.ts";

it.each(['"{{"', '{"a":{"b":["x {{y"]}}', '{"a":{"{{b":1}}', '"\\u007b\\u007b"', '[["a{{{b"]]'])(
  "[IN-44] %s contains the marker",
  (json) => expect(containsMarker(JSON.parse(json))).toBe(true),
);

it.each(['"{ {"', '"{\\n{"', '{"{":"{"}', '["{","{"]', "null", "1", "{}", '"}}"'])(
  "[IN-44] %s does not contain the marker",
  (json) => expect(containsMarker(JSON.parse(json))).toBe(false),
);
