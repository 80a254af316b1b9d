const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const STEP = "  ";

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

/** Indents JSON without touching its values: numbers keep their digits, and names their order. Other text stays as it is. */
export function indentJson(text: string): string {
  if (!isJson(text)) return text;
  let depth = 0;
  let out = "";
  let before = "";
  const line = () => `\n${STEP.repeat(depth)}`;
  for (const [token] of text.matchAll(TOKENS)) {
    const isEnd = token === "}" || token === "]";
    const isStart = before === "{" || before === "[";
    if (isEnd) depth -= 1;
    if (isEnd ? !isStart : isStart || before === ",") out += line();
    out += token === ":" ? ": " : token;
    if (token === "{" || token === "[") depth += 1;
    before = token;
  }
  return out;
}
