import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { escapeHtml } from "../../src/html/escape.ts";

const ALLOWED = new Set(
  "p br b strong i em u s code pre ul ol li a h1 h2 h3 h4 blockquote table thead tbody tr th td hr".split(" "),
);
const VOID = new Set(["br", "hr"]);

type ChildNode = DefaultTreeAdapterTypes.ChildNode;

/** What a browser's parser makes of HTML, written as the sanitizer writes it. Throws for what the sanitizer never writes. */
export function treeOf(html: string): string {
  const [, root] = parse(`<!doctype html><body>${html}`).childNodes;
  if (root === undefined || !("childNodes" in root)) throw new Error("no document");
  const body = root.childNodes[1];
  if (body === undefined || !("childNodes" in body)) throw new Error("no body");
  return body.childNodes.map(write).join("");
}

function write(node: ChildNode): string {
  if ("value" in node) return escapeHtml(node.value);
  if (!("tagName" in node)) throw new Error(`the output has a ${node.nodeName}`);
  const { tagName: name, attrs } = node;
  if (!ALLOWED.has(name)) throw new Error(`the output has the element ${name}`);
  if (attrs.map((attribute) => attribute.name).join() !== (name === "a" ? "href,rel" : "")) {
    throw new Error(`the output has the attributes ${JSON.stringify(attrs)}`);
  }
  const href = attrs[0]?.value ?? "";
  if (name === "a" && !/^(?:https?|mailto):/.test(href)) throw new Error(`the output has a link to ${href}`);
  const attributes = attrs.map((attribute) => ` ${attribute.name}="${escapeHtml(attribute.value)}"`).join("");
  const content = node.childNodes.map(write).join("");
  return `<${name}${attributes}>${content}${VOID.has(name) ? "" : `</${name}>`}`;
}
