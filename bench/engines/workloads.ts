const JSON_BYTES = 100_000;

/** Handlers, their arguments, and how often each is called. */
export const WORKLOADS = {
  "trivial handler with a host call": {
    handler: "async (args, ctx) => ({ n: (await ctx.callTool('x', args.n)) + 1 })",
    argsJson: JSON.stringify({ n: 41 }),
    calls: 300,
  },
  "JSON of 100 KB, there and back": {
    handler: "async (args) => ({ items: args.items.map((item) => ({ ...item, n: item.n + 1 })) })",
    argsJson: JSON.stringify({ items: itemsOf(JSON_BYTES) }),
    calls: 60,
  },
  "CPU loop of a million steps": {
    handler: "async (args) => { let n = args.n; for (let i = 0; i < 1e6; i++) n = (n * 31 + i) | 0; return { n } }",
    argsJson: JSON.stringify({ n: 1 }),
    calls: 5,
  },
} as const;

/** Handlers that do not end. */
export const BOMBS = {
  "an endless loop": "async () => { for (;;); }",
  "`indexOf` on a list of 2^53 items": "async () => Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
  "a pattern that backtracks without end": "async () => /^(a+)+$/.test('a'.repeat(60) + 'b')",
} as const;

function itemsOf(bytes: number): { n: number; text: string }[] {
  const item = { n: 1, text: "a text of forty characters, or about so." };
  return Array.from({ length: Math.round(bytes / JSON.stringify(item).length) }, (_, n) => ({ ...item, n }));
}
