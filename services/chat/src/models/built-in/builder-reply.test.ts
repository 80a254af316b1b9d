import { expect, test } from "vitest";
import { HtmlSanitizer } from "../../html/sanitizer.ts";
import type { ModelRequest } from "../model.ts";
import { builderReply } from "./builder-reply.ts";

const asking = (text: string): ModelRequest => ({ instructions: "", tools: [], messages: [{ role: "user", text }] });

test.each([
  ["List the tools", "list_tools", {}],
  ["show orders", "get_tool", { tool: "orders" }],
  ["Release orders", "propose_release", { tool: "orders", flags: { external_api: true } }],
  [
    "please release the tool `get-orders` for API keys with writing.",
    "propose_release",
    { tool: "get-orders", flags: { external_api: true, external_api_write: true } },
  ],
  ["Release orders for hooks", "propose_release", { tool: "orders", flags: { inbound_hook: true } }],
  ["Release orders for everyone", "propose_release", { tool: "orders", flags: { public_api: true } }],
  [
    'Change orders to {"description": "All of them"}',
    "propose_change",
    { tool: "orders", changes: { description: "All of them" } },
  ],
  ["yes", "last_proposal", {}],
  ["Ja!", "last_proposal", {}],
])("the script of the builder takes %j for a call of %s", (text, name, args) => {
  const reply = builderReply(asking(text));
  expect(reply).toMatchObject({ kind: "tool_call", call: { name } });
  expect(reply.kind === "tool_call" && JSON.parse(reply.call.args)).toEqual(args);
});

test.each(["hello", "yes, but later", "release", "change orders to {", "release orders now"])(
  "the script of the builder answers %j with what it understands, in simple HTML",
  (text) => {
    const reply = builderReply(asking(text));
    const html = reply.kind === "text" ? reply.html : "";
    expect(html).toContain("Release orders");
    const sanitizer = new HtmlSanitizer();
    expect(sanitizer.push(html) + sanitizer.end()).toBe(html);
  },
);

test.each([
  ["propose_release", '{"state":"proposed; the user decides"}', false, "answer its question"],
  ["propose_release", "there is no <tool>", true, "not possible: there is no &lt;tool&gt;"],
  ["last_proposal", '{"tool":"a","state":"confirmed","version":2}', false, "Version 2 of <code>a</code> is saved"],
  ["last_proposal", '{"tool":"a","state":"expired"}', false, "was not changed"],
  ["last_proposal", '{"state":"none"}', false, "no proposal"],
  ["list_tools", '[{"name":"a","description":"<b>"}]', false, "<code>a</code>: &lt;b&gt;"],
])("the script of the builder tells what %s returned: %s", (name, output, failed, text) => {
  const results = [{ id: "1", name, output, failed }];
  const reply = builderReply({ instructions: "", tools: [], messages: [{ role: "tool", results }] });
  expect(reply.kind === "text" && reply.html).toContain(text);
});
