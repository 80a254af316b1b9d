const ELEMENTS: ReadonlySet<string> = new Set(
  "a b blockquote br code del div em h1 h2 h3 h4 h5 h6 hr i li ol p pre s span strong sub sup table tbody td th thead tr u ul".split(
    " ",
  ),
);
/** Elements whose content is not for readers. */
const DROPPED: ReadonlySet<string> = new Set(
  "script style template noscript iframe object embed svg math head title textarea select".split(" "),
);
const LINK = /^(?:https?:|mailto:)/i;
const MAX_DEPTH = 64;

/** Named in the content security policy of pages that require Trusted Types. */
const POLICY_NAME = "toolgate-chat";

interface Policy {
  /** TypeScript does not know TrustedHTML. */
  createHTML(html: string): string;
}

let policy: Policy | undefined;

/**
 * The server's HTML as nodes. The server has sanitized it, but this does not rely on that: only the listed elements are
 * made, and the only attribute is the address of a link.
 */
export function safeHtml(html: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  policy ??= createPolicy();
  // A parsed document is inert: it loads and runs nothing. So the policy may let everything through, and nobody else has it.
  copyChildren(new DOMParser().parseFromString(policy.createHTML(html), "text/html").body, fragment, 0);
  return fragment;
}

function createPolicy(): Policy {
  const asItIs: Policy = { createHTML: (html) => html };
  const page = globalThis as { trustedTypes?: { createPolicy(name: string, rules: Policy): Policy } };
  try {
    return page.trustedTypes?.createPolicy(POLICY_NAME, asItIs) ?? asItIs;
  } catch {
    // A site that allows only policies of its own may still not require them.
    return asItIs;
  }
}

function copyChildren(from: Node, to: Node, depth: number): void {
  if (depth > MAX_DEPTH) return;
  for (const child of from.childNodes) {
    if (child instanceof Text) to.appendChild(document.createTextNode(child.data));
    if (!(child instanceof Element)) continue;
    const name = child.localName;
    if (DROPPED.has(name)) continue;
    copyChildren(child, ELEMENTS.has(name) ? to.appendChild(copyOf(child, name)) : to, depth + 1);
  }
}

function copyOf(element: Element, name: string): Element {
  const copy = document.createElement(name);
  const href = element.getAttribute("href") ?? "";
  if (copy instanceof HTMLAnchorElement && LINK.test(href)) {
    copy.href = href;
    copy.target = "_blank";
    copy.rel = "noopener noreferrer";
  }
  return copy;
}
