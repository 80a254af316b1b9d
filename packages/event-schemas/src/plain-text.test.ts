import fc from "fast-check";
import { expect, test } from "vitest";
import { plainText } from "./plain-text.ts";

const LIMIT = 20_000;

test.each([
  ["Hello <b>world</b>&amp;&nbsp;more", "Hello world& more"],
  ["<p>One</p>\n\n<p>Two<br>lines</p>", "One\n\nTwo\nlines"],
  ["<div>a</div><div>b</div>", "a\nb"],
  ["<ul><li>a</li><li>b</li></ul>after", "- a\n- b\n\nafter"],
  ["<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 2\n3"],
  ["<head><title>t</title><style>p{color:red}</style></head><body>text<script>alert('</p>')</script></body>", "text"],
  ["a<!-- hidden --><![if mso]>b<![endif]>c", "abc"],
  ["<template><p>not shown</p></template>shown", "shown"],
  ["1 < 2 &lt; 3 &#128512;", "1 < 2 < 3 😀"],
  ['<a href="https://example.com/?token=x">click</a><img src=x alt="pixel" onerror=alert(1)>', "click"],
  ["<P>CAPS</P><SCRIPT>no</SCRIPT>", "CAPS"],
  ["  \n no markup \t at all ", "no markup at all"],
  ["", ""],
])("[EVT-40] %j becomes %j", (html, text) => {
  expect(plainText(html, LIMIT)).toBe(text);
});

test("[EVT-40] no tag of any HTML is left, and it never throws", () => {
  const piece = fc.constantFrom(
    "<p>",
    "</p>",
    "<b",
    ">",
    "text ",
    "<!--",
    "-->",
    "&amp;",
    "&#x",
    "<script>",
    "</script>",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 40 }), (pieces) => {
      const text = plainText(`${pieces.join("")}<i title="leaked">`, LIMIT);
      expect(text).not.toMatch(/<p>|<script>|leaked/);
    }),
  );
});

test("[EVT-40] elements nested a hundred thousand deep are read like any others", () => {
  for (const tag of ["div", "b", "table", "ul", "quote"]) {
    expect(plainText(`${`<${tag}>`.repeat(100_000)}deep`, LIMIT)).toBe("deep");
  }
});

test("[EVT-41] reading stops once enough is written", () => {
  const text = plainText("<p>word</p>".repeat(80_000), 1_000);
  expect(text.length).toBeGreaterThanOrEqual(1_000);
  expect(text.length).toBeLessThan(1_100);
});
