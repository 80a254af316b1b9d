import fc from "fast-check";
import { expect, test } from "vitest";
import { ELEMENTS } from "../../src/html/elements.ts";
import { HtmlSanitizer } from "../../src/html/sanitizer.ts";
import { treeOf } from "./tree-of.ts";

function sanitize(...chunks: string[]): string {
  const sanitizer = new HtmlSanitizer();
  return chunks.map((chunk) => sanitizer.push(chunk)).join("") + sanitizer.end();
}

test.each([
  ["plain text", "plain text"],
  ["1 < 2 & 3 > 2, a<b", "1 &lt; 2 &amp; 3 &gt; 2, a&lt;b"],
  ["Choose n<m. Never delete it.", "Choose n&lt;m. Never delete it."],
  ["List<String>, Map<I, S>, Set<S>", "List&lt;String&gt;, Map&lt;I, S&gt;, Set&lt;S&gt;"],
  [
    "<your-api-key> Ada <ada@example.com> <b@c.example>",
    "&lt;your-api-key&gt; Ada &lt;ada@example.com&gt; &lt;b@c.example&gt;",
  ],
  ["if a <b and c> d, a<b>c</b x></b>", "if a &lt;b and c&gt; d, a<b>c&lt;/b x&gt;</b>"],
  ["?a=1&copy=2&lt=3 &copy; R&D", "?a=1&amp;copy=2&amp;lt=3 © R&amp;D"],
  ["<p>One<p>Two", "<p>One</p><p>Two</p>"],
  ["<p CLASS=x onclick=alert(1)>x</p>", "<p>x</p>"],
  ["<b>x<i>y</b>z</i>", "<b>x<i>y</i></b>z"],
  ["<div>x</div>", "&lt;div&gt;x&lt;/div&gt;"],
  ["a<script>alert('<b>')</script>b", "a&lt;script&gt;alert('<b>')&lt;/script&gt;b</b>"],
  ["b<!-- c -->d<?e?>f<!doctype html>g", "b&lt;!-- c --&gt;d&lt;?e?&gt;f&lt;!doctype html&gt;g"],
  ['<img src="https://evil.example/?q=secret">', "&lt;img src=&quot;https://evil.example/?q=secret&quot;&gt;"],
  ["<img src=x onerror=alert(1)>x<svg/>", "&lt;img src=x onerror=alert(1)&gt;x&lt;svg/&gt;"],
  ["<ul><li>1<li>2</ul>3", "<ul><li>1</li><li>2</li></ul>3"],
  ["<ul><li>1<ul><li>2</ul><li>3</ul>", "<ul><li>1<ul><li>2</li></ul></li><li>3</li></ul>"],
  ["<li>x</li><td>y</td>", "xy"],
  ["<table><tr><td>1<td>2</table>3", "<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>3"],
  ["<table> <td>1</td> lost?", "<table><tbody><tr><td>1</td></tr></tbody></table>lost?"],
  ["<h1>a<h2>b</h2>c<hr>d<br/>e", "<h1>a</h1><h2>b</h2>c<hr>d<br>e"],
  ["<p>a<table><tr><td><p>b</p></b></table>", "<p>a</p><table><tbody><tr><td><p>b</p></td></tr></tbody></table>"],
  ["&lt;script&gt;&amp;&#60;b&#x3e;&eacute;&nosuch;", "&lt;script&gt;&amp;&lt;b&gt;é&amp;nosuch;"],
  ["<scr<script>ipt>", "&lt;scr&lt;script&gt;ipt&gt;"],
  ["x\u0000\u0007y&#0;z\ud800", "xy\ufffdz\ufffd"],
  ["cut off <stro", "cut off &lt;stro"],
  ["cut off <b/", "cut off &lt;b/"],
  ['cut off <a href="https://a.example/?a&b', "cut off &lt;a href=&quot;https://a.example/?a&amp;b"],
])("[CHAT-14] %s becomes %s", (input, html) => {
  expect(sanitize(input)).toBe(html);
});

const LINK = 'rel="noopener nofollow"';
test.each([
  ['<a href="https://a.example/?q=1&amp;r=2">x</a>', `<a href="https://a.example/?q=1&amp;r=2" ${LINK}>x</a>`],
  ["<a HREF=http://a.example TARGET=_blank>x", `<a href="http://a.example/" ${LINK}>x</a>`],
  ["<a href='mailto:a@b.example'>x</a>", `<a href="mailto:a@b.example" ${LINK}>x</a>`],
  ['<a href="https://a.example/&quot;onclick=x">x</a>', `<a href="https://a.example/%22onclick=x" ${LINK}>x</a>`],
  ['<a href="https://a.example" href="javascript:x">x</a>', `<a href="https://a.example/" ${LINK}>x</a>`],
  [
    '<a href="https://a.example">x<a href="https://b.example">y</a>',
    `<a href="https://a.example/" ${LINK}>x</a><a href="https://b.example/" ${LINK}>y</a>`,
  ],
  ['<a href="javascript:alert(1)">x</a>', "x"],
  ['<a href="&#106;ava&#9;script:alert(1)">x</a>', "x"],
  ['<a href=" java\nscript:alert(1)">x</a>', "x"],
  ['<a href="data:text/html,x">x</a>', "x"],
  ['<a href="//a.example">x</a><a href="/y">y</a><a>z</a>', "xyz"],
  ['<a href="https://user:pass@a.example">x</a>', "x"],
  [`<a href="https://a.example/${"x".repeat(3_000)}">x</a>`, "x"],
])("[CHAT-14] a link is safe: %s", (input, html) => {
  expect(sanitize(input)).toBe(html);
});

