import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { followPointer, parsePointer } from "./json-pointer.ts";
import { type ArgumentSource, mapArguments } from "./mapping.ts";

const BODY = JSON.parse(`{
  "id": "order-1", "amount": 0, "note": null, "_webhook": { "hook_id": "forged" }, "_x": 1,
  "customer": { "name": "Ada", "tags": ["a", "b", { "deep": true }] },
  "a/b": 1, "m~n": 2, "~1": 3, "": 4, " ": 5, "0": "zero"
}`);

function found(pointer: string, body: unknown = BODY): unknown {
  const parsed = parsePointer(pointer);
  if (!parsed) return "not a pointer";
  const value = followPointer(parsed, body);
  return value === undefined ? "missing" : value;
}

describe("JSON Pointer", () => {
  it.each([
    ["", BODY],
    ["/id", "order-1"],
    ["/customer/name", "Ada"],
    ["/customer/tags/2/deep", true],
    ["/a~1b", 1],
    ["/m~0n", 2],
    ["/~01", 3],
    ["/", 4],
    ["/0", "zero"],
    ["/note", null],
  ])("[IN-37] %j leads to the value that RFC 6901 says", (pointer, value) => {
    expect(found(pointer)).toEqual(value);
  });

  it.each([
    "/nothing",
    "/customer/nothing/below",
    "/customer/tags/3",
    "/customer/tags/-",
    "/customer/tags/01",
    "/customer/tags/1e0",
    "/customer/tags/length",
    "/id/0",
    "/note/x",
    "/a/b",
    "/__proto__",
    "/constructor",
    "/customer/toString",
    "/customer/tags/map",
  ])("[IN-38] %j leads nowhere", (pointer) => {
    expect(found(pointer)).toBe("missing");
  });

  it.each(["id", "#/id", "/a~", "/a~2", "/~a", " /id"])("[IN-37] %j is not a pointer", (pointer) => {
    expect(parsePointer(pointer)).toBeUndefined();
  });

  it("[IN-38] no text makes following a pointer fail", () => {
    fc.assert(fc.property(fc.string(), fc.jsonValue(), (text, value) => void found(`/${text}`, value)));
  });
});

describe("arguments", () => {
  const args = (from: ArgumentSource["from"], pointers: Record<string, string> = {}, body = BODY) =>
    mapArguments({ from, pointers }, body);

  it("[IN-36] [IN-68] without a setting they are the top-level fields, without the server's own names", () => {
    const { _webhook, _x, ...fields } = BODY;
    expect(args("fields", { id: "/amount" })).toEqual(fields);
  });

  it("[IN-37] [IN-38] a mapping takes each from its place, keeps null, and leaves out what is missing", () => {
    const pointers = { name: "/customer/name", all: "", note: "/note", none: "/nothing", bad: "no pointer" };
    expect(args("mapping", pointers)).toEqual({ name: "Ada", all: BODY, note: null });
  });

  it("[IN-39] the payload is the whole body, and the mapping wins for the arguments that it names", () => {
    expect(args("payload")).toEqual({ payload: BODY });
    expect(args("payload", { id: "/id" })).toEqual({ payload: BODY, id: "order-1" });
    expect(args("payload", { payload: "/customer" })).toEqual({ payload: BODY.customer });
    expect(args("payload", { payload: "/nothing" })).toEqual({});
  });

  it("[IN-36] names such as __proto__ and constructor are data, in the body and in the mapping", () => {
    const body = JSON.parse('{"__proto__":{"admin":true},"constructor":1,"toString":"x"}');
    const taken = args("fields", {}, body);
    expect(Object.entries(taken ?? {})).toEqual([
      ["constructor", 1],
      ["toString", "x"],
    ]);
    expect(Object.getPrototypeOf(taken ?? {})).toBe(Object.prototype);
    const mapped = args("mapping", JSON.parse('{"constructor":"/constructor","x":"/hasOwnProperty"}'), body);
    expect(Object.entries(mapped ?? {})).toEqual([["constructor", 1]]);
    expect("admin" in (taken ?? {})).toBe(false);
  });

  it("[IN-37] pointers that take the same data again and again give at most 256 KB", () => {
    const pointers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, "/data"]));
    for (const data of ["x".repeat(65_000), { "": "é".repeat(32_500) }]) {
      expect(Object.keys(args("mapping", pointers(4), { data }) ?? {})).toHaveLength(4);
      expect(args("mapping", pointers(5), { data })).toBeUndefined();
      expect(args("payload", pointers(4), { data })).toBeUndefined();
    }
    expect(args("mapping", pointers(100), { data: [JSON.parse(`[${"[],".repeat(80_000)}1]`)] })).toBeUndefined();
  });

  it("[IN-68] no body and no mapping gives an argument whose name begins with an underscore", () => {
    const name = fc.oneof(fc.string(), fc.constantFrom("_webhook", "_api_key", "__proto__", "payload", "id"));
    const from = fc.constantFrom("fields" as const, "mapping" as const, "payload" as const);
    fc.assert(
      fc.property(
        from,
        fc.dictionary(name, fc.jsonValue()),
        fc.dictionary(name, fc.string()),
        (source, body, pointers) => {
          const names = Object.keys(mapArguments({ from: source, pointers }, body) ?? {});
          expect(names.filter((given) => given.startsWith("_"))).toEqual([]);
        },
      ),
    );
  });
});
