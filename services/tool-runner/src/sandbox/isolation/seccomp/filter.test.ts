import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { childFilter } from "./filter.ts";
import { kubernetesProfile } from "./kubernetes-profile.ts";
import { CLONE, CLONE3, NAMESPACE_FLAGS, NEEDED_FOR_LAYERS, NEVER_NEEDED, SOCKET } from "./system-calls.ts";

const ALLOW = 0x7fff_0000;
const REFUSE = 0x0005_0001;
const MISSING = 0x0005_0026;
const KILL = 0x8000_0000;
const MACHINES = [
  { name: "x64", audit: 0xc000_003e, column: 1, allowed: { read: 0, write: 1, mmap: 9, execve: 59, futex: 202 } },
  { name: "arm64", audit: 0xc000_00b7, column: 2, allowed: { read: 63, write: 64, mmap: 222, execve: 221, futex: 98 } },
] as const;

/** Runs a filter as the kernel does. */
function decide(program: Buffer, audit: number, number: number, argument = 0): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(audit, 4);
  data.writeUInt32LE(argument, 16);
  let loaded = 0;
  for (let at = 0; at < program.length; at += 8) {
    const code = program.readUInt16LE(at);
    const value = program.readUInt32LE(at + 4);
    if (code === 0x06) return value;
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else {
      const isTrue = code === 0x15 ? loaded === value : code === 0x35 ? loaded >= value : (loaded & value) >>> 0 !== 0;
      at += 8 * program.readUInt8(at + (isTrue ? 2 : 3));
    }
  }
  throw new Error("the filter does not end");
}

describe.each(MACHINES)("the filter of system calls on $name", ({ name, audit, column, allowed }) => {
  const program = childFilter(name)?.program ?? Buffer.alloc(0);

  it("[TOOL-2] refuses all that is in the table, and nothing that Node needs", () => {
    for (const call of [...NEVER_NEEDED, ...NEEDED_FOR_LAYERS, SOCKET]) {
      const number = call[column];
      if (number !== undefined) expect(decide(program, audit, number), call[0]).toBe(REFUSE);
    }
    for (const [call, number] of Object.entries(allowed)) expect(decide(program, audit, number), call).toBe(ALLOW);
  });

  it("[TOOL-2] lets threads be made, but no namespaces", () => {
    const clone = CLONE[column] ?? 0;
    expect(decide(program, audit, clone, 0x3d_0f00)).toBe(ALLOW);
    for (let bit = 1; bit < 2 ** 31; bit *= 2)
      expect(decide(program, audit, clone, bit)).toBe((bit & NAMESPACE_FLAGS) !== 0 ? REFUSE : ALLOW);
    expect(decide(program, audit, CLONE3[column] ?? 0)).toBe(MISSING);
  });

  it("[TOOL-2] cannot be avoided by the calls of another architecture", () => {
    for (const other of [0x4000_0003, 0x4000_0028, 0]) expect(decide(program, other, 0)).toBe(KILL);
    expect(decide(program, audit, 0x4000_0000 + 101)).toBe(REFUSE);
  });
});

it("[TOOL-2] the table names each call once", () => {
  const names = [...NEVER_NEEDED, ...NEEDED_FOR_LAYERS, SOCKET, CLONE, CLONE3].map(([call]) => call);
  expect(new Set(names).size).toBe(names.length);
  expect(childFilter("riscv64")).toBeUndefined();
});

it("[TOOL-2] the profile for Kubernetes is made from the same table (write-profile.ts)", () => {
  const file = new URL("../../../../../../deploy/seccomp/sandbox.json", import.meta.url);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(kubernetesProfile());
});