test("[CHAT-14] what never ends does not hide the rest of an answer", () => {
  const long = "x ".repeat(10_000);
  const html = sanitize(`<ul><li><a href="${long}</li></ul><b>the end</b>`);
  expect(html).toContain("<b>the end</b>");
  expect(html).toContain(long);
});

test("[CHAT-14] nesting is bounded", () => {
  const html = sanitize("<ul><li><b>".repeat(1_000), "x");
  expect(html.match(/<(?:ul|li|b)>/g)).toHaveLength(32);
});

test("[CHAT-14] text appears immediately, and a tag as soon as it is complete", () => {
  const sanitizer = new HtmlSanitizer();
  expect(sanitizer.push("Hel")).toBe("Hel");
  expect(sanitizer.push("lo <b")).toBe("lo ");
  expect(sanitizer.push(">you")).toBe("<b>you");
  expect(sanitizer.end()).toBe("</b>");
});

const NAMES =
  "p,br,b,i,code,pre,ul,ol,li,a,h1,h4,blockquote,table,thead,tbody,tr,th,td,hr,div,script,style,img,svg,title";
const tagName = fc.constantFrom(...NAMES.split(","));
const piece = fc.oneof(
  { weight: 6, arbitrary: tagName.map((name) => `<${name}>`) },
  { weight: 4, arbitrary: tagName.map((name) => `</${name}>`) },
  fc.constantFrom('<a href="https://a.example/?a=1&b=2">', '<a href="javascript:x">', "<a href=x", "<p/>", "<p x='>'>"),
  fc.constantFrom("&amp;", "&lt", "&#x", "&#60;", "&", "<", ">", '"', "'", "<!--", "-->", "<!", "<?", "</", "]]>", "/"),
  fc.constantFrom(" ", "\n", "\t", "x", "text ", "é", "👍", "\ud83d", "\udc4d", "\u0000", "\u00a0"),
  fc.string({ unit: "binary", maxLength: 5 }),
);
const input = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));

test("[CHAT-14] [CHAT-16] the output does not depend on where the input was cut", () => {
  fc.assert(
    fc.property(input, fc.array(fc.nat(200)), (text, cuts) => {
      const at = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
      const chunks = at.slice(1).map((end, index) => text.slice(at[index], end));
      expect(sanitize(...chunks)).toBe(sanitize(text));
      expect(sanitize(...text.split(""))).toBe(sanitize(text));
    }),
    { numRuns: 2_000 },
  );
});

test("[CHAT-14] [CHAT-16] the output does not depend on the cuts when tags are too long either", () => {
  const text = ["<b", "<!--", "&#", "<a href='", "<b x='&"].map((start) => `y${start}${"0".repeat(16_380)}`).join(">z");
  for (const size of [1, 7, 1_000, 16_384, 20_000]) {
    const chunks = text.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    expect(sanitize(...chunks)).toBe(sanitize(text));
  }
});

const ALLOWED = [...ELEMENTS.keys()].join("|");
const TAGS = new RegExp(`<(?:${ALLOWED})\\s*/?>|</(?:${ALLOWED})\\s*>`, "g");
const ENTITIES = /&(?:lt|gt|amp|quot);/g;
const words = fc.string({ unit: fc.constantFrom(..."abipxLS019 <<>/.,@;!?-"), maxLength: 30 });

test("[CHAT-14] [CHAT-16] every letter outside of allowed tags is shown, wherever the input is cut", () => {
  const lettersOf = (text: string) => text.replace(/\W/g, "");
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          words,
          tagName.map((name) => `<${name}>`),
        ),
        { maxLength: 20 },
      ),
      (pieces) => {
        const shown = lettersOf(
          sanitize(...pieces)
            .replace(TAGS, "")
            .replace(ENTITIES, ""),
        );
        let at = 0;
        for (const letter of lettersOf(pieces.join("").replace(TAGS, ""))) {
          at = shown.indexOf(letter, at) + 1;
          expect(at).toBeGreaterThan(0);
        }
      },
    ),
    { numRuns: 5_000 },
  );
});

test("[CHAT-14] browsers read exactly the allowed tree from the output", () => {
  fc.assert(
    fc.property(input, (text) => {
      const html = sanitize(text);
      expect(treeOf(html)).toBe(html.replaceAll("<pre>\n", "<pre>"));
    }),
    { numRuns: 5_000 },
  );
});

test("[CHAT-14] a sanitizer that was given what is already shown continues after it", () => {
  fc.assert(
    fc.property(input, input, (before, after) => {
      const shown = new HtmlSanitizer().push(before);
      const sanitizer = new HtmlSanitizer();
      expect(sanitizer.push(shown)).toBe(shown);
      expect(treeOf(shown + sanitizer.push(after) + sanitizer.end())).toBeDefined();
    }),
    { numRuns: 2_000 },
  );
});
