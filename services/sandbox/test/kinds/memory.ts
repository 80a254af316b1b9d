const MIB = 1024 * 1024;

/** Buffers, collections and texts that grow. */
export const MEMORY: readonly string[] = [
  `const all = []; for (;;) all.push(new Uint8Array(${MIB}).fill(1))`,
  "new Float64Array(3e6).map((_, n) => -n).sort((a, b) => a - b).toSorted().toSorted()",
  "const b = new ArrayBuffer(8, { maxByteLength: 2 ** 31 }); b.resize(2 ** 31); new Uint8Array(b).fill(1)",
  "const all = []; for (;;) { const b = new ArrayBuffer(0, { maxByteLength: 1e8 }); b.resize(1e8); all.push(new Uint8Array(b).fill(7)) }",
  "let b = new ArrayBuffer(1e6); for (;;) { b = b.transfer(b.byteLength * 2); new Uint8Array(b).fill(1) }",
  "new Uint8Array(Array(1e9))",
  "Uint8Array.from({ length: 2 ** 32 - 1 })",
  "let s = ''; for (;;) { s += 'x'.repeat(1e6); s.charCodeAt(s.length - 1) }",
  "const all = []; for (let n = 0; ; n++) all.push('x'.repeat(1e5) + n)",
  "const all = []; for (let n = 0; ; n++) { const s = 'xy'.repeat(1e5) + n; s.charCodeAt(1); all.push(s) }",
  "const all = []; for (let n = 0; ; n++) all.push(Symbol.for('s' + n))",
  "const all = []; for (;;) all.push(new Error('x').stack)",
  "const m = new WeakMap(); const k = []; for (;;) { const o = {}; k.push(o); m.set(o, [o]) }",
  "const all = []; for (;;) all.push(() => all)",
  "const all = []; for (let n = 0; ; n++) all.push(Function('return ' + n))",
  "const all = []; for (;;) all.push(2n ** 100_000n)",
  "const all = []; for (;;) all.push(new Date(all.length), /a/, new Map([[1, 2]]))",
  "new Float64Array(4e6).fill(NaN).sort(() => 0)",
  "Int32Array.from({ length: 1e9 }, (_, n) => n)",
  "new Uint8Array(8).set({ length: 8, get 0() { for (;;) {} } })",
];
