const INVISIBLE = String.raw`\s\p{Cf}\p{Cc}`;
const AROUND = new RegExp(`^[${INVISIBLE}]+|[${INVISIBLE}]+$`, "gu");
const QUOTES = /^(?:"[\s\S]*"|'[\s\S]*'|`[\s\S]*`|“[\s\S]*”|„[\s\S]*[“”]|‘[\s\S]*’|«[\s\S]*»)$/u;
/** What a secret does not have, but text that was copied from a page or a document may. */
const FAULTS: readonly [what: string, pattern: RegExp][] = [
  ["a line break", /[\r\n\v\f\u0085\u2028\u2029]/u],
  ["a tab", /\t/u],
  ["a blank that is not a space", /(?! )\p{Zs}/u],
  ["an invisible character", /[\p{Cf}\p{Cc}\p{Cs}]/u],
];

/** A secret as somebody meant to paste it: without the blanks, line breaks and invisible characters around it. */
export function trimPasted(text: string): string {
  return text.replace(AROUND, "");
}

/** Why a trimmed text cannot be meant as a secret; undefined when it can. Never contains the text. */
export function pastedFault(text: string): string | undefined {
  if (QUOTES.test(text)) return "is in quotes: leave them out";
  const fault = FAULTS.find(([, pattern]) => pattern.test(text));
  return fault && `contains ${fault[0]}`;
}
