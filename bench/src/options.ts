import { parseArgs } from "node:util";

const PARTS = ["calls", "mcp", "idle", "deliveries", "hooks", "call-stream", "chat", "large", "neighbours"] as const;
export type Part = (typeof PARTS)[number];

/** Parts that are measured together and written to one report. The first report is the default. */
export const REPORTS: readonly { name: string; parts: ReadonlySet<Part> }[] = [
  {
    name: "RESULTS",
    parts: new Set(["calls", "mcp", "idle", "deliveries", "hooks", "neighbours", "call-stream", "chat"]),
  },
  { name: "LARGE-TABLES", parts: new Set(["large"]) },
];

export type Options = {
  parts: ReadonlySet<Part>;
  /** Of a window of calls at half load, and of each figure of the deliveries; other windows take a part of it. */
  seconds: number;
  rounds: number;
  /** Leaves CPU profiles of the services in .data/bench-profile, for a viewer such as Chrome's. */
  profile: boolean;
  /** Replaces the figures of these parts in their report, and leaves the others as they are. */
  update: boolean;
  /** Only the noisy neighbours whose name matches this pattern. */
  attack: string;
};

const DEFAULT_SECONDS = 12;
const DEFAULT_ROUNDS = 3;
const MAX_SECONDS = 120;
const MAX_ROUNDS = 20;

export const USAGE = `node bench/run.ts [--only ${PARTS.join("|")}] [--seconds N] [--rounds N] [--attack PATTERN] [--profile] [--update]`;

/** Throws a one-line error that says how to call it. `--only` may be repeated. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string", multiple: true },
      seconds: { type: "string" },
      rounds: { type: "string" },
      attack: { type: "string", default: "" },
      profile: { type: "boolean", default: false },
      update: { type: "boolean", default: false },
    },
  });
  return {
    parts: new Set(values.only?.map(toPart) ?? REPORTS[0]?.parts),
    seconds: toNumber("seconds", values.seconds, DEFAULT_SECONDS, MAX_SECONDS),
    rounds: toNumber("rounds", values.rounds, DEFAULT_ROUNDS, MAX_ROUNDS),
    profile: values.profile,
    update: values.update,
    attack: values.attack,
  };
}

function toPart(text: string): Part {
  const part = PARTS.find((known) => known === text);
  if (!part) throw new Error(`unknown part "${text}": ${USAGE}`);
  return part;
}

function toNumber(name: string, text: string | undefined, fallback: number, max: number): number {
  const number = text === undefined ? fallback : Number(text);
  if (!Number.isInteger(number) || number < 1 || number > max) {
    throw new Error(`--${name} must be a whole number from 1 to ${max}: ${USAGE}`);
  }
  return number;
}
