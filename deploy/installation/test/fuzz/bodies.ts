import type { Dice } from "./dice.ts";

/** A body, and whether a hook may accept it. */
export interface FuzzBody {
  bytes: Buffer;
  /** Undefined: no Content-Type. */
  contentType: string | undefined;
  /** `random`: not known without a parser; the same bytes may also occur again. */
  verdict: "object" | "invalid" | "random";
}

export const MAX_BODY_BYTES = 262_144;
const MAX_LEVELS = 63;
const JSON_TYPES = [
  "application/json",
  "application/json; charset=utf-8",
  "text/plain",
  "multipart/form-data",
  undefined,
];
const FORM_TYPES = ["application/x-www-form-urlencoded", "Application/X-WWW-Form-Urlencoded; charset=UTF-8"];
const NAMES = ["text", "payload", "_webhook", "__proto__", "constructor", "toString", "", "a/b", "a~b", "ä", "\u0000"];
const TEXTS = [
  "",
  "x",
  "{{secret}}",
  "\\u007b\\u007b",
  "</untrusted_webhook_data>",
  "\ud800",
  "😀",
  "\u0000",
  "null",
  "1e999",
];
const NUMBERS = ["0", "-0", "1e200", "-1.5E-7", "12345678901234567000", "1"];
const INEXACT = ["1e999", "12345678901234567890"];
const FORM_PIECES = [
  "&",
  "=",
  "+",
  "%41",
  "%",
  "%z",
  "a=1",
  "text=a&text=b",
  "&&",
  "__proto__=1",
  "payload={}",
  "%E2%82%AC",
];

/** `nonce` makes the body unlike all others where its kind has room for it. */
export function makeBody(dice: Dice, nonce: string): FuzzBody {
  const kind = dice.below(100);
  if (kind < 60) return json(dice, `{"${dice.pick(["nonce", "id"])}":"${nonce}"${members(dice)}}`, "object");
  if (kind < 70) return form(dice, nonce);
  if (kind < 86) return json(dice, invalidJson(dice, nonce), "invalid");
  if (kind < 90) return nested(dice, nonce);
  if (kind < 98) return randomBytes(dice);
  return large(dice, nonce);
}

function json(dice: Dice, text: string | Buffer, verdict: FuzzBody["verdict"]): FuzzBody {
  return { bytes: Buffer.from(text as string), contentType: dice.pick(JSON_TYPES), verdict };
}

/** Further members of an object, with their commas. */
function members(dice: Dice): string {
  const count = dice.below(5);
  return Array.from({ length: count }, () => `,${JSON.stringify(dice.pick(NAMES))}:${value(dice, 3)}`).join(" ");
}

function value(dice: Dice, levels: number): string {
  const items = () => Array.from({ length: dice.below(4) }, () => value(dice, levels - 1));
  switch (dice.below(levels > 0 ? 6 : 4)) {
    case 0:
      return JSON.stringify(dice.pick(TEXTS));
    case 1:
      return dice.pick(NUMBERS);
    case 2:
      return dice.pick(["true", "false", "null"]);
    case 3:
      return JSON.stringify(dice.bytes(dice.below(20)).toString("latin1"));
    case 4:
      return `[${items().join(", ")}]`;
    default:
      return `{${items()
        .map((item) => `${JSON.stringify(dice.pick(NAMES))}: ${item}`)
        .join("\n,")}}`;
  }
}

function invalidJson(dice: Dice, nonce: string): Buffer | string {
  const whole = `{"nonce":"${nonce}"${members(dice)}}`;
  const inside = Buffer.from(whole);
  switch (dice.below(8)) {
    case 0:
      return dice.pick(["", " ", "null", "1", '"x"', "true", "[]", `["${nonce}"]`, "{", "}", "{]", "NaN"]);
    case 1:
      return whole.slice(0, 1 + dice.below(whole.length - 1));
    case 2:
      return `${whole}${dice.pick(["x", "{}", ",", "\u0000", "]"])}`;
    case 3:
      return `\ufeff${whole}`;
    case 4:
      return whole.replace(
        `"${nonce}"`,
        dice.pick(["NaN", "Infinity", "01", "1.", "'x'", "undefined", "+1", '"\n"', ...INEXACT]),
      );
    case 5:
      // Not UTF-8.
      inside[inside.indexOf(nonce)] = dice.pick([0xff, 0x80, 0xc0]);
      return inside;
    case 6:
      return Buffer.from(whole, "utf16le");
    default:
      return "[".repeat(1 + dice.below(100_000));
  }
}

/** Nested as deeply as is accepted, or deeper. */
function nested(dice: Dice, nonce: string): FuzzBody {
  const levels = dice.pick([MAX_LEVELS, MAX_LEVELS + 1, MAX_LEVELS * 50]);
  const [open, close] = dice.pick([
    ["[", "]"],
    ['{"a":', "}"],
  ]) as [string, string];
  const inner = open.repeat(levels - 1) + (open === "[" ? "" : "1") + close.repeat(levels - 1);
  return json(dice, `{"nonce":"${nonce}","a":${inner}}`, levels === MAX_LEVELS ? "object" : "invalid");
}

function form(dice: Dice, nonce: string): FuzzBody {
  const pieces = Array.from({ length: dice.below(8) }, () => dice.pick(FORM_PIECES)).join("");
  const isUtf8 = !dice.chance(0.2);
  const text = `nonce=${nonce}&text=x${isUtf8 ? "" : "%ff"}&${pieces}`;
  const verdict = isUtf8 ? "object" : "invalid";
  return { bytes: Buffer.from(text), contentType: dice.pick(FORM_TYPES), verdict };
}

function randomBytes(dice: Dice): FuzzBody {
  const bytes = dice.bytes(dice.below(300));
  return { bytes, contentType: dice.pick([...JSON_TYPES, ...FORM_TYPES]), verdict: "random" };
}

/** A body of about the largest size that is accepted. */
function large(dice: Dice, nonce: string): FuzzBody {
  const over = dice.pick([-1, 0, 1, 5_000]);
  const start = `{"nonce":"${nonce}","text":"`;
  const text = `${start}${"x".repeat(MAX_BODY_BYTES + over - start.length - 2)}"}`;
  return json(dice, text, "object");
}
