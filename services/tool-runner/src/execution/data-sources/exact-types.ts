import { hasInexactNumber } from "@toolgate/rules/json-numbers";
import pg from "pg";

type Parse = (text: string) => unknown;

const asText: Parse = (text) => text;
/** NaN and the infinities, which JSON does not have, stay text. */
const float: Parse = (text) => (Number.isFinite(Number(text)) ? Number(text) : text);
/** As ISO 8601 writes it, with all digits of the second. */
const time: Parse = (text) =>
  text
    .replace(" ", "T")
    .replace(/([+-]\d\d)$/, "$1:00")
    .replace(/\+00:00$/, "Z");

/** The oids of a type and of its arrays. */
const TYPES: readonly [of: number, array: number, parse: Parse][] = [
  // int8, numeric, date, bytea
  [20, 1016, asText],
  [1700, 1231, asText],
  [1082, 1182, asText],
  [17, 1001, asText],
  // float4, float8
  [700, 1021, float],
  [701, 1022, float],
  // timestamp, timestamptz
  [1114, 1115, time],
  [1184, 1185, time],
];
/** json, jsonb */
const JSON_TYPES = [114, 3802];

const TEXT_ARRAY: number = 1009;
/** Reads an array of texts. */
const readTexts: Parse = pg.types.getTypeParser(TEXT_ARRAY, "text");

/** The values in an array of any dimensions. */
function eachOf(parse: Parse, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => eachOf(parse, item));
  return value === null ? null : parse(value as string);
}

/** JSON with a number that JavaScript would change stays text. */
const json: Parse = (text) => (hasInexactNumber(text) ? text : JSON.parse(text));

const PARSERS = new Map<number, Parse>(JSON_TYPES.map((oid) => [oid, json]));
for (const [of, array, parse] of TYPES) {
  PARSERS.set(of, parse);
  PARSERS.set(array, (text) => eachOf(parse, readTexts(text)));
}

/**
 * Values as JSON carries them without a change: what a number of JavaScript or a Date would round is text. The session's
 * DateStyle has to be ISO.
 */
export const EXACT_TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: "text" | "binary") =>
    (format !== "binary" && PARSERS.get(oid)) || pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};
