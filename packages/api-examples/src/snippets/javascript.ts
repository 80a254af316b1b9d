import { type ExampleCall, KEY_VARIABLE, TIMEOUT_S } from "../example-call.ts";
import { type LiteralStyle, literal } from "../literal.ts";

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

function nameOf(name: string): string {
  // Without brackets it would set the object's prototype.
  if (name === "__proto__") return '["__proto__"]';
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}

const STYLE: LiteralStyle = {
  text: JSON.stringify,
  member: (name) => `${nameOf(name)}: `,
  true: "true",
  false: "false",
  null: "null",
  object: () => ["{", "}"],
};

/** [BLD-9] */
export function javascript({ url, args }: ExampleCall): string {
  return `// call.mjs, for Node.js 20 or newer
const response = await fetch(${JSON.stringify(url)}, {
  method: "POST",
  headers: {
    Authorization: \`Bearer \${process.env.${KEY_VARIABLE}}\`,
    "Content-Type": "application/json",
  },
  body: JSON.stringify(${literal({ args }, STYLE, "  ", "  ")}),
  signal: AbortSignal.timeout(${TIMEOUT_S}_000),
});
const body = await response.json();
if (!response.ok) throw new Error(\`\${response.status}: \${body.error}\`);
console.log(body);
`;
}
