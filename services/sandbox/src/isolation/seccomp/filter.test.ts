import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { childFilter } from "./filter.ts";
import { kubernetesProfile } from "./kubernetes-profile.ts";
import {
  CLONE,
  CLONE3,
  NAMESPACE_FLAGS,
  NEEDED_FOR_LAYERS,
  NEVER_IN_CHILD,
  NEVER_NEEDED,
  OPEN,
  OPENAT2,
  PRLIMIT64,
  SOCKET,
} from "./system-calls.ts";

const ALLOW = 0x7fff_0000;
const REFUSE = 0x0005_0001;
const MISSING = 0x0005_0026;
const KILL = 0x8000_0000;
const MACHINES = [
  { name: "x64", audit: 0xc000_003e, column: 1, allowed: { read: 0, write: 1, mmap: 9, execve: 59, futex: 202 } },
  { name: "arm64", audit: 0xc000_00b7, column: 2, allowed: { read: 63, write: 64, mmap: 222, execve: 221, futex: 98 } },
] as const;

/** Runs a filter as the kernel does. */
function decide(program: Buffer, audit: number, number: number, argument = 0, position = 0): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(audit, 4);
  data.writeUInt32LE(argument, 16 + 8 * position);
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
    for (const call of [...NEVER_NEEDED, ...NEEDED_FOR_LAYERS, ...NEVER_IN_CHILD, SOCKET]) {
      const number = call[column];
      if (number !== undefined) expect(decide(program, audit, number), call[0]).toBe(REFUSE);
    }
    for (const [call, number] of Object.entries(allowed)) expect(decide(program, audit, number), call).toBe(ALLOW);
  });

  it("[TOOL-2] lets threads be made, but neither processes nor namespaces", () => {
    const clone = CLONE[column] ?? 0;
    const thread = 0x3d_0f00;
    const process = 0x0120_0011;
    expect(decide(program, audit, clone, thread)).toBe(ALLOW);
    expect(decide(program, audit, clone, process)).toBe(REFUSE);
    for (let bit = 1; bit < 2 ** 31; bit *= 2)
      expect(decide(program, audit, clone, thread | bit)).toBe((bit & NAMESPACE_FLAGS) !== 0 ? REFUSE : ALLOW);
    expect(decide(program, audit, CLONE3[column] ?? 0)).toBe(MISSING);
  });

  it("[TOOL-2] lets files be opened for reading only", () => {
    const writing = [0o1, 0o2, 0o3, 0o100, 0o101, 0o1000, 0o20_000_000, 0o20_200_001];
    const reading = [0, 0o200_0000, 0o4000, 0o10_000_000];
    for (const [call, position] of OPEN) {
      const number = call[column];
      if (number === undefined) continue;
      for (const flags of writing) expect(decide(program, audit, number, flags, position), `${flags}`).toBe(REFUSE);
      for (const flags of reading) expect(decide(program, audit, number, flags, position), `${flags}`).toBe(ALLOW);
    }
    expect(decide(program, audit, OPENAT2[column] ?? 0)).toBe(MISSING);
  });

  it("[TOOL-2] lets only its own limits be set, and knows no calls that are newer than the table", () => {
    const prlimit = PRLIMIT64[column] ?? 0;
    expect(decide(program, audit, prlimit, 0)).toBe(ALLOW);
    expect(decide(program, audit, prlimit, 1)).toBe(REFUSE);
    for (const newer of [451, 469, 1_000, 0x3fff_ffff]) expect(decide(program, audit, newer)).toBe(MISSING);
  });

  it("[TOOL-2] cannot be avoided by the calls of another architecture", () => {
    for (const other of [0x4000_0003, 0x4000_0028, 0]) expect(decide(program, other, 0)).toBe(KILL);
    expect(decide(program, audit, 0x4000_0000 + 101)).toBe(REFUSE);
  });
});

it("[TOOL-2] the table names each call once", () => {
  const opens = OPEN.map(([call]) => call);
  const own = [SOCKET, CLONE, CLONE3, OPENAT2, PRLIMIT64, ...opens];
  const all = [...NEVER_NEEDED, ...NEEDED_FOR_LAYERS, ...NEVER_IN_CHILD, ...own];
  for (const column of [0, 1, 2] as const) {
    const values = all.map((call) => call[column]).filter((value) => value !== undefined);
    expect(new Set(values).size).toBe(values.length);
  }
  expect(childFilter("riscv64")).toBeUndefined();
});

it("[TOOL-2] the profile for Kubernetes is made from the same table (kubernetes-profile.ts)", () => {
  const file = new URL("../../../../../deploy/seccomp/sandbox.json", import.meta.url);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(kubernetesProfile());
});
