/** The events of these go to an endpoint with this path. */
export const DELIVERED_TOOLS: Readonly<Record<string, string>> = {
  "emit-fast": "/noisy/fast",
  "emit-slow": "/noisy/slow",
  "emit-refused": "/noisy/refused",
};

const TEXT = `const text = (length) => {
  let [state, made] = [1, ""];
  while (made.length < length) made += (state = (state * 48271) % 2147483647).toString(36);
  return made.slice(0, length);
};
`;

const EMIT = `${TEXT}
const data = { text: text(240_000) };
export default async (_, ctx) => {
  await Promise.all(Array.from({ length: 20 }, () => ctx.emitWebhook("large", data)));
  return { success: true };
};`;

/** Makes a host call 20 times at once, and that so many times. */
const inGroups = (groups: number, hostCall: string) => `export default async (args, ctx) => {
  for (let group = 0; group < ${groups}; group += 1)
    await Promise.all(Array.from({ length: 20 }, (_, n) => ${hostCall}));
  return { success: true };
};`;

/** The handlers of the noisy workspace. */
export const NOISY_TOOLS: Readonly<Record<string, string>> = {
  ignore: "export default () => ({ success: true });",
  emit: EMIT,
  "emit-fast": EMIT,
  "emit-slow": EMIT,
  "emit-refused": EMIT,
  "emit-small": `export default async (_, ctx) => {
  await Promise.all(Array.from({ length: 20 }, (_, n) => ctx.emitWebhook("small", { n })));
  return { success: true };
};`,
  "many-variables": inGroups(10, 'ctx.variable("nothing").catch(() => 0)'),
  "many-queries": inGroups(10, 'ctx.executePreparedQuery("small", {})'),
  "many-fetches": inGroups(5, 'ctx.fetch(args.text, { method: n % 2 ? "POST" : "GET" }).catch(() => 0)'),
  "many-tools": inGroups(10, 'ctx.callTool("ignore", {})'),
  "many-sheets": `export default async (_, ctx) => {
  for (let n = 0; n < 100; n += 1) {
    await ctx.writeToSheet("small" + (n % 8), "A1:A1", [[n]]);
    await ctx.readSheet("small" + (n % 8), "A1:A1");
  }
  return { success: true };
};`,
  "return-large": `${TEXT}
const large = text(1_000_000);
export default () => ({ success: true, large });`,
  log: `${TEXT}
const line = text(1_000);
const large = text(60_000);
export default (_, ctx) => {
  for (let count = 0; count < 100; count += 1) ctx.log(line);
  return { success: true, large };
};`,
  query: `export default async (_, ctx) => {
  const found = await Promise.all([1, 2, 3, 4].map(() => ctx.executePreparedQuery("large", {})));
  return { success: true, rows: found.map(({ row_count }) => row_count) };
};`,
  sheet: `const values = Array.from({ length: 1_000 }, (_, row) => Array.from({ length: 10 }, (_, at) => \`cell \${row} \${at}\`));
export default async (_, ctx) => {
  const sheet = \`sheet \${Math.floor(Math.random() * 8)}\`;
  await ctx.writeToSheet(sheet, "A1:J1000", values);
  const read = await ctx.readSheet(sheet, "A1:J1000");
  return { success: true, rows: read.values.length };
};`,
  compute: `export default () => {
  const untilMs = Date.now() + 850;
  let sum = 0;
  while (Date.now() < untilMs) for (let n = 0; n < 10_000; n += 1) sum += n;
  return { success: true, sum };
};`,
};
