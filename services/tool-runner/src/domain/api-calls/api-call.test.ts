import fc from "fast-check";
import { expect, test } from "vitest";
import { renderApiCall } from "./api-call.ts";
import { type ApiBody, namesIn, templateTexts } from "./template.ts";

function apiWith(changes: Partial<ApiBody>): ApiBody {
  return { kind: "api", method: "POST", url: "https://api.example/x", headers: {}, body: undefined, ...changes };
}

const anyArgument = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.jsonValue(),
  fc.constantFrom("..", ".", "\ud800", "%2e%2E", "%2e", "a/../b"),
);

test("[TOOL] an argument never escapes its place in the path or the query of the URL", () => {
  const api = apiWith({ url: "https://api.example:8443/users/{{id}}{{toString}}{{id}}/orders?q={{q}}&all=1" });
  fc.assert(
    fc.property(anyArgument, anyArgument, (id, q) => {
      const url = new URL(renderApiCall(api, { id, q }).url);
      expect(url.origin).toBe("https://api.example:8443");
      expect(url.pathname.split("/")).toHaveLength(4);
      expect(url.pathname).toMatch(/^\/users\/[^/]*\/orders$/);
      expect([...url.searchParams.keys()]).toEqual(["q", "all"]);
      expect(url.hash).toBe("");
    }),
    // Two that form a dot segment together, and one that would leave the query.
    {
      numRuns: 300,
      examples: [
        [".", "x"],
        ["..", "/.."],
      ],
    },
  );
});

test("[TOOL] the called server receives a text as it was sent", () => {
  const api = apiWith({ url: "https://api.example/{{a}}?q={{a}}" });
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (a) => {
      fc.pre(a !== "." && a !== "..");
      const url = new URL(renderApiCall(api, { a }).url);
      expect(decodeURIComponent(url.pathname.slice(1))).toBe(a);
      expect(decodeURIComponent(url.search.slice(3))).toBe(a);
    }),
  );
});

test("[TOOL] a header value contains no line break, and anything but ASCII is sent as UTF-8", () => {
  const api = apiWith({ headers: { "X-Ref": "ref {{a}}", Fixed: "y" } });
  expect(renderApiCall(api, { a: "1\r\nHost: evil\u0000" }).headers).toEqual({
    "X-Ref": "ref 1Host: evil",
    Fixed: "y",
  });
  fc.assert(
    fc.property(anyArgument, (a) => {
      const value = renderApiCall(api, { a }).headers["X-Ref"] ?? "";
      expect(value).toMatch(/^[\x20-\x7e\x80-\xff]*$/);
    }),
  );
  const { "X-Ref": value = "" } = renderApiCall(api, { a: "Zoë €" }).headers;
  expect(Buffer.from(value, "latin1").toString("utf8")).toBe("ref Zoë €");
});

test("[TOOL] a body string that is one placeholder becomes the argument itself, other strings are filled in", () => {
  const body = { n: "{{n}}", list: ["{{o}}", "n={{n}} o={{o}}"], fixed: 1, none: "{{missing}}", text: "<{{missing}}>" };
  const call = renderApiCall(apiWith({ body }), { n: 5, o: { a: [1] } });
  expect(JSON.parse(call.body ?? "")).toEqual({
    n: 5,
    list: [{ a: [1] }, 'n=5 o={"a":[1]}'],
    fixed: 1,
    none: null,
    text: "<>",
  });
});

test("[TOOL] a placeholder inside an argument is never evaluated", () => {
  const api = apiWith({ url: "https://api.example/{{a}}", headers: { h: "{{a}}" }, body: { x: "{{a}}", y: "-{{a}}" } });
  const call = renderApiCall(api, { a: "{{b}}", b: "leak" });
  expect(JSON.stringify(call)).not.toContain("leak");
  expect(JSON.parse(call.body ?? "")).toEqual({ x: "{{b}}", y: "-{{b}}" });
});

test("[TOOL] a body is JSON unless a header says otherwise; without a body there is no content type", () => {
  expect(renderApiCall(apiWith({ body: {} }), {}).headers).toEqual({ "content-type": "application/json" });
  const own = { "Content-Type": "application/vnd.api+json" };
  expect(renderApiCall(apiWith({ body: {}, headers: own }), {}).headers).toEqual(own);
  expect(renderApiCall(apiWith({}), {})).toMatchObject({ headers: {}, body: undefined });
});

test("[TOOL] placeholders are found in every place where an api call may contain them", () => {
  const api = apiWith({ url: "https://a/{{u}}", headers: { h: "{{v}}{{w}}" }, body: { a: ["x", { b: "{{y}}" }] } });
  const found = templateTexts(api).map(({ path, text }) => [path, ...namesIn(text)]);
  expect(found).toEqual([["api.url", "u"], ["api.headers.h", "v", "w"], ["api.body.a.0"], ["api.body.a.1.b", "y"]]);
});
