const MIB = 1024 * 1024;

/**
 * Bodies of handlers that take as much CPU time or memory as they can get. Most of them stay inside one built-in
 * function, where the engine cannot interrupt them.
 */
export const BOMBS: readonly string[] = [
  // Searching and copying without end
  "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
  "Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)",
  "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
  "Array.prototype.join.call({ length: 2 ** 32 - 2 }, '')",
  "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })",
  "Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0)",
  "Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 5)",
  "Array.prototype.slice.call({ length: 2 ** 32 - 2 })",
  "Array.prototype.splice.call({ length: 2 ** 53 - 1 }, 0, 1)",
  "Array.prototype.shift.call({ length: 2 ** 53 - 1, 0: 1 })",
  "Array.prototype.unshift.call({ length: 2 ** 53 - 3 }, 1)",
  "Array.prototype.concat.call([], { length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true })",
  "Array.prototype.sort.call({ length: 2 ** 32 - 2 })",
  "Array.prototype.flat.call({ length: 2 ** 53 - 1 })",
  "Array.prototype.forEach.call({ length: 2 ** 53 - 1 }, () => {})",
  "Array.prototype.toSorted.call({ length: 2 ** 32 - 2 })",
  "Array.prototype.with.call({ length: 2 ** 32 - 2 }, 0, 0)",
  "Array.prototype.findLast.call({ length: 2 ** 53 - 1 }, () => false)",
  "Array.prototype.toString.call({ length: 2 ** 32 - 2, join: Array.prototype.join })",
  "Array.from({ length: 2 ** 32 - 1 })",
  "Array(2 ** 32 - 1).fill(0)",
  "new Array(1e9).fill(0)",
  "[...Array(2 ** 32 - 1)]",
  "Array(2 ** 32 - 1).join('ab')",
  "Reflect.apply(Math.max, null, { length: 2 ** 32 - 1 })",
  "Function.prototype.apply.call(Math.max, null, { length: 2 ** 31 })",
  "Object.fromEntries(Array(1e8).fill(['a', 1]))",
  // Regular expressions
  "/^(a+)+$/.test('a'.repeat(60) + 'b')",
  "/(x+x+)+y/.test('x'.repeat(60))",
  "/^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))",
  "/(.*)*(.*)*(.*)*z/s.exec('b'.repeat(4_000))",
  "/\\b(\\w+\\s*)+$/.test('word '.repeat(5_000) + '!')",
  "'a'.repeat(4e6).replace(/a*?b|a/g, () => 'bb'.repeat(1_000))",
  "'ab'.repeat(3e6).split(/(?:)/)",
  "'x'.repeat(3e6).match(/x{0,}?x{0,}?y/)",
  // Text
  "'x'.repeat(2 ** 29 - 25).split('')",
  "'ab'.repeat(2 ** 27).toUpperCase().indexOf('zz')",
  "let s = 'a'; for (;;) s += s.padEnd(2 ** 28, 'xyz')",
  "'a'.padStart(2 ** 28, 'bc').localeCompare('a'.padStart(2 ** 28, 'bd'))",
  "'e\\u0301'.repeat(2 ** 24).normalize('NFKD').normalize('NFC').normalize('NFKD')",
  "'a'.repeat(2 ** 25).replaceAll('a', '$&$&$&$&')",
  "encodeURIComponent('\\u00e4'.repeat(2 ** 24))",
  "String.raw({ raw: { length: 2 ** 53 - 1 } })",
  "String.fromCharCode.apply(null, { length: 2 ** 31 })",
  // Numbers
  "7n ** 7n ** 9n",
  "(1n << 30_000_000n) / 3n ** 10_000_000n",
  "(3n ** 9_000_000n).toString()",
  "BigInt('9'.repeat(2e7))",
  "BigInt.asUintN(2 ** 30, -1n) * BigInt.asUintN(2 ** 29, -1n)",
  "((1n << 60_000_000n) - 1n) % ((1n << 29_999_999n) - 7n)",
  // Typed arrays and buffers
  `const all = []; for (;;) all.push(new Uint8Array(${MIB}).fill(1))`,
  "new Float64Array(3e6).map((_, n) => -n).sort((a, b) => a - b).toSorted().toSorted()",
  "const b = new ArrayBuffer(8, { maxByteLength: 2 ** 31 }); b.resize(2 ** 31); new Uint8Array(b).fill(1)",
  "const all = []; for (;;) { const b = new ArrayBuffer(0, { maxByteLength: 1e8 }); b.resize(1e8); all.push(new Uint8Array(b).fill(7)) }",
  "let b = new ArrayBuffer(1e6); for (;;) { b = b.transfer(b.byteLength * 2); new Uint8Array(b).fill(1) }",
  "new Uint8Array(Array(1e9))",
  "Uint8Array.from({ length: 2 ** 32 - 1 })",
  // JSON and structures
  "JSON.stringify(Array(2 ** 32 - 1))",
  "JSON.parse('[' + '0,'.repeat(5e7) + '0]')",
  "JSON.parse('['.repeat(1e7))",
  "let o = {}; for (let n = 0; n < 1e8; n++) o = { o }; JSON.stringify(o)",
  "JSON.stringify({ length: 1 }, Array(1e8).fill('a'))",
  "const m = new Map(); for (let n = 0; ; n++) m.set(n, [n])",
  "const o = {}; for (let n = 0; ; n++) o['k' + n] = n",
  "Object.assign({}, 'x'.repeat(2 ** 28))",
  "Object.entries('x'.repeat(2 ** 27))",
  "Reflect.ownKeys(new Uint8Array(3e7))",
  "structuredClone(new Array(1e9).fill(0))",
  "new Set('ab'.repeat(2 ** 26).split('a'))",
  // Languages and dates
  "for (;;) new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin' })",
  "new Intl.Segmenter('th', { granularity: 'word' }).segment('\\u0e01'.repeat(2 ** 24)).containing(2 ** 23)",
  "[...new Intl.Segmenter('ja', { granularity: 'word' }).segment('\\u65e5\\u672c'.repeat(1e6))]",
  "new Intl.ListFormat('en').format(Array(5e6).fill('x'.repeat(50)))",
  "new Intl.NumberFormat('en').format(10n ** 4_000_000n)",
  "new Intl.Collator('de').compare('\\u00e4'.repeat(2 ** 26), '\\u00e4'.repeat(2 ** 26) + 'a')",
  "'\\u0130'.repeat(2 ** 25).toLocaleLowerCase('tr')",
  // Jobs, proxies and generated code
  "const f = () => Promise.resolve().then(f).then(f); await f()",
  "await new Promise((r) => { const p = []; for (;;) p.push(Promise.resolve().then(() => p)) })",
  "Promise.reject({ get message() { for (;;) {} } }); return {}",
  "const p = new Proxy([], { get: (t, k) => k === 'length' ? 2 ** 53 - 1 : undefined, has: () => true }); Array.prototype.indexOf.call(p, 1)",
  "Function('return ' + '1+'.repeat(3e6) + '1')()",
  "(0, eval)('(' + '['.repeat(1e6) + ']'.repeat(1e6) + ')')",
  "Function('a'.repeat(2 ** 27))",
  "new Function(...Array(5e5).fill('a'), 'return 1')",
];

export function bombSource(body: string, note: unknown = ""): string {
  return `export default async (args, ctx) => { /* ${String(note)} */ if (args.first) await ctx.callTool('x'); ${body}; return 1 }`;
}
