import { type Dice, diceFor } from "./dice.ts";

/** A mapping of the argument `any`, a body, and what the argument must then be. */
export interface PointerCase {
  pointer: string;
  body: object;
  /** Refused when it is saved or tried. */
  malformed: boolean;
  /** Undefined: the argument is left out. */
  value: unknown;
}

const NAMES = ["a", "b", "0", "1", "01", "-", "", "a/b", "a~b", "~1", "~0", "%", " ", "é", "constructor", "toString"];
/** Members that no body has: names with underscores are left out of what is shown. */
const STRANGERS = ["__proto__", "length", "_x"];
const PIECES = [
  "/",
  "~",
  "~0",
  "~1",
  "~2",
  "a",
  "0",
  "1",
  "-",
  "01",
  "constructor",
  "length",
  "é",
  "\u0000",
  " ",
  "#/",
  "%61",
];

export function makePointerCase(seed: number, index: number): PointerCase {
  const dice = diceFor(seed, index);
  const body = Object.fromEntries(NAMES.filter(() => dice.chance(0.4)).map((name) => [name, tree(dice, 3)]));
  const pointer = dice.chance(0.7) ? pathInto(body, dice) : randomPointer(dice);
  const malformed = isMalformed(pointer);
  return { pointer, body, malformed, value: malformed ? undefined : valueAt(body, pointer) };
}

function tree(dice: Dice, levels: number): unknown {
  const kind = dice.below(levels > 0 ? 5 : 3);
  if (kind === 0) return dice.below(1_000);
  if (kind === 1) return dice.pick(["x", "", "é", null, true]);
  if (kind === 2) return dice.pick([[], {}]);
  if (kind === 3) return Array.from({ length: 1 + dice.below(3) }, () => tree(dice, levels - 1));
  return Object.fromEntries(NAMES.filter(() => dice.chance(0.3)).map((name) => [name, tree(dice, levels - 1)]));
}

/** A pointer along existing members, which sometimes continues where there is nothing. */
function pathInto(body: unknown, dice: Dice): string {
  let at = body;
  let pointer = "";
  while (typeof at === "object" && at !== null && !dice.chance(0.2)) {
    const names = Object.keys(at);
    const name = names.length > 0 && !dice.chance(0.1) ? dice.pick(names) : dice.pick([...NAMES, ...STRANGERS]);
    pointer += `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    at = Object.hasOwn(at, name) ? (at as Record<string, unknown>)[name] : undefined;
  }
  return pointer;
}

function randomPointer(dice: Dice): string {
  return (dice.chance(0.8) ? "/" : "") + Array.from({ length: dice.below(6) }, () => dice.pick(PIECES)).join("");
}

/** RFC 6901, section 3, read character by character. */
function isMalformed(pointer: string): boolean {
  // Management accepts no NUL.
  if ((pointer !== "" && pointer[0] !== "/") || pointer.includes("\0")) return true;
  return [...pointer].some((character, at, all) => character === "~" && all[at + 1] !== "0" && all[at + 1] !== "1");
}

/** RFC 6901, section 4. */
function valueAt(body: unknown, pointer: string): unknown {
  let at = body;
  for (const escaped of pointer.split("/").slice(1)) {
    let name = "";
    for (let index = 0; index < escaped.length; index += 1) {
      if (escaped[index] !== "~") name += escaped[index];
      else {
        index += 1;
        name += escaped[index] === "1" ? "/" : "~";
      }
    }
    if (typeof at !== "object" || at === null) return undefined;
    if (Array.isArray(at) && name !== String(Number.parseInt(name, 10))) return undefined;
    if (!Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}
