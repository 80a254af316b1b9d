import {
  CLONE,
  CLONE3,
  FIRST_UNKNOWN,
  NAMESPACE_FLAGS,
  NEEDED_FOR_LAYERS,
  NEVER_IN_CHILD,
  NEVER_NEEDED,
  OPEN,
  OPENAT2,
  PRLIMIT64,
  SOCKET,
  type SystemCall,
  THREAD_FLAG,
  WRITING_FLAGS,
} from "./system-calls.ts";

type Architecture = {
  /** The kernel's name for it (AUDIT_ARCH_…), and the column of the table. */
  audit: number;
  column: 1 | 2;
  /** The number of `prctl`, which loads the filter. */
  prctl: number;
};

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: { audit: 0xc000_003e, column: 1, prctl: 157 },
  arm64: { audit: 0xc000_00b7, column: 2, prctl: 167 },
};

/** Numbers from here on are those of the second interface of x86_64, with 32-bit pointers. */
const X32 = 0x4000_0000;
const EPERM = 1;
const ENOSYS = 38;
const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const refuse = (error: number) => 0x0005_0000 | error;

/** The instructions of a filter; what they load is in `struct seccomp_data`. */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
/** Each argument has 8 bytes, of which a filter reads the lower 4. */
const argumentAt = (argument: number) => 16 + 8 * argument;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];
const INSTRUCTION_BYTES = 8;

/** What loads a child's filter: the number of `prctl` and the filter; undefined on other architectures. */
export function childFilter(architecture: string): { prctl: number; program: Buffer } | undefined {
  const known = ARCHITECTURES[architecture];
  if (known === undefined) return undefined;
  const instructions: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE_AT],
    [IF_EQUAL, 1, 0, known.audit],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, NUMBER_AT],
    [IF_AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, refuse(EPERM)],
    [IF_AT_LEAST, 0, 1, FIRST_UNKNOWN],
    [RETURN, 0, 0, refuse(ENOSYS)],
  ];
  const refuseCall = (call: SystemCall, error: number) => {
    const number = call[known.column];
    if (number !== undefined) instructions.push([IF_EQUAL, 0, 1, number], [RETURN, 0, 0, refuse(error)]);
  };
  /** Decides on a call by an argument of it: `rules` must return in the end. */
  const decideCall = (call: SystemCall, argument: number, rules: readonly Instruction[]) => {
    const number = call[known.column];
    if (number === undefined) return;
    instructions.push([IF_EQUAL, 0, 1 + rules.length, number], [LOAD, 0, 0, argumentAt(argument)], ...rules);
  };
  const allowed: Instruction = [RETURN, 0, 0, ALLOW];
  const refused: Instruction = [RETURN, 0, 0, refuse(EPERM)];
  for (const call of [...NEVER_NEEDED, ...NEEDED_FOR_LAYERS, ...NEVER_IN_CHILD, SOCKET]) refuseCall(call, EPERM);
  refuseCall(CLONE3, ENOSYS);
  refuseCall(OPENAT2, ENOSYS);
  for (const [call, flags] of OPEN) decideCall(call, flags, [[IF_ANY_BIT, 0, 1, WRITING_FLAGS], refused, allowed]);
  decideCall(PRLIMIT64, 0, [[IF_EQUAL, 0, 1, 0], allowed, refused]);
  decideCall(CLONE, 0, [[IF_ANY_BIT, 1, 0, NAMESPACE_FLAGS], [IF_ANY_BIT, 1, 0, THREAD_FLAG], refused, allowed]);
  instructions.push(allowed);
  return { prctl: known.prctl, program: encode(instructions) };
}

function encode(instructions: readonly Instruction[]): Buffer {
  const program = Buffer.alloc(instructions.length * INSTRUCTION_BYTES);
  for (const [index, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    const at = index * INSTRUCTION_BYTES;
    program.writeUInt16LE(code, at);
    program.writeUInt8(ifTrue, at + 2);
    program.writeUInt8(ifFalse, at + 3);
    program.writeUInt32LE(value >>> 0, at + 4);
  }
  return program;
}
